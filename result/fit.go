package result

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
)

// Mismatches is what the tables and the fabric do not have in common: one of the two
// is older.
type Mismatches struct {
	NoTable         []string       `json:"switches_without_table,omitempty"`
	NoTableOf       []Node         `json:"switches_without_table_nodes,omitempty"`
	NoEntry         []string       `json:"endpoints_without_entry,omitempty"` // no switch has one
	NoEntryOf       []Node         `json:"endpoints_without_entry_nodes,omitempty"`
	UnknownSwitches []AbsentSwitch `json:"tables_of_absent_switches,omitempty"`
	Gone            []AbsentLID    `json:"entries_for_absent_endpoints,omitempty"`
	Beyond          []AbsentLID    `json:"lids_beyond_lmc,omitempty"`
	Dead            []DeadPort     `json:"entries_into_nothing,omitempty"` // by port without a cable
	SL2VL           *FileMisfit    `json:"sl2vl,omitempty"`
	PSL             *FileMisfit    `json:"psl,omitempty"`
	OtherLIDs       []OtherLID     `json:"other_lids,omitempty"`
	OtherOwners     []OtherOwner   `json:"other_owners,omitempty"`
}

// AbsentSwitch is a switch that has a table and is not in the fabric.
type AbsentSwitch struct {
	GUID string `json:"guid"`
	Name string `json:"name,omitempty"`
	Line int    `json:"line"` // where its table begins
}

// AbsentLID is a LID of the tables that belongs to nothing in the fabric.
type AbsentLID struct {
	LID  fabric.LID `json:"lid"`
	GUID string     `json:"port_guid,omitempty"`
	Name string     `json:"name,omitempty"`
	Line int        `json:"line"`
	Why  string     `json:"why"`
}

// DeadPort is a port without a cable that entries lead to.
type DeadPort struct {
	Switch     string `json:"switch"`
	SwitchNode Node   `json:"switch_node"` // and the port
	Port       uint8  `json:"port"`
	Entries    int    `json:"entries"`
}

// FileMisfit is how a file of service levels or SL2VL maps does not fit the fabric: lines about what the fabric does not
// have, and pairs that no line is about.
type FileMisfit struct {
	File         string `json:"file"`
	Skipped      int64  `json:"lines_left_out,omitempty"`
	FirstSkipped string `json:"first_left_out,omitempty"`
	Missing      int64  `json:"missing,omitempty"`
	FirstMissing string `json:"first_missing,omitempty"`
}

// OtherLID is an endpoint that has another LID in the tables than in the fabric.
type OtherLID struct {
	Endpoint     string     `json:"endpoint"`
	EndpointNode Node       `json:"endpoint_node"`
	Tables       fabric.LID `json:"tables"`
	Fabric       fabric.LID `json:"fabric"`
}

// OtherOwner is a LID that is another port's in the fabric than in the tables. Its entries count for
// that port: switches forward by LIDs.
type OtherOwner struct {
	LID          fabric.LID `json:"lid"`
	GUID         string     `json:"port_guid"` // in the tables
	Name         string     `json:"name,omitempty"`
	Line         int        `json:"line"`
	Endpoint     string     `json:"endpoint"` // in the fabric
	EndpointNode Node       `json:"endpoint_node"`

	Replaced bool `json:"-"` // the fabric has no port with the GUID
}

// Renumbered says that the fabric has other LIDs throughout than the tables, so that these are of another
// subnet manager. What is judged is the same routes under the LIDs of the fabric.
type Renumbered struct {
	LIDs   int  `json:"lids"`   // number of LIDs of the tables whose endpoints have others in the fabric
	Of     int  `json:"of"`     // number of LIDs of the tables whose endpoints the fabric has
	Stated bool `json:"stated"` // the fabric states its LIDs; else weft gave it LIDs
}

// Fit is how tables fit the fabric, as every summary and screen has it.
type Fit struct {
	Misfits    *Mismatches `json:"misfits,omitempty"`
	Renumbered *Renumbered `json:"renumbered,omitempty"`
}

// Doubt is a reason for which switches may not do what a verdict about tables takes for
// granted, though tables and fabric are of one time.
type Doubt struct {
	Kind string `json:"kind"`
	What string `json:"what"`
}

// ByLane is a switch that looks up the lane of packets on some service levels by the lane they came
// on.
type ByLane struct {
	Switch string `json:"switch"`
	SLs    []int  `json:"sls"`
}

// Assumed is where the service levels and lanes come from: a file, or what
// is taken for want of one.
type Assumed struct {
	ServiceLevels string `json:"service_levels"`
	Lanes         string `json:"lanes"`
}

// Text says what does not fit, for people.
func (m *Mismatches) Text() string {
	return "tables and fabric are not of one time:\n  " + strings.Join(m.lines(), "\n  ")
}

// Stale is sentences: what shows that the tables are not those of the fabric as it is. What hosts that came or left
// would explain is not in them.
func (m *Mismatches) Stale() []string {
	return (&Mismatches{NoTable: m.NoTable, UnknownSwitches: m.UnknownSwitches, OtherLIDs: m.OtherLIDs, OtherOwners: m.OtherOwners}).lines()
}

// lines is a sentence for each kind of what does not fit.
func (m *Mismatches) lines() []string {
	var lines []string
	say := func(n int, one, many, text string, args ...any) {
		if n > 0 {
			lines = append(lines, words.Counted(n, one, many)+fmt.Sprintf(text, args...))
		}
	}
	say(len(m.NoTable), "switch has", "switches have", " no table: %s", words.FirstOf(m.NoTable))
	absent := list.Of(m.UnknownSwitches, func(s AbsentSwitch) string { return cmp.Or(s.Name, s.GUID) })
	say(len(absent), "table is of a switch", "tables are of switches", " that the fabric does not have: %s", words.FirstOf(absent))
	say(len(m.NoEntry), "endpoint has", "endpoints have", " no entry in any switch: %s", words.FirstOf(m.NoEntry))
	gone := list.Of(m.Gone, func(g AbsentLID) string { return fmt.Sprintf("%s (LID %d)", cmp.Or(g.Name, g.GUID, "unknown"), g.LID) })
	say(len(gone), "LID of the tables belongs", "LIDs of the tables belong", " to nothing in the fabric: %s", words.FirstOf(gone))
	if len(m.Beyond) > 0 {
		say(len(m.Beyond), "LID", "LIDs", " of the tables that endpoints have by their LMC, but not in the fabric (--lmc N gives them); the first: %s", m.Beyond[0].Why)
	}
	entries := 0
	dead := list.Of(m.Dead, func(p DeadPort) string {
		entries += p.Entries
		return fmt.Sprintf("%s, port %d (%s)", p.Switch, p.Port, words.Thousands(p.Entries))
	})
	say(entries, "entry leads", "entries lead", " to %s without a cable: %s", words.Plural(len(dead), "port"), words.FirstOf(dead))
	if len(m.OtherLIDs) > 0 {
		lines = append(lines, m.otherLIDsText())
	}
	var replaced []string
	for _, o := range m.OtherOwners {
		if o.Replaced {
			replaced = append(replaced, fmt.Sprintf("LID %d of %s, in the tables of %s", o.LID, o.Endpoint, cmp.Or(o.Name, o.GUID)))
		}
	}
	say(len(replaced), "port has", "ports have", " the LID of one that the fabric does not have, and its entries: %s", words.FirstOf(replaced))
	return append(append(lines, m.SL2VL.lines(withoutMap)...), m.PSL.lines(withoutSL)...)
}

// Lacking says for which ports there is no SL2VL map; empty: all have one.
func (m *Mismatches) Lacking() string {
	if m.SL2VL == nil || m.SL2VL.Missing == 0 {
		return ""
	}
	missing := *m.SL2VL
	missing.Skipped = 0
	return missing.lines(withoutMap)[0]
}

// otherLIDsText says which endpoints have other LIDs. The entries for these LIDs are those of whoever
// had them: packets go there.
func (m *Mismatches) otherLIDsText() string {
	names := list.Of(m.OtherLIDs, func(o OtherLID) string {
		return fmt.Sprintf("%s (%d, in the fabric %d)", o.Endpoint, o.Tables, o.Fabric)
	})
	return fmt.Sprintf("%s another LID in the tables than in the fabric, where packets to it go astray: %s", words.Counted(len(names), "endpoint has", "endpoints have"), words.FirstOf(names))
}

// lacks is the words for what a file does not have: of one, of several, and what is taken in its place.
type lacks struct{ one, many, assumed string }

var (
	withoutMap = lacks{one: "pair of ports has", many: "pairs of ports have", assumed: "no map, and are taken to have that of the first entry"}
	withoutSL  = lacks{one: "pair of endpoints has", many: "pairs of endpoints have", assumed: "no service level, and are taken to have that of their neighbours, or SL 0"}
)

// lines is a sentence for lines that were left out and one for pairs that the file lacks, in these words.
func (m *FileMisfit) lines(missing lacks) (lines []string) {
	if m == nil {
		return nil
	}
	if m.Skipped > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s left out; the first: %s", words.Counted(m.Skipped, "line", "lines"), m.File, m.FirstSkipped))
	}
	if m.Missing > 0 {
		lines = append(lines, fmt.Sprintf("%s %s; the first: %s", words.Counted(m.Missing, missing.one, missing.many), missing.assumed, m.FirstMissing))
	}
	return lines
}

// Found reports whether there is anything that does not fit.
func (m *Mismatches) Found() bool {
	return len(m.NoTable)+len(m.NoEntry)+len(m.UnknownSwitches)+len(m.Gone)+len(m.Beyond)+len(m.Dead)+len(m.OtherLIDs)+len(m.OtherOwners) > 0 || m.SL2VL != nil || m.PSL != nil
}

// Text says that LIDs are others, and what is judged instead.
func (r *Renumbered) Text() string {
	whose := "weft gave the fabric its LIDs"
	if r.Stated {
		whose = "the tables are of another subnet manager than the LIDs of the fabric"
	}
	return fmt.Sprintf("%s of %s of the tables are others in the fabric: %s, and judged are the same routes under these LIDs", words.Thousands(r.LIDs), words.Plural(r.Of, "LID"), whose)
}

// Texts is what is to be said of it to people; nil: tables and fabric fit.
func (t Fit) Texts() (texts []string) {
	if t.Misfits != nil {
		texts = append(texts, t.Misfits.Text())
	}
	if t.Renumbered != nil {
		texts = append(texts, t.Renumbered.Text())
	}
	return texts
}

// String is the switch and the service levels.
func (b ByLane) String() string {
	return fmt.Sprintf("%s (SL %s)", b.Switch, strings.Join(list.Of(b.SLs, strconv.Itoa), ", "))
}
