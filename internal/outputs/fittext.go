package outputs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// FitTexts says how tables do not fit their fabric; nil: they fit.
func FitTexts(t result.Fit) (texts []string) {
	if t.Misfits != nil {
		texts = append(texts, MisfitsText(t.Misfits))
	}
	if t.Renumbered != nil {
		texts = append(texts, RenumberedText(t.Renumbered))
	}
	return texts
}

// RenumberedText says that LIDs are others, and what is judged instead.
func RenumberedText(r *result.Renumbered) string {
	whose := "weft gave the fabric its LIDs"
	if r.Stated {
		whose = "the tables are of another subnet manager than the LIDs of the fabric"
	}
	return fmt.Sprintf("%s of %s of the tables are others in the fabric: %s, and judged are the same routes under these LIDs", words.Thousands(r.LIDs), words.Plural(r.Of, "LID"), whose)
}

// MisfitsText says what tables and fabric do not have in common.
func MisfitsText(m *result.Mismatches) string {
	return "tables and fabric are not of one time:\n  " + strings.Join(misfitLines(m), "\n  ")
}

// StaleTexts is sentences: what shows that the tables are not those of the fabric as it is. What hosts that came or left
// would explain is not in them.
func StaleTexts(m *result.Mismatches) []string {
	return misfitLines(&result.Mismatches{NoTable: m.NoTable, UnknownSwitches: m.UnknownSwitches, OtherLIDs: m.OtherLIDs, OtherOwners: m.OtherOwners})
}

// misfitLines is a sentence for each kind of what does not fit.
func misfitLines(m *result.Mismatches) []string {
	var lines []string
	say := func(n int, one, many, text string, args ...any) {
		if n > 0 {
			lines = append(lines, words.Counted(n, one, many)+fmt.Sprintf(text, args...))
		}
	}
	say(len(m.NoTable), "switch has", "switches have", " no table: %s", words.FirstOf(m.NoTable))
	absent := list.Of(m.UnknownSwitches, func(s result.AbsentSwitch) string { return cmp.Or(s.Name, s.GUID) })
	say(len(absent), "table is of a switch", "tables are of switches", " that the fabric does not have: %s", words.FirstOf(absent))
	say(len(m.NoEntry), "endpoint has", "endpoints have", " no entry in any switch: %s", words.FirstOf(m.NoEntry))
	gone := list.Of(m.Gone, func(g result.AbsentLID) string {
		return fmt.Sprintf("%s (LID %d)", cmp.Or(g.Name, g.GUID, "unknown"), g.LID)
	})
	say(len(gone), "LID of the tables belongs", "LIDs of the tables belong", " to nothing in the fabric: %s", words.FirstOf(gone))
	if len(m.Beyond) > 0 {
		say(len(m.Beyond), "LID", "LIDs", " of the tables that endpoints have by their LMC, but not in the fabric (--lmc N gives them); the first: %s", m.Beyond[0].Why)
	}
	entries := 0
	dead := list.Of(m.Dead, func(p result.DeadPort) string {
		entries += p.Entries
		return fmt.Sprintf("%s, port %d (%s)", p.Switch, p.Port, words.Thousands(p.Entries))
	})
	say(entries, "entry leads", "entries lead", " to %s without a cable: %s", words.Plural(len(dead), "port"), words.FirstOf(dead))
	if len(m.OtherLIDs) > 0 {
		lines = append(lines, otherLIDsText(m.OtherLIDs))
	}
	var replaced []string
	for _, o := range m.OtherOwners {
		if o.Replaced {
			replaced = append(replaced, fmt.Sprintf("LID %d of %s, in the tables of %s", o.LID, o.Endpoint, cmp.Or(o.Name, o.GUID)))
		}
	}
	say(len(replaced), "port has", "ports have", " the LID of one that the fabric does not have, and its entries: %s", words.FirstOf(replaced))
	return append(append(lines, fileLines(m.SL2VL, withoutMap)...), fileLines(m.PSL, withoutSL)...)
}

// LackingText says for which ports there is no SL2VL map; empty: all have one.
func LackingText(m *result.Mismatches) string {
	if m.SL2VL == nil || m.SL2VL.Missing == 0 {
		return ""
	}
	missing := *m.SL2VL
	missing.Skipped = 0
	return fileLines(&missing, withoutMap)[0]
}

// otherLIDsText says which endpoints have other LIDs. The entries for these LIDs are those of whoever
// had them: packets go there.
func otherLIDsText(others []result.OtherLID) string {
	names := list.Of(others, func(o result.OtherLID) string {
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

// fileLines is a sentence for lines that were left out and one for pairs that the file lacks, in these words.
func fileLines(m *result.FileMisfit, missing lacks) (lines []string) {
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

// AnyMisfit reports whether there is anything that does not fit.
func AnyMisfit(m *result.Mismatches) bool {
	return len(m.NoTable)+len(m.NoEntry)+len(m.UnknownSwitches)+len(m.Gone)+len(m.Beyond)+len(m.Dead)+len(m.OtherLIDs)+len(m.OtherOwners) > 0 || m.SL2VL != nil || m.PSL != nil
}
