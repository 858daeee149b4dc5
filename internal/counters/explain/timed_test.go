package explain_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// goesOn is the ports with cables by which packets may leave a switch.
func goesOn(t *routing.Tables, s fabric.NodeID, in uint8, lid fabric.LID, sl uint8) (ports []uint8) {
	g := t.Groups
	if g == nil {
		return []uint8{t.Forwarding.Port(s, lid)}
	}
	table, static := g.Table(s, in, sl), t.Forwarding
	if table > 0 {
		static = g.Static(table)
	}
	var all routing.PortSet
	if c := g.Row(table, lid)[s]; c != routing.NoChoice && g.Levels(s)>>sl&1 == 1 {
		all = g.Sets(s)[c.Group()]
	}
	if port := static.Port(s, lid); port != routing.NoPort {
		all.Add(port)
	}
	for port := range all.All() {
		if port == 0 || t.Fabric.Out(s, port) != fabric.None {
			ports = append(ports, port)
		}
	}
	return ports
}

// waitOneByOne asks for every port, LID and service level.
func waitOneByOne(t *routing.Tables, wait []float64, s fabric.NodeID) map[fabric.ChannelID]float64 {
	f, levels := t.Fabric, uint16(1)
	if t.Groups != nil {
		levels = t.Levels()
	}
	sum, n := map[fabric.ChannelID]float64{}, map[fabric.ChannelID]float64{}
	for port := 1; port <= f.Node(s).Ports; port++ {
		out := f.Out(s, uint8(port))
		if out == fabric.None {
			continue
		}
		in := f.Channel(out).Reverse
		from := f.Channel(in)
		for lid, e := range routing.HCA.LIDs(f) {
			for sl := range uint8(routing.SLs) {
				if f.Endpoint(e).Node == from.From || levels>>sl&1 == 0 {
					continue
				}
				sends := int(in) >= f.Trunks()
				for p := 0; int(in) < f.Trunks() && p <= f.Node(from.From).Ports; p++ {
					sends = sends || slices.Contains(goesOn(t, from.From, uint8(p), lid, sl), from.FromPort)
				}
				if !sends {
					continue
				}
				ports := goesOn(t, s, uint8(port), lid, sl)
				for _, p := range ports {
					next := f.Out(s, p)
					sum[next] += wait[in] / float64(len(ports))
					n[next] += 1 / float64(len(ports))
				}
			}
		}
	}
	waits := map[fabric.ChannelID]float64{}
	for c := range n {
		if c >= 0 && int(c) < f.Trunks() {
			waits[c] = sum[c]/n[c] - wait[c]
		}
	}
	return waits
}

// What waits for a trunk is what one finds who asks for every packet.
func TestWaitFor(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"xgft:m=3x3,w=2x3,hosts=3", "updn"}, {"torus:3x4,hosts=1", "weave-any"}, {"dragonfly:p=2", "weave-any"}, {"kautz:b=3,n=2,hosts=2", "lash"}} {
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, 7))
			tables := routed.By(t, c[0], c[1])
			f := tables.Fabric
			if c[1] != "lash" { // whose proof is of its service levels: no groups
				tables = routed.Choosing(t, c[0], c[1], seed, seed > 0)
				f = tables.Fabric
				chooseByLevel(rng, tables, seed > 1)
			}
			n := len(f.Channels())
			counted := explain.Counted{Bytes: make([]float64, n), Wait: make([]float64, n), Known: make([]bool, n), Seconds: 1, Tick: 1}
			for i := range n {
				counted.Wait[i], counted.Known[i] = rng.Float64(), true
			}
			waitFor := explain.WaitFor(tables, counted)
			for s := range fabric.NodeID(f.Switches()) {
				got, want := waitFor(s), waitOneByOne(tables, counted.Wait, s)
				for id, v := range want {
					if w, ok := got[id]; !ok || math.Abs(w-v) > 1e-9 {
						t.Fatalf("%s, seed %d: %s waits %v for trunk %d, want %v", c[0], seed, f.Label(s), w, id, v)
					}
				}
				if len(got) != len(want) {
					t.Errorf("%s: %s has %d trunks, want %d", c[0], f.Label(s), len(got), len(want))
				}
			}
		}
	}
}

// chooseByLevel has hosts use four service levels, of which, if they differ, some do not choose everywhere
// and others meet other tables.
func chooseByLevel(rng *rand.Rand, t *routing.Tables, differ bool) {
	t.Lanes = routing.NewLanes(t.Fabric, t.Lanes.SL2VL)
	for lid := range t.Fabric.LIDs() {
		for i := range t.Lanes.SLRow(lid) {
			t.Lanes.SLRow(lid)[i] = uint8(rng.IntN(4))
		}
	}
	for s := range fabric.NodeID(t.Fabric.Switches()) {
		levels := t.Groups.Levels(s)
		t.Groups.SetLevels(s, 15*(levels&1))
		for in := range uint8(t.Fabric.Node(s).Ports + 1) {
			if differ {
				t.Groups.SetTable(s, in, 2, uint8(rng.IntN(2)))
				t.Groups.SetLevels(s, uint16(rng.IntN(16)))
			}
		}
	}
}
