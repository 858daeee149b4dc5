package placement

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

func tables(t testnet.TB, spec, engine string) *routing.Tables {
	t.Helper()
	return routed.Of(t, testnet.Build(t, spec), engine, routing.Budget{VLs: 8})
}

func options(t testnet.TB, tables *routing.Tables, pattern string, ranks int) Options {
	t.Helper()
	p, err := traffic.Parse(pattern)
	if err != nil {
		t.Fatal(err)
	}
	hosts := routing.HCA.Endpoints(tables.Fabric)
	return Options{Pattern: p, Ranks: slices.Clone(hosts[:ranks]), Seed: 1}
}

// cost counts anew what a placement costs.
func (s *search) cost() (sum float64) {
	for _, l := range s.load {
		sum += power(l)
	}
	return sum
}

// Every order of six ranks is tried by brute force: none is lighter than what is found.
func TestNoOrderIsLighter(t *testing.T) {
	for _, c := range []struct{ spec, pattern string }{
		{"ring:6", "ring"}, {"ring:6", "neighbour2d"}, {"ring:6", "shift:k=2"}, {"mesh:2x3", "ring"}, {"karytree:k=2,n=3", "shift:k=3"}, {"ring:6", "bisect"},
	} {
		tb := tables(t, c.spec, "updn")
		o := options(t, tb, c.pattern, 6)
		s, err := newSearch(tb, &o)
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		var orders func(k int)
		orders = func(k int) {
			if k == len(o.Ranks) {
				s.begin(o.Ranks)
				least = min(least, s.cost())
				return
			}
			for i := k; i < len(o.Ranks); i++ {
				o.Ranks[k], o.Ranks[i] = o.Ranks[i], o.Ranks[k]
				orders(k + 1)
				o.Ranks[k], o.Ranks[i] = o.Ranks[i], o.Ranks[k]
			}
		}
		orders(0)
		found := math.Inf(1)
		for seed := range uint64(DefaultBeginnings) {
			s.begin(o.Ranks)
			rng := traffic.Stream(seed, 1)
			if seed > 0 {
				rng.Shuffle(len(s.ranks), func(a, b int) { s.exchange(a, b) })
			}
			if err := s.descend(context.Background(), rng); err != nil {
				t.Fatal(err)
			}
			found = min(found, s.cost())
		}
		if found > least*(1+1e-9) {
			t.Errorf("%s, %s: %g found, %g is possible", c.spec, c.pattern, found, least)
		}
	}
}

// What an exchange says that it changes is what counting anew says, and exchanging back
// restores it.
func TestExchangesAddUp(t *testing.T) {
	tb := tables(t, "torus:3x4,hosts=2", "lash")
	rapid.Check(t, func(r *rapid.T) {
		o := options(t, tb, rapid.SampledFrom([]string{"ring", "alltoall", "shifts", "bisect", "gather"}).Draw(r, "pattern"), 8)
		s, err := newSearch(tb, &o)
		if err != nil {
			r.Fatal(err)
		}
		s.begin(o.Ranks)
		for range 10 {
			a, b := rapid.IntRange(0, 7).Draw(r, "a"), rapid.IntRange(0, 7).Draw(r, "b")
			if a == b {
				continue
			}
			before := s.cost()
			change := s.exchange(a, b)
			after := s.cost()
			if math.Abs(before+change-after) > 1e-6*after {
				r.Fatalf("%g and %g is %g, counted %g", before, change, before+change, after)
			}
			fresh := &search{t: s.t, flows: s.flows, flowsOf: s.flowsOf, rate: s.rate, load: make([]float64, len(s.load)), seen: make([]int32, len(s.seen))}
			fresh.begin(s.ranks)
			if math.Abs(fresh.cost()-after) > 1e-6*after {
				r.Fatalf("%g kept, %g counted anew", after, fresh.cost())
			}
		}
	})
}

// A job whose ranks were dealt out badly gets shorter; one at its best stays as it is, and
// the endpoints are the same ones in any case.
func TestImprove(t *testing.T) {
	tb := tables(t, "xgft:m=8x4,w=4x4,hosts=4", "ftree")
	o := options(t, tb, "ring", 64)
	mixed := traffic.Stream(7, 7)
	mixed.Shuffle(len(o.Ranks), func(a, b int) { o.Ranks[a], o.Ranks[b] = o.Ranks[b], o.Ranks[a] })
	r, err := Improve(context.Background(), tb, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.After.Time >= r.Before.Time || r.Exchanged == 0 {
		t.Errorf("time %g before, %g after, %d ranks exchanged", r.Before.Time, r.After.Time, r.Exchanged)
	}
	a, b := slices.Sorted(slices.Values(o.Ranks)), slices.Sorted(slices.Values(r.Ranks))
	if !slices.Equal(a, b) {
		t.Error("other endpoints than before")
	}
	o.Ranks = r.Ranks
	again, err := Improve(context.Background(), tb, o)
	if err != nil {
		t.Fatal(err)
	}
	if again.After.Time > r.After.Time {
		t.Errorf("made worse: %g, then %g", r.After.Time, again.After.Time)
	}
}

// Where every rank sends as much to every other at once, no order is lighter than another, and none is tried: that would be
// millions of exchanges of thousands of flows.
func TestAlike(t *testing.T) {
	t.Parallel()
	tb := tables(t, "ring:6,hosts=2", "updn")
	for pattern, alike := range map[string]bool{"alltoall": true, "alltoall-phased": false, "uniform": false, "ring": false, "bisect-both": false} {
		o := options(t, tb, pattern, 8)
		o.Beginnings = 1
		r, err := Improve(t.Context(), tb, o)
		if err != nil {
			t.Fatal(err)
		}
		if (r.Tried == 0) != alike || r.Before == nil || r.After == nil || alike && !slices.Equal(r.Ranks, o.Ranks) {
			t.Errorf("%s: %d exchanges are tried", pattern, r.Tried)
		}
	}
	// Two ranks have two orders, and both send at once.
	if r, err := Improve(t.Context(), tb, options(t, tb, "ring", 2)); err != nil || r.Tried != 0 {
		t.Error(r, err)
	}
}

func TestRefusals(t *testing.T) {
	tb := tables(t, "ring:6", "updn")
	o := options(t, tb, "alltoall", 6)
	tb.Forwarding.Row(tb.Fabric.Endpoint(o.Ranks[2]).LID)[0] = routing.NoPort
	if _, err := Improve(context.Background(), tb, o); err == nil {
		t.Error("a pair without a route is placed")
	}
}
