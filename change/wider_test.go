package change_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// Tables that are free of deadlock when aggregation nodes send are so after a repair
// for hosts, too, and hosts reach all that they reached. Some plans that see to packets of hosts alone
// have loops of others.
func TestRepairsKeepFreeBeyondScope(t *testing.T) {
	plans, loops, narrowLoops := 0, 0, 0
	for _, spec := range []string{"patchwork:8", "patchwork:13", "patchwork:2,pods=2,sharp=100"} {
		f := testnet.Build(t, spec)
		was := routed.Of(t, f, "updn", routing.Budget{VLs: 8, Scope: routing.Adapters})
		if !free(t, was, routing.Adapters) {
			t.Fatalf("%s: the tables have a loop", spec)
		}
		for _, x := range change.Sample(change.Cables(f), 8) {
			live, p := mendedWithout(t, was, x.Channels, x.Nodes)
			plans++
			if !free(t, p.After, routing.Adapters) {
				loops++
			}
			if len(p.Left) > 0 || p.CutAfter > 0 {
				t.Errorf("%s, %v: %d destinations left, %d pairs of hosts cut off", spec, x, len(p.Left), p.CutAfter)
			}
			for i, s := range p.Steps {
				if s.Mended+s.Follow != s.Union.Entries || s.Mended < 0 || s.Follow < 0 {
					t.Errorf("%s, %v, step %d: %d entries change, %d for traffic and %d that follow", spec, x, i+1, s.Union.Entries, s.Mended, s.Follow)
				}
			}
			before, err := transition.On(live, was, nil)
			if err != nil {
				t.Fatal(err)
			}
			narrow, err := repair.Mend(t.Context(), before, was, repair.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(narrow.Steps); n > 0 && !free(t, narrow.Steps[n-1].Tables, routing.Adapters) {
				narrowLoops++
			}
		}
	}
	if narrowLoops == 0 || loops > 0 {
		t.Errorf("of %d plans %d have loops beyond hosts, of those for hosts alone %d", plans, loops, narrowLoops)
	}
}

// mendedWithout is the fabric of tables without some parts, and their repair for hosts there.
func mendedWithout(t *testing.T, was *routing.Tables, cables []fabric.ChannelID, nodes []fabric.NodeID) (*fabric.Fabric, *change.Proven) {
	t.Helper()
	live, err := was.Fabric.Without(cables, nodes)
	if err != nil {
		t.Fatal(err)
	}
	p, err := change.Mend(t.Context(), was, live, change.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return live, p
}

func free(t *testing.T, tables *routing.Tables, scope routing.Scope) bool {
	t.Helper()
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	return v.Free()
}

// Where no path of an entry that no host needs is free of deadlock, it stays empty, and no destination counts as left.
func TestEntriesOfOthersMayStayEmpty(t *testing.T) {
	plans, empty := 0, 0
	for i := range testnet.Of(400, 80) {
		seed, every := uint64(80+i/2), 2+i%2
		f := grown(t, seed, every)
		was := routed.Of(t, f, "updn", routing.Budget{VLs: 1, Scope: routing.Adapters})
		for c := range fabric.ChannelID(f.Trunks()) {
			live, p := mendedWithout(t, was, []fabric.ChannelID{c}, nil)
			if len(live.Parts()) > 1 {
				continue
			}
			if len(p.Left) > 0 || p.CutAfter > 0 {
				t.Errorf("seed %d, hosts on every %d, channel %d: %d destinations left, %d pairs of hosts cut off", seed, every, c, len(p.Left), p.CutAfter)
			}
			if plans++; len(emptyIn(p.After)) > 0 {
				empty++
			}
			if !free(t, p.After, routing.Adapters) {
				t.Errorf("seed %d, hosts on every %d, channel %d: there is a loop beyond hosts", seed, every, c)
			}
		}
	}
	if empty == 0 || empty > plans/400 {
		t.Errorf("of %d plans %d have empty entries: no test, or others do not make way", plans, empty)
	}
}

// grown is a network of nine switches, a tree with four cables more, with aggregation nodes on all and hosts on every so many.
func grown(t *testing.T, seed uint64, every int) *fabric.Fabric {
	r := rand.New(rand.NewPCG(seed, 4))
	var b fabric.Builder
	var switches []fabric.Ref
	next := make([]uint8, 9) // port
	port := func(s int) uint8 { next[s]++; return next[s] }
	for s := range next {
		switches = append(switches, b.Node(fabric.Node{GUID: fabric.GUID(s + 1), Ports: 36}, ""))
		nodes := []fabric.Node{{GUID: fabric.GUID(100 + s), Name: "Aggregation Node", VendorID: fabric.AggregationVendor, DeviceID: fabric.AggregationDevice}}
		if s%every == 0 {
			nodes = append(nodes, fabric.Node{GUID: fabric.GUID(200 + s)})
		}
		for _, n := range nodes {
			n.Kind, n.Ports = fabric.Adapter, 1
			b.Cable(b.Node(n, ""), 1, switches[s], port(s), fabric.Rate{})
		}
	}
	for s := 1; s < 13; s++ {
		from, to := s, r.IntN(min(s, 9))
		if s >= 9 {
			from = (to + 1 + r.IntN(8)) % 9
		}
		b.Cable(switches[from], port(from), switches[to], port(to), fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// emptyIn is the entries without a port.
func emptyIn(tables *routing.Tables) map[[2]int]bool {
	all := map[[2]int]bool{}
	for lid := range tables.Fabric.LIDs() {
		for s, port := range tables.Forwarding.Row(lid)[:tables.Fabric.Switches()] {
			if port == routing.NoPort {
				all[[2]int{s, int(lid)}] = true
			}
		}
	}
	return all
}

// Entries for aggregation nodes that are empty where no packets arrive, as engines leave them and repairs, stay so, and
// the tables are free of deadlock when aggregation nodes send, as they were.
func TestEmptyEntriesOfOthersStay(t *testing.T) {
	empty, loops := 0, 0
	for _, spec := range []string{"patchwork:8", "patchwork:13", "patchwork:2,pods=2,sharp=100"} {
		f := testnet.Build(t, spec)
		was := routed.Of(t, f, "updn", routing.Budget{VLs: 8, Scope: routing.Adapters})
		r := rand.New(rand.NewPCG(1, 5))
		for lid, e := range f.LIDs() {
			row := was.Forwarding.Row(lid)
			arrive := make([]bool, f.Switches())
			for s, port := range row {
				if c := f.Trunk(fabric.NodeID(s), port); c != fabric.None {
					arrive[f.Heads()[c]] = true
				}
			}
			for s := range row {
				if f.Endpoint(e).Class == fabric.Aggregation && fabric.NodeID(s) != f.Endpoint(e).Switch && !arrive[s] && r.IntN(8) == 0 {
					row[s] = routing.NoPort
				}
			}
		}
		before := emptyIn(was)
		for _, x := range change.Sample(change.Cables(f), 8) {
			_, p := mendedWithout(t, was, x.Channels, x.Nodes)
			if len(p.Left) > 0 || p.CutAfter > 0 {
				t.Errorf("%s, %v: %d destinations left, %d pairs of hosts cut off", spec, x, len(p.Left), p.CutAfter)
			}
			if !free(t, p.After, routing.Adapters) {
				loops++
			}
			after := emptyIn(p.After)
			for at := range before {
				if empty++; !after[at] {
					t.Errorf("%s, %v: switch %d had no entry for LID %d, and has one", spec, x, at[0], at[1])
				}
			}
		}
	}
	if loops > 0 || empty == 0 {
		t.Errorf("%d plans have loops beyond hosts; %d entries were empty", loops, empty)
	}
}
