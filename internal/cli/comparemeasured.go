package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/format/counters"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

// measuredSummary is what counters of ports say beside what routes predict.
type measuredSummary struct {
	Files    []string          `json:"files"`
	Ports    int               `json:"ports"`  // with counters and a cable
	Trunks   int               `json:"trunks"` // channels between switches among them
	Row      string            `json:"row"`    // whose routes the findings are about
	Findings []measuredFinding `json:"findings,omitempty"`
}

// measuredFinding is a channel that is otherwise than its routes explain.
type measuredFinding struct {
	Kind    string  `json:"kind"`
	Channel string  `json:"channel"`
	Factor  float64 `json:"factor,omitempty"`
	Bytes   float64 `json:"bytes"`
	Routes  uint32  `json:"routes"`
	report.ChannelNodes
}

// finding says whether cables are not as routes explain in a way that traffic alone does
// not make.
func (m *measuredSummary) finding() bool {
	if m == nil {
		return false
	}
	for _, f := range m.Findings {
		if f.Kind == congestion.Slow.String() || f.Kind == congestion.Waiting.String() || f.Kind == congestion.Unexpected.String() {
			return true
		}
	}
	return false
}

const timesMeasured = "once, or for an earlier look and a later one, and once for an ibdiagnet2.net_dump_ext"

// readCounters reads the files of --measured.
func (j *compareJob) readCounters() error {
	files := j.o.measured
	if (j.o.during > 0) != (j.o.tick > 0) || len(files) == 0 && j.o.during > 0 {
		return exit.Usage("--measured-time and --measured-tick go together, with --measured: ticks by time say how long ports waited")
	}
	if j.o.during < 0 || j.o.tick < 0 {
		return exit.Usage("--measured-time and --measured-tick are not negative")
	}
	if len(files) > 3 {
		return exit.Usage("--measured is given %d times: %s", len(files), timesMeasured)
	}
	var sent []*counters.Counters // of files that say what ports have sent
	var names, rated []string
	for _, name := range files {
		c, err := console.ReadFile(j.Console, name, func(r io.Reader, file string) (*counters.Counters, error) {
			return counters.Read(r, file, j.fabric)
		})
		switch {
		case err != nil:
			return err
		case c.Ports > 0:
			sent, names = append(sent, c), append(names, name)
		default:
			rated, j.received = append(rated, name), &receivedSummary{Files: []string{name}, counted: c}
		}
	}
	switch {
	case len(rated) > 1:
		return exit.Usage("%s have error rates alone: one of them is enough, as each covers all the time since counters were cleared", words.FirstOf(rated))
	case len(sent) > 2:
		return exit.Usage("--measured is given %d times: %s", len(files), timesMeasured)
	case len(sent) == 0 && j.o.during > 0:
		return exit.Usage("--measured-time says how long bytes were counted, and %s has error rates alone", rated[0])
	case len(sent) == 1:
		j.counted = sent[0]
	case len(sent) == 2:
		if j.counted = sent[1].Since(sent[0]); j.counted.Ports == 0 {
			return fmt.Errorf("%s and %s have no port in common that has counted on since", names[0], names[1])
		}
	}
	j.files = names
	if j.received == nil && j.counted != nil && len(j.counted.Received) > 0 {
		j.received = &receivedSummary{Files: names, counted: j.counted}
	}
	if j.received != nil {
		j.received.judge(j.fabric)
	}
	return nil
}

// explain puts the counters beside the routes of a row.
func (j *compareJob) explain(row *compareRow, t *routing.Tables, loads *congestion.Loads) {
	if j.counted == nil {
		return
	}
	m := congestion.Explain(t, loads, congestion.Counted{
		Bytes: j.counted.Bytes, Wait: j.counted.Wait, Known: j.counted.Known, Seconds: j.o.during.Seconds(), Tick: j.o.tick.Seconds(),
	})
	if !math.IsNaN(m.Correlation) {
		row.Correlation = &m.Correlation
	}
	if j.explained != nil {
		return
	}
	j.explained = &measuredSummary{Files: j.files, Ports: j.counted.Ports, Trunks: m.Trunks, Row: row.Name}
	j.explained.Findings = list.Of(m.Findings, func(f congestion.Finding) measuredFinding {
		return measuredFinding{f.Kind.String(), j.fabric.ChannelLabel(f.Trunk), f.Factor, f.Bytes, f.Routes, report.EndsOf(j.fabric, f.Trunk)}
	})
}

// sayMeasured says what counters show.
func (j *compareJob) sayMeasured() error {
	m := j.explained
	if m == nil {
		return nil
	}
	var each []string
	for i := range j.rows {
		if c := j.rows[i].Correlation; c != nil {
			each = append(each, fmt.Sprintf("%s %.2f", j.rows[i].Name, *c))
		}
	}
	text := fmt.Sprintf("\nmeasured: %s, %s with a cable, %s of them between switches", strings.Join(m.Files, " to "), words.Counted(m.Ports, "port", "ports"), words.Thousands(m.Trunks))
	if len(each) > 0 {
		text += "\n  correlation of bytes with routes, if all send alike to all: " + strings.Join(each, ", ")
	}
	lines := list.Of(m.Findings, func(f measuredFinding) string { return "  " + f.text() })
	if len(lines) == 0 {
		lines = []string{fmt.Sprintf("  no cable is far from what the routes of %s explain", m.Row)}
	} else {
		text += fmt.Sprintf("\n  not as the routes of %s explain:", m.Row)
	}
	return j.Say("%s\n%s", text, j.First(report.MaxSteps, lines, func(n int) string { return fmt.Sprintf("  … and %d more (--json has all)", n) }))
}

func (f *measuredFinding) text() string {
	switch f.Kind {
	case congestion.Slow.String():
		return fmt.Sprintf("%s is where waiting ends: ports wait up to %.0f %% of the time to send to its switch, and no cable out of it waits or is full: this one, or another of the same switch, is slower than the fabric says", f.Channel, 100*f.Factor)
	case congestion.Waiting.String():
		return fmt.Sprintf("%s waits %.0f times as long for each byte as cables with as many routes: a slow cable behind it, or a wrong rate", f.Channel, f.Factor)
	case congestion.Unexpected.String():
		return fmt.Sprintf("%s carries %s, and no route leads over it: switches have other tables", f.Channel, words.Bytes(int64(f.Bytes)))
	case congestion.Idle.String():
		return fmt.Sprintf("%s carries nothing, and %s lead over it", f.Channel, words.Counted(f.Routes, "route", "routes"))
	}
	return fmt.Sprintf("%s carries %.1f times what its routes explain", f.Channel, f.Factor)
}
