package change_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Where cables run no lane but those that the tables in force use there, repairs lead packets over
// others if that can be. Where it cannot, the plan names the lanes that cables do not run.
func TestRepairsAvoidLanesThatCablesDoNotRun(t *testing.T) {
	plans, naive, ours := 0, 0, 0
	for _, spec := range []string{"random:switches=12,links=30,hosts=1,seed=3", "torus:4x4", "dragonfly:p=2"} {
		for _, engine := range []string{"dfsssp", "lash", "weave"} {
			f := testnet.Build(t, spec)
			was := route(t, f, engine)
			stated := onlyUsed(t, was)
			on, err := transition.On(stated, was, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v := verdict(t, on); len(v.Absent) > 0 {
				t.Fatalf("%s, %s: %v before anything is gone", spec, engine, v.Absent)
			}
			for i, x := range change.Sample(change.Cables(f), 8) {
				where := fmt.Sprintf("%s, %s, cable %d", spec, engine, i)
				less, err := stated.Without(x.Channels, nil)
				if err != nil {
					t.Fatal(err)
				}
				p, err := change.Mend(t.Context(), on, less, change.Options{})
				if err != nil {
					t.Fatal(err)
				}
				plans++
				var all []deadlock.Absent
				for _, s := range p.Steps {
					all = append(all, verdict(t, s.Tables).Absent...)
				}
				if len(p.Steps) > 0 && (len(all) > 0) != (len(p.Absent) > 0) || slices.ContainsFunc(all, func(a deadlock.Absent) bool { return !slices.Contains(p.Absent, a) }) {
					t.Errorf("%s: the plan names %v, its steps send packets to %v", where, p.Absent, all)
				}
				if len(p.Absent) > 0 {
					ours++
				}
				// As if nothing were stated.
				free, err := f.Without(x.Channels, nil)
				if err != nil {
					t.Fatal(err)
				}
				q, err := change.Mend(t.Context(), was, free, change.Options{})
				if err != nil {
					t.Fatal(err)
				}
				after, err := transition.On(less, q.After, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(verdict(t, after).Absent) > 0 {
					naive++
				}
				if len(p.Left) > len(q.Left) {
					t.Errorf("%s: %d destinations are left, %d if nothing is stated", where, len(p.Left), len(q.Left))
				}
			}
		}
	}
	t.Logf("%d plans: %d lead packets to lanes that cables do not run, %d if nothing is stated", plans, ours, naive)
	if naive < 10 || ours*3 > naive {
		t.Errorf("of %d plans %d lead packets to lanes that cables do not run, %d if nothing is stated", plans, ours, naive)
	}
}

func verdict(t *testing.T, tables *routing.Tables) *deadlock.Verdict {
	t.Helper()
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{NoCycle: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// onlyUsed is the network of tables with each cable between switches stated to run no lane but
// those up to the highest that packets are on there, in either direction.
func onlyUsed(t *testing.T, tables *routing.Tables) *fabric.Fabric {
	f := tables.Fabric
	runs := make([]uint8, f.Trunks())
	narrow := func() *fabric.Fabric {
		return testnet.WithLanes(t, f, func(c fabric.ChannelID) uint8 {
			if int(c) >= f.Trunks() {
				return 0
			}
			return max(1, runs[c])
		})
	}
	for {
		g := narrow()
		on, err := transition.On(g, tables, nil)
		if err != nil {
			t.Fatal(err)
		}
		absent := verdict(t, on).Absent
		if len(absent) == 0 {
			return g
		}
		for _, a := range absent {
			c := min(a.Channel, f.Channel(a.Channel).Reverse)
			runs[c] = max(runs[c], a.VL+1)
		}
	}
}
