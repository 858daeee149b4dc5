package sssp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// example is the network of HOTI 2009, Figure 2: B and D each joined to A, C and
// E, the endpoints 0, 1 and 2 on A, E and C. Switches are in the order in which
// the paper routes: A, E, C, then B and D.
func example(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	sw := map[byte]fabric.Ref{}
	for i, name := range []byte("AECBD") {
		sw[name] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 3, Name: string(name)}, "")
	}
	for i, leaf := range []byte("ACE") {
		b.Cable(sw[leaf], 1, sw['B'], uint8(i+1), fabric.Rate{})
		b.Cable(sw[leaf], 2, sw['D'], uint8(i+1), fabric.Rate{})
	}
	for i, leaf := range []byte("AEC") {
		b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(10 + i), Kind: fabric.Adapter, Ports: 1}, ""), 1, sw[leaf], 3, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// route is the names of the switches from one host to another.
func route(f *fabric.Fabric, fw *routing.Forwarding, from, to fabric.EndpointID) string {
	var way []string
	dest := f.Endpoint(to)
	for at := f.Endpoint(from).Switch; ; {
		way = append(way, f.Label(at))
		if at == dest.Switch {
			return strings.Join(way, "")
		}
		at = f.Channel(f.Out(at, fw.Port(at, dest.LID))).To
	}
}

// HOTI 2009, section III.A: the edge-forwarding index is 2, and the routes are those of
// the paper but for two. In the second round the ways from 0 to 1 by B and by D are loaded
// alike, a tie. In the third the paper prints (1,E,B,C,2): a misprint, since E to B has a
// route of the first round already, and E, D, C none.
func TestExampleOfThePaper(t *testing.T) {
	f := example(t)
	fw, err := sssp.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Endpoints 5, 6, 7 are the paper's 0, 1, 2.
	for _, c := range []struct {
		from, to fabric.EndpointID
		want     string
	}{{6, 5, "EBA"}, {7, 5, "CBA"}, {7, 6, "CDE"}, {6, 7, "EDC"}} {
		if got := route(f, fw, c.from, c.to); got != c.want {
			t.Errorf("from %d to %d by %s, want %s", c.from-5, c.to-5, got, c.want)
		}
	}
	if l := congestion.Count(f, fw, routing.HCA); l.Max != 2 || l.Hops != 12 || l.MaxHops != 2 {
		t.Errorf("edge-forwarding index %d over %d hops, want 2 over 12", l.Max, l.Hops)
	}
}

// What the global balance is for: it beats that of each switch by itself where
// one shortest path is as good as another. Not on every torus: on 5x5 with 2
// hosts a switch minhop has 76 routes on the fullest channel, SSSP 80.
func TestBalancesTheNetwork(t *testing.T) {
	for _, spec := range []string{"random:switches=32,links=96,hosts=4,seed=1", "torus:6x6,hosts=2", "hypercube:5"} {
		f := testnet.Build(t, spec)
		var index [2]uint32
		for i, p := range []routing.PathFinder{sssp.Finder{}, minhop.Finder{}} {
			fw, err := p.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			index[i] = congestion.Count(f, fw, routing.HCA).Max
		}
		if index[0] > index[1] {
			t.Errorf("%s: edge-forwarding index %d, minhop has %d", spec, index[0], index[1])
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (sssp.Finder{}).Paths(ctx, example(t), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}
