package cli

import (
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

type groupSummary struct {
	File    string         `json:"file,omitempty"`
	Choose  string         `json:"choose,omitempty"`
	Tables  int            `json:"private_tables"` // the most that a switch has, table 0 included
	Entries int64          `json:"entries"`        // of all switches for LIDs in use
	Chosen  int64          `json:"with_choice"`    // those of them with two ports or more
	Hashed  int64          `json:"hashed"`         // those of with_choice where a hash decides
	Largest int            `json:"largest_group"`
	Escape  *escapeSummary `json:"escape,omitempty"` // only if every choice together has a loop
}

// escapeSummary says whether packets that wait can always leave.
type escapeSummary struct {
	Found   bool       `json:"found"`
	Choices int64      `json:"choices"`
	Static  int64      `json:"by_static_port"`
	Other   *otherPort `json:"first_other,omitempty"`
}

// otherPort is an escape port that is not the static one.
type otherPort struct {
	Switch string     `json:"switch"`
	LID    fabric.LID `json:"lid"`
	In     uint8      `json:"in_port"`
	Port   uint8      `json:"port"`
}

func (j *verifyJob) groupSummary() *groupSummary {
	s := groupsOf(j.Tables)
	if s == nil {
		return nil
	}
	s.File, s.Choose = j.o.Groups, j.o.choose
	if !j.verdict.Free() && !j.checked {
		s.Escape = escapeOf(j.Tables.Fabric, j.verdict.Escape)
	}
	return s
}

// groupsOf counts the groups of tables; nil where they have none.
func groupsOf(t *routing.Tables) *groupSummary {
	if t.Groups == nil {
		return nil
	}
	s := &groupSummary{Tables: t.Groups.Tables()}
	for lid := range t.Fabric.LIDs() {
		for table := range s.Tables {
			s.count(t, table, lid)
		}
	}
	return s
}

// count counts the entries for a LID in a private table.
func (s *groupSummary) count(t *routing.Tables, table int, lid fabric.LID) {
	for sw, c := range t.Groups.Row(table, lid) {
		s.Entries++
		if c == routing.NoChoice || t.Groups.Levels(fabric.NodeID(sw)) == 0 {
			continue
		}
		n := t.Groups.Sets(fabric.NodeID(sw))[c.Group()].Len()
		if n < 2 {
			continue
		}
		s.Chosen++
		s.Largest = max(s.Largest, n)
		if c.Hashed() {
			s.Hashed++
		}
	}
}

func escapeOf(f *fabric.Fabric, e *deadlock.Escape) *escapeSummary {
	if e == nil {
		return &escapeSummary{}
	}
	s := &escapeSummary{Found: true, Choices: e.Choices, Static: e.Static}
	if e.First != nil {
		s.Other = &otherPort{f.Label(e.First.Switch), e.First.LID, e.First.In, e.First.Port}
	}
	return s
}

func (s *groupSummary) text() string {
	text := fmt.Sprintf("%s of %s let packets choose, among up to %d ports", words.Counted(s.Chosen, "entry", "entries"), words.Thousands(s.Entries), s.Largest)
	if s.File != "" {
		text = s.File + ": " + text
	}
	if s.Hashed > 0 {
		text += fmt.Sprintf("; in %s of them a hash decides", words.Thousands(s.Hashed))
	}
	if s.Tables > 1 {
		text += fmt.Sprintf("; up to %d private forwarding tables", s.Tables)
	}
	return text
}

func (e *escapeSummary) text(choose string) string {
	if !e.Found {
		return "none: even if switches choose again while packets wait, packets can fill lanes that all of them wait for"
	}
	text := "free of deadlock if switches choose again while a packet waits: each can then go on by a port that leads to a lower rank of lanes, until it arrives;\n"
	if e.Other == nil {
		text += fmt.Sprintf("the static port is such a port wherever packets choose (%s places)", words.Thousands(e.Choices))
	} else {
		text += fmt.Sprintf("the static port is one at %s of the %s places where packets choose, another port of the group at the rest, such as port %d of %s for LID %d from port %d",
			words.Thousands(e.Static), words.Thousands(e.Choices), e.Other.Port, e.Other.Switch, e.Other.LID, e.Other.In)
	}
	if choose == chooseOnce {
		text += "\n(--choose again takes that for granted; ask the vendor whether it is so)"
	}
	return text
}
