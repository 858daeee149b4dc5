package cli

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/counters"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
)

// receivedSummary is how well ports receive, by the files of --measured.
type receivedSummary struct {
	Files    []string       `json:"files"`
	Ports    int            `json:"ports"`              // with a cable, of which something is known
	NoBytes  bool           `json:"no_bytes,omitempty"` // the files say nothing of what ports have sent
	Source   string         `json:"limits_from"`
	Limits   []rateLimit    `json:"limits"`
	Bad      int            `json:"error_ports"`
	Warnings int            `json:"warning_ports"`
	Rates    []receivedPort `json:"by_rate,omitempty"`
	FEC      []fecDiffers   `json:"fec_differs,omitempty"`

	counted *counters.Counters
}

const limitsFrom = "NVIDIA, InfiniBand Cluster Bring-up Procedure: UFM Telemetry, NDR link quality"

// rateLimit is from where on a rate of errors counts.
type rateLimit struct {
	Rate    string  `json:"rate"`
	Resends bool    `json:"resends"` // of links that send again what was wrong
	Warning float64 `json:"warning"`
	Bad     float64 `json:"error"`
}

// receivedPort is how well a port receives.
type receivedPort struct {
	Level           string   `json:"level,omitempty"`
	Channel         string   `json:"channel"` // that it receives over
	Symbol          *float64 `json:"symbol,omitempty"`
	Effective       *float64 `json:"effective,omitempty"`
	Raw             *float64 `json:"raw,omitempty"`
	SymbolErrors    *float64 `json:"symbol_errors,omitempty"`
	EffectiveErrors *float64 `json:"effective_errors,omitempty"`
	FEC             string   `json:"fec,omitempty"`
	Retransmission  string   `json:"retransmission,omitempty"`
	report.ChannelNodes

	of counters.Received
}

// fecDiffers is a cable whose ends correct errors in two ways.
type fecDiffers struct {
	Channel string `json:"channel"`
	From    string `json:"from_fec"`
	To      string `json:"to_fec"`
	report.ChannelNodes
}

// finding says whether a rate is at the limit, or a cable has two modes.
func (s *receivedSummary) finding() bool { return s != nil && (s.Bad > 0 || len(s.FEC) > 0) }

// judge fills in what the counters say.
func (s *receivedSummary) judge(f *fabric.Fabric) {
	all := s.counted.Received
	s.Ports, s.NoBytes, s.Source = len(all), s.counted.Ports == 0, limitsFrom
	final, resent := counters.FinalLimit, counters.ResentLimit
	s.Limits = []rateLimit{{"symbol", false, final.Warning, final.Bad}, {"symbol", true, final.Warning, final.Bad}, {"effective", false, final.Warning, final.Bad}, {"effective", true, resent.Warning, resent.Bad}}
	for _, out := range slices.Sorted(maps.Keys(all)) {
		r := all[out]
		in := f.Channel(out).Reverse
		level := ""
		if r.Rated() {
			level = r.Level().String()
		}
		s.Rates = append(s.Rates, receivedPort{
			level, f.ChannelLabel(in), known(r.Symbol), known(r.Effective), known(r.Raw), known(r.SymbolErrors), known(r.EffectiveErrors),
			r.FEC, r.Retransmission, report.EndsOf(f, in), r,
		})
		switch r.Level() {
		case counters.Bad:
			s.Bad++
		case counters.Warning:
			s.Warnings++
		}
		if far, ok := all[in]; ok && out < in && r.FEC != "" && far.FEC != "" && !strings.EqualFold(r.FEC, far.FEC) {
			s.FEC = append(s.FEC, fecDiffers{f.ChannelLabel(out), r.FEC, far.FEC, report.EndsOf(f, out)})
		}
	}
	slices.SortStableFunc(s.Rates, func(x, y receivedPort) int { return worseFirst(x.of, y.of) })
}

// known is a figure, or nil where nobody knows it.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// worseFirst orders ports by what is wrong in the end. NaN is less than any rate.
func worseFirst(x, y counters.Received) int {
	final := func(r counters.Received) float64 {
		if math.IsNaN(r.Symbol) {
			return r.Effective
		}
		return r.Symbol
	}
	return -cmp.Or(cmp.Compare(x.Level(), y.Level()), cmp.Compare(final(x), final(y)), cmp.Compare(x.Effective, y.Effective),
		cmp.Compare(x.SymbolErrors, y.SymbolErrors), cmp.Compare(x.EffectiveErrors, y.EffectiveErrors), cmp.Compare(x.Raw, y.Raw))
}

// told says whether people are shown a port: a rate or a number of errors is more than none.
func (p receivedPort) told() bool {
	const none = 1e-15 // which NVIDIA calls normal
	return p.of.Symbol > none || p.of.Effective > none || p.of.SymbolErrors > 0 || p.of.EffectiveErrors > 0
}

// sayReceived says how well ports receive. Counters without rates and without an error are no
// news.
func (j *compareJob) sayReceived() error {
	s := j.received
	if s == nil || !s.NoBytes && !slices.ContainsFunc(s.Rates, receivedPort.told) {
		return nil
	}
	text := fmt.Sprintf("\nreceived: %s, %s with a cable", strings.Join(s.Files, " to "), words.Counted(s.Ports, "port", "ports"))
	if s.NoBytes {
		text += "\n  error rates, and no bytes: routes and loads are not compared with it; for those give the ibdiagnet2.pm or ibdiagnet2.db_csv of that run as well"
	}
	rated := slices.ContainsFunc(s.Rates, func(p receivedPort) bool { return p.of.Rated() })
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
	told := slices.DeleteFunc(slices.Clone(s.Rates), func(p receivedPort) bool { return !p.told() })
	if len(told) == 0 {
		return j.Say("  no port has errors beyond correction")
	}
	t := j.NewTable("level", "receives over", "symbol", "effective", "raw", "symbol errors", "effective errors", "FEC", "resends")
	t.Right(2, 6)
	n := j.AtMost(report.MaxSteps, len(told))
	for _, p := range told[:n] {
		cells := list.Of([]float64{p.of.Symbol, p.of.Effective, p.of.Raw}, func(v float64) any { return figure("%.1e", v) })
		cells = append(append([]any{p.Level, p.Channel}, cells...), figure("%.0f", p.of.SymbolErrors), figure("%.0f", p.of.EffectiveErrors), p.FEC, p.Retransmission)
		t.Row(cells...)
	}
	if j.o.markdown {
		t.RenderMarkdown()
	} else {
		t.Render()
	}
	if n < len(told) {
		if err := j.Say("  … and %d more (--json has all)", len(told)-n); err != nil {
			return err
		}
	}
	if rest := s.Ports - len(told); rest > 0 {
		return j.Say("  %s no errors beyond correction", words.Counted(rest, "other port has", "other ports have"))
	}
	return nil
}

// figure is empty where nobody knows it.
func figure(form string, v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf(form, v)
}
