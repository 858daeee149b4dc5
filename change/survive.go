package change

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// Failure is what is taken away from a fabric at once.
type Failure struct {
	Channels []fabric.ChannelID // a channel of each cable
	Nodes    []fabric.NodeID
}

// Cables is the failures of every cable between two switches.
func Cables(f *fabric.Fabric) []Failure {
	var list []Failure
	for c := range fabric.ChannelID(f.Trunks()) {
		if f.Channel(c).Reverse > c {
			list = append(list, Failure{Channels: []fabric.ChannelID{c}})
		}
	}
	return list
}

// Switches is the failures of every switch.
func Switches(f *fabric.Fabric) []Failure {
	list := make([]Failure, f.Switches())
	for s := range list {
		list[s] = Failure{Nodes: []fabric.NodeID{fabric.NodeID(s)}}
	}
	return list
}

// Repair is what the repair of a failure takes.
type Repair struct {
	Failure
	Steps   int  // number of steps that packets in scope need
	Entries int  // number of entries that these steps change
	Due     int  // number of these entries that led into nothing
	Rebuilt bool // destinations that lost nothing have to make way
	Left    int  // number of destinations that no step mends
}

// Survival is the repairs of all failures of a kind, each by itself, and how many failures ended in which way.
// Every failure is one of Mended, Rebuilt and NotMended.
type Survival struct {
	Repairs   []Repair // [failure]
	OneStep   int      // of Mended and Rebuilt, those that take one step or none
	Mended    int      // all destinations, and no other makes way
	Rebuilt   int      // all destinations, but some that lost nothing have to make way
	NotMended int      // some destination is left
}

// Survive plans the repair of each failure of some tables, as if it were the only one, and has every step judged:
// what the network can lose without being routed from scratch, known before it happens.
func Survive(ctx context.Context, t *routing.Tables, failures []Failure, o Options) (*Survival, error) {
	s := &Survival{Repairs: make([]Repair, len(failures))}
	faults := make([]error, len(failures))
	err := par.For(ctx, len(failures), func(_, i int) { s.Repairs[i], faults[i] = repairOf(ctx, t, failures[i], o) })
	if err := cmp.Or(errors.Join(faults...), err); err != nil {
		return nil, err
	}
	for _, r := range s.Repairs {
		switch {
		case r.Left > 0:
			s.NotMended++
			continue
		case r.Rebuilt:
			s.Rebuilt++
		default:
			s.Mended++
		}
		if r.Steps <= 1 {
			s.OneStep++
		}
	}
	return s, nil
}

// Sample is at most so many failures of a list, evenly spread.
func Sample(list []Failure, most int) []Failure {
	if len(list) <= most {
		return list
	}
	some := make([]Failure, most)
	for i := range some {
		some[i] = list[i*len(list)/most]
	}
	return some
}

// repairOf plans the repair of one failure.
func repairOf(ctx context.Context, t *routing.Tables, x Failure, o Options) (Repair, error) {
	r := Repair{Failure: x}
	live, err := t.Fabric.Without(x.Channels, x.Nodes)
	if err != nil {
		return r, err
	}
	p, err := Mend(ctx, t, live, o)
	if err != nil {
		return r, err
	}
	r.Left = len(p.Left)
	for _, s := range p.Steps {
		if s.Mended+s.Drops == 0 {
			continue
		}
		r.Steps++
		r.Entries += s.Union.Entries
		r.Due += s.Union.Due
		r.Rebuilt = r.Rebuilt || s.Rebuilt
	}
	return r, nil
}

// Worst is all repairs in order, the worst first: by how much they leave, whether others have to make way, by
// steps, by entries.
func (s *Survival) Worst() []Repair {
	list := slices.Clone(s.Repairs)
	slices.SortStableFunc(list, func(a, b Repair) int {
		rebuilt := func(r Repair) int {
			if r.Rebuilt {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(b.Left, a.Left), cmp.Compare(rebuilt(b), rebuilt(a)), cmp.Compare(b.Steps, a.Steps), cmp.Compare(b.Entries, a.Entries))
	})
	return list
}
