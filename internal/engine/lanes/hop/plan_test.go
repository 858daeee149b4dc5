package hop

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/internal/testnet"
)

// anySequences is a few paths of distinct turns, in bundles.
func anySequences(t *rapid.T, space, maxPaths, top int) *sequences {
	s := newSequences(space)
	bundled := rapid.Bool().Draw(t, "bundled")
	for range rapid.IntRange(1, maxPaths).Draw(t, "paths") {
		way := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(space-1)), 2, top, rapid.ID[int32]).Draw(t, "path")
		s.turns = append(s.turns, way...)
		s.start = append(s.start, int32(len(s.turns)))
		if !bundled || rapid.Bool().Draw(t, "last of its bundle") {
			s.close()
		}
	}
	s.close()
	return s
}

// Every path rises in the service level that its bundle is given, and never are there
// fewer service levels than the bound says.
func TestPlanHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.IntRange(2, 6).Draw(t, "top")
		s := anySequences(t, 8, 40, top)
		p, left, err := makePlan(context.Background(), s, top)
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			if left == 0 {
				t.Fatal("no plan, though no path is left over")
			}
			return
		}
		for path := range int32(s.paths()) {
			if lane := p.lane[p.sl[s.bundle[path]]]; !rises(s.path(path), lane) {
				t.Fatalf("path %v does not rise along %v", s.path(path), lane)
			}
		}
		for _, lane := range p.lane {
			for turn, vl := range lane {
				if int(vl) > top {
					t.Fatalf("turn %d has lane %d of %d", turn, vl, top)
				}
			}
		}
		if fewest := s.fewest(top); len(p.lane) < fewest {
			t.Fatalf("%d service levels, though the bound is %d", len(p.lane), fewest)
		}
	})
}

// On instances small enough to try every choice of lanes, the plan needs at most
// one service level more than the best, and the bound is never above that.
func TestPlanAgainstBruteForce(t *testing.T) {
	worse, all := 0, 0
	testnet.CheckCounted(t, func(t *rapid.T) {
		top := rapid.IntRange(2, 3).Draw(t, "top")
		s := anySequences(t, 5, 10, top)
		best, possible := fewestByForce(s, top)
		p, _, err := makePlan(context.Background(), s, top)
		if !possible {
			if p != nil || err != nil {
				t.Fatalf("a plan for paths that are in each other's way: %v", err)
			}
			return
		}
		if err != nil || p == nil {
			t.Fatalf("no plan, though %d service levels suffice: %v", best, err)
		}
		if s.fewest(top) > best || len(p.lane) < best || len(p.lane) > best+1 {
			t.Fatalf("%d service levels, bound %d, best %d", len(p.lane), s.fewest(top), best)
		}
		all++
		if len(p.lane) > best {
			worse++
		}
	}, func() {
		if worse > all/20 {
			t.Errorf("%d of %d plans have a service level too many", worse, all)
		}
	})
}

// fewestByForce tries every choice of lanes for a service level, and covers the
// bundles with as few choices as possible.
func fewestByForce(s *sequences, top int) (fewest int, possible bool) {
	risen := map[uint32]bool{} // in which bundles all paths rise, as bits, for some choice
	lane := make([]uint8, s.space)
	var choose func(t int)
	choose = func(t int) {
		if t == s.space {
			mask := uint32(1)<<s.bundles() - 1
			for p := range s.paths() {
				if !rises(s.path(int32(p)), lane) {
					mask &^= 1 << s.bundle[p]
				}
			}
			risen[mask] = true
			return
		}
		for vl := range top {
			lane[t] = uint8(vl + 1)
			choose(t + 1)
		}
	}
	choose(0)
	all := uint32(0)
	for r := range risen {
		all |= r
	}
	if all != 1<<s.bundles()-1 {
		return 0, false
	}
	covered := map[uint32]bool{0: true}
	for n := 0; ; n++ {
		if covered[all] {
			return n, true
		}
		next := map[uint32]bool{}
		for c := range covered {
			for r := range risen {
				next[c|r] = true
			}
		}
		covered = next
	}
}
