package opensm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Status makes the command weft status.
func Status(a *console.Console) *cobra.Command {
	var socket string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Ask a running weft serve how it is",
		Long: `Ask a running weft serve how it is: what it is set to, what came of the last sweep
and which tables were handed over last.

Exit code 1 if the last sweep was refused or the last reload was, if the state folder
cannot be written, or if a restart forgot what was drained; 3 if no daemon answers.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return showStatus(cmd.Context(), a, socket, asJSON) },
	}
	c.Flags().StringVar(&socket, "socket", defaultSocket, "Unix socket of the daemon")
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

// showStatus asks the daemon and prints its answer.
func showStatus(ctx context.Context, a *console.Console, socket string, asJSON bool) error {
	s, err := statusOf(ctx, socket)
	if err != nil {
		return err
	}
	return a.Answer(asJSON, s, func() error { return printStatus(a, s) }, s.ReloadError != "" || s.StateError != "" || len(s.Forgotten) > 0 || s.Last != nil && s.Last.Refusal != "" || len(s.Watch) > 0)
}

// printStatus prints for people how a daemon is.
func printStatus(a *console.Console, s *result.Status) error {
	p := a.NewPage()
	p.Fact("daemon", "weft %s, pid %d, since %s", s.Version, s.PID, s.Since.Local().Format(time.DateTime))
	lanes := "as many lanes as the fabric has"
	if s.VLs > 0 {
		lanes = words.Plural(s.VLs, "lane") + " at most"
	}
	p.Fact("settings", "engines %s; contract %s; endpoints %s; %s; keep %s", strings.Join(s.Engines, ", then "), s.Contract, s.Endpoints, lanes, s.Keep)
	if len(s.NotCovered) > 0 {
		p.Fact("outside", "of any proof: %s", strings.Join(s.NotCovered, ", "))
	}
	p.Fact("sweeps", "%s; %s refused, %s answered from memory", words.Plural(s.Sweeps, "sweep"), words.Thousands(s.Refused), words.Thousands(s.Cached))
	switch {
	case slices.ContainsFunc(s.Watch, daemon.OtherTables):
		p.Fact("OpenSM", "has other tables than these, or another OpenSM routes: what follows is what was handed over here")
	case !s.OpenSM:
		p.Fact("OpenSM", "has no question open: it does not run, or its plugin is of an earlier release")
	}
	for _, alarm := range s.Watch {
		p.Fact("weft watch", "%s", alarm.What)
	}
	if s.Last == nil {
		p.Fact("last", "OpenSM has not asked yet")
	} else {
		p.Fact("last", "%s", sweepText(s.Last))
	}
	if s.Last != nil && s.Last.Refusal != "" {
		good := "none: OpenSM has no tables of ours"
		if s.LastGood != nil {
			good = sweepText(s.LastGood)
		}
		p.Fact("last good", "%s", good)
	}
	if s.Plan != nil {
		p.Fact("plan", "%s", progressText(s.Plan))
	}
	if len(s.Missing) > 0 {
		p.Finding("gone", "%s", words.FirstWith(list.Of(s.Missing, func(m result.MissingElement) string {
			text := fmt.Sprintf("%s %s since %s", m.Kind, m.Name, m.Since.Local().Format(time.DateTime))
			if m.Drained {
				text += ", pulled when it was drained"
			}
			return text
		}), "--json has all"))
	}
	if s.Trouble != nil && len(s.Trouble.Cables) > 0 {
		p.Finding("trouble", "%s", strings.Join(trouble.Texts(s.Trouble), "\n"))
	}
	known := s.OpenSM && !slices.ContainsFunc(s.Watch, daemon.OtherTables)
	for i, d := range s.Drained {
		label := ""
		if i == 0 {
			label = "drained"
		}
		p.Fact(label, "%s", drainedText(&d, known))
	}
	for _, d := range s.Forgotten {
		p.Finding("forgotten", "%s: %s had it drained at %s, and the restart of the daemon forgot that, since the state folder could not be written then: traffic uses it; weft drain --live drains it again, and weft undrain says that it need not be", d.Part, d.By, d.At.Local().Format(time.DateTime))
	}
	if s.Search != nil {
		p.Fact("search", "%s", searchText(s.Search))
	}
	if s.ReloadError != "" {
		p.Fact("reload", "refused, the old settings stand: %s", s.ReloadError)
	}
	if s.StateError != "" {
		p.Fact("state", "%s", stateText(&s.StateFolder))
	}
	if s.StateAside != "" {
		p.Fact("put aside", "%s in the state folder, for a bug report: %s", s.StateAside, s.StateWhy)
	}
	return a.Show(p)
}

// drainedText is a part that is to be kept free of traffic, and how that stands. known: what was handed over last is what
// switches have, since the OpenSM that asks here routes.
func drainedText(d *result.Drained, known bool) string {
	text := fmt.Sprintf("%s, by %s: ", d.Part, d.By)
	switch state := d.State; {
	case state == daemon.Later:
		text += "begins " + d.After.Local().Format(time.DateTime)
	case d.Gone:
		text += "it is gone, pulled or dead; when it is back it stays drained, until weft undrain"
	case state == daemon.Waiting:
		text += "ordered; OpenSM has not asked since"
	case state == daemon.Leaving:
		text += "its traffic is leaving, step by step"
	case state == daemon.StillUsed:
		text += "still used: " + d.Why
	case state == daemon.Free && !known:
		text += "free of traffic by the tables handed over last; whether these are in force is not known, since OpenSM does not ask here, or another routes: find out before you pull it"
	case state == daemon.Free:
		text += "free of traffic since " + d.After.Local().Format(time.DateTime) + " or soon after; it can be pulled"
	default:
		text += "how it stands is not known yet"
	}
	if d.Until != nil {
		text += "; drained until " + d.Until.Local().Format(time.DateTime)
	}
	if len(d.Cut) > 0 && !d.Gone {
		text += fmt.Sprintf("\n%s cut off when it is pulled: %s", words.Plural(len(d.Cut), "endpoint"), words.FirstWith(d.Cut, "--json has all"))
	}
	return text
}

// stateText says since when the state folder cannot be written, and what waits.
func stateText(s *result.StateFolder) string {
	since := ""
	if s.StateSince != nil {
		since = " since " + s.StateSince.Local().Format(time.DateTime)
	}
	text := fmt.Sprintf("cannot be written%s, %s waiting", since, words.Plural(s.StateWaiting, "sweep"))
	if s.StateDropped > 0 {
		text += fmt.Sprintf(", %s given up", words.Thousands(s.StateDropped))
	}
	return text + ": " + s.StateError
}

// progressText says how far the daemon is with a plan, and what it changes.
func progressText(g *result.Progress) string {
	purpose := map[string]string{"repair": "a repair", "return": "the way back to the tables from before", "full": "tables that were routed anew", "drain": "the way out of parts that are drained", "same": "waiting for new links"}[g.Kind]
	text := fmt.Sprintf("%s, begun %s: %s", cmp.Or(purpose, g.Kind), g.Began.Local().Format(time.DateTime), words.Plural(g.Steps, "step"))
	if g.Ended != nil {
		text += " handed over, the last at " + g.Ended.Local().Format(time.TimeOnly)
	} else {
		text += fmt.Sprintf(" handed over, at least %d to follow, the next no sooner than %s after the last", g.More, words.Seconds(g.Wait))
	}
	switch {
	case g.Confirmed == g.Steps && g.Steps > 0:
		text += "; all switches had confirmed them when OpenSM asked last"
	case g.Steps > 0:
		text += fmt.Sprintf("; OpenSM has said of %d that all switches have confirmed them, and says it of the others at its next sweep", g.Confirmed)
	}
	text += fmt.Sprintf("\nLFT entries: %s changed, %s had to", words.Thousands(g.Entries), words.Thousands(g.Due))
	if g.CutPairs > 0 {
		text += fmt.Sprintf("\n%s cut at the beginning, %s from OpenSM's question to the answer that mends the last; %s now", words.Plural(g.CutPairs, "pair"), words.Seconds(g.CutFor), words.Thousands(g.CutNow))
	}
	if g.Left > 0 {
		text += fmt.Sprintf("\n%s by no safe step come back to what they were, and stay as they are", words.Plural(g.Left, "destination"))
	}
	return text
}

// searchText says what came of the search for better tables.
func searchText(s *result.Search) string {
	if s.Ended == nil {
		return fmt.Sprintf("goes on since %s for better tables than those of %s", s.Began.Local().Format(time.DateTime), s.Given)
	}
	how := fmt.Sprintf("ended at %s after %s: ", s.Ended.Local().Format(time.DateTime), words.Seconds(s.Seconds))
	switch {
	case !s.Better:
		how += "none better than those of " + s.Given
	case s.Awaited:
		how += fmt.Sprintf("%s in place of %s, for which OpenSM routes again", s.Engine, s.Given)
	default:
		how += fmt.Sprintf("%s in place of %s, at OpenSM's next sweep", s.Engine, s.Given)
	}
	if s.Unfinished != "" {
		how += " (not carried through: " + s.Unfinished + ")"
	}
	return how
}

// coversText is a line about whose packets the proof is.
func coversText(s *result.StatusSweep) string {
	switch {
	case len(s.MulticastSLs) == routing.SLs:
		return fmt.Sprintf("covers %s, groups on any service level\n", s.Covers)
	case len(s.MulticastSLs) > 0:
		return fmt.Sprintf("covers %s, groups on SL %s\n", s.Covers, strings.Join(list.Of(s.MulticastSLs, strconv.Itoa), ", "))
	case s.NoTree != "":
		return fmt.Sprintf("covers %s; multicast trees are OpenSM's own: %s\n", s.Covers, s.NoTree)
	}
	return fmt.Sprintf("covers %s; multicast trees are OpenSM's own\n", s.Covers)
}

// sweepText says what was answered to a sweep of OpenSM.
func sweepText(s *result.StatusSweep) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sweep %d of %s at %s: %s, %s\n", s.Sweep, s.OpenSM, s.At.Local().Format(time.DateTime), words.Plural(s.Switches, "switch"), words.Plural(s.Endpoints, "endpoint"))
	if s.Refusal != "" {
		fmt.Fprintf(&b, "refused: %s", s.Refusal)
		return b.String()
	}
	from := ""
	switch {
	case s.Cached:
		from = ", from memory"
	case s.Restored:
		from = ", those handed over before the restart"
	case s.SoFar:
		from = ", the best so far"
	}
	fmt.Fprintf(&b, "%s by %s (contract %s), largest load %s\nlanes: %s\n", s.Verdict, s.Engine, s.Contract, words.Thousands(s.MaxLoad), outputs.LanesText(result.LaneCounts{Needed: s.LanesNeeded, Used: s.LanesUsed, Available: s.LanesAvailable}))
	b.WriteString(coversText(s))
	c := s.Change
	if c != nil && c.Kind == "full" {
		fmt.Fprintf(&b, "routed anew: %s\n", c.Why)
	}
	switch {
	case c == nil || c.Kind == "same":
	case !c.Proven:
		b.WriteString("nothing is proven about the time until the tables are written\n")
	default:
		fmt.Fprintf(&b, "%s: step %d, %d more; %s of tables to write\n", c.Kind, c.Step, c.More, words.Plural(c.Blocks, "block"))
	}
	fmt.Fprintf(&b, "changed LFT entries %s, service levels %s; in %s%s", words.Thousands(s.ChangedEntries), words.Thousands(s.ChangedSLs), words.Seconds(s.Seconds.Total), from)
	for _, t := range s.Tried {
		if t.Refused != "" {
			fmt.Fprintf(&b, "\n%s refused: %s", t.Engine, t.Refused)
		}
	}
	return b.String()
}
