package layered_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/layered"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// network is a network of a spec whose ports have 2^lmc addresses.
func network(t *testing.T, spec string, lmc uint8) *fabric.Fabric {
	t.Helper()
	f, err := testnet.Build(t, spec).WithLMC(lmc)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func paths(t *testing.T, f *fabric.Fabric) *routing.Forwarding {
	t.Helper()
	fw, err := layered.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// way is the trunks from a switch to a LID.
func way(f *fabric.Fabric, fw *routing.Forwarding, s fabric.NodeID, lid fabric.LID) (trunks []fabric.ChannelID) {
	for root := f.Endpoint(f.Owner(lid)).Switch; s != root; s = f.Heads()[trunks[len(trunks)-1]] {
		trunks = append(trunks, f.Out(s, fw.Port(s, lid)))
		if len(trunks) > f.Switches() {
			panic("a circle")
		}
	}
	return trunks
}

// eachPair visits every switch with hosts and every host of another.
func eachPair(f *fabric.Fabric, visit func(s fabric.NodeID, e *fabric.Endpoint)) {
	for s, sends := range routing.HCA.Ends(f) {
		for _, id := range routing.HCA.Endpoints(f) {
			if e := f.Endpoint(id); sends && e.Switch != fabric.NodeID(s) {
				visit(fabric.NodeID(s), e)
			}
		}
	}
}

// First addresses have shortest paths; none of a Slim Fly, whose diameter is 2, has more
// than 3 hops.
func TestLengths(t *testing.T) {
	for _, spec := range []string{"slimfly:q=5,hosts=2", "polarfly:q=5,hosts=2", "hyperx:4x3,hosts=2", "jellyfish:switches=20,degree=5,hosts=2,seed=3"} {
		f := network(t, spec, 2)
		fw := paths(t, f)
		longer, shortest := 0, make([][]int32, f.Switches())
		for s := range shortest {
			shortest[s] = f.Hops(fabric.NodeID(s))
		}
		far := int32(0)
		eachPair(f, func(s fabric.NodeID, e *fabric.Endpoint) { far = max(far, shortest[s][e.Switch]) })
		eachPair(f, func(s fabric.NodeID, e *fabric.Endpoint) {
			least := shortest[s][e.Switch]
			for a := range fabric.LID(4) {
				hops := int32(len(way(f, fw, s, e.LID+a)))
				switch {
				case a == 0 && hops != least:
					t.Errorf("%s: %d hops to a first address, shortest are %d", spec, hops, least)
				case hops > far+1:
					t.Errorf("%s: %d hops, though no two switches are more than %d apart", spec, hops, far)
				case hops > least:
					longer++
				}
			}
		})
		if longer == 0 {
			t.Errorf("%s: no path is longer than the shortest", spec)
		}
	}
}

// What the layers are for: a Slim Fly has one shortest path between most switches, and
// several that share no cable with the layers.
func TestWaysApart(t *testing.T) {
	f := network(t, "slimfly:q=5", 2)
	fw := paths(t, f)
	pairs, apart := 0, 0
	eachPair(f, func(s fabric.NodeID, e *fabric.Endpoint) {
		pairs++
		first := way(f, fw, s, e.LID)
		for a := range fabric.LID(4) {
			if other := way(f, fw, s, e.LID+a); !shares(first, other) {
				apart++
				break
			}
		}
	})
	if share := float64(apart) / float64(pairs); share < 0.8 {
		t.Errorf("%.2f of the pairs have a way that shares nothing with the shortest", share)
	}
}

func shares(a, b []fabric.ChannelID) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}

func TestRefusesWideNetworks(t *testing.T) {
	f := network(t, "torus:6x6", 1)
	_, err := layered.Finder{}.Paths(context.Background(), f, nil)
	if no := (*routing.Refusal)(nil); !errors.As(err, &no) || !strings.Contains(no.Error(), "6 hops") {
		t.Errorf("a torus with a diameter of 6: %v", err)
	}
	for spec, ok := range map[string]bool{"torus:6x6": false, "torus:4x4": true, "slimfly:q=5": true, "mesh:1,hosts=3": true} {
		if got := (layered.Finder{}).Explain(network(t, spec, 0)); len(got) != 1 || got[0].OK != ok {
			t.Errorf("%s: %+v", spec, got)
		}
	}
}

// Without addresses to give layers to there are shortest paths only, and the user is told
// what would help.
func TestOneAddress(t *testing.T) {
	fw := paths(t, network(t, "slimfly:q=5", 0))
	if len(fw.Notes) != 1 || !strings.Contains(fw.Notes[0], "--lmc 2") {
		t.Errorf("notes: %q", fw.Notes)
	}
}

func TestCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := (layered.Finder{}).Paths(ctx, network(t, "slimfly:q=5", 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}
