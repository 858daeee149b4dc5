// Package judge decides whether a lossless Ethernet network can deadlock. It follows the
// packets of every class from every sender over every next hop, under the rules that change
// their marks, and derives which lane waits for which. It returns a rank for every lane,
// which rises along every dependency and which anyone can check again, or a shortest circle
// of lanes that can wait for each other for ever, with the prefix that causes each step.
//
// The model is that of package ethernet. There is no deadlock without a circle (W. J. Dally
// and C. L. Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks,
// IEEE Transactions on Computers C-36(5), 1987). As ECMP chooses without looking at queues,
// each dependency can be the only one that a packet has, so a circle is a deadlock that can
// happen.
//
// Hosts are taken to accept what arrives: a network card that pauses its switch for ever
// stops any lossless network.
//
// Complexity: O(P·(L + E/64)) for P classes, L links and E turns at switches, where no
// marks change; classes are divided among the cores. Memory: a bit for each turn and mark,
// for every core.
package judge

import (
	"context"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/dependencies"
	"github.com/weft-fabric/weft/internal/waits"
)

// Options are whose packets count, and how many findings are listed.
type Options struct {
	Scope ethernet.Scope
	Most  int // entries of Lost and Circling, 0: 16, less than 0: all
}

// Verdict is what the judge found. Findings are not errors: look at Free and Complete.
type Verdict struct {
	Scope        ethernet.Scope
	Lanes        []int // that carry packets on some link
	Dependencies int

	Pairs       int64 // ordered pairs of a sender's prefix and another
	Unreachable int64 // pairs of them whose packets can be lost: some choice of next hops ends nowhere
	Lost        []Lost
	Circles     int // prefixes whose packets can circle for ever
	Circling    []Circle

	Certificate *Certificate // nil if there is a circle
	Cycle       []Step       // a shortest circle; empty if there is none
}

// Free reports whether the network is proven free of deadlock.
func (v *Verdict) Free() bool { return v.Certificate != nil }

// Complete reports whether every packet arrives, whatever is chosen.
func (v *Verdict) Complete() bool { return v.Unreachable == 0 && v.Circles == 0 }

// Verify judges a network. The error is for a cancelled context.
func Verify(ctx context.Context, n *ethernet.Network, o Options) (*Verdict, error) {
	d, err := dependencies.Of(ctx, n, o.Scope)
	if err != nil {
		return nil, err
	}
	if o.Most == 0 {
		o.Most = 16
	}
	v := &Verdict{Scope: o.Scope, Dependencies: d.Count()}
	used := d.InUse()
	v.Lanes = lanesOf(used, d.Lanes)
	rank, free := waits.Rank(len(used), d.Successors)
	if free {
		for i, u := range used {
			if !u {
				rank[i] = Unused
			}
		}
		v.Certificate = &Certificate{Scope: o.Scope, Lanes: d.Lanes, Rank: rank}
	} else {
		v.Cycle = witness(d, waits.ShortestCycle(rank, d.Successors), o.Scope)
	}
	return v, reach(ctx, n, v, o)
}

// lanesOf lists the lanes that are used on some link; used is by link × lanes + lane.
func lanesOf(used []bool, lanes int) []int {
	list := []int{}
	for lane := range lanes {
		for v := lane; v < len(used); v += lanes {
			if used[v] {
				list = append(list, lane)
				break
			}
		}
	}
	return list
}
