package route

import (
	"fmt"
	"math"
	"strings"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// readCounters reads counters, events and the planned cabling into j.seen and j.received.
func (j *compareJob) readCounters() error {
	o := &j.o.measured
	if err := o.Check(); err != nil {
		return err
	}
	seen, err := o.Read(j.Console, j.fabric)
	if err != nil {
		return err
	}
	j.seen = seen
	switch {
	case seen.Rated != nil:
		j.received = receivedOf(j.fabric, []string{seen.RatedOf}, seen.Rated)
	case seen.Sent != nil && len(seen.Sent.Received) > 0:
		j.received = receivedOf(j.fabric, seen.Files, seen.Sent)
	}
	return nil
}

// inTrouble is the list of cables in trouble, made once, after the first row was measured; nil where
// no flag says anything of cables.
func (j *compareJob) inTrouble() *result.Trouble {
	if !j.o.measured.Given() {
		return nil
	}
	if j.troubled == nil {
		j.troubled = j.seen.Trouble(j.waiting)
	}
	return j.troubled
}

// explain puts the counters beside the routes of a row: the row gets the correlation, and of the first
// row what its routes do not explain is kept in j.
func (j *compareJob) explain(row *result.CompareRow, t *routing.Tables, loads *congestion.Loads) {
	counted := j.seen.Sent
	if counted == nil || counted.Ports == 0 {
		return
	}
	m := explain.Trunks(t, loads, j.o.measured.Counted(counted))
	if !math.IsNaN(m.Correlation) {
		row.Correlation = &m.Correlation
	}
	if j.explained != nil {
		return
	}
	j.waiting = m.Findings
	j.explained = &result.Measured{Files: j.seen.Files, Ports: counted.Ports, Trunks: m.Trunks, Row: row.Name}
	j.explained.Findings = list.Of(m.Findings, func(f explain.Finding) result.MeasuredFinding {
		return result.MeasuredFinding{Kind: f.Kind.String(), Channel: j.fabric.ChannelLabel(f.Trunk), Factor: f.Factor, Bytes: f.Bytes, Routes: f.Routes, ChannelNodes: outputs.Ends(j.fabric, f.Trunk)}
	})
}

// sayMeasured prints what counters show beside the routes.
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
	lines := list.Of(m.Findings, func(f result.MeasuredFinding) string { return "  " + outputs.MeasuredText(&f) })
	if len(lines) == 0 {
		lines = []string{fmt.Sprintf("  no cable is far from what the routes of %s explain", m.Row)}
	} else {
		text += fmt.Sprintf("\n  not as the routes of %s explain:", m.Row)
	}
	return j.Say("%s\n%s", text, j.First(report.MaxSteps, lines, func(n int) string { return fmt.Sprintf("  … and %d more (--json has all)", n) }))
}

// measuredFound reports whether cables are not as routes explain in a way that traffic alone does
// not make.
func measuredFound(m *result.Measured) bool {
	if m == nil {
		return false
	}
	for _, f := range m.Findings {
		if f.Kind == "slow" || f.Kind == "waits" || f.Kind == "no route" {
			return true
		}
	}
	return false
}
