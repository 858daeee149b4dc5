package dragonfly

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/routing"
)

// groups is the groups of a Dragonfly, by their lowest switches.
type groups struct {
	f       *fabric.Fabric
	of      []int32           // [switch] its group; -1: none yet
	at      []int32           // [switch] its number within the group
	members [][]fabric.NodeID // [group]
}

// The rules, for refusals and Explain.
const (
	ruleGroups = "the switches form groups of three or more, as many in each, that are joined each to each"
	ruleJoined = "a cable joins every two groups"
)

// place is the number of a switch within its group.
func (g *groups) place(s fabric.NodeID) int { return int(g.at[s]) }

func (g *groups) String() string {
	return fmt.Sprintf("%d groups of %d switches", len(g.members), len(g.members[0]))
}

// Explain implements routing.Explainer.
func (Engine) Explain(f *fabric.Fabric) []routing.Finding {
	g, no := find(f)
	if no != nil {
		return []routing.Finding{{Rule: ruleGroups, Why: no.Brief()}}
	}
	list := []routing.Finding{{Rule: ruleGroups, OK: true, Why: g.String()}, {Rule: ruleJoined, OK: true, Why: "all are joined"}}
	if no = g.allJoined(); no != nil {
		list[1].OK, list[1].Why = false, no.Brief()
	}
	return list
}

// find finds the groups from the cables. Two switches of a group of n have the n-2 others as
// common neighbours; two of different groups have few, if any.
func find(f *fabric.Fabric) (*groups, *routing.Refusal) {
	n := f.Switches()
	beside := make([][]fabric.NodeID, n) // [switch] its neighbours, each once, ascending
	common := make([][]int, n)           // [switch][as beside] how many neighbours both have in common
	most := 0
	for s := range fabric.NodeID(n) {
		beside[s] = list.Once(f.Neighbours(s))
		most = max(most, len(beside[s]))
	}
	for s, list := range beside {
		for _, z := range list {
			common[s] = append(common[s], shared(list, beside[z]))
		}
	}
	for size := most + 1; size >= 3; size-- {
		if n%size != 0 {
			continue
		}
		if g := ofSize(f, size, beside, common); g != nil {
			return g, nil
		}
	}
	return nil, routing.Refuse(f, ruleGroups, fabric.None, 0, "no such groups fit its cables between switches")
}

// shared counts what two ascending lists have in common.
func shared(a, b []fabric.NodeID) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			a, b, n = a[1:], b[1:], n+1
		}
	}
	return n
}

// ofSize is the groups if all can have a given size; nil: they cannot, or it would take too long to
// find them. beside and common are as in find.
func ofSize(f *fabric.Fabric, size int, beside [][]fabric.NodeID, common [][]int) *groups {
	p := &parting{size: size, steps: 1000 * len(beside), near: make([][]fabric.NodeID, len(beside))}
	p.groups = groups{f: f, of: slices.Repeat([]int32{-1}, len(beside)), at: make([]int32, len(beside))}
	for s := range beside {
		for i, z := range beside[s] {
			if common[s][i] >= size-2 {
				p.near[s] = append(p.near[s], z)
			}
		}
		if len(p.near[s]) < size-1 {
			return nil
		}
	}
	if len(beside) == 0 || !p.partFrom(0) {
		return nil
	}
	return &p.groups
}

// parting is a search for groups of a given size. Where cables between groups join three
// switches each to each, there is more than one way to try.
type parting struct {
	groups
	size  int
	near  [][]fabric.NodeID // [switch] neighbours that may be of its group, ascending
	steps int               // how many are left before it gives up
}

// partFrom puts all switches from s on that have no group yet into groups. It returns false, with these
// switches as they were, if that cannot be, or it gave up.
func (p *parting) partFrom(s fabric.NodeID) bool {
	for int(s) < len(p.of) && p.of[s] >= 0 {
		s++
	}
	return int(s) == len(p.of) || p.extend([]fabric.NodeID{s}, 0)
}

// extend makes a group of some switches, which are joined each to each, and others near the first, from
// a place in that list on, and parts the rest. It returns false as partFrom does.
func (p *parting) extend(members []fabric.NodeID, from int) bool {
	if p.steps--; p.steps < 0 {
		return false
	}
	first := members[0]
	if len(members) == p.size {
		for i, s := range members {
			p.of[s], p.at[s] = int32(len(p.members)), int32(i)
		}
		p.members = append(p.members, members)
		if p.partFrom(first) {
			return true
		}
		p.members = p.members[:len(p.members)-1]
		for _, s := range members {
			p.of[s] = -1
		}
		return false
	}
	for i, z := range p.near[first][from:] {
		if p.of[z] < 0 && p.joined(z, members) && p.extend(append(members[:len(members):len(members)], z), from+i+1) {
			return true
		}
	}
	return false
}

// joined reports whether a switch may be of one group with all of some others.
func (p *parting) joined(z fabric.NodeID, others []fabric.NodeID) bool {
	for _, s := range others {
		if _, found := slices.BinarySearch(p.near[s], z); !found {
			return false
		}
	}
	return true
}

// allJoined refuses groups of which two have no cable between them.
func (g *groups) allJoined() *routing.Refusal {
	n := len(g.members)
	joined := make([]bool, n*n)
	for _, c := range g.f.Channels()[:g.f.Trunks()] {
		joined[int(g.of[c.From])*n+int(g.of[c.To])] = true
	}
	for a := range n {
		for z := range n {
			if a != z && !joined[a*n+z] {
				return routing.Refuse(g.f, ruleJoined, g.members[a][0], 0, "no cable joins its group to that of %s", g.f.Label(g.members[z][0]))
			}
		}
	}
	return nil
}
