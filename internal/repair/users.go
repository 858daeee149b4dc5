package repair

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// numbering numbers the dependencies that cables and lanes allow.
type numbering struct {
	f     *fabric.Fabric
	lanes fabric.ChannelID
}

// dependencies is how many there are.
func (n numbering) dependencies() int { return n.f.Turns() * int(n.lanes*n.lanes) }

// number is the place of a dependency among all.
func (n numbering) number(d acyclic.Dependency) int {
	if n.lanes == 1 {
		return n.f.Turn(d.In, d.Out)
	}
	turn := n.f.Turn(d.In/n.lanes, d.Out/n.lanes)
	return (turn*int(n.lanes)+int(d.In%n.lanes))*int(n.lanes) + int(d.Out%n.lanes)
}

// each yields the dependencies whose numbers are in use.
func (n numbering) each(used func(number int) bool, yield func(in, out fabric.ChannelID)) {
	at := 0
	for in := range fabric.ChannelID(n.f.Trunks()) {
		first, end := n.f.TrunksFrom(n.f.Heads()[in])
		for out := first; out < end; out++ {
			for from := range n.lanes {
				for to := range n.lanes {
					if used(at) {
						yield(in*n.lanes+from, out*n.lanes+to)
					}
					at++
				}
			}
		}
	}
}

// users is which destinations cause each dependency of some tables.
type users struct {
	numbering
	first []int32      // [dependency, plus one] into lids
	lids  []fabric.LID // rising for each
}

// of is the destinations whose packets cause a dependency.
func (u *users) of(d acyclic.Dependency) []fabric.LID {
	n := u.number(d)
	return u.lids[u.first[n]:u.first[n+1]]
}

// set is some dependencies.
type set struct {
	has  []bool   // [dependency]
	list []member // those that were added, also such as are taken out again
}

// member is a dependency with its number.
type member struct {
	acyclic.Dependency
	number int
}

func (u *users) newSet() set { return set{has: make([]bool, u.dependencies())} }

func (s *set) add(m member) {
	if !s.has[m.number] {
		s.has[m.number] = true
		s.list = append(s.list, m)
	}
}

func (s *set) clear() {
	for i := range s.list {
		s.has[s.list[i].number] = false
	}
	s.list = s.list[:0]
}

// counts is how many destinations cause each dependency.
func (u *users) counts() []int32 {
	count := make([]int32, u.dependencies())
	for n := range count {
		count[n] = u.first[n+1] - u.first[n]
	}
	return count
}

// each yields every dependency that any destination causes.
func (u *users) each(yield func(in, out fabric.ChannelID)) {
	u.numbering.each(func(n int) bool { return u.first[n] < u.first[n+1] }, yield)
}

// countUsers reads which destinations in scope cause each dependency. Memory: 8 bytes for
// each destination and each dependency that it causes.
func (s *step) countUsers(ctx context.Context, fw *routing.Forwarding) (*users, error) {
	u := &users{numbering: numbering{s.f, fabric.ChannelID(s.flow.lanes)}}
	u.first = make([]int32, u.dependencies()+1)
	type use struct {
		number int32
		lid    fabric.LID
	}
	var all []use
	last := make([]fabric.LID, u.dependencies()) // [dependency] the last destination that causes it; 0: none
	var at fabric.LID
	s.flow.depend = func(in, out fabric.ChannelID) bool {
		if n := u.number(acyclic.Dependency{In: in, Out: out}); last[n] != at {
			last[n] = at
			u.first[n+1]++
			all = append(all, use{int32(n), at})
		}
		return true
	}
	err := s.eachInScope(ctx, func(lid fabric.LID) {
		at = lid
		s.flow.begin(fw.Row(lid), lid)
		s.flow.startAll()
	})
	for n := range u.dependencies() {
		u.first[n+1] += u.first[n]
	}
	u.lids = make([]fabric.LID, len(all))
	next := slices.Clone(u.first)
	for _, x := range all {
		u.lids[next[x.number]] = x.lid
		next[x.number]++
	}
	return u, err
}
