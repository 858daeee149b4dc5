package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
)

// movedEndpoint is an endpoint that the fabric before had elsewhere, with other LIDs, or not at all.
type movedEndpoint struct {
	Endpoint     report.Node `json:"endpoint"`
	LID          fabric.LID  `json:"lid"`
	LIDBefore    fabric.LID  `json:"lid_before"` // 0: it was not there
	Switch       string      `json:"switch"`
	SwitchBefore string      `json:"switch_before"` // empty: it was not there

	name, way string
	lmc, then uint8 // LMC now and before
}

// movedOf is what the plan of a change treats as gone from one place and new in another.
func movedOf(before, now *fabric.Fabric) []movedEndpoint {
	parts := transition.PartsOf(before, now)
	differs := map[fabric.EndpointID]bool{}
	for _, e := range append(parts.Readdressed, parts.Moved...) {
		differs[e] = true
	}
	var all []movedEndpoint
	for i := range now.Endpoints() {
		e := fabric.EndpointID(i)
		ep, known := now.Endpoint(e), alsoIn(before, now, e)
		if ep.Switch == fabric.None || known && !differs[e] || !known && ep.Class == fabric.SwitchPort {
			continue
		}
		m := movedEndpoint{Endpoint: report.EndpointNode(now, e), LID: ep.LID, Switch: now.Label(ep.Switch), name: now.EndpointLabel(e), lmc: ep.LMC}
		if known {
			was := endpointIn(before, now.Node(ep.Node).GUID, ep.Port)
			m.LIDBefore, m.then = was.LID, was.LMC
			if was.Switch != fabric.None {
				m.SwitchBefore = before.Label(was.Switch)
				if at := now.Node(ep.Switch).GUID; at != before.Node(was.Switch).GUID {
					m.way = "from " + m.SwitchBefore + " to " + m.Switch
					if m.SwitchBefore == m.Switch {
						m.way = fmt.Sprintf("to %s with GUID %s", m.Switch, at)
					}
				}
			}
		}
		all = append(all, m)
	}
	return all
}

// endpointIn is the endpoint of a fabric at a port of a node that it has.
func endpointIn(f *fabric.Fabric, guid fabric.GUID, port uint8) *fabric.Endpoint {
	all := f.Endpoints()
	return &all[slices.IndexFunc(all, func(e fabric.Endpoint) bool { return e.Port == port && f.Node(e.Node).GUID == guid })]
}

func (m *movedEndpoint) String() string {
	var how []string
	switch {
	case m.LIDBefore == 0:
		how = append(how, "new")
	case m.LIDBefore != m.LID:
		how = append(how, fmt.Sprintf("LID %d, was %d", m.LID, m.LIDBefore))
	}
	if m.LIDBefore != 0 && m.lmc != m.then {
		how = append(how, fmt.Sprintf("LMC %d, was %d", m.lmc, m.then))
	}
	if m.way != "" {
		how = append(how, m.way)
	}
	return m.name + " (" + strings.Join(how, "; ") + ")"
}

// movedText names what has moved, behind some words; empty if nothing has.
func movedText(behind string, moved []movedEndpoint) string {
	if len(moved) == 0 {
		return ""
	}
	return behind + words.Counted(len(moved), "endpoint is new, elsewhere or has other LIDs", "endpoints are new, elsewhere or have other LIDs") + ": " +
		words.FirstOf(list.Of(moved, func(m movedEndpoint) string { return m.String() }))
}

// anewText says who has to ask for their paths anew.
func anewText(p *change.Proven) string {
	f := p.After.Fabric
	return fmt.Sprintf("%s to ask for paths anew: %s", words.Counted(len(p.Anew), "has", "of them have"), words.FirstOf(list.Of(p.Anew, f.EndpointLabel)))
}
