package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// readFlags checks the flags, and sets what they say of the model and the traffic: j.config, window,
// load, loads and scope. A buffer or MTU of 0 was not given: the preset's holds.
func (j *packetsJob) readFlags() (err error) {
	o := j.o
	if err := o.change.check(o.tables.LFTs); err != nil {
		return err
	}
	o.tables.StaticOnly = o.change.then != nil
	if err := cmp.Or(o.tables.Settle(), o.route.ForFinished(&o.tables)); err != nil {
		return err
	}
	switch {
	case o.lifetime < 0 || o.length < 0 || o.warmUp < 0:
		return exit.Usage("--lifetime, --time and --warm-up are not negative")
	case o.groups < 0 || o.groups > 1:
		return exit.Usage("--multicast-share %v: it is 0 to 1", o.groups)
	case o.groups > 0 && (o.complete || o.replay):
		return exit.Usage("--multicast-share is of messages that come at a --load")
	case max(o.buffer, o.outBuffer) > mostBuffer:
		return exit.Usage("--buffer and --output-buffer are at most %d bytes", mostBuffer)
	case o.counters != "" && len(o.loads) != 1:
		return exit.Usage("--counters is of one --load, and there are %d", len(o.loads))
	case o.vlarbHigh == nil && o.vlarbLow == nil && o.vlarbLimit != 0:
		return exit.Usage("--vlarb-limit is for --vlarb-high and --vlarb-low")
	}
	if j.config, err = packets.PresetNamed(o.preset); err != nil {
		return exit.Usage("--preset: %w", err)
	}
	j.config.Buffer, j.config.OutBuffer = cmp.Or(int(o.buffer), j.config.Buffer), cmp.Or(int(o.outBuffer), j.config.OutBuffer)
	j.config.MTU = cmp.Or(o.mtu, j.config.MTU)
	j.config.Speedup, j.config.StoreWhole, j.config.Lottery = o.speedup, o.storeWhole, o.arbiter == "lottery"
	j.config.Lifetime, j.config.Counters = networkTime(o.lifetime), o.counters != ""
	j.config.Flits, j.config.AnyLane = o.flits, o.anyLane
	if o.choice == "in-turn" {
		j.config.AddressChoice = packets.InTurn
	}
	if o.vlarbHigh != nil || o.vlarbLow != nil { // else lanes are served round robin
		j.config.Arbitration = &packets.Arbitration{High: o.vlarbHigh, Low: o.vlarbLow, Limit: o.vlarbLimit}
	}
	j.window = packets.Window{Length: networkTime(o.length), WarmUp: networkTime(o.warmUp)}
	j.load.Bytes, j.load.Burst, j.load.Seed, j.load.Regular = o.message, o.burst, o.route.Seed, o.process == "fixed"
	j.load.Slots, j.load.Groups = o.process == "slots", o.groups
	j.loads, j.scope = o.loads, o.route.Scope
	j.load.Pattern, err = o.job.Parse(j.Console)
	return err
}

// networkTime is a flag's time as the simulation has it, in picoseconds.
func networkTime(d time.Duration) packets.Time { return packets.Time(d.Nanoseconds() * 1000) }

// parseArbitration reads 0:64,1:32, as OpenSM writes an arbitration table: lanes, and how
// many blocks each may send before the next.
func parseArbitration(text string) ([]packets.Weight, error) {
	var table []packets.Weight
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

// parseLoads reads 0.5, 0.1,0.2 or 0.1:0.9:0.1: shares of what an endpoint's link
// carries. What it returns ascends, without repeats; a range includes its end.
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

// parseSize reads 8192, 8KiB or 1MiB, and returns bytes.
func parseSize(text string) (int64, error) {
	unit := int64(1)
	for suffix, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1000, "MB": 1e6, "GB": 1e9} {
		if t, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = t, n
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(text, "B")), 10, 64)
	if err != nil || n < 1 || n > (1<<50)/unit {
		return 0, fmt.Errorf("%q is no size like 8KiB", text)
	}
	return n * unit, nil
}

// changeFlags is which tables weft packets writes over those of --tables while packets are on
// their way, and when. Times are network time.
type changeFlags struct {
	then  []string      // tables, one written after the other; nil: none
	at    time.Duration // of the first write
	each  time.Duration // from one write to the next
	pause time.Duration // from the last write of some tables to the first of the next
	order string
}

func (o *changeFlags) addTo(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&o.then, "then", nil, "with --tables: tables that are written over these during the run, a folder or a file; may be repeated, for the steps of a plan")
	f.DurationVar(&o.at, "then-at", 10*time.Microsecond, "when the first of --then begins to be written")
	f.DurationVar(&o.each, "write-time", time.Microsecond, "from one write to the next, of a block of 64 LIDs or of a switch's SL2VL map")
	f.DurationVar(&o.pause, "write-pause", 50*time.Microsecond, "from the last write of one --then to the first of the next")
	flags.OneOf(f, &o.order, "write-order", "order of the writes: opensm (block by block, switches by GUID, then maps) or shuffled (--seed)", "opensm", "shuffled")
}

// check refuses what makes no sense; lfts is what --tables says.
func (o *changeFlags) check(lfts string) error {
	switch {
	case o.then != nil && lfts == "":
		return exit.Usage("--then is tables that are written over those of --tables, which is not given")
	case o.at < 0 || o.each <= 0 || o.pause < 0:
		return exit.Usage("--then-at %s, --write-time %s, --write-pause %s: no time is negative, and a write takes some", o.at, o.each, o.pause)
	}
	return nil
}

// rewritten is the network of a job whose tables are written over during the run, with
// the SL2VL maps that are in one folder with them. Without such a file SL n uses lane n
// from then on: --sl2vl is about --tables alone. Their service levels are not used, since
// clients remember their PathRecords.
func (j *packetsJob) rewritten() (*packets.Network, error) {
	o := &j.o.change
	var sequence []*routing.Tables
	for _, source := range o.then {
		v, err := input.TablesOf(j.Console, j.name, j.fabric, &flags.Tables{LFTs: source, Strict: j.o.tables.Strict, StaticOnly: true})
		if err != nil {
			return nil, err
		}
		sequence = append(sequence, v.Tables)
	}
	w := packets.Writing{Start: networkTime(o.at), Each: networkTime(o.each), Pause: networkTime(o.pause), Shuffled: o.order == "shuffled", Seed: j.o.route.Seed}
	n, err := packets.NewRewritten(j.tables, w.Rewrites(sequence), j.config)
	return n, asUsage(err)
}

// text is the change for people, behind the tables that are written over.
func (o *changeFlags) text() string {
	order := "in OpenSM's order"
	if o.order == "shuffled" {
		order = "shuffled"
	}
	text := fmt.Sprintf("%s written over them from %s on, %s for each block and map, %s", strings.Join(o.then, ", then "), o.at, o.each, order)
	if len(o.then) > 1 {
		text += fmt.Sprintf(", %s between", o.pause)
	}
	return text
}
