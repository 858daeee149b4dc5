package opensm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/weft-fabric/weft/internal/cli/ethernet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/measured"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/watch"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// watchSettings says what the settings of a file mean (weft watch --check-config).
func watchSettings(name string, c *watch.Config) *console.Page {
	var p console.Page
	p.Fact("config", "%s: nothing is wrong with it", name)
	if c.Ethernet != "" {
		p.Fact("looks at", "%s, of lossless Ethernet, when its files changed and rested for %s", c.Ethernet, c.Settle)
		if c.Collect != "" {
			p.Fact("collects", "by %s, every %s", c.Collect, c.Every)
		}
		p.Fact("silent", "a device whose files are older than %s", c.Silent)
		p.Fact("pins", "%s", cmp.Or(c.Pins, "none"))
		p.Fact("keeps", "%s in %s", words.Plural(c.Keep, "look"), c.State)
		p.Fact("metrics", "%s", cmp.Or(c.Metrics, "none"))
		return &p
	}
	if c.Folder != "" {
		p.Fact("looks at", "%s, when its files changed and rested for %s", c.Folder, c.Settle)
	} else {
		p.Fact("looks at", "what %s, every %s", words.Counted(len(c.Commands), "command prints", "commands print"), c.Every)
	}
	p.Fact("engine", "%s", cmp.Or(c.Engine, c.Conf, "asked for is not known: OpenSM's fall to MinHop cannot be told"))
	p.Fact("proof", "contract %s; endpoints %s", cmp.Or(c.Contract, "honored, or single:0 where service levels are not known"), c.Endpoints)
	p.Fact("expects", "%s", cmp.Or(c.Expect, "no tables in particular"))
	p.Fact("keeps", "%s in %s", words.Plural(c.Keep, "look"), c.State)
	p.Fact("metrics", "%s", cmp.Or(c.Metrics, "none"))
	return &p
}

// mostCables is how many cables in trouble a screen has.
const mostCables = 12

// lookScreen is a look for people.
func lookScreen(a *console.Console, l *result.WatchLook) *console.Page {
	p := a.NewPage()
	p.Fact("look", "%d, %s: %s, %s, %s", l.Number, l.At.Local().Format(time.DateTime), words.Plural(l.Switches, "switch"), words.Plural(l.Hosts, "host adapter port"), words.Plural(l.Cables, "cable"))
	p.Fact("verdict", "%s (contract %s, endpoints %s, %s); %s", l.Verdict, l.Contract, l.Endpoints, l.Covers, words.Plural(l.Lanes, "lane"))
	if len(l.Cycle) > 0 {
		p.Fact("", "%s", strings.Join(list.Of(l.Cycle, func(s result.LookStep) string {
			return fmt.Sprintf("%s -> %s, VL %d: %s to %s, SL %d", s.From, s.To, s.VL, s.Src, s.Dst, s.SL)
		}), "\n"))
	}
	p.Fact("routes", "%s pairs of endpoints, %s cut off by the tables, %s joined by no cables", words.Thousands(l.Pairs), words.Thousands(l.CutOff), words.Thousands(l.Apart))
	made := "which made the tables is not known"
	if l.Made != nil {
		made = "the tables are those of " + l.Made.Engine
		if l.Made.How == "log" {
			made += ", says OpenSM's log"
		}
	}
	if l.LogStale {
		made += "; OpenSM's log ends before these tables were made (force_log_flush TRUE in opensm.conf has it written at once)"
	}
	p.Fact("engine", "%s asked for; %s", cmp.Or(l.Asked, "not known which was"), made)
	if len(l.Hot) > 0 {
		p.Fact("fullest", "%s to %s, %s routes", l.Hot[0].From, l.Hot[0].To, words.Thousands(l.Hot[0].Routes))
	}
	p.Fact("changed", "%s", changedText(l.Changed))
	if len(l.Alarms) == 0 {
		p.Fact("alarms", "none")
	}
	for i, alarm := range l.Alarms {
		label := ""
		if i == 0 {
			label = "alarms"
		}
		p.Fact(label, "%s: %s\n  %s", alarm.Kind, alarm.What, alarm.Do)
	}
	if t := l.Trouble; t != nil {
		text := measured.Head(t)
		for i := range t.Cables[:min(len(t.Cables), mostCables)] {
			text += "\n" + strings.Join(measured.Lines(&t.Cables[i]), "\n")
		}
		for _, note := range t.Notes {
			text += "\nnote: " + note
		}
		p.Fact("trouble", "%s", text)
	}
	p.Fact("time", "gather %s, read %s, judge %s, compare %s", words.Seconds(l.Seconds.Gather), words.Seconds(l.Seconds.Read), words.Seconds(l.Seconds.Judge), words.Seconds(l.Seconds.Compare))
	return p
}

// changedText is what changed since the look before, in few words.
func changedText(c *result.LookChanges) string {
	if c == nil {
		return "not known: there is no look before"
	}
	var parts []string
	for _, p := range []struct {
		what string
		of   *result.LookParts
	}{{"gone", &c.Gone}, {"new", &c.New}} {
		for _, n := range []struct {
			word  string
			count int
		}{{"switch", len(p.of.Switches)}, {"adapter", len(p.of.Adapters)}, {"cable", len(p.of.Cables)}} {
			if n.count > 0 {
				parts = append(parts, words.Plural(n.count, n.word)+" "+p.what)
			}
		}
	}
	if len(c.Recabled) > 0 {
		parts = append(parts, words.Counted(len(c.Recabled), "port leads", "ports lead")+" elsewhere")
	}
	if c.Entries > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s", words.Counted(c.Entries, "entry", "entries"), words.Plural(c.Blocks, "block")))
	}
	if c.SLs > 0 {
		parts = append(parts, words.Plural(int(c.SLs), "service level"))
	}
	if c.Maps > 0 {
		parts = append(parts, words.Plural(c.Maps, "SL2VL cell"))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing that routes")
}

// watchLog prints the last looks that are kept.
func watchLog(a *console.Console, s *watch.Store, most int, asJSON bool) error {
	numbers, err := s.Numbers()
	if err != nil {
		return err
	}
	if most > 0 {
		numbers = numbers[max(0, len(numbers)-most):]
	}
	h := result.WatchLog{Looks: []*result.WatchLook{}}
	for _, n := range numbers {
		l, err := s.Look(n)
		switch {
		case errors.Is(err, fs.ErrNotExist): // the watch, which goes on, has dropped it just now
		case err != nil:
			h.Damaged = append(h.Damaged, err.Error())
		default:
			h.Looks = append(h.Looks, l)
		}
	}
	var unknown bool // whether there are alarms
	if h.Status, err = s.Health(); err != nil {
		unknown = true
		h.Status, h.Damaged = nil, append(h.Damaged, err.Error())
	}
	return a.Answer(asJSON, h, func() error { return printWatchLog(a, &h) }, unknown || h.Status != nil && len(h.Status.Alarms) > 0)
}

// printWatchLog prints them for people, and how the watch is.
func printWatchLog(a *console.Console, h *result.WatchLog) error {
	t := a.NewTable("look", "when", "verdict", "engine", "cut off", "changed", "alarms")
	for _, l := range h.Looks {
		made := "not known"
		if l.Made != nil {
			made = l.Made.Engine
		}
		changed := changedText(l.Changed)
		if l.Ethernet != nil {
			made, changed = "–", ethernet.ChangedText(l.Ethernet.Changed)
		}
		kinds := list.Of(l.Alarms, func(alarm result.Alarm) string { return alarm.Kind })
		t.Row(l.Number, l.At.Local().Format(time.DateTime), l.Verdict, made, words.Thousands(l.CutOff), changed, cmp.Or(strings.Join(kinds, ", "), "none"))
	}
	t.Render()
	for _, text := range h.Damaged {
		a.Note("damaged, and passed over: %s", text)
	}
	if h.Status == nil {
		return nil
	}
	p := a.NewPage()
	st := h.Status
	p.Fact("last", "looked at %s; %s since that saw nothing new", st.At.Local().Format(time.DateTime), words.Plural(st.Same, "look"))
	if st.Error != "" {
		p.Fact("failed", "%s in a row: %s", words.Plural(st.Failed, "look"), st.Error)
	}
	if st.ReloadError != "" {
		p.Fact("reload", "refused, the old settings stand: %s", st.ReloadError)
	}
	for _, alarm := range st.Alarms {
		p.Fact("alarm", "%s since %s: %s\n  %s", alarm.Kind, alarm.Since.Local().Format(time.DateTime), alarm.What, alarm.Do)
	}
	if st.Trouble != nil {
		for _, text := range trouble.Texts(st.Trouble) {
			p.Fact("trouble", "%s", text)
		}
	}
	return a.Show(p)
}
