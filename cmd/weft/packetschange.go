package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/cmd/weft/internal/flags"
	"github.com/weft-fabric/weft/cmd/weft/internal/input"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// changeFlags is the tables of weft packets that are written while packets are on their
// way.
type changeFlags struct {
	then            []string
	at, each, pause time.Duration
	order           string
}

func (o *changeFlags) addTo(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&o.then, "then", nil, "with --lfts: tables that are written over these during the run, a folder or a file; may be repeated, for the steps of a plan")
	f.DurationVar(&o.at, "then-at", 10*time.Microsecond, "when the first of --then begins to be written")
	f.DurationVar(&o.each, "write-time", time.Microsecond, "from one write to the next, of a block of 64 LIDs or of a switch's SL2VL map")
	f.DurationVar(&o.pause, "write-pause", 50*time.Microsecond, "from the last write of one --then to the first of the next")
	flags.OneOf(f, &o.order, "write-order", "order of the writes: opensm (block by block, switches by GUID, then maps) or shuffled (--seed)", "opensm", "shuffled")
}

func (o *changeFlags) check(lfts string) error {
	switch {
	case o.then != nil && lfts == "":
		return exit.Usage("--then is tables that are written over those of --lfts, which is not given")
	case o.at < 0 || o.each <= 0 || o.pause < 0:
		return exit.Usage("--then-at %s, --write-time %s, --write-pause %s: no time is negative, and a write takes some", o.at, o.each, o.pause)
	}
	return nil
}

// rewritten is the network of a job whose tables are written over during the run.
func (j *packetsJob) rewritten() (*packets.Network, error) {
	o := &j.o.change
	var sequence []*routing.Tables
	for _, source := range o.then {
		v, err := input.TablesOf(j.Console, j.name, j.fabric, &flags.Tables{LFTs: source, Strict: j.o.tables.Strict})
		if err != nil {
			return nil, err
		}
		sequence = append(sequence, v.Tables)
	}
	w := packets.Writing{Start: networkTime(o.at), Each: networkTime(o.each), Pause: networkTime(o.pause), Shuffled: o.order == "shuffled", Seed: j.o.route.Seed}
	return packets.NewRewritten(j.tables, w.Rewrites(sequence), j.config)
}

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
