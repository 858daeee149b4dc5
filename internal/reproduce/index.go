package reproduce

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
)

// Tally is how many claims agree, differ and are open.
type Tally struct{ Agree, Differ, Open int }

func (t *Tally) add(a claims.Agreement) {
	switch a {
	case claims.Agrees:
		t.Agree++
	case claims.Differs:
		t.Differ++
	default:
		t.Open++
	}
}

// Answered is a claim with its answer.
type Answered struct {
	claims.Claim
	claims.Answer
}

// Answers holds every claim of the experiment against its results.
func (o *Outcome) Answers() (list []Answered, t Tally) {
	for _, c := range o.Claims {
		a := Answered{c, claims.ByVariant(c.Check)(o.Results)}
		t.add(a.Agreement)
		list = append(list, a)
	}
	return list, t
}

// marks is what a row of the page says of an answer.
var marks = map[claims.Agreement]string{claims.Agrees: "✔ agrees", claims.Differs: "✘ differs", claims.Open: "– open"}

// byVariant is what a mark adds where lines have variants.
var byVariant = map[claims.Variant]string{
	claims.Both:     ", as printed and as improved",
	claims.Printed:  " as printed; ✘ differs as improved",
	claims.Improved: " as printed; ✔ agrees as improved",
}

// Index writes the page to read first.
func (r *Run) Index(w io.Writer, command string) error {
	var b strings.Builder
	if err := r.preamble(&b, command); err != nil {
		return err
	}
	for _, out := range r.Outcomes {
		r.section(&b, out)
	}
	b.WriteString("\n## Not reproduced\n\n| paper | what | why |\n|---|---|---|\n")
	for _, m := range papers.NotReproduced() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Paper, cell(m.What), cell(m.Why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// preamble writes what stands before the figures: how the run was made, how to read the page, what
// words are taken to ask for, and how many claims agree by figure.
func (r *Run) preamble(b *strings.Builder, command string) error {
	set := "full"
	if r.Options.Quick {
		set = "quick"
	}
	fmt.Fprintf(b, "# The papers' experiments, run by weft: %s set\n\n", set)
	fmt.Fprintf(b, "| | |\n|---|---|\n| date | %s |\n| machine | %s |\n| weft | %s |\n| command | `%s` |\n| seed | %d |\n",
		r.Date.Format(time.DateOnly), r.Options.Origin.Machine, r.Options.Origin.Weft, command, r.Options.Seed)
	runs := clock(r.SpentRuns) + " by the clock, in one run"
	switch {
	case r.Runs == 0:
		runs = "none here: all points were there"
	case r.Runs > 1:
		runs = fmt.Sprintf("%s by the clock, in %d runs, each going on where the one before was", clock(r.SpentRuns), r.Runs)
	}
	fmt.Fprintf(b, "| points | %d |\n", r.Points)
	if r.Foreign > 0 {
		fmt.Fprintf(b, "| of others | %d points were taken by another weft, or on another machine |\n", r.Foreign)
	}
	fmt.Fprintf(b, "| time | %s; the points took %s of processor time in all, %d at a time (those that measure time alone) |\n",
		runs, clock(r.SpentPoints), max(1, r.Options.Workers))
	if r.Options.Quick {
		seconds, points, err := r.Estimate()
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| full set | %d points, about %s of processor time on this machine: an estimate, scaled from the points of this run by the size of the networks |\n", points, clock(seconds))
	}
	names := "none; the points that use them are left out"
	if len(r.Options.Real) > 0 {
		var list []string
		for _, f := range r.Options.Real {
			n := f.Fabric.Count()
			list = append(list, fmt.Sprintf("%s (%d switches, %d hosts)", f.Name, n.Switches, n.HCA))
		}
		names = strings.Join(list, ", ")
	}
	fmt.Fprintf(b, "| real fabrics at hand | %s |\n", names)
	if ref := r.Options.OpenSM; ref != nil {
		fmt.Fprintf(b, "| OpenSM beside ours | version %s on a simulated fabric, its own tables of the same networks where they have at most about a thousand hosts |\n", ref.Version)
	}
	b.WriteString("\n")
	b.WriteString(`How to read it. Each section is a figure or table of a paper, measured again with weft's engines of the same names; where the
paper's text states something about it, a row says what it is, what came out here and whether that agrees. **A difference is no
failure by itself**: the engines here are not OpenSM's of the time, and of the systems measured then only two have a published plan.
The reason is given as far as it is known. *Open* is what cannot be held against anything here. What agrees goes by the words, as the
table below says. Whiskers are the least and the most
of the networks drawn, of times the fastest and the slowest run, the fastest being the value, and of bandwidth on one network a
standard deviation of single patterns to either side. Paler are engines that are not the paper's. A missing bar or mark is a refusal. A line called OpenSM is what
OpenSM's own tables have on the same network (` + "`" + `--opensm` + "`" + `); where there is one, the papers' comparisons with OpenSM are made with it.

`)
	b.WriteString("| the paper's words | agree if |\n|---|---|\n")
	for _, c := range claims.Criteria() {
		fmt.Fprintf(b, "| %s | %s |\n", cell(c.Words), cell(c.Asks))
	}
	b.WriteString("\n")
	var all Tally
	b.WriteString("| figure | title | agrees | differs | open | processor time |\n|---|---|---|---|---|---|\n")
	for _, out := range r.Outcomes {
		_, t := out.Answers()
		all.Agree, all.Differ, all.Open = all.Agree+t.Agree, all.Differ+t.Differ, all.Open+t.Open
		fmt.Fprintf(b, "| [%s, %s](#%s) | %s | %d | %d | %d | %s |\n", out.Paper, out.Figure, out.ID, cell(out.Title), t.Agree, t.Differ, t.Open, clock(out.Spent))
	}
	fmt.Fprintf(b, "| | **all** | **%d** | **%d** | **%d** | **%s** |\n", all.Agree, all.Differ, all.Open, clock(r.SpentPoints))
	return nil
}

// section writes a figure: the plot, how it was measured, refusals, and each claim with its answer.
func (r *Run) section(b *strings.Builder, out *Outcome) {
	fmt.Fprintf(b, "\n<a id=\"%s\"></a>\n\n## %s, %s: %s\n\n", out.ID, out.Paper, out.Figure, out.Title)
	drawn := slices.ContainsFunc(out.Lines, func(l claims.Line) bool { return len(out.Values(l.Name)) > 0 })
	if drawn {
		fmt.Fprintf(b, "![%s](%s.svg)\n\n", cell(out.Title), out.ID)
		if out.Measure == papers.Accepted {
			fmt.Fprintf(b, "![%s: latency](%s%s)\n\n", cell(out.Title), out.ID, latencySVG)
		}
	} else {
		b.WriteString("Nothing was measured.\n\n")
	}
	fmt.Fprintf(b, "%s%s Figures: [%s.csv](%s.csv).\n", out.Shows, effortText(out.Measure, out.Effort), out.ID, out.ID)
	if out.Real && len(r.Options.Real) == 0 {
		b.WriteString("\nNo real fabrics were at hand (`--fabrics`).\n")
	}
	if list := out.refusals(); len(list) > 0 {
		b.WriteString("\nRefusals:\n\n")
		for _, line := range list {
			fmt.Fprintf(b, "- %s\n", line)
		}
	}
	answers, _ := out.Answers()
	if len(answers) == 0 {
		b.WriteString("\nThe text states no number about this figure.\n")
		return
	}
	b.WriteString("\n| section | the paper says | ours | | reason |\n|---|---|---|---|---|\n")
	for _, a := range answers {
		why := a.Why
		switch {
		case a.Agreement == claims.Agrees && a.By != claims.Printed:
			why = ""
		case why == "":
			why = "Not known."
			if a.Agreement == claims.Open {
				why = ""
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", cell(a.Where), cell(a.Says), cell(a.Ours), marks[a.Agreement]+byVariant[a.By], cell(why))
	}
}

// effortText says how often was measured.
func effortText(m papers.Measure, e papers.Effort) string {
	var parts []string
	if e.Networks > 1 {
		parts = append(parts, fmt.Sprintf("%d networks drawn for each place", e.Networks))
		if e.Improved > 0 {
			parts = append(parts, fmt.Sprintf("%d of them as improved", e.Improved))
		}
		if e.Beside > 0 {
			parts = append(parts, fmt.Sprintf("%d of them for engines that are not the paper's", e.Beside))
		}
	}
	switch m {
	case papers.Bandwidth:
		parts = append(parts, fmt.Sprintf("%d patterns on each network", max(1, e.Patterns)))
		if e.Swept > 0 {
			parts = append(parts, fmt.Sprintf("%d on those of the bands", e.Swept))
		}
	case papers.Risk:
		if e.Patterns > 1 {
			parts = append(parts, fmt.Sprintf("the median of %d permutations on each network", e.Patterns))
		}
	case papers.Accepted, papers.Delivered:
		parts = append(parts, fmt.Sprintf("a window of %d time units after the latency has settled, or what arrives has settled below what is offered", e.Patterns))
		if m == papers.Delivered {
			parts = append(parts, "at loads where twice as much is missing as makes a load count as not delivered, ended then")
		}
	case papers.Stops:
		parts = append(parts, fmt.Sprintf("%d runs with other pairs", max(1, e.Repeats)))
	case papers.Seconds:
		parts = append(parts, fmt.Sprintf("the fastest of %d runs, or of fewer that take seconds", max(1, e.Repeats)))
		if e.BesideRepeats > 0 {
			parts = append(parts, fmt.Sprintf("of %d for engines that are not the paper's", e.BesideRepeats))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " Here: " + strings.Join(parts, ", ") + "."
}

// refusals is a line for every engine that refused, with where and why the first
// time.
func (o *Outcome) refusals() (list []string) {
	for _, l := range o.Lines {
		var places []string
		why := ""
		for i := range l.Places {
			at := &l.Places[i]
			r, _ := o.Get(l.Name, at.Label)
			if r.Refusals == 0 {
				continue
			}
			where := at.Label
			if r.Count > 0 {
				where += fmt.Sprintf(" (%d of %d networks)", r.Refusals, r.Refusals+r.Count)
			}
			places = append(places, where)
			if why == "" {
				why = reason(at, r)
			}
		}
		if len(places) > 0 {
			list = append(list, fmt.Sprintf("%s on %s: %s", l.Name, strings.Join(places, ", "), why))
		}
	}
	return list
}

// cell is text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

// clock writes seconds for people.
func clock(seconds float64) string {
	d := time.Duration(math.Round(seconds)) * time.Second
	switch {
	case seconds < 60:
		return fmt.Sprintf("%.1f s", seconds)
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}
