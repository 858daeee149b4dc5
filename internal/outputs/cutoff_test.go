package outputs

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// TestCutOffPairByPair holds the lists of who is cut off against walking every
// pair of endpoints, on tables with entries that are missing or at random.
func TestCutOffPairByPair(t *testing.T) {
	e, err := engines.Named("updn")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		f := testnet.Build(t, "torus:3x3,hosts=2")
		tables, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: 8}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		for range 5 + seed {
			lid := fabric.LID(1 + r.IntN(int(f.TopLID())))
			row := tables.Forwarding.Row(lid)
			row[r.IntN(len(row))] = []uint8{routing.NoPort, uint8(r.IntN(8))}[r.IntN(2)]
		}
		scope := routing.Scope(seed % 3)
		v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Lost: -1, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		places, from, to := map[string]int64{}, map[string]int64{}, map[string]int64{}
		total := int64(0)
		for _, src := range scope.Endpoints(f) {
			for lid, dst := range f.LIDs() {
				if src == dst || !scope.Includes(f.Endpoint(dst).Class) {
					continue
				}
				if at, ok := walkedTo(tables, f.Endpoint(src).Switch, lid); !ok {
					total++
					places[at]++
					from[f.EndpointLabel(dst)]++
					to[f.EndpointLabel(src)]++
				}
			}
		}
		c := CutOff(tables, v)
		if c == nil {
			if total != 0 {
				t.Errorf("seed %d: nobody is cut off; pair by pair %d are", seed, total)
			}
			continue
		}
		if total != v.Unreachable {
			t.Errorf("seed %d: %d pairs, want %d", seed, v.Unreachable, total)
		}
		for _, p := range c.Places {
			places[p.Switch] -= p.Pairs
			sources, on := 0, map[string]bool{}
			for i := range f.Endpoints() {
				e := fabric.EndpointID(i)
				at := f.Label(f.Endpoint(e).Switch)
				if scope.Includes(f.Endpoint(e).Class) && slices.Contains(p.Switches, at) {
					sources++
				}
				if slices.Contains(p.Destinations, f.EndpointLabel(e)) {
					on[at] = true
				}
			}
			if p.Sources != sources || sources == 0 || len(on) == 0 || (p.On != "") != (len(on) == 1) || p.On != "" && !on[p.On] {
				t.Errorf("seed %d: %+v; on its switches are %d sources, and destinations on %v", seed, p, sources, on)
			}
		}
		for at, n := range places {
			if n != 0 {
				t.Errorf("seed %d: %d pairs more end at %s than are listed", seed, n, at)
			}
		}
		for _, e := range c.Endpoints {
			if from[e.Endpoint] != e.From || to[e.Endpoint] != e.To {
				t.Errorf("seed %d: %s is not reached by %d and does not reach %d; want %d and %d", seed, e.Endpoint, e.From, e.To, from[e.Endpoint], to[e.Endpoint])
			}
			delete(from, e.Endpoint)
			delete(to, e.Endpoint)
		}
		if len(from)+len(to) > 0 {
			t.Errorf("seed %d: not listed: %v %v", seed, from, to)
		}
	}
}

// walkedTo is where a packet ends, of a circle the lowest switch, and whether that
// is where it should go.
func walkedTo(t *routing.Tables, at fabric.NodeID, lid fabric.LID) (string, bool) {
	f := t.Fabric
	e := f.Endpoint(f.Owner(lid))
	var way []fabric.NodeID
	for range 2 * f.Switches() {
		way = append(way, at)
		port := t.Forwarding.Port(at, lid)
		c := f.Out(at, port)
		switch {
		case at == e.Switch && port == f.LastPort(e):
			return "", true
		case port == routing.NoPort, c == fabric.None, f.Node(f.Channel(c).To).Kind != fabric.Switch:
			return f.Label(at), false
		}
		at = f.Channel(c).To
	}
	return f.Label(slices.Min(way[f.Switches():])), false
}
