package ethernet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/ethernet/ecmp"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// Simulate is weft simulate, the command c of InfiniBand with its flags for the job, of lossless
// Ethernet too.
func Simulate(a *console.Console, c *cobra.Command, job *flags.Job) *cobra.Command {
	o := &trafficFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"json", "pattern", "traffic", "allocation", "ranks", "rail", "per-endpoint", "seed", "runs", "precision", "hot", "engine"},
		flags:   o.addNamedTo,
		long: `Of a lossless Ethernet network flows are hashed over the next hops of every device,
by the weights that dumps state: each queue pair between two adapters (--qps) is a
flow, with its part of the bytes. Beside it is spraying, packet by packet, and with
--engine pins: one way to each adapter, by that engine. Each has its time, 1 being that
in which nobody is in another's way, with its standard error, the worst of all runs,
and the bound that no ways beat: the adapters, and the cables of the devices that they
are behind. With --routes the network may be a Containerlab file or a computed one.`,
		run: func(cmd *cobra.Command, name string) error { return runSimulate(a, cmd, name, o, job) },
	})
}

// runSimulate reads the network, puts the job on its adapters, and finds how long its traffic takes in each way; that packets
// are lost is a finding.
func runSimulate(a *console.Console, cmd *cobra.Command, name string, o *trafficFlags, job *flags.Job) error {
	if err := o.check(); err != nil {
		return err
	}
	j := trafficJob{}
	var hot int
	var asJSON bool
	if err := errorOf(
		get(cmd.Flags().GetUint64, "seed", &j.seed), get(cmd.Flags().GetInt, "runs", &j.runs), get(cmd.Flags().GetFloat64, "precision", &j.precision),
		get(cmd.Flags().GetInt, "hot", &hot), get(cmd.Flags().GetBool, "json", &asJSON),
	); err != nil {
		return err
	}
	if !(j.precision >= 0) { // not a number is not
		return exit.Usage("--precision %g: it cannot be negative", j.precision)
	}
	pattern, err := job.Parse(a)
	if err != nil {
		return err
	}
	s := &result.SimulateEthernet{Network: name, Seed: j.seed}
	stage := a.Stage("reading", &s.Seconds.Read)
	t, err := o.readTraffic(a, name)
	stage.Done()
	if err != nil {
		return err
	}
	if j.pattern, j.placement, err = job.Place(a, t.f, t.among(), pattern, j.seed); err != nil {
		return err
	}
	stage = a.Stage("simulate", &s.Seconds.Simulate)
	var loads *ecmp.Result
	if s.Ways, loads, err = t.hashedWays(cmd.Context(), o, &j, stage.Progress()); err == nil && cmd.Flags().Changed("engine") {
		err = t.addPins(cmd, &j, &s.Ways)
	}
	stage.Done()
	if err != nil {
		return err
	}
	s.Routes, s.Assumed, s.NotCovered, s.Adapters = t.routes, append([]string{}, t.Notes...), append([]string{}, t.Gaps...), len(t.w.NICs)
	s.Pattern, s.Ranks, s.Advice = j.pattern.String(), len(j.placement), advice(s.Ways, j.pattern.String())
	s.Hot = t.hottest(loads, hot)
	lost := slices.ContainsFunc(s.Ways, func(w result.EthernetWay) bool { return w.Lost > 0 })
	return a.Answer(asJSON, s, func() error { return showSimulated(a, t, s) }, lost)
}

// addPins adds a way to the ways of some traffic: by the pins of --engine, or why that engine refuses.
func (t *trafficNetwork) addPins(cmd *cobra.Command, j *trafficJob, ways *[]result.EthernetWay) error {
	engine, err := cmd.Flags().GetString("engine")
	if err != nil {
		return err
	}
	tables, refused, err := t.pins(cmd.Context(), engine, j.seed, nil)
	if err != nil {
		return err
	}
	w := result.EthernetWay{Way: "pinned", Engine: engine, Refused: refused}
	if refused == "" {
		if w, err = t.pinned(cmd.Context(), engine, tables, j); err != nil {
			return err
		}
	}
	*ways = append(*ways, w)
	return nil
}

// get sets to to the value of a flag; of is the method of its type, as cmd.Flags().GetBool.
func get[T any](of func(string) (T, error), name string, to *T) error {
	v, err := of(name)
	*to = v
	return err
}

// errorOf is the first error.
func errorOf(list ...error) error { return cmp.Or(list...) }

// hottest is the links that most goes over by loads, so many at most, the hottest first.
func (t *trafficNetwork) hottest(loads *ecmp.Result, most int) []result.EthernetHot {
	order := make([]ethernet.LinkID, 0, len(t.Links))
	for l := range ethernet.LinkID(len(t.Links)) {
		if loads.Load[l] > 0 {
			order = append(order, l)
		}
	}
	slices.SortStableFunc(order, func(a, b ethernet.LinkID) int { return cmp.Compare(loads.Load[b], loads.Load[a]) })
	return list.Of(order[:min(most, len(order))], func(l ethernet.LinkID) result.EthernetHot {
		return result.EthernetHot{EthernetLink: outputs.EthernetLink(t.Network, l), Mean: loads.Load[l], Most: loads.Most[l]}
	})
}

func showSimulated(a *console.Console, t *trafficNetwork, s *result.SimulateEthernet) error {
	p := a.NewPage()
	t.factNetwork(p, s.Network)
	p.Fact("traffic", "%s, %s on %s", s.Pattern, words.Plural(s.Ranks, "rank"), words.Plural(s.Adapters, "adapter"))
	if err := a.Show(p); err != nil {
		return err
	}
	table := a.NewTable("way", "time", "worst", "bound", "runs", "lost")
	table.Right(1, 5)
	for i := range s.Ways {
		w := &s.Ways[i]
		if w.Refused != "" {
			table.Row(wayText(w), "–", "", "", "", "")
			continue
		}
		worst := ""
		if w.Worst > 0 {
			worst = twoPlaces(w.Worst)
		}
		table.Row(wayText(w), timeText(w), worst, twoPlaces(w.Bound), words.Thousands(w.Runs), words.Thousands(w.Lost))
	}
	table.Render()
	p = a.NewPage()
	for i := range s.Ways {
		if w := &s.Ways[i]; w.Refused != "" {
			p.Fact("refused", "%s: %s", wayText(w), w.Refused)
		}
	}
	p.Fact("figures", "time: of the fullest link of each phase, 1 if no flow is in another's way; bound: no ways are quicker; %s", t.figures())
	lines := list.Of(s.Hot, func(h result.EthernetHot) string {
		return h.From + ", " + h.FromInterface + " → " + h.To + ", " + h.ToInterface + ": " + twoPlaces(h.Mean) + " in the mean, " + twoPlaces(h.Most) + " at the most"
	})
	if len(lines) > 0 {
		p.Fact("hottest", "%s: %s", wayText(&s.Ways[0]), strings.Join(lines, "\n"))
	}
	if len(s.Advice) > 0 {
		p.Fact("advice", "%s", strings.Join(s.Advice, "\n"))
	}
	return a.Show(p)
}
