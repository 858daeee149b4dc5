package dmodc

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// prepared is a network before it is routed.
func prepared(t *testing.T, spec string) (*network, *levels.Levels) {
	t.Helper()
	f := testnet.Build(t, spec)
	l, refusal := levels.Find(f)
	if refusal != nil {
		t.Fatal(refusal)
	}
	n := &network{f: f, o: orient.New(f, l.Order), links: dag.NewLinks(f)}
	n.divide()
	n.number(l)
	return n, l
}

// Where tops reach a leaf by several switches of its pod, destinations come down by all of
// them, in turn; on a generalized fat tree and where the rest cannot be joined all stays as
// the equations say.
func TestSpread(t *testing.T) {
	for spec, parts := range map[string]uint32{"patchwork:17": 4, "patchwork:49": 4, "patchwork:41": 1, "xgft:m=4x6,w=2x3,hosts=4": 1, "patchwork:5": 1} {
		n, l := prepared(t, spec)
		if err := n.route(t.Context(), l.Join, nil); err != nil {
			t.Fatal(err)
		}
		equations := n.t
		got, err := Finder{}.Paths(t.Context(), n.f, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, after := congestion.Count(n.f, equations, routing.HCA).Max, congestion.Count(n.f, got, routing.HCA).Max
		if after*parts > before {
			t.Errorf("%s: %d routes on the fullest channel, by the equations %d", spec, after, before)
		}
		same := true
		for lid := range n.f.LIDs() {
			same = same && slices.Equal(got.Row(lid), equations.Row(lid))
		}
		if want := spec == "xgft:m=4x6,w=2x3,hosts=4" || spec == "patchwork:5"; same != want {
			t.Errorf("%s: the same as by the equations: %v", spec, same)
		}
		if !same {
			inTurn(t, spec, n, got)
		}
	}
}

// inTurn follows the entries of switches with several groups down.
func inTurn(t *testing.T, spec string, n *network, got *routing.Forwarding) {
	t.Helper()
	several := 0
	for lid, e := range n.f.LIDs() {
		root := n.f.Endpoint(e).Switch
		var d dag.DAG
		n.o.Descents(&d, n.f, root)
		for i, s := range d.Order {
			var heads []fabric.NodeID
			for _, c := range d.Choices(i) {
				heads = append(heads, n.f.Heads()[c])
			}
			slices.Sort(heads)
			if heads = slices.Compact(heads); len(heads) < 2 {
				continue
			}
			several++
			to := n.f.Heads()[n.f.Out(s, got.Port(s, lid))]
			if want := heads[int(n.nid[lid])%len(heads)]; to != want {
				t.Fatalf("%s: %s sends LID %d down to %s, not %s", spec, n.f.Label(s), lid, n.f.Label(to), n.f.Label(want))
			}
		}
		if lid > 100 {
			break
		}
	}
	if several == 0 {
		t.Errorf("%s: nobody has several groups down", spec)
	}
}
