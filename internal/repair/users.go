package repair

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// users is which destinations cause each dependency by some tables. ripUp asks it who would have to make way.
type users struct {
	numbers packetset.Dependencies
	first   []int32      // [dependency, and one more] where its destinations begin in lids
	lids    []fabric.LID // dependency by dependency, rising for each
}

// causing is the destinations whose packets cause a dependency.
func (u *users) causing(d acyclic.Dependency) []fabric.LID {
	n := u.numbers.Number(d)
	return u.lids[u.first[n]:u.first[n+1]]
}

// set is a set of dependencies.
type set struct {
	has  []bool   // [dependency] whether it is in the set
	list []member // all that were added since clear, also those that a rollback has taken out again
}

// member is a dependency with its number.
type member struct {
	acyclic.Dependency
	number int
}

func (u *users) newSet() set { return set{has: make([]bool, u.numbers.Count())} }

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

// member is the dependency between two vertices of the graph, with its number.
func (u *users) member(in, out fabric.ChannelID) member {
	d := acyclic.Dependency{In: in, Out: out}
	return member{d, u.numbers.Number(d)}
}

// counts is how many destinations cause each dependency.
func (u *users) counts() []int32 {
	count := make([]int32, u.numbers.Count())
	for n := range count {
		count[n] = u.first[n+1] - u.first[n]
	}
	return count
}

// each yields every dependency that any destination causes.
func (u *users) each(yield func(in, out fabric.ChannelID)) {
	u.numbers.Each(func(n int) bool { return u.first[n] < u.first[n+1] }, yield)
}

// countUsers reads which destinations in scope cause each dependency. Memory: 8 bytes for
// each destination and each dependency that it causes.
func (a *attempt) countUsers(ctx context.Context, fw *routing.Forwarding) (*users, error) {
	u := &users{numbers: a.packets.Dependencies()}
	u.first = make([]int32, u.numbers.Count()+1)
	type use struct {
		number int32
		lid    fabric.LID
	}
	var all []use
	last := make([]fabric.LID, u.numbers.Count()) // [dependency] the destination noted last for it; 0: none
	var at fabric.LID                             // the destination whose packets are followed
	note := func(in, out fabric.ChannelID) bool {
		if n := u.numbers.Number(acyclic.Dependency{In: in, Out: out}); last[n] != at {
			last[n] = at
			u.first[n+1]++
			all = append(all, use{int32(n), at})
		}
		return true
	}
	err := a.problem.eachInScope(ctx, func(lid fabric.LID) {
		at = lid
		a.packets.Begin(fw.Row(lid), lid)
		a.packets.Start(note)
	})
	for n := range u.numbers.Count() {
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
