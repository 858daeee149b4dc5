package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/format/ibdiagnet"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// The kinds of result.Doubt.
const (
	AdaptiveOff  = "adaptive-off"  // groups of a switch whose adaptive routing is off
	NoGroups     = "no-groups"     // adaptive routing is on, and groups are not known
	NoLaneByLane = "vl2vl-unknown" // whether a switch looks up lanes by lanes is not known
	LIDLeftOut   = "lid-left-out"  // the program that dumped the tables leaves out the largest LID
	OtherRun     = "other-run"     // files of one folder are of several runs of ibdiagnet
)

// whyLeftOut is why a program leaves that LID out, and which programs do not.
const whyLeftOut = "dump_fts and ibroute leave the largest LID out where it is a multiple of 64; OpenSM's own opensm-lfts.dump (opensm -D 0x43) and ibdiagnet -r have it"

// find adds a doubt.
func (g *Given) find(kind, what string, args ...any) {
	g.Doubts = append(g.Doubts, result.Doubt{Kind: kind, What: fmt.Sprintf(what, args...)})
}

// readRuns finds out whether the files of a folder of ibdiagnet2 are of one run, by what their heads say. name is where the
// fabric is from: its file counts if it is in the folder of the tables.
func (g *Given) readRuns(c *console.Console, name string, o *flags.Tables) error {
	var files []string
	if network, err := flags.NetworkIn(name); err == nil && sameFile(filepath.Dir(network), filepath.Dir(o.LFTs)) {
		files = append(files, network)
	}
	first, firstRun := "", ""
	var others []string
	for _, file := range append(files, o.LFTs, o.SL2VL, o.Groups, o.Private, o.ByLane, o.Multicast) {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || !flags.OfIbdiagnet(file) { // a folder, or a pipe, which is read already
			continue
		}
		run, err := console.ReadFile(c, file, func(r io.Reader, _ string) (string, error) { return reading.RunOf(r), nil })
		switch {
		case err != nil:
			return err
		case run == "":
		case first == "":
			first, firstRun = file, run
		case run != firstRun:
			others = append(others, fmt.Sprintf("%s (%s)", filepath.Base(file), run))
		}
	}
	if len(others) > 0 {
		g.find(OtherRun, "of another run of ibdiagnet than %s (%s): %s; they may be of other cables and LIDs", first, firstRun, strings.Join(others, ", "))
	}
	return nil
}

// sameFile reports whether two names are of one file or folder.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// readUse reads what else a folder of ibdiagnet2 says of how its switches use the tables, into these
// and the doubts.
func (g *Given) readUse(c *console.Console, o *flags.Tables) error {
	if g.Tables.Groups != nil && o.Adaptive != "" {
		if err := g.readAdaptive(c, o.Adaptive); err != nil {
			return err
		}
	}
	if o.ByLane == "" {
		return nil
	}
	return g.readByLane(c, o)
}

// readAdaptive sets on which service levels switches choose, by the table AR_INFO.
func (g *Given) readAdaptive(c *console.Console, name string) error {
	t := g.Tables
	f := t.Fabric
	a, err := console.ReadFile(c, name, func(r io.Reader, file string) (*ibdiagnet.Adaptive, error) {
		return ibdiagnet.ReadAdaptive(r, file, f, g.gone...)
	})
	if err != nil || a == nil {
		return err
	}
	var off, without []string
	for s, choices := range choicesOf(t) {
		n := fabric.NodeID(s)
		switch {
		case !a.Known[s]: // nothing is known of it but its groups
		case a.Levels[s] == 0 && choices > 0:
			off = append(off, fmt.Sprintf("%s (%s)", f.Label(n), words.Counted(choices, "entry", "entries")))
		case a.Levels[s] != 0 && len(t.Groups.Sets(n)) == 0:
			without = append(without, f.Label(n))
		}
		if a.Known[s] {
			t.Groups.SetLevels(n, a.Levels[s])
		}
	}
	if len(off) > 0 {
		g.find(AdaptiveOff, "adaptive routing of %s is off by AR_INFO of %s, and .far lets entries choose; they count as static: %s", words.Plural(len(off), "switch"), name, words.FirstOf(off))
	}
	if len(without) > 0 {
		g.find(NoGroups, "adaptive routing of %s is on by AR_INFO of %s, and .far has no groups of ports; static ports alone count: %s", words.Plural(len(without), "switch"), name, words.FirstOf(without))
	}
	return nil
}

// choicesOf is by switch how many entries have a group.
func choicesOf(t *routing.Tables) []int {
	n := make([]int, t.Fabric.Switches())
	for table := range t.Groups.Tables() {
		for lid := range t.Fabric.LIDs() {
			for s, c := range t.Groups.Row(table, lid) {
				if c != routing.NoChoice {
					n[s]++
				}
			}
		}
	}
	return n
}

// readByLane sets on which service levels switches look up the next lane by the lane that a packet
// came in on.
func (g *Given) readByLane(c *console.Console, o *flags.Tables) error {
	f := g.Tables.Fabric
	levels, err := console.ReadFile(c, o.ByLane, func(r io.Reader, file string) ([]uint16, error) {
		return slvl.ReadByLane(r, file, f, g.gone...)
	})
	if wrong := (*format.ParseError)(nil); errors.As(err, &wrong) && !o.Strict {
		g.find(NoLaneByLane, "whether switches choose the lane of a packet by the lane it came in on is not known, and the verdict takes for granted that none does: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	maps := g.Tables.Lanes.SL2VL
	if _, uniform := maps.Uniform(); uniform {
		maps = maps.PerPort(f)
	}
	for s, sls := range levels {
		if sls != 0 {
			maps.SetByLane(fabric.NodeID(s), sls)
			g.ByLane = append(g.ByLane, result.ByLane{Switch: f.Label(fabric.NodeID(s)), SLs: outputs.Levels(sls)})
			g.Tables.Lanes.SL2VL = maps
		}
	}
	return nil
}
