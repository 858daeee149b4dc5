package change_test

import (
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// redrawn is a fabric with other LIDs, and hosts on other ports of switches.
func redrawn(t *testing.T, f *fabric.Fabric, lid func(e fabric.EndpointID) fabric.LID, at func(node fabric.NodeID) fabric.NodeID) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	refs := make([]fabric.Ref, len(f.Nodes()))
	for i, n := range f.Nodes() {
		refs[i] = b.Node(n, "")
	}
	for i, e := range f.Endpoints() {
		b.Port(refs[e.Node], e.Port, fabric.Port{GUID: e.PortGUID, LID: lid(fabric.EndpointID(i)), LMC: e.LMC})
	}
	for i, c := range f.Channels() {
		if c.Reverse > fabric.ChannelID(i) {
			b.Cable(refs[c.From], c.FromPort, refs[at(c.To)], c.ToPort, c.Rate)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Where two hosts exchange LIDs or places, or one has a new LID, the old destinations go in one step
// and the new ones come in the next; nobody is left, and both judges accept every step.
func TestMoved(t *testing.T) {
	for _, spec := range []string{"ring:8,hosts=2", "torus:4x4,hosts=2", "xgft:m=4x4,w=2x4,hosts=2"} {
		f := testnet.Build(t, spec)
		tables := route(t, f, "updn")
		hosts := routing.HCA.Endpoints(f)
		a, b := hosts[0], hosts[len(hosts)/2]
		same := func(n fabric.NodeID) fabric.NodeID { return n }
		lids := func(e fabric.EndpointID) fabric.LID { return f.Endpoint(e).LID }
		for _, c := range []struct {
			what  string
			now   *fabric.Fabric
			steps int
		}{
			{"LIDs exchanged", redrawn(t, f, func(e fabric.EndpointID) fabric.LID {
				switch e {
				case a:
					return lids(b)
				case b:
					return lids(a)
				}
				return lids(e)
			}, same), 2},
			{"places exchanged", redrawn(t, f, lids, func(n fabric.NodeID) fabric.NodeID {
				switch n {
				case f.Endpoint(a).Node:
					return f.Endpoint(b).Node
				case f.Endpoint(b).Node:
					return f.Endpoint(a).Node
				}
				return n
			}), 2},
			{"a new LID", redrawn(t, f, func(e fabric.EndpointID) fabric.LID {
				if e == a {
					return f.TopLID() + 3
				}
				return lids(e)
			}, same), 1},
		} {
			p, err := change.Mend(t.Context(), tables, c.now, change.Options{Contract: routing.Any})
			if err != nil {
				t.Errorf("%s, %s: %v", spec, c.what, err)
				continue
			}
			if len(p.Left) > 0 || p.CutBefore == 0 || p.CutAfter > 0 || len(p.Steps) != c.steps || p.Anew != nil {
				t.Errorf("%s, %s: %d left, %d pairs cut before, %d after %d steps, %d ask anew", spec, c.what, len(p.Left), p.CutBefore, p.CutAfter, len(p.Steps), len(p.Anew))
			}
		}
	}
}
