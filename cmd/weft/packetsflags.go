package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// readFlags checks everything that can be checked without the fabric.
func (j *packetsJob) readFlags() error {
	o := j.o
	if err := o.change.check(o.tables.LFTs); err != nil {
		return err
	}
	err := o.tables.Settle()
	if err != nil {
		return err
	}
	if j.config, err = packets.PresetNamed(o.preset); err != nil {
		return exit.Usage("--preset: %w", err)
	}
	for _, size := range []struct {
		flag, text string
		to         *int
	}{{"buffer", o.buffer, &j.config.Buffer}, {"output-buffer", o.outBuffer, &j.config.OutBuffer}} {
		if size.text != "" {
			n, err := parseSize(size.text)
			if err != nil || n > 1<<30 {
				return exit.Usage("--%s %q is no size like 8KiB", size.flag, size.text)
			}
			*size.to = int(n)
		}
	}
	if o.mtu != 0 {
		j.config.MTU = o.mtu
	}
	j.config.Speedup, j.config.StoreWhole = o.speedup, o.storeWhole
	j.config.Lifetime = packets.Time(o.lifetime.Nanoseconds() * 1000)
	j.window = packets.Window{Length: packets.Time(o.length.Nanoseconds() * 1000), WarmUp: packets.Time(o.warmUp.Nanoseconds() * 1000)}
	if o.lifetime < 0 || o.length < 0 || o.warmUp < 0 {
		return exit.Usage("--lifetime, --time and --warm-up are not negative")
	}
	if o.message != "" {
		if j.load.Bytes, err = parseSize(o.message); err != nil || j.load.Bytes < 1 {
			return exit.Usage("--message %q is no size like 64KiB", o.message)
		}
	}
	j.load.Burst, j.load.Seed = o.burst, o.route.Seed
	if j.loads, err = parseLoads(o.loads); err != nil {
		return exit.Usage("--load: %w", err)
	}
	return j.readWords()
}

func (j *packetsJob) readWords() error {
	o := j.o
	switch o.process {
	case "poisson":
	case "fixed":
		j.load.Regular = true
	default:
		return exit.Usage("--process is poisson or fixed, not %q", o.process)
	}
	switch o.choice {
	case "random":
	case "in-turn":
		j.config.AddressChoice = packets.InTurn
	default:
		return exit.Usage("--choice is random or in-turn, not %q", o.choice)
	}
	switch o.arbiter {
	case "oldest":
	case "lottery":
		j.config.Lottery = true
	default:
		return exit.Usage("--arbiter is oldest or lottery, not %q", o.arbiter)
	}
	if err := j.readArbitration(); err != nil {
		return err
	}
	j.scope = o.route.Scope
	var err error
	j.load.Pattern, err = o.job.Parse(j.Console)
	return err
}

// readArbitration reads the arbitration tables. Without any, lanes are served round
// robin.
func (j *packetsJob) readArbitration() error {
	o := j.o
	if o.vlarbHigh == "" && o.vlarbLow == "" {
		if o.vlarbLimit != 0 {
			return exit.Usage("--vlarb-limit is for --vlarb-high and --vlarb-low")
		}
		return nil
	}
	a := &packets.Arbitration{Limit: o.vlarbLimit}
	var err error
	if a.High, err = parseTurns(o.vlarbHigh); err != nil {
		return exit.Usage("--vlarb-high: %w", err)
	}
	if a.Low, err = parseTurns(o.vlarbLow); err != nil {
		return exit.Usage("--vlarb-low: %w", err)
	}
	j.config.Arbitration = a
	return nil
}

// parseTurns reads 0:64,1:32, as OpenSM writes an arbitration table.
func parseTurns(text string) ([]packets.Weight, error) {
	var table []packets.Weight
	if text == "" {
		return nil, nil
	}
	for _, entry := range strings.Split(text, ",") {
		lane, weight, ok := strings.Cut(strings.TrimSpace(entry), ":")
		vl, laneErr := strconv.ParseUint(lane, 0, 8)
		blocks, weightErr := strconv.ParseUint(weight, 0, 8)
		if !ok || laneErr != nil || weightErr != nil || vl >= routing.MaxDataVLs {
			return nil, fmt.Errorf("%q is no VL:WEIGHT; lanes are 0 to %d, weights 0 to 255 blocks of 64 bytes, as in 0:64,1:32", entry, routing.MaxDataVLs-1)
		}
		table = append(table, packets.Weight{VL: uint8(vl), Blocks: uint8(blocks)})
	}
	return table, nil
}

// parseLoads reads 0.5, 0.1,0.2 or 0.1:0.9:0.1.
func parseLoads(text string) ([]float64, error) {
	var loads []float64
	for _, part := range strings.Split(text, ",") {
		var n []float64
		for _, field := range strings.Split(part, ":") {
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil || !(v > 0 && v <= 1) {
				return nil, fmt.Errorf("%q is no load; loads are above 0 and at most 1, as in 0.1:0.9:0.1", field)
			}
			n = append(n, v)
		}
		switch {
		case len(n) == 1:
			loads = append(loads, n[0])
		case len(n) == 3 && n[0] <= n[1] && (n[1]-n[0])/n[2] < 1000:
			for k := 0; ; k++ {
				v := n[0] + float64(k)*n[2]
				if v > n[1]+n[2]/1e6 {
					break
				}
				// Rounded, so that 0.1 + 0.2 is written as 0.3.
				v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
				loads = append(loads, v)
			}
		default:
			return nil, fmt.Errorf("%q is no range; it is FROM:TO:STEP, as in 0.1:0.9:0.1, of at most 1,000 loads", part)
		}
	}
	slices.Sort(loads)
	return slices.Compact(loads), nil
}

// parseSize reads 8192, 8KiB or 1MiB.
func parseSize(text string) (int64, error) {
	unit := int64(1)
	for suffix, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1000, "MB": 1e6, "GB": 1e9} {
		if t, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = t, n
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(text, "B")), 10, 64)
	if err != nil || n < 0 || n > (1<<50)/unit {
		return 0, fmt.Errorf("%q is no size", text)
	}
	return n * unit, nil
}
