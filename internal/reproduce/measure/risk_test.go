package measure

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// The risk of all-to-all is that of every pair followed by itself; cables that are missing
// are, the same for the same seed; and a phase of a shift on a complete tree meets nobody
// by ftree.
func TestRisk(t *testing.T) {
	f, err := Build("xgft:m=3x4,w=2x2,hosts=3")
	if err != nil {
		t.Fatal(err)
	}
	for _, missing := range []int{0, 4} {
		for _, engine := range []string{"minhop", "ftree", "dmodc"} {
			g := f
			if missing > 0 {
				if g, err = without(f, missing, 7); err != nil {
					t.Fatal(err)
				}
			}
			if have := g.Count().SwitchCables; have != f.Count().SwitchCables-missing {
				t.Errorf("%d cables are left of %d with %d missing", have, f.Count().SwitchCables, missing)
			}
			e, _, err := methodNamed(engine)
			if err != nil {
				t.Fatal(err)
			}
			r, err := route(context.Background(), g, e, routing.HCA, 1)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := allToAllRisk(r.Tables), riskByPairs(r.Tables); got != want {
				t.Errorf("%s, %d cables missing: risk %d, pair by pair it is %d", engine, missing, got, want)
			}
			risk, err := riskOf(context.Background(), r.Tables, Point{Traffic: "shifts"}, 1)
			if err != nil || risk < 1 {
				t.Errorf("%s, %d cables missing: shifts have a risk of %v, %v", engine, missing, risk, err)
			}
		}
	}
	if _, err := riskOf(context.Background(), &routing.Tables{Fabric: f}, Point{Traffic: "nothing"}, 1); err == nil {
		t.Error("there is traffic called nothing")
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
