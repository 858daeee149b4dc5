package packets

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// everywhere is a rewrite of all blocks and maps at one time.
func everywhere(next *routing.Tables, at Time) Rewrite {
	f := next.Fabric
	return Rewrite{next, slices.Repeat([]Time{at}, f.Switches()*TableBlocks(f)), slices.Repeat([]Time{at}, f.Switches())}
}

// Tables that are never written change nothing; those that are there from the beginning
// are as if they had been in force; and where a network is divided does not matter while
// some switches have new entries and others old ones.
func TestRewrites(t *testing.T) {
	c, err := PresetNamed("unit")
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"torus:4x4", "xgft:m=3x4,w=2x2,hosts=3"} {
		f := testnet.Build(t, spec)
		old, next := tablesOf(t, f, "updn", 4), tablesOf(t, f, "minhop", 4)
		network := func(rewrites ...Rewrite) *Network {
			n, err := NewRewritten(old, rewrites, c)
			if err != nil {
				t.Fatal(err)
			}
			return n.inOneRegion()
		}
		during := everywhere(next, 100)
		for i := range during.Blocks {
			if i%2 == 0 {
				during.Blocks[i] = 300
			}
		}
		divided := *network(during)
		divided.split(3)
		asNext, err := New(next, c)
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string][2]*Network{
			"never":   {network(), network(everywhere(next, Never))},
			"at once": {asNext.inOneRegion(), network(everywhere(next, 0))},
			"divided": {network(during), &divided},
		} {
			rapid.Check(t, func(t *rapid.T) {
				messages := randomMessages(t, x[0])
				want, stuck := playAll(t, x[0], messages, 1<<40)
				got, stuckToo := playAll(t, x[1], messages, 1<<40)
				slices.SortFunc(want, byTime)
				slices.SortFunc(got, byTime)
				if d := gocmp.Diff(want, got); d != "" || (stuck == nil) != (stuckToo == nil) {
					t.Fatalf("%s, %s (-want +got):\n%s", spec, name, d)
				}
			})
		}
	}
}

// Entries that a rewrite takes away drop their packets, also where maps differ by port: there is none
// for a port that there is not.
func TestRewriteTakesAway(t *testing.T) {
	c, err := PresetNamed("unit")
	if err != nil {
		t.Fatal(err)
	}
	f := testnet.Build(t, "torus:4x4")
	old := tablesOf(t, f, "updn", 4)
	lanes := *old.Lanes
	lanes.SL2VL = routing.UniformSL2VL([routing.SLs]uint8{}).PerPort(f)
	old = &routing.Tables{Fabric: f, Forwarding: old.Forwarding, Lanes: &lanes}
	next := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: &lanes}
	n, err := NewRewritten(old, []Rewrite{everywhere(next, 0)}, c)
	if err != nil {
		t.Fatal(err)
	}
	hosts := routing.HCA.Endpoints(f)
	got, stuck := playAll(t, n.inOneRegion(), []Message{{From: hosts[len(hosts)-1], To: hosts[0], Bytes: 64}}, 1<<40)
	if len(got) != 0 || stuck != nil {
		t.Errorf("%d packets arrive without entries, stuck: %v", len(got), stuck)
	}
}

func byTime(a, b delivery) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Src, b.Src), cmp.Compare(a.Created, b.Created))
}

// A rewrite of another fabric, or without a time for each block, is refused.
func TestBadRewrites(t *testing.T) {
	c, err := PresetNamed("unit")
	if err != nil {
		t.Fatal(err)
	}
	n, other := routed(t, "torus:4x4", "updn", 4, c), routed(t, "ring:5", "updn", 4, c)
	short := everywhere(n.tables, 0)
	short.Blocks = short.Blocks[1:]
	for _, r := range []Rewrite{everywhere(other.tables, 0), short} {
		if _, err := NewRewritten(n.tables, []Rewrite{r}, c); err == nil {
			t.Error("it takes a rewrite that does not fit")
		}
	}
}
