package dragonfly_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/dragonfly"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

var networks = []string{
	"dragonfly:p=2", "dragonfly:p=3", "dragonfly:p=2,g=5", "dragonfly:p=2,a=5,h=3,g=4,global=random,seed=2",
	"dragonfly:p=2,global=consecutive", "dragonfly:p=2,a=3,h=2,global=consecutive", "dragonfly:p=1,a=6,h=1,g=2", "dragonfly:p=1,a=4,h=1,g=1",
}

// group is the group of a switch by its name, sw-g0-r1.
func group(t *testing.T, f *fabric.Fabric, s fabric.NodeID) (g int) {
	t.Helper()
	if _, err := fmt.Sscanf(f.Label(s), "sw-g%d", &g); err != nil {
		t.Fatalf("%s: %v", f.Label(s), err)
	}
	return g
}

func route(t *testing.T, f *fabric.Fabric, lanes dragonfly.Lanes, b routing.Budget) *routing.Tables {
	t.Helper()
	tables, err := dragonfly.Engine{Lanes: lanes}.Route(context.Background(), f, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// fewest is the hops of the shortest path with one cable between groups, and one at most
// within the first and the last group, by trying all.
func fewest(f *fabric.Fabric, of []int, from, to fabric.NodeID) int {
	step := func(s fabric.NodeID, within bool, visit func(fabric.NodeID)) {
		for c, end := f.TrunksFrom(s); c < end; c++ {
			if v := f.Heads()[c]; (of[s] == of[v]) == within {
				visit(v)
			}
		}
	}
	best := 1000
	reach := func(s fabric.NodeID, hops int) {
		if s == to {
			best = min(best, hops)
		}
		step(s, true, func(v fabric.NodeID) {
			if v == to {
				best = min(best, hops+1)
			}
		})
	}
	if of[from] == of[to] {
		reach(from, 0)
		return best
	}
	step(from, false, func(v fabric.NodeID) { reach(v, 1) })
	step(from, true, func(u fabric.NodeID) { step(u, false, func(v fabric.NodeID) { reach(v, 2) }) })
	return best
}

// Paths and lanes are those of the package comment, from every switch to every LID, and the
// judge finds them free.
func TestPathsAndLanes(t *testing.T) {
	for _, spec := range networks {
		f := testnet.Build(t, spec)
		of := make([]int, f.Switches())
		groups := 0
		for s := range of {
			of[s] = group(t, f, fabric.NodeID(s))
			groups = max(groups, of[s]+1)
		}
		for _, lanes := range []dragonfly.Lanes{dragonfly.Shift, dragonfly.Order} {
			for _, vls := range []int{2, 3, 8} {
				tables := route(t, f, lanes, routing.Budget{VLs: vls, Contract: routing.Directed})
				for lid, owner := range f.LIDs() {
					to := f.Endpoint(owner).Switch
					for s := range fabric.NodeID(f.Switches()) {
						checkPath(t, tables, of, s, to, lid, lanes, vls, groups)
						if t.Failed() {
							t.Fatalf("%s, lanes of %d, %d there", spec, lanes, vls)
						}
					}
				}
				contract := routing.Directed
				if lanes == dragonfly.Shift {
					contract = routing.Any
				}
				for _, scope := range []routing.Scope{routing.HCA, routing.All} {
					v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope})
					if err != nil || !v.Free() || v.Unreachable != 0 || tables.Lanes.Needed != min(2, groups) {
						t.Errorf("%s, lanes of %d, %d there: %+v, %v", spec, lanes, vls, v, err)
					}
				}
			}
		}
	}
}

func checkPath(t *testing.T, tables *routing.Tables, of []int, s, to fabric.NodeID, lid fabric.LID, lanes dragonfly.Lanes, vls, groups int) {
	f := tables.Fabric
	sl := uint8(0)
	if row := tables.Lanes.SLRow(lid); row != nil {
		sl = row[s]
	}
	at, in, hops, between := s, uint8(0), 0, 0
	for ; at != to; hops++ {
		out := tables.Forwarding.Port(at, lid)
		c := f.Channel(f.Out(at, out))
		want := uint8(between)
		switch {
		case lanes == dragonfly.Shift:
		case of[s] == of[to] && vls > 2 && groups > 1:
			want = 2
		case of[s] > of[to]:
			want = 1
		default:
			want = 0
		}
		if vl := tables.Lanes.SL2VL.VL(at, in, out, sl); vl != want {
			t.Errorf("hop %d from switch %d to LID %d on lane %d, want %d", hops, s, lid, vl, want)
		}
		if of[c.From] != of[c.To] {
			between++
		}
		at, in = c.To, c.ToPort
	}
	if want := fewest(f, of, s, to); hops != want {
		t.Errorf("%d hops from switch %d to LID %d, want %d", hops, s, lid, want)
	}
}

// Where two groups have several cables, all are used.
func TestCablesBetweenTwoGroupsAreShared(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2,g=5")
	tables := route(t, f, dragonfly.Shift, routing.Budget{})
	used := make([]bool, f.Trunks())
	for lid := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			if c := f.Out(s, tables.Forwarding.Port(s, lid)); c != fabric.None && int(c) < f.Trunks() {
				used[c] = true
			}
		}
	}
	for c, is := range used {
		if !is {
			t.Errorf("nothing goes by %s", f.ChannelLabel(fabric.ChannelID(c)))
		}
	}
}

func TestRefusals(t *testing.T) {
	for spec, want := range map[string]string{
		"torus:4x4": "no such groups", "slimfly:q=5": "no such groups", "xgft:m=3x4,w=2x2,hosts=3": "no such groups",
		"mesh:1,hosts=3": "no such groups", "ring:6": "no such groups",
	} {
		f := testnet.Build(t, spec)
		_, err := dragonfly.Engine{}.Route(context.Background(), f, routing.Budget{}, nil)
		if no := (*routing.Refusal)(nil); !errors.As(err, &no) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
		findings := dragonfly.Engine{}.Explain(f)
		if last := findings[len(findings)-1]; last.OK || !strings.Contains(last.Why, want) {
			t.Errorf("%s: %+v", spec, findings)
		}
	}
	f := testnet.Build(t, "dragonfly:p=2")
	for _, finding := range (dragonfly.Engine{}).Explain(f) {
		if !finding.OK || finding.Why == "" {
			t.Errorf("%+v", finding)
		}
	}
	if few := (*routing.TooFewLanes)(nil); true {
		if _, err := (dragonfly.Engine{}).Route(context.Background(), f, routing.Budget{VLs: 1}, nil); !errors.As(err, &few) || few.Need != 2 {
			t.Errorf("one lane: %v", err)
		}
	}
	// Without any one cable it refuses, and names a place: of this network every cable is needed.
	for c := range fabric.ChannelID(f.Trunks()) {
		damaged, err := f.Without([]fabric.ChannelID{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "no such groups"
		if ch := f.Channel(c); group(t, f, ch.From) != group(t, f, ch.To) {
			want = "no cable joins its group to that of"
		}
		if _, err = (dragonfly.Engine{}).Route(context.Background(), damaged, routing.Budget{}, nil); !routing.Refused(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", f.ChannelLabel(c), err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := (dragonfly.Engine{}).Route(ctx, testnet.Build(t, "dragonfly:p=2"), routing.Budget{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}
