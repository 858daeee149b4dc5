package result

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/words"
)

// BadCertificate is what weft verify prints where a proof does not hold.
type BadCertificate struct {
	Verdict string `json:"verdict"`
	Why     string `json:"why"`
}

// Verify is what weft verify prints.
type Verify struct {
	Verdict
	Assumed Assumed `json:"assumed"`
	VLs     int     `json:"vls"` // as lanes_used
	LaneCounts
	Loops     int64      `json:"forwarding_loops"`
	Dropped   int64      `json:"dropped_turns"`
	Covers    string     `json:"covers"`
	Groups    *Group     `json:"adaptive_groups,omitempty"`
	Multicast *Multicast `json:"multicast,omitempty"`
	Stray     int64      `json:"stray"` // (switch without endpoints in scope, LID) without a route
	Fit
	Findings  []Doubt         `json:"findings,omitempty"`
	ByLane    []ByLane        `json:"lanes_by_lanes,omitempty"` // switches that look up lanes by lanes
	CutOff    *CutOff         `json:"cut_off,omitempty"`
	Lost      []Lost          `json:"lost,omitempty"`
	JoinedBy  string          `json:"joined_by"`
	Rechecked bool            `json:"certificate_checked"`
	Proof     *Proof          `json:"proof_checker,omitempty"`
	Next      string          `json:"next,omitempty"`
	Seconds   VerifyStageTime `json:"seconds"`
}

// VerifyStageTime is the time of each stage of a verdict.
type VerifyStageTime struct {
	Read   float64 `json:"read"`
	Verify float64 `json:"verify"`
}

// Lost is a switch and a LID that endpoints on it do not reach.
type Lost struct {
	Switch     string     `json:"switch"`
	Dst        string     `json:"dst"`
	SwitchNode Node       `json:"switch_node"`
	DstNode    Node       `json:"dst_node"`
	LID        fabric.LID `json:"lid"`
	Why        string     `json:"why"`
	Pairs      int64      `json:"pairs"` // number of endpoints in scope on the switch that do not reach it
}

// Group counts what switches of adaptive routing choose from.
type Group struct {
	File    string  `json:"file,omitempty"`
	Choose  string  `json:"choose,omitempty"`
	Tables  int     `json:"private_tables"` // the most that a switch has, table 0 included
	Entries int64   `json:"entries"`        // number of entries of all switches for LIDs in use
	Chosen  int64   `json:"with_choice"`    // number of these that have two ports or more
	Hashed  int64   `json:"hashed"`         // number of with_choice where a hash decides
	Largest int     `json:"largest_group"`
	Escape  *Escape `json:"escape,omitempty"` // only if every choice together has a loop
}

// Escape reports whether packets that wait can always leave.
type Escape struct {
	Found   bool       `json:"found"`
	Choices int64      `json:"choices"`        // number of places where packets choose
	Static  int64      `json:"by_static_port"` // number of these where the static port is an escape
	Other   *OtherPort `json:"first_other,omitempty"`
}

// OtherPort is an escape port that is not the static one.
type OtherPort struct {
	Switch string     `json:"switch"`
	LID    fabric.LID `json:"lid"`
	In     uint8      `json:"in_port"`
	Port   uint8      `json:"port"`
}

// Multicast is what was found of the trees of multicast groups.
type Multicast struct {
	File     string   `json:"file"`
	Groups   int      `json:"groups"`
	SLs      []int    `json:"sls"`
	Circling []string `json:"circling,omitempty"`  // MLIDs
	Split    []string `json:"split,omitempty"`     // likewise
	OneSided []string `json:"one_sided,omitempty"` // likewise
}

// Proof is what weft-proof, the checker that is extracted from the proofs, says of the
// certificate of a verdict (docs/proof.md).
type Proof struct {
	Checker  string `json:"checker"`
	Holds    bool   `json:"holds"`
	Delivers *bool  `json:"delivers"` // all packets arrive; nil: not asked, since it does not hold
	Why      string `json:"why"`      // empty: nothing is wrong
}

// Text says how many entries let packets choose among ports.
func (s *Group) Text() string {
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

// Text is the same for people; once: it was taken for granted that switches choose again while a packet waits.
func (e *Escape) Text(once bool) string {
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
	if once {
		text += "\n(--choose again takes that for granted; ask the vendor whether it is so)"
	}
	return text
}

// Text is the same for people.
func (s *Multicast) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s on SL %s (--multicast-sl)", s.File, words.Counted(s.Groups, "group", "groups"), strings.Trim(strings.Join(strings.Fields(fmt.Sprint(s.SLs)), ", "), "[]"))
	if len(s.Circling) > 0 {
		fmt.Fprintf(&b, "\npackets of %s circle for ever: their trees have a ring: %s", words.Counted(len(s.Circling), "group", "groups"), words.FirstOf(s.Circling))
	}
	if len(s.Split) > 0 {
		fmt.Fprintf(&b, "\nthe trees of %s are in pieces: some members do not reach others: %s", words.Counted(len(s.Split), "group", "groups"), words.FirstOf(s.Split))
	}
	if len(s.OneSided) > 0 {
		fmt.Fprintf(&b, "\nthe trees of %s lead to switches that are not in them: the file is cut short, or of another time: %s", words.Counted(len(s.OneSided), "group", "groups"), words.FirstOf(s.OneSided))
	}
	return b.String()
}

// Text is the same for people.
func (p *Proof) Text() string {
	switch {
	case p.Holds && p.Delivers != nil && !*p.Delivers:
		return fmt.Sprintf("%s accepts the certificate, but not all packets arrive: %s", p.Checker, p.Why)
	case p.Holds:
		return fmt.Sprintf("%s accepts the certificate", p.Checker)
	}
	return fmt.Sprintf("%s does not accept the certificate: %s", p.Checker, p.Why)
}
