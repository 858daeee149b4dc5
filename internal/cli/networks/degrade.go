package networks

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/topology"
)

type degradeFlags struct {
	links, switches string
	parts           flags.Parts
	keep            bool
	seed            uint64
	out             string
	json            bool
}

// Degrade makes the command weft degrade.
func Degrade(a *console.Console) *cobra.Command {
	var o degradeFlags
	c := &cobra.Command{
		Use:   "degrade FABRIC",
		Short: "Take cables and switches away, by chance or by name",
		Long: `Take parts of a fabric away, as failures do, and write the rest in the form of
ibnetdiscover. What stays keeps its names, GUIDs, LIDs and ports.

--switches and --cables take so many at random, or a percentage of all there are
in FABRIC, rounded up: switches first, then cables between those that stay. The
same seed takes the same; with the same switches, more cables are those of fewer
and further ones. Nothing is drawn that would cut off other switches, unless
--keep-connected=false; what is then in parts is said. --switch, --cable and --host
take what they name in any case. An adapter goes with the last of its cables.

Standard error says what went; --json prints it on standard output.`,
		Example: `  weft degrade fabric.ibnet --cables 2% --switches 1 --seed 7 -o degraded.ibnet
  weft degrade torus:8x8x8,hosts=2 --cable sw-0-0-0:3 --switch sw-1-1-1 | weft route - --engine nue`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runDegrade(a, args[0], &o) },
	}
	f := c.Flags()
	f.StringVar(&o.links, "cables", "0", "cables between switches to take at random: a number, or a percentage of all")
	f.StringVar(&o.switches, "switches", "0", "switches to take at random: a number, or a percentage of all")
	o.parts.AddTo(f)
	f.BoolVar(&o.keep, "keep-connected", true, "draw nothing that would cut off other switches")
	f.Uint64Var(&o.seed, "seed", 0, "of the random draws")
	f.StringVarP(&o.out, "output", "o", "-", "file to write; .gz compresses, - is standard output")
	flags.AddJSON(f, &o.json)
	return c
}

// runDegrade takes parts away, writes what is left, and tells what went.
func runDegrade(a *console.Console, name string, o *degradeFlags) error {
	if o.json && o.out == "-" {
		return exit.Usage("--json and the fabric would both go to standard output; give a file with -o")
	}
	f, err := input.Fabric(a, name)
	if err != nil {
		return err
	}
	d, err := o.damage(f)
	if err != nil {
		return err
	}
	loss, err := d.Draw(f)
	var fragile *topology.TooFragile
	if errors.As(err, &fragile) {
		return exit.Finding("%w; take fewer, or let it fall (--keep-connected=false)", err)
	} else if err != nil {
		return exit.Usage("%w", err)
	}
	left, err := loss.Apply(f)
	if err != nil {
		return err
	}
	if left.Switches() == 0 {
		return exit.Usage("%s has no switch but those that --switch names; one has to stay", name)
	}
	if err := output.WriteFile(a, o.out, func(w io.Writer) error { return ibnet.Write(w, left) }); err != nil {
		return err
	}
	s := &result.Degrade{Fabric: name, Seed: o.seed, Output: o.out}
	s.Removed.Switches, s.Removed.Adapters, s.Removed.Links = report.Labels(f, loss.Switches), report.Labels(f, loss.Adapters), outputs.RemovedLinks(f, loss.Links)
	s.Removed.SwitchNodes, s.Removed.AdapterNodes = outputs.Nodes(f, loss.Switches), outputs.Nodes(f, loss.Adapters)
	n := left.Count()
	s.Left.Switches, s.Left.Links, s.Left.Adapters, s.Left.Parts = n.Switches, n.SwitchCables, n.Adapters, len(left.Parts())
	tellLoss(a, s, f, left)
	s.LanesLeftOut = noteLanes(a, left)
	if o.json {
		return a.JSON(s)
	}
	return nil
}

// damage is what the flags take away: parts by name, and how many are drawn.
func (o *degradeFlags) damage(f *fabric.Fabric) (*topology.Damage, error) {
	d := &topology.Damage{MayCut: !o.keep, Seed: o.seed}
	var err error
	if d.Switches, err = portion("--switches", o.switches, f.Switches()); err != nil {
		return nil, err
	}
	if d.Links, err = portion("--cables", o.links, f.Count().SwitchCables); err != nil {
		return nil, err
	}
	p, err := input.PartsOf(f, &o.parts)
	d.Nodes, d.Channels = slices.Concat(p.Switches, p.Adapters), p.Cables
	return d, err
}

// portion reads a number, or a percentage of all, rounded up.
func portion(flag, text string, all int) (int, error) {
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		share, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(share >= 0 && share <= 100) {
			return 0, exit.Usage("%s %s: a percentage is from 0%% to 100%%", flag, text)
		}
		// Less a hair, so that 30% of 10 is not 4 for a rounding error.
		return int(math.Ceil(share*float64(all)/100 - 1e-9)), nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, exit.Usage("%s %s: give a whole number, or a percentage such as 2%%", flag, text)
	}
	return int(n), nil
}

// tellLoss says on standard error what went and what is left.
func tellLoss(a *console.Console, s *result.Degrade, f, left *fabric.Fabric) {
	removed := words.Lists(
		words.Kind{Names: s.Removed.Switches, What: "switch"},
		words.Kind{Names: s.Removed.Adapters, What: "adapter"},
		words.Kind{Names: list.Of(s.Removed.Links, result.RemovedLink.String), What: "cable"},
	)
	if removed == nil {
		removed = []string{"nothing (--cables, --switches, --cable, --switch and --host say what)"}
	}
	for _, line := range removed {
		a.Tell("removed %s", line)
	}
	a.Tell("left %s, %s between them, %s",
		words.Plural(s.Left.Switches, "switch"), words.Plural(s.Left.Links, "cable"), words.Plural(s.Left.Adapters, "adapter"))
	if s.Left.Parts > 1 && s.Left.Parts > len(f.Parts()) {
		a.Note("the network falls into %d parts, which no route can join:%s", s.Left.Parts, report.Parts(left, left.Parts()))
	}
}
