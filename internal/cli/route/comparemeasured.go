package route

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

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
			rated, j.received = append(rated, name), receivedOf(j.fabric, []string{name}, c)
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
		j.received = receivedOf(j.fabric, names, j.counted)
	}
	return nil
}

// explain puts the counters beside the routes of a row.
func (j *compareJob) explain(row *result.CompareRow, t *routing.Tables, loads *congestion.Loads) {
	if j.counted == nil {
		return
	}
	m := explain.Trunks(t, loads, explain.Counted{
		Bytes: j.counted.Bytes, Wait: j.counted.Wait, Known: j.counted.Known, Seconds: j.o.during.Seconds(), Tick: j.o.tick.Seconds(),
	})
	if !math.IsNaN(m.Correlation) {
		row.Correlation = &m.Correlation
	}
	if j.explained != nil {
		return
	}
	j.explained = &result.Measured{Files: j.files, Ports: j.counted.Ports, Trunks: m.Trunks, Row: row.Name}
	j.explained.Findings = list.Of(m.Findings, func(f explain.Finding) result.MeasuredFinding {
		return result.MeasuredFinding{Kind: f.Kind.String(), Channel: j.fabric.ChannelLabel(f.Trunk), Factor: f.Factor, Bytes: f.Bytes, Routes: f.Routes, ChannelNodes: outputs.Ends(j.fabric, f.Trunk)}
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
	lines := list.Of(m.Findings, func(f result.MeasuredFinding) string { return "  " + f.Text() })
	if len(lines) == 0 {
		lines = []string{fmt.Sprintf("  no cable is far from what the routes of %s explain", m.Row)}
	} else {
		text += fmt.Sprintf("\n  not as the routes of %s explain:", m.Row)
	}
	return j.Say("%s\n%s", text, j.First(report.MaxSteps, lines, func(n int) string { return fmt.Sprintf("  … and %d more (--json has all)", n) }))
}
