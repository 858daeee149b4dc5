package result

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

// StepOfPlan is a step of a change, by what is written in it.
type StepOfPlan struct {
	Mended   int   `json:"entries_mended"`
	Follow   int   `json:"entries_that_follow"`
	Dropped  int   `json:"entries_dropped"`
	Rebuilt  bool  `json:"rebuilt"`
	Balanced bool  `json:"balanced"`
	Due      int   `json:"entries_due"`
	Blocks   int   `json:"blocks"`
	Touched  int   `json:"switches"`
	Cut      int64 `json:"pairs_cut_after"`

	BySwitch []SwitchEntries `json:"by_switch"`
}

// Least is what any one step has to write at least so that endpoints reach every LID
// again that cables join; none where nobody is cut off.
type Least struct {
	LeastEntries int `json:"least_entries"`
	LeastBlocks  int `json:"least_blocks"`
}

// HeldBack is the endpoints that are back and whose links have to stay down until so many
// steps are confirmed.
type HeldBack struct {
	Waiting []string `json:"waiting"`
	Waits   int      `json:"waiting_steps"`
}

// SwitchEntries is a row of a plan: a switch and its entries that differ between the tables.
type SwitchEntries struct {
	Switch  Node `json:"switch"`
	Entries int  `json:"entries"`
}

// LeftOver is a destination that no step mends.
type LeftOver struct {
	LID      fabric.LID `json:"lid"`
	Endpoint string     `json:"endpoint"`
	Node     Node       `json:"endpoint_node"`
}

// MovedEndpoint is an endpoint that the fabric before had elsewhere, with other LIDs, or not at all.
type MovedEndpoint struct {
	Endpoint     Node       `json:"endpoint"`
	LID          fabric.LID `json:"lid"`
	LIDBefore    fabric.LID `json:"lid_before"` // 0: it was not there
	Switch       string     `json:"switch"`
	SwitchBefore string     `json:"switch_before"` // empty: it was not there

	Text string `json:"-"` // it, and what is other than before
}

// Plan is a change in steps for programs, and plan.json.
type Plan struct {
	Fabric  string     `json:"fabric"`
	Without *GoneParts `json:"without,omitempty"` // of weft repair: parts of the fabric that are taken away
	Tables  string     `json:"tables"`
	Fit
	Contract  string `json:"contract"`
	Endpoints string `json:"endpoints"`
	Pairs     int64  `json:"pairs"`
	CutNow    int64  `json:"pairs_cut_now"`
	CutAfter  int64  `json:"pairs_cut_after"`
	Apart     int64  `json:"pairs_apart"`
	Least
	Steps []PlanStep `json:"steps"`
	HeldBack
	AbsentLanes []AbsentLane    `json:"absent_lanes,omitempty"`
	Moved       []MovedEndpoint `json:"moved,omitempty"`    // since the fabric that the tables are for
	Anew        []Node          `json:"ask_anew,omitempty"` // of these, those that have to ask for their paths anew
}

// PlanStep is a step of it, with what has to pass before the next.
type PlanStep struct {
	Folder string `json:"folder"`
	StepOfPlan
	WaitHops    int     `json:"wait_hops"`
	WaitSeconds float64 `json:"wait_seconds"`
}

// StepsOf is the steps of a plan.
func StepsOf(p *change.Proven) []StepOfPlan {
	return list.Of(p.Steps, func(s change.Step) StepOfPlan {
		return StepOfPlan{
			s.Mended, s.Follow, s.Drops, s.Rebuilt, s.Balanced, s.Union.Due, s.Union.Blocks, s.Union.Switches, s.Union.CutAfter(),
			SwitchEntriesOf(p.After.Fabric, s.Union.BySwitch),
		}
	})
}

// LeastOf is the least for tables as they act on a network that has changed.
func LeastOf(t *routing.Tables, scope routing.Scope) Least {
	l := transition.LeastOf(t, scope)
	return Least{l.Entries, l.Blocks}
}

// HeldBackOf is who has to wait while a plan is written.
func HeldBackOf(p *change.Proven) HeldBack {
	return HeldBack{list.Of(p.Waiting, p.After.Fabric.EndpointLabel), p.Waits}
}

// SwitchEntriesOf is the rows of counts of entries, [NodeID], without switches where nothing changes.
func SwitchEntriesOf(f *fabric.Fabric, entries []int) []SwitchEntries {
	by := []SwitchEntries{}
	for at, n := range entries {
		if n > 0 {
			by = append(by, SwitchEntries{NodeOf(f, fabric.NodeID(at), 0), n})
		}
	}
	return by
}

// LeftOf is the destinations that a plan does not mend.
func LeftOf(p *change.Proven) []LeftOver {
	f := p.After.Fabric
	return list.Of(p.Left, func(l repair.Left) LeftOver {
		e := f.Owner(l.LID)
		return LeftOver{l.LID, f.EndpointLabel(e), EndpointNode(f, e)}
	})
}

// switchLifetime is how long OpenSM lets a packet stay in a switch by default
// (packet_life_time 0x12: 4.096 µs × 2^18, IBA 14.2.5.4).
const switchLifetime = 4096 * time.Nanosecond << 18

// PlanOf is a plan of which each step goes into a folder. Whoever read the tables and fabrics names
// them in what it returns.
func PlanOf(p *change.Proven, contract routing.Contract, scope routing.Scope) *Plan {
	s := &Plan{
		Contract: contract.String(), Endpoints: scope.String(), Pairs: p.Pairs, CutNow: p.CutBefore, CutAfter: p.CutAfter, Apart: p.Disconnected,
		Least: LeastOf(p.Before, scope), Steps: []PlanStep{}, HeldBack: HeldBackOf(p),
		AbsentLanes: AbsentLanes(p.After.Fabric, p.Absent), Anew: EndpointNodes(p.After.Fabric, p.Anew),
	}
	for i, step := range StepsOf(p) {
		hops := change.Hops(p.Steps[i].Tables)
		s.Steps = append(s.Steps, PlanStep{fmt.Sprintf("step-%d", i+1), step, hops, (time.Duration(hops) * switchLifetime).Seconds()})
	}
	return s
}

// MovedOf is what the plan of a change treats as gone from one place and new in another.
func MovedOf(before, now *fabric.Fabric) []MovedEndpoint {
	parts := transition.PartsOf(before, now)
	differs := map[fabric.EndpointID]bool{}
	for _, e := range append(parts.Readdressed, parts.Moved...) {
		differs[e] = true
	}
	var all []MovedEndpoint
	for i := range now.Endpoints() {
		e := fabric.EndpointID(i)
		ep, known := now.Endpoint(e), before.Has(now, e)
		if ep.Switch == fabric.None || known && !differs[e] || !known && ep.Class == fabric.SwitchPort {
			continue
		}
		m := MovedEndpoint{Endpoint: EndpointNode(now, e), LID: ep.LID, Switch: now.Label(ep.Switch)}
		how := []string{"new"}
		if known {
			how = m.since(now, before, ep)
		}
		m.Text = now.EndpointLabel(e) + " (" + strings.Join(how, "; ") + ")"
		all = append(all, m)
	}
	return all
}

// since fills in where an endpoint was before, and says what is other now.
func (m *MovedEndpoint) since(now, before *fabric.Fabric, ep *fabric.Endpoint) (how []string) {
	all, guid := before.Endpoints(), now.Node(ep.Node).GUID
	was := &all[slices.IndexFunc(all, func(e fabric.Endpoint) bool { return e.Port == ep.Port && before.Node(e.Node).GUID == guid })]
	m.LIDBefore = was.LID
	switch {
	case was.LID == 0:
		how = append(how, "new")
	case was.LID != ep.LID:
		how = append(how, fmt.Sprintf("LID %d, was %d", ep.LID, was.LID))
	}
	if was.LID != 0 && ep.LMC != was.LMC {
		how = append(how, fmt.Sprintf("LMC %d, was %d", ep.LMC, was.LMC))
	}
	if was.Switch == fabric.None {
		return how
	}
	m.SwitchBefore = before.Label(was.Switch)
	switch at := now.Node(ep.Switch).GUID; {
	case at == before.Node(was.Switch).GUID:
	case m.SwitchBefore == m.Switch:
		how = append(how, fmt.Sprintf("to %s with GUID %s", m.Switch, at))
	default:
		how = append(how, "from "+m.SwitchBefore+" to "+m.Switch)
	}
	return how
}

// Text is the same for people.
func (l Least) Text() string {
	if l.LeastEntries == 0 {
		return ""
	}
	return fmt.Sprintf(" (any one step that mends all: %s of %s at least)", words.Counted(l.LeastEntries, "entry", "entries"), words.Counted(l.LeastBlocks, "block", "blocks"))
}

// Text is the same for people.
func (w HeldBack) Text() string {
	if len(w.Waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("until step %d is confirmed, the links of these have to stay down, or they could close a credit loop: %s", w.Waits, words.FirstOf(w.Waiting))
}
