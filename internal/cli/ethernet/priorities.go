package ethernet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/ethernet/cure"
	"github.com/weft-fabric/weft/internal/ethernet/dependencies"
	"github.com/weft-fabric/weft/internal/ethernet/failures"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// prioritiesFlags is the flags of weft priorities.
type prioritiesFlags struct {
	networkFlags
	lossless, bounces int
	out               string
	force, json       bool
}

// Priorities makes the command weft priorities.
func Priorities(a *console.Console) *cobra.Command {
	o := &prioritiesFlags{}
	c := &cobra.Command{
		Use:   "priorities NETWORK",
		Short: "Compute rules for priorities that keep lossless Ethernet free of deadlock",
		Long: `Of a lossless Ethernet network routes stay as they are, and what is computed is rules
for priorities: which packets leave a device with another priority than they came
with, so that no pauses can wait for each other in a circle, now, after the failure
of any link, and with --bounces when devices send packets astray. --lossless says how
many lossless priorities there may be. With --out the folder gets the rules as CSV and
JSON, and as SONiC's maps where those suffice. See docs/ethernet.md.

NETWORK is a folder with what the devices say, as of weft verify; with --routes also a
Containerlab file or a computed network.`,
		Example: `  weft priorities dumps --lossless 2 --out rules
  weft priorities dumps --lossless 2 --bounces 1
  weft priorities torus:4x4 --routes ecmp --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runPriorities(cmd.Context(), a, args[0], o) },
	}
	f := c.Flags()
	o.networkFlags.addTo(f)
	f.IntVar(&o.lossless, "lossless", 2, "lossless priorities there may be")
	flags.Whole(f, &o.bounces, "bounces", 0, 0, 3, "it is 0 to 3", "serve packets that so many devices send by a link that is not a next hop, in place of failures")
	f.StringVar(&o.out, "out", "", "folder to write the rules into")
	f.BoolVar(&o.force, "force", false, "replace the files of an earlier run in the folder")
	flags.AddJSON(f, &o.json)
	return c
}

// prioritiesJob is one run of weft priorities: compute sets its parts in the order in which they are here.
type prioritiesJob struct {
	*console.Console
	name    string
	o       *prioritiesFlags
	in      *networkInput
	options cure.Options
	c       *cure.Cure
	maps    []*cure.Maps // [DeviceID] SONiC's; nil: they do not suffice
	s       result.Priorities
}

func runPriorities(ctx context.Context, a *console.Console, name string, o *prioritiesFlags) error {
	j := &prioritiesJob{Console: a, name: name, o: o}
	if err := j.compute(ctx); err != nil {
		return err
	}
	if o.out != "" {
		j.s.Out = o.out
		if err := output.WriteFolder(o.out, o.force, func(d *output.Folder) error { return j.write(ctx, d) }); err != nil {
			return err
		}
	}
	return a.Answer(o.json, &j.s, func() error { return a.Show(j.screen()) }, j.c.Lossy > 0)
}

// compute reads the network, finds the rules and has them judged.
func (j *prioritiesJob) compute(ctx context.Context) error {
	s := j.Stage("reading", &j.s.Seconds.Read)
	var err error
	j.in, err = j.o.read(j.Console, j.name)
	s.Done()
	if err != nil {
		return err
	}
	if err := j.in.judgeable(); err != nil {
		return err
	}
	j.options = cure.Options{Lossless: j.o.lossless, Bounces: j.o.bounces}
	for _, p := range j.in.Priorities.Lossless() {
		j.options.Start = append(j.options.Start, uint8(p))
	}
	if err := j.paths(ctx); err != nil {
		return err
	}
	s = j.Stage("rules", &j.s.Seconds.Rules)
	j.c, err = cure.Compute(ctx, j.in.Network, j.options)
	s.Done()
	if err != nil {
		return exit.Usage("%w", err)
	}
	s = j.Stage("verify", &j.s.Seconds.Verify)
	defer s.Done()
	return j.judge()
}

// paths sets which paths rules have to serve: options.After, if those after failures, and the words for the summary.
func (j *prioritiesJob) paths(ctx context.Context) error {
	switch {
	case j.o.bounces > 0:
		j.s.Paths = "as routed, and with " + words.Plural(j.o.bounces, "bounce")
		return nil
	case j.in.plan == nil && j.in.AS == nil && j.o.as == "":
		j.s.Paths = "as routed"
		j.in.Notes = append(j.in.Notes, "failures are not served: AS numbers are not known (--as, or --bounces 1)")
		return nil
	}
	after := &networkInput{Network: j.in.Network, plan: j.in.plan}
	if after.plan == nil { // the routes after failures are computed, those of now are as read
		computed := *j.in.Network
		computed.Classes = slices.Clone(computed.Classes)
		after.Network = &computed
		if err := j.o.planFor(after); err != nil {
			return err
		}
		after.plan.Fill(after.Classes)
	}
	j.s.Paths = "as routed, and after the failure of any link"
	j.options.After = failures.After(ctx, after.plan, after.Network, failures.Links)
	return nil
}

// judge proves the rules, on all paths that they serve, and SONiC's maps where they suffice, and fills in the summary. The
// rules were made to be free of loops: that they are not is an error of weft.
func (j *prioritiesJob) judge() error {
	c, n := j.c, j.in.Network
	j.fitSonic()
	networks := []*ethernet.Network{n, c.Network}
	if j.maps != nil && c.Turns > 0 { // maps without a rule do nothing
		networks = append(networks, cure.Mapped(c, j.maps))
	}
	unions := j.unions(networks) // as networks: before, with the rules, with SONiC's maps
	before, _ := unions[0].Free()
	free, count := unions[1].Free()
	if !free {
		return exit.Internal("the rules leave a credit loop")
	}
	if len(unions) > 2 {
		if mapped, _ := unions[2].Free(); !mapped {
			return exit.Internal("SONiC's maps leave a credit loop")
		}
	}
	j.s.Before, j.s.Verdict = outputs.Word(before), outputs.Word(free)
	j.s.Routes, j.s.Assumed, j.s.NotCovered = j.in.routes, append([]string{}, n.Notes...), j.in.notCovered()
	j.s.Lossless, j.s.Needed, j.s.Order, j.s.Turns, j.s.Lossy, j.s.PerDevice = j.o.lossless, c.Needed, c.Order, c.Turns, c.Lossy, c.PerDevice
	j.s.Rules = list.Of(c.Names(), func(r cure.Named) result.PriorityRule { return result.PriorityRule(r) })
	j.s.Dependencies = count
	for _, ladder := range c.Ladders {
		j.s.Ladders = append(j.s.Ladders, list.Of(ladder, func(p uint8) int { return int(p) }))
	}
	return nil
}

// fitSonic sets maps to the rules in SONiC's form, or to nil if a device's do not fit; the summary says why.
func (j *prioritiesJob) fitSonic() {
	j.maps = nil
	for d := range ethernet.DeviceID(len(j.in.Names)) {
		m, err := j.c.Sonic(d)
		if err != nil {
			j.s.Sonic, j.maps = "do not suffice: "+err.Error(), nil
			return
		}
		j.maps = append(j.maps, m)
	}
	j.s.Sonic = "suffice, and are proven too"
}

// unions is, for each of some networks that differ in their rules, the dependencies of all paths that the rules serve. Those
// are paths of the network as read: rules change no route.
func (j *prioritiesJob) unions(networks []*ethernet.Network) []*dependencies.Union {
	unions := list.Of(networks, func(n *ethernet.Network) *dependencies.Union { return dependencies.NewUnion(n, ethernet.HostScope) })
	n := j.in.Network
	for _, u := range unions {
		for class := range n.Classes {
			if n.Wanted(class, ethernet.HostScope) {
				u.Add(class, n.Classes[class].Next)
				if j.o.bounces > 0 {
					u.AddAstray(class, j.o.bounces)
				}
			}
		}
	}
	if j.options.After != nil { // fails only where it was interrupted, as everything then does
		_ = j.options.After(func(class int, next ethernet.Row) {
			for _, u := range unions {
				u.Add(class, next)
			}
		})
	}
	return unions
}

// write writes the rules, SONiC's maps of each device where they suffice, and the summary.
func (j *prioritiesJob) write(ctx context.Context, d *output.Folder) error {
	all := []files.File{{Name: output.Rules, Write: j.c.WriteJSON}, {Name: output.RulesTable, Write: j.c.WriteCSV}}
	for i, m := range j.maps {
		all = append(all, files.File{Name: j.in.Names[i] + output.SonicMaps, Write: m.Write})
	}
	return d.Write(ctx, append(all, output.JSONFile(j.Console, output.Summary, &j.s))...)
}

// maxRules is how many rules are shown on a terminal.
const maxRules = 12

func (j *prioritiesJob) screen() *console.Page {
	p := j.NewPage()
	c := j.c
	j.in.factNetwork(p, j.name)
	p.Fact("paths", "%s", j.s.Paths)
	p.Fact("before", "%s over these paths", j.s.Before)
	p.Judged(true, "%s with the rules%s: %s dependencies over every choice of ECMP, a rank that rises along each", j.s.Verdict, j.in.covered(), words.Thousands(j.s.Dependencies))
	p.Fact("outside", "of any proof: %s", strings.Join(outside, ", "))
	p.Fact("lanes", "%s", j.lanesText())
	if len(c.Rules) > 0 {
		p.Fact("rules", "%s at %s turns, %d at most at a device (order: %s)\n%s", words.Plural(len(c.Rules), "rule"), words.Thousands(c.Turns), c.PerDevice, c.Order, j.rulesText())
	}
	if c.Lossy > 0 {
		p.Fact("lossy", "packets become lossy at %s, where no priority is left", words.Plural(c.Lossy, "turn"))
	}
	p.Fact("SONiC", "its maps %s", j.s.Sonic)
	p.Fact("time", "read %s, rules %s, verify %s", words.Seconds(j.s.Seconds.Read), words.Seconds(j.s.Seconds.Rules), words.Seconds(j.s.Seconds.Verify))
	if j.s.Out == "" {
		p.Fact("next", "--out DIR writes the rules")
	} else {
		p.Fact("written", "%s", j.s.Out)
	}
	return p
}

// lanesText says how many priorities are needed, and which follow each other on the way of a packet.
func (j *prioritiesJob) lanesText() string {
	parts := list.Of(j.s.Ladders, func(ladder []int) string {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(ladder), " ", " → "), "[]")
	})
	return fmt.Sprintf("%d lossless needed, %d available; priorities %s", j.c.Needed, j.o.lossless, strings.Join(parts, ", "))
}

func (j *prioritiesJob) rulesText() string {
	lines := list.Of(j.s.Rules, func(r result.PriorityRule) string {
		return fmt.Sprintf("%s: from %s to %s, priority %d → %s", r.Device, shortList(r.In), shortList(r.Out), r.Priority, r.Becomes)
	})
	return j.First(maxRules, lines, func(n int) string { return fmt.Sprintf("and %d more (--json has all)", n) })
}

// shortList is names for people, the first and the last of many.
func shortList(names []string) string {
	if len(names) <= 4 {
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("%s … %s (%d)", names[0], names[len(names)-1], len(names))
}
