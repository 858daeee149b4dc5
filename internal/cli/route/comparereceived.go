package route

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/measured"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

const limitsFrom = "NVIDIA, InfiniBand Cluster Bring-up Procedure: UFM Telemetry, NDR link quality"

// receivedOf is how well ports receive by the counters of some files: the ports, the worst first, with the
// levels that their error rates reach; and cables whose ends correct errors in different ways.
func receivedOf(f *fabric.Fabric, files []string, counted *counters.Counters) *result.Received {
	all := counted.Received // by the channel that leaves the port
	s := &result.Received{Files: files, Ports: len(all), NoBytes: counted.Ports == 0, Source: limitsFrom}
	final, resent := counters.FinalLimit, counters.ResentLimit
	s.Limits = []result.RateLimit{
		{Rate: "symbol", Resends: false, Warning: final.Warning, Bad: final.Bad},
		{Rate: "symbol", Resends: true, Warning: final.Warning, Bad: final.Bad},
		{Rate: "effective", Resends: false, Warning: final.Warning, Bad: final.Bad},
		{Rate: "effective", Resends: true, Warning: resent.Warning, Bad: resent.Bad},
	}
	outs := slices.Sorted(maps.Keys(all))
	for _, out := range outs {
		in := f.Channel(out).Reverse
		if r, far := all[out], all[in]; out < in && r.FEC != "" && far.FEC != "" && !strings.EqualFold(r.FEC, far.FEC) {
			s.FEC = append(s.FEC, result.DifferentFEC{Channel: f.ChannelLabel(out), From: r.FEC, To: far.FEC, ChannelNodes: outputs.Ends(f, out)})
		}
	}
	slices.SortStableFunc(outs, func(x, y fabric.ChannelID) int { return worseFirst(all[x], all[y]) })
	for _, out := range outs {
		r := all[out]
		in := f.Channel(out).Reverse
		level := ""
		if r.Rated() {
			level = r.Level().String()
		}
		s.Rates = append(s.Rates, result.ReceivedPort{
			Level:   level,
			Channel: f.ChannelLabel(in), ChannelNodes: outputs.Ends(f, in),
			Symbol: measured.Known(r.Symbol), Effective: measured.Known(r.Effective), Raw: measured.Known(r.Raw),
			SymbolErrors: measured.Known(r.Errors[counters.Symbol]), EffectiveErrors: measured.Known(r.Errors[counters.Effective]),
			FEC: r.FEC, Retransmission: r.Retransmission,
		})
		switch r.Level() {
		case counters.Bad:
			s.Bad++
		case counters.Warning:
			s.Warnings++
		}
	}
	return s
}

// worseFirst orders ports by their level, then by what is wrong after all correction. A rate that is not known, NaN, is
// less than any other.
func worseFirst(x, y counters.Received) int {
	final := func(r counters.Received) float64 {
		if math.IsNaN(r.Symbol) {
			return r.Effective
		}
		return r.Symbol
	}
	return -cmp.Or(cmp.Compare(x.Level(), y.Level()), cmp.Compare(final(x), final(y)), cmp.Compare(x.Effective, y.Effective),
		cmp.Compare(x.Errors[counters.Symbol], y.Errors[counters.Symbol]), cmp.Compare(x.Errors[counters.Effective], y.Errors[counters.Effective]), cmp.Compare(x.Raw, y.Raw))
}

// shown reports whether people are shown a port: a rate or a number of errors is above what is normal.
func shown(p result.ReceivedPort) bool {
	above := func(v *float64, least float64) bool { return v != nil && *v > least }
	const normal = 1e-15 // by NVIDIA
	return above(p.Symbol, normal) || above(p.Effective, normal) || above(p.SymbolErrors, 0) || above(p.EffectiveErrors, 0)
}

// sayReceived says how well ports receive. Counters with bytes, without rates and without an error are
// no news.
func (j *compareJob) sayReceived() error {
	s := j.received
	if s == nil || !s.NoBytes && !slices.ContainsFunc(s.Rates, shown) {
		return nil
	}
	from := strings.Join(s.Files, " to ") // counters before and after
	text := fmt.Sprintf("\nreceived: %s, %s with a cable", from, words.Counted(s.Ports, "port", "ports"))
	rated := slices.ContainsFunc(s.Rates, func(p result.ReceivedPort) bool { return p.Level != "" })
	if s.NoBytes {
		what, advice := "errors", "take them with ibqueryerrors --data, or with perfquery -x"
		if rated {
			what, advice = "error rates", "for those give the ibdiagnet2.pm or ibdiagnet2.db_csv of that run as well"
		}
		text += fmt.Sprintf("\n  %s, and no bytes: routes and loads are not compared with it; %s", what, advice)
	}
	if rated {
		final, resent := counters.FinalLimit, counters.ResentLimit
		text += fmt.Sprintf("\n  %s an error limit, %s below it a warning limit; symbol and effective rates: %.0e and %.0e, effective where the link sends again (PLR): %.0e and %.0e\n  (%s)",
			words.Counted(s.Bad, "port reaches", "ports reach"), words.Thousands(s.Warnings), final.Bad, final.Warning, resent.Bad, resent.Warning, s.Source)
	}
	for _, d := range s.FEC {
		text += fmt.Sprintf("\n  two modes of error correction on one cable: %s: %s and %s", d.Channel, d.From, d.To)
	}
	if err := j.Say("%s", text); err != nil {
		return err
	}
	listed := slices.DeleteFunc(slices.Clone(s.Rates), func(p result.ReceivedPort) bool { return !shown(p) })
	if len(listed) == 0 {
		return j.Say("  no port has errors beyond correction")
	}
	t := j.NewTable("level", "receives over", "symbol", "effective", "raw", "symbol errors", "effective errors", "FEC", "resends")
	t.Right(2, 6)
	n := j.AtMost(report.MaxSteps, len(listed))
	for _, p := range listed[:n] {
		cells := list.Of([]*float64{p.Symbol, p.Effective, p.Raw}, func(v *float64) any { return figure("%.1e", v) })
		cells = append(append([]any{p.Level, p.Channel}, cells...), figure("%.0f", p.SymbolErrors), figure("%.0f", p.EffectiveErrors), p.FEC, p.Retransmission)
		t.Row(cells...)
	}
	if j.o.markdown {
		t.RenderMarkdown()
	} else {
		t.Render()
	}
	if n < len(listed) {
		if err := j.Say("  … and %d more (--json has all)", len(listed)-n); err != nil {
			return err
		}
	}
	if rest := s.Ports - len(listed); rest > 0 {
		return j.Say("  %s no errors beyond correction", words.Counted(rest, "other port has", "other ports have"))
	}
	return nil
}

// figure is a cell of the table; empty where the number is not known.
func figure(form string, v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(form, *v)
}

// receivedFound reports whether a rate is at the limit, or a cable has two modes.
func receivedFound(s *result.Received) bool { return s != nil && (s.Bad > 0 || len(s.FEC) > 0) }
