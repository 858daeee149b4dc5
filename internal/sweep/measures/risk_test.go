package measures

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

// routed is a network routed by an engine, credit loop or not.
func routed(t *testing.T, f *fabric.Fabric, engine string) *weft.Result {
	t.Helper()
	r, err := weft.Route(t.Context(), f, weft.Request{Engine: engine})
	if loop := (*weft.CreditLoop)(nil); errors.As(err, &loop) {
		return loop.Result
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The risk of all-to-all is that of every pair followed by itself; cables that are missing
// are, the same for the same seed; and a phase of a shift on a complete tree meets nobody
// by ftree.
func TestRisk(t *testing.T) {
	f := testnet.Build(t, "xgft:m=3x4,w=2x2,hosts=3")
	for _, missing := range []int{0, 4} {
		for _, engine := range []string{"minhop", "ftree", "dmodc"} {
			g := f
			if missing > 0 {
				loss, err := topology.Damage{Links: missing, Seed: 7}.Draw(f)
				if err != nil {
					t.Fatal(err)
				}
				if g, err = loss.Apply(f); err != nil {
					t.Fatal(err)
				}
			}
			if have := g.Count().SwitchCables; have != f.Count().SwitchCables-missing {
				t.Errorf("%d cables are left of %d with %d missing", have, f.Count().SwitchCables, missing)
			}
			r := routed(t, g, engine)
			if got, lost := allToAllRisk(r.Tables); got != riskByPairs(r.Tables) || lost > 0 {
				t.Errorf("%s, %d cables missing: risk %d, %d lost; pair by pair it is %d", engine, missing, got, lost, riskByPairs(r.Tables))
			}
			risk, err := riskOf(t.Context(), r.Tables, "shifts", 1, 1)
			if err != nil || risk < 1 {
				t.Errorf("%s, %d cables missing: shifts have a risk of %v, %v", engine, missing, risk, err)
			}
		}
	}
	if _, err := riskOf(t.Context(), &routing.Tables{Fabric: f}, "nothing", 1, 1); err == nil {
		t.Error("there is traffic called nothing")
	}
}

// In a network of two parts there is no all-to-all, nor other traffic between the two.
func TestRiskInParts(t *testing.T) {
	f := testnet.Build(t, "ring:4,hosts=2")
	parts, err := f.Without([]fabric.ChannelID{0, 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts.Parts()) != 2 {
		t.Fatalf("%d parts", len(parts.Parts()))
	}
	r := routed(t, parts, "updn")
	for _, c := range []struct{ pattern, want string }{{"alltoall", "32 pairs have no route"}, {"bisect", "have no route"}} {
		if _, err := riskOf(t.Context(), r.Tables, c.pattern, 5, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.pattern, err)
		}
	}
}

func riskByPairs(t *routing.Tables) int {
	type ends struct{ from, to map[fabric.EndpointID]bool }
	f, seen := t.Fabric, map[fabric.ChannelID]ends{}
	hosts := routing.HCA.Endpoints(f)
	for _, from := range hosts {
		for _, to := range hosts {
			e := f.Endpoint(to)
			for at := f.Endpoint(from).Switch; at != e.Switch; {
				c := f.Out(at, t.Forwarding.Port(at, e.LID))
				if seen[c].from == nil {
					seen[c] = ends{map[fabric.EndpointID]bool{}, map[fabric.EndpointID]bool{}}
				}
				seen[c].from[from], seen[c].to[to] = true, true
				at = f.Heads()[c]
			}
		}
	}
	most := 0
	for _, e := range seen {
		most = max(most, min(len(e.from), len(e.to)))
	}
	return most
}
