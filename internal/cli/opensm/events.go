package opensm

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// stateFolders is where the units that are installed keep their state.
var stateFolders = []string{"/var/lib/weft", "/var/lib/weft-watch"}

// EventsOf makes the command weft events.
func EventsOf(a *console.Console) *cobra.Command {
	var states []string
	var most int
	var asJSON bool
	c := &cobra.Command{
		Use:   "events",
		Short: "Say what happened to a fabric: what went and came, what was done, by whom",
		Long: `Print what weft serve and weft watch have noted in their state folders, in the order of
time: cables, switches and hosts that went or came, tables that were handed over and why,
pairs that were cut and for how long, orders to drain and who gave them, alarms. What
both noted is there once, with who noted it; "by" is who ordered it or changed tables.
The files, events.jsonl, have a document in JSON on each line; a megabyte each, the last five.`,
		Example: `  weft events
  weft events --state /var/lib/weft -n 20 --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return showEvents(a, states, most, asJSON) },
	}
	c.Flags().StringArrayVar(&states, "state", nil, "state folder; may be repeated (default: those of the installed units that are there)")
	c.Flags().IntVarP(&most, "number", "n", 0, "events at most, the last ones (default: all)")
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

// showEvents merges the events of state folders, those of the installed units if none are named, and
// prints the last ones.
func showEvents(a *console.Console, states []string, most int, asJSON bool) error {
	if most < 0 {
		return exit.Usage("-n %d: a number of events is not negative", most)
	}
	if len(states) == 0 {
		for _, dir := range stateFolders {
			if _, err := os.Stat(dir + "/" + events.Name); err == nil {
				states = append(states, dir)
			}
		}
		if len(states) == 0 {
			return fmt.Errorf("no events are in %s: --state names the state folder of weft serve or weft watch: %w", strings.Join(stateFolders, " or "), fs.ErrNotExist)
		}
	}
	var all result.Events
	var lists [][]result.Event
	for _, dir := range states {
		list, damaged, err := events.Read(dir)
		if err != nil {
			return err
		}
		lists, all.Damaged = append(lists, list), all.Damaged+damaged
	}
	all.Events = events.Merge(lists...)
	if most > 0 {
		all.Events = all.Events[max(0, len(all.Events)-most):]
	}
	return a.Answer(asJSON, all, func() error {
		t := a.NewTable("when", "noted by", "by", "what", "which")
		for _, e := range all.Events {
			t.Row(e.At.Local().Format(time.DateTime), "weft "+strings.Join(append([]string{e.From}, e.Also...), ", "), events.Who(&e), e.What, whichText(&e))
		}
		t.Render()
		if all.Damaged > 0 {
			a.Note("%s no events, and passed over", words.Counted(all.Damaged, "line is", "lines are"))
		}
		return nil
	}, false)
}

// whichText is what an event is about.
func whichText(e *result.Event) string {
	var parts []string
	if e.Part != nil {
		text := e.Part.Kind + " " + e.Part.Name
		if e.Part.With != "" {
			text += ", with " + e.Part.With
		}
		parts = append(parts, text)
	}
	if e.Until != nil {
		parts = append(parts, "until "+e.Until.Local().Format(time.DateTime))
	}
	if e.Times > 1 {
		parts = append(parts, words.Counted(e.Times, "time", "times"))
	}
	if e.Entries > 0 {
		parts = append(parts, words.Counted(e.Entries, "entry", "entries"))
	}
	if e.Cut > 0 {
		parts = append(parts, words.Plural(e.Cut, "pair")+" were cut")
	}
	if e.Seconds > 0 {
		parts = append(parts, "for "+words.Seconds(e.Seconds))
	}
	if e.Text != "" {
		parts = append(parts, e.Text)
	}
	return strings.Join(parts, "; ")
}
