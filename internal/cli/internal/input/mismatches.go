package input

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
)

// Mismatches is what the tables and the fabric do not have in common: one of the two
// is older.
type Mismatches struct {
	NoTable         []string       `json:"switches_without_table,omitempty"`
	NoTableOf       []report.Node  `json:"switches_without_table_nodes,omitempty"`
	NoEntry         []string       `json:"endpoints_without_entry,omitempty"` // no switch has one
	NoEntryOf       []report.Node  `json:"endpoints_without_entry_nodes,omitempty"`
	UnknownSwitches []absentSwitch `json:"tables_of_absent_switches,omitempty"`
	Gone            []absentLID    `json:"entries_for_absent_endpoints,omitempty"`
	Beyond          []absentLID    `json:"lids_beyond_lmc,omitempty"`
	Dead            []deadPort     `json:"entries_into_nothing,omitempty"` // by port without a cable
	SL2VL           *fileMisfit    `json:"sl2vl,omitempty"`
	PSL             *fileMisfit    `json:"psl,omitempty"`
	OtherLIDs       []otherLID     `json:"other_lids,omitempty"`
	OtherOwners     []otherOwner   `json:"other_owners,omitempty"`
}

type absentSwitch struct {
	GUID string `json:"guid"`
	Name string `json:"name,omitempty"`
	Line int    `json:"line"` // where its table begins
}

type absentLID struct {
	LID  fabric.LID `json:"lid"`
	GUID string     `json:"port_guid,omitempty"`
	Name string     `json:"name,omitempty"`
	Line int        `json:"line"`
	Why  string     `json:"why"`
}

type deadPort struct {
	Switch     string      `json:"switch"`
	SwitchNode report.Node `json:"switch_node"` // and the port
	Port       uint8       `json:"port"`
	Entries    int         `json:"entries"`
}

type fileMisfit struct {
	File         string `json:"file"`
	Skipped      int64  `json:"lines_left_out,omitempty"`
	FirstSkipped string `json:"first_left_out,omitempty"`
	Missing      int64  `json:"missing,omitempty"`
	FirstMissing string `json:"first_missing,omitempty"`

	one, many, assumed string // what is missing, and what is assumed of it
}

type otherLID struct {
	Endpoint     string      `json:"endpoint"`
	EndpointNode report.Node `json:"endpoint_node"`
	Tables       fabric.LID  `json:"tables"`
	Fabric       fabric.LID  `json:"fabric"`
}

// otherOwner is a LID that is another port's in the fabric than in the tables. Its entries count for
// that port: switches forward by LIDs.
type otherOwner struct {
	LID          fabric.LID  `json:"lid"`
	GUID         string      `json:"port_guid"` // in the tables
	Name         string      `json:"name,omitempty"`
	Line         int         `json:"line"`
	Endpoint     string      `json:"endpoint"` // in the fabric
	EndpointNode report.Node `json:"endpoint_node"`

	replaced bool // the fabric has no port with the GUID
}

// mismatchesOf is what a dump and the fabric do not have in common, never nil. Those of
// --sl2vl and --psl are added as these are read.
func mismatchesOf(f *fabric.Fabric, d *lft.Dump) *Mismatches {
	m := &Mismatches{}
	m.NoTable, m.NoTableOf = report.Labels(f, d.NoTable), report.NodesOf(f, d.NoTable)
	for _, e := range d.Unreached {
		if ep := f.Endpoint(e); ep.Switch != fabric.None && ep.Class != fabric.SwitchPort {
			m.NoEntry, m.NoEntryOf = append(m.NoEntry, f.EndpointLabel(e)), append(m.NoEntryOf, report.EndpointNode(f, e))
		}
	}
	m.UnknownSwitches = list.Of(d.Mismatches.UnknownSwitches, func(s lft.UnknownSwitch) absentSwitch { return absentSwitch{s.GUID.String(), s.Name, s.Line} })
	for _, g := range d.Mismatches.Gone {
		a := absentLID{LID: g.LID, Name: g.Name, Line: g.Line, Why: g.Why}
		if g.GUID != 0 {
			a.GUID = g.GUID.String()
		}
		if g.Beyond {
			m.Beyond = append(m.Beyond, a)
		} else {
			m.Gone = append(m.Gone, a)
		}
	}
	m.Dead = list.Of(d.Mismatches.Dead, func(p lft.DeadEntries) deadPort {
		return deadPort{f.Label(p.Switch), report.NodeOf(f, p.Switch, p.Port), p.Port, p.Entries}
	})
	for _, g := range d.Mismatches.Moved {
		if e := f.Owner(g.PortLID); e != fabric.None && f.Endpoint(e).LID == g.PortLID {
			m.OtherLIDs = append(m.OtherLIDs, otherLID{f.EndpointLabel(e), report.EndpointNode(f, e), g.LID, g.PortLID})
		}
		if g.Now != fabric.None {
			m.OtherOwners = append(m.OtherOwners, otherOwner{g.LID, g.GUID.String(), g.Name, g.Line, f.EndpointLabel(g.Now), report.EndpointNode(f, g.Now), g.PortLID == 0})
		}
	}
	return m
}

func fileMisfits(name string, fit format.Mismatches, one, many, assumed string) *fileMisfit {
	if fit.Skipped == 0 && fit.Missing == 0 {
		return nil
	}
	m := &fileMisfit{File: name, Skipped: fit.Skipped, Missing: fit.Missing, one: one, many: many, assumed: assumed}
	if fit.FirstSkipped != nil {
		m.FirstSkipped = fit.FirstSkipped.Error()
	}
	if fit.FirstMissing != nil {
		m.FirstMissing = fit.FirstMissing.Error()
	}
	return m
}

func (m *Mismatches) found() bool {
	return len(m.NoTable)+len(m.NoEntry)+len(m.UnknownSwitches)+len(m.Gone)+len(m.Beyond)+len(m.Dead)+len(m.OtherLIDs)+len(m.OtherOwners) > 0 || m.SL2VL != nil || m.PSL != nil
}

// refuse refuses a dump that lacks switches or endpoints of the fabric; whatever
// else does not fit is an error of the reader's.
func (m *Mismatches) refuse(tables, name string) error {
	switch {
	case len(m.NoTable) > 0:
		return fmt.Errorf("%s does not fit %s: it has no table for %s", tables, name, words.Some(m.NoTable, "switch"))
	case len(m.NoEntry) > 0:
		return fmt.Errorf("%s does not fit %s: no switch in it has an entry for %s", tables, name, words.Some(m.NoEntry, "endpoint"))
	}
	return nil
}

// Text says what does not fit, for people.
func (m *Mismatches) Text() string {
	return "tables and fabric are not of one time:\n  " + strings.Join(m.lines(), "\n  ")
}

// Stale says what shows that the tables are not those of the fabric as it is, and cannot be
// told from hosts that left or came alone.
func (m *Mismatches) Stale() []string {
	return (&Mismatches{NoTable: m.NoTable, UnknownSwitches: m.UnknownSwitches, OtherLIDs: m.OtherLIDs, OtherOwners: m.OtherOwners}).lines()
}

func (m *Mismatches) lines() []string {
	var lines []string
	say := func(n int, one, many, text string, args ...any) {
		if n > 0 {
			lines = append(lines, words.Counted(n, one, many)+fmt.Sprintf(text, args...))
		}
	}
	say(len(m.NoTable), "switch has", "switches have", " no table: %s", words.FirstOf(m.NoTable))
	absent := list.Of(m.UnknownSwitches, func(s absentSwitch) string { return cmp.Or(s.Name, s.GUID) })
	say(len(absent), "table is of a switch", "tables are of switches", " that the fabric does not have: %s", words.FirstOf(absent))
	say(len(m.NoEntry), "endpoint has", "endpoints have", " no entry in any switch: %s", words.FirstOf(m.NoEntry))
	gone := list.Of(m.Gone, func(g absentLID) string { return fmt.Sprintf("%s (LID %d)", cmp.Or(g.Name, g.GUID, "unknown"), g.LID) })
	say(len(gone), "LID of the tables belongs", "LIDs of the tables belong", " to nothing in the fabric: %s", words.FirstOf(gone))
	if len(m.Beyond) > 0 {
		say(len(m.Beyond), "LID", "LIDs", " of the tables that endpoints have by their LMC, but not in the fabric (--lmc N gives them); the first: %s", m.Beyond[0].Why)
	}
	entries := 0
	dead := list.Of(m.Dead, func(p deadPort) string {
		entries += p.Entries
		return fmt.Sprintf("%s, port %d (%s)", p.Switch, p.Port, words.Thousands(p.Entries))
	})
	say(entries, "entry leads", "entries lead", " to %s without a cable: %s", words.Plural(len(dead), "port"), words.FirstOf(dead))
	if len(m.OtherLIDs) > 0 {
		lines = append(lines, m.otherLIDsText())
	}
	var replaced []string
	for _, o := range m.OtherOwners {
		if o.replaced {
			replaced = append(replaced, fmt.Sprintf("LID %d of %s, in the tables of %s", o.LID, o.Endpoint, cmp.Or(o.Name, o.GUID)))
		}
	}
	say(len(replaced), "port has", "ports have", " the LID of one that the fabric does not have, and its entries: %s", words.FirstOf(replaced))
	for _, file := range []*fileMisfit{m.SL2VL, m.PSL} {
		if file != nil {
			lines = append(lines, file.lines()...)
		}
	}
	return lines
}

// Lacking says for which ports there is no SL2VL map; empty: all have one.
func (m *Mismatches) Lacking() string {
	if m.SL2VL == nil || m.SL2VL.Missing == 0 {
		return ""
	}
	missing := *m.SL2VL
	missing.Skipped = 0
	return missing.lines()[0]
}

func (m *fileMisfit) lines() []string {
	var lines []string
	if m.Skipped > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s left out; the first: %s", words.Counted(m.Skipped, "line", "lines"), m.File, m.FirstSkipped))
	}
	if m.Missing > 0 {
		lines = append(lines, fmt.Sprintf("%s %s; the first: %s", words.Counted(m.Missing, m.one, m.many), m.assumed, m.FirstMissing))
	}
	return lines
}

// otherLIDsText says which endpoints have other LIDs. The entries for these LIDs are those of whoever
// had them: packets go there.
func (m *Mismatches) otherLIDsText() string {
	names := list.Of(m.OtherLIDs, func(o otherLID) string {
		return fmt.Sprintf("%s (%d, in the fabric %d)", o.Endpoint, o.Tables, o.Fabric)
	})
	return fmt.Sprintf("%s another LID in the tables than in the fabric, where packets to it go astray: %s", words.Counted(len(names), "endpoint has", "endpoints have"), words.FirstOf(names))
}
