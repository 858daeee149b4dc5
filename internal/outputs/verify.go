package outputs

import (
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Group counts from how many ports switches choose by the adaptive groups of tables; nil where they have none.
func Group(t *routing.Tables) *result.Group {
	if t.Groups == nil {
		return nil
	}
	s := &result.Group{Tables: t.Groups.Tables()}
	for lid := range t.Fabric.LIDs() {
		for table := range s.Tables {
			countGroups(s, t, table, lid)
		}
	}
	return s
}

// countGroups adds to s the entries for a LID in one of the private tables of all switches.
func countGroups(s *result.Group, t *routing.Tables, table int, lid fabric.LID) {
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

// Escape is how packets that wait can leave; e is nil where they cannot.
func Escape(f *fabric.Fabric, e *deadlock.Escape) *result.Escape {
	if e == nil {
		return &result.Escape{}
	}
	s := &result.Escape{Found: true, Choices: e.Choices, Static: e.Static}
	if e.First != nil {
		s.Other = &result.OtherPort{Switch: f.Label(e.First.Switch), LID: e.First.LID, In: e.First.In, Port: e.First.Port}
	}
	return s
}

// Lost names the pairs that a verdict found without a route.
func Lost(f *fabric.Fabric, lost []deadlock.Lost) (all []result.Lost) {
	for _, l := range lost {
		to := f.Owner(l.LID)
		all = append(all, result.Lost{Switch: f.Label(l.Switch), Dst: f.EndpointLabel(to), SwitchNode: Node(f, l.Switch, 0), DstNode: Endpoint(f, to), LID: l.LID, Why: l.Why.String(), Pairs: l.Pairs})
	}
	return all
}

// Levels is service levels that are given as bits.
func Levels(mask uint16) (sls []int) {
	for sl := range routing.SLs {
		if mask>>sl&1 == 1 {
			sls = append(sls, sl)
		}
	}
	return sls
}

// Multicast names the multicast groups of a verdict, whose trees are from a file; nil where it is about none.
func Multicast(v *deadlock.MulticastVerdict, file string) *result.Multicast {
	if v == nil {
		return nil
	}
	return &result.Multicast{File: file, Groups: v.Groups, SLs: Levels(v.SLs), Circling: list.Of(v.Circling, MLID), Split: list.Of(v.Split, MLID), OneSided: list.Of(v.OneSided, MLID)}
}

// MLID is the address of a multicast group as people write it.
func MLID(lid fabric.LID) string { return fmt.Sprintf("%#x", uint16(lid)) }
