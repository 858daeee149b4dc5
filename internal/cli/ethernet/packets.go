package ethernet

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/ethernet/cure"
	"github.com/weft-fabric/weft/internal/ethernet/pfc"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// packetsFlags is the flags of weft packets for lossless Ethernet.
type packetsFlags struct {
	networkFlags
	lossless, xoff, xon, cable int
}

// Packets makes of weft packets, the command c of InfiniBand, one that takes lossless Ethernet too.
func Packets(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &packetsFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"json", "preset", "seed", "replay-cycle"},
		flags:   o.addTo,
		long: `Of a lossless Ethernet network --replay-cycle sends the flows of its credit loop under
priority flow control: they stop the network, and drain with the rules of weft priorities.
--preset is roce-100g or roce-400g. See docs/ethernet.md.`,
		run: func(cmd *cobra.Command, name string) error { return runPackets(a, cmd, name, o) },
	})
}

func (o *packetsFlags) addTo(f *pflag.FlagSet) {
	o.networkFlags.addTo(f)
	f.IntVar(&o.lossless, "lossless", 0, "lossless priorities there may be in the rules that the same flows are sent under (default two for each that is lossless)")
	f.IntVar(&o.xoff, "xoff", 0, "bytes of a priority group at which a port sends a pause (default that of the preset)")
	f.IntVar(&o.xon, "xon", 0, "bytes at which the pause ends (default that of the preset)")
	f.IntVar(&o.cable, "cable-length", 0, "meters of every cable (default that of the preset)")
}

// config is a preset of hardware, the first if none is named, with what other flags change of it, and the preset's name.
func (o *packetsFlags) config(cmd *cobra.Command) (pfc.Config, string, error) {
	preset := pfc.Presets()[0].Name
	if f := cmd.Flags().Lookup("preset"); f.Changed {
		preset = f.Value.String()
	}
	c, err := pfc.PresetNamed(preset)
	if err != nil {
		return c, "", exit.Usage("--preset: %w", err)
	}
	for _, set := range []struct {
		flag  string
		value int
		to    *int
	}{{"xoff", o.xoff, &c.Xoff}, {"xon", o.xon, &c.Xon}, {"cable-length", o.cable, &c.Cable}} {
		if !cmd.Flags().Changed(set.flag) {
			continue
		}
		if set.value < 0 || set.value > 1<<30 {
			return c, "", exit.Usage("--%s %d: give a number from 0", set.flag, set.value)
		}
		*set.to = set.value
	}
	if c.Xon >= c.Xoff || c.Xoff < c.Packet {
		return c, "", exit.Usage("--xoff %d, --xon %d: xon is below xoff, and xoff holds a packet of %d bytes", c.Xoff, c.Xon, c.Packet)
	}
	return c, preset, nil
}

// runPackets answers weft packets --replay-cycle of the network called name.
func runPackets(a *console.Console, cmd *cobra.Command, name string, o *packetsFlags) error {
	if replay, err := cmd.Flags().GetBool("replay-cycle"); err != nil || !replay {
		return exit.Usage("of a lossless Ethernet network weft packets simulates its credit loop: give --replay-cycle")
	}
	seed, err := cmd.Flags().GetUint64("seed")
	if err != nil {
		return err
	}
	config, preset, err := o.config(cmd)
	if err != nil {
		return err
	}
	in, err := o.read(a, name)
	if err != nil {
		return err
	}
	if err := in.judgeable(); err != nil {
		return err
	}
	if !cmd.Flags().Changed("lossless") {
		o.lossless = in.twice()
	}
	v, err := judge.Verify(cmd.Context(), in.Network, judge.Options{})
	if err != nil {
		return err
	}
	s := &result.ReplayEthernet{Verdict: outputs.WordOf(v), Cycle: outputs.EthernetSteps(in.Network, v.Cycle), Preset: preset, Headroom: config.Headroom()}
	if !v.Free() {
		if err := o.replay(cmd.Context(), in.Network, v, config, seed, s); err != nil {
			return err
		}
	}
	asJSON, err := cmd.Flags().GetBool("json")
	if err != nil {
		return err
	}
	return a.Answer(asJSON, s, func() error { return a.Show(replayScreen(a, name, in, o.lossless, v, s)) }, s.Run != nil && s.Run.Stuck > 0)
}

// replay sends flows of the loop of a verdict, and then the same flows on the network with rules, and fills in s.
func (o *packetsFlags) replay(ctx context.Context, n *ethernet.Network, v *judge.Verdict, config pfc.Config, seed uint64, s *result.ReplayEthernet) error {
	r, err := pfc.ReplayCycle(ctx, n, config, v.Cycle, seed)
	if err != nil {
		return err
	}
	s.Flows, s.Attempt, s.Run = len(r.Flows), r.Attempt, runOf(n, r.Result)
	options := cure.Options{Lossless: o.lossless}
	for _, p := range n.Priorities.Lossless() {
		options.Start = append(options.Start, uint8(p))
	}
	c, err := cure.Compute(ctx, n, options)
	if err != nil {
		s.NoRules = err.Error()
		return nil
	}
	cured, err := r.On(ctx, c.Network, config, func(mark uint8) uint8 { return c.Mark(n.Priorities.Of(mark, 0)) })
	if err != nil {
		return err
	}
	if cured.Deadlocked() {
		return exit.Internal("the rules are proven, and the simulator stops")
	}
	s.WithRules, s.Rules = runOf(n, cured), len(c.Rules)
	return nil
}

func runOf(n *ethernet.Network, r *pfc.Result) *result.EthernetRun {
	e := &result.EthernetRun{Status: "completed", Sent: r.Sent, Delivered: r.Delivered, Dropped: r.Dropped, Overflows: r.Overflows, Stuck: r.Stuck, End: float64(r.End) / 1000}
	if r.Deadlocked() {
		e.Status = "deadlocked"
	}
	for _, h := range r.Cycle {
		e.Held = append(e.Held, result.EthernetHeld{EthernetLink: outputs.EthernetLink(n, h.Link), Priority: h.Lane, Packets: h.Packets})
	}
	return e
}

func replayScreen(a *console.Console, name string, in *networkInput, lossless int, v *judge.Verdict, s *result.ReplayEthernet) *console.Page {
	p := a.NewPage()
	n := in.Network
	in.factNetwork(p, name)
	if v.Free() {
		p.Judged(true, "%s%s: there is no credit loop to replay", result.DeadlockFree, in.covered())
		return p
	}
	p.Judged(false, "%s, a shortest one of %d steps:\n%s", result.CreditLoop, len(v.Cycle), loopText(a, n, v.Cycle))
	p.Fact("preset", "%s, %s bytes of headroom", s.Preset, words.Thousands(int64(s.Headroom)))
	if s.Run.Stuck == 0 {
		p.Fact("replay", "completed: %s packets of %s arrived in each of %d attempts. The loop is possible; this traffic does not close it", words.Thousands(int64(s.Run.Delivered)), words.Plural(s.Flows, "flow"), s.Attempt)
	} else {
		lines := list.Of(s.Run.Held, func(h result.EthernetHeld) string {
			return fmt.Sprintf("%s, %s → %s, %s, priority %d: paused for ever, %s wait behind it", h.From, h.FromInterface, h.To, h.ToInterface, h.Priority, words.Plural(h.Packets, "packet"))
		})
		p.Fact("replay", "deadlocked: of %s packets of %s, %s will never move (attempt %d)\n%s", words.Thousands(int64(s.Run.Sent)), words.Plural(s.Flows, "flow"), words.Thousands(int64(s.Run.Stuck)), s.Attempt, strings.Join(lines, "\n"))
	}
	switch {
	case s.NoRules != "":
		p.Fact("with rules", "none: %s", s.NoRules)
	case s.WithRules != nil:
		p.Fact("with rules", "the same flows are completed: %s packets arrived, %s dropped, the last after %.1f us (weft priorities %s --lossless %d)", words.Thousands(int64(s.WithRules.Delivered)), words.Thousands(int64(s.WithRules.Dropped)), s.WithRules.End/1000, in.again, lossless)
	}
	return p
}
