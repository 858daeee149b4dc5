package packets_test

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// doubleTorus is a torus with two cables between neighbours and some hosts at each switch. The second
// cables are those at even ports.
func doubleTorus(t *testing.T, side, hosts int) (f *fabric.Fabric, second []fabric.ChannelID) {
	t.Helper()
	var b fabric.Builder
	sw := make([]fabric.Ref, side*side)
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 8 + hosts}, "")
		for k := range hosts {
			h := b.Node(fabric.Node{GUID: fabric.GUID(1000 + i*hosts + k), Kind: fabric.Adapter, Ports: 1}, "")
			b.Cable(h, 1, sw[i], uint8(9+k), fabric.Rate{})
		}
	}
	for i := range sw {
		right, down := i/side*side+(i+1)%side, (i+side)%len(sw)
		for k := range uint8(2) {
			b.Cable(sw[i], 1+k, sw[right], 3+k, fabric.Rate{})
			b.Cable(sw[i], 5+k, sw[down], 7+k, fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for c := range fabric.ChannelID(f.Trunks()) {
		if f.Channel(c).FromPort%2 == 0 {
			second = append(second, c)
		}
	}
	return f, second
}

// withEscape is tables whose packets take any second cable that leads nearer, or the static port, which
// an engine finds on the first cables alone.
func withEscape(t *testing.T, f *fabric.Fabric, second []fabric.ChannelID, engine string, hashed bool) *routing.Tables {
	t.Helper()
	first, err := f.Without(second, nil)
	if err != nil {
		t.Fatal(err)
	}
	static := routed.Of(t, first, engine, routing.Budget{VLs: 1, Contract: routing.Any})
	all := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.OneSL(f, routing.UniformSL2VL([routing.SLs]uint8{})), Groups: routing.NewGroups(f, 1)}
	for lid, owner := range f.LIDs() {
		copy(all.Forwarding.Row(lid), static.Forwarding.Row(lid))
		hops := f.Hops(f.Endpoint(owner).Switch)
		for s := range fabric.NodeID(f.Switches()) {
			var ports routing.PortSet
			for _, c := range second {
				if ch := f.Channel(c); ch.From == s && hops[ch.To] < hops[s] {
					ports.Add(ch.FromPort)
				}
			}
			if ports.Len() > 0 {
				all.Groups.Set(s, int(lid), ports)
				all.Groups.Row(0, lid)[s] = routing.ChoiceOf(int(lid), hashed)
			}
		}
	}
	return all
}

// Groups whose dependencies have a loop, with a way out: the judge says that packets which choose again
// while they wait always escape, and under every load, with the smallest buffers, none stop. Without
// the way out (the static ports have a loop too, or a hash decides once and for all) the judge says so,
// and they stop.
func TestGroupsEscape(t *testing.T) {
	f, second := doubleTorus(t, 5, 4)
	for _, c := range []struct {
		name, engine string
		hashed, free bool
	}{
		{"static ports without a loop", "updn", false, true},
		{"static ports with a loop", "minhop", false, false},
		{"a hash decides", "updn", true, false},
	} {
		tables := withEscape(t, f, second, c.engine, c.hashed)
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
		if err != nil {
			t.Fatal(err)
		}
		if v.Free() || (v.Escape != nil) != c.free || v.Unreachable != 0 {
			t.Fatalf("%s: free %v, escape %v, %d pairs cut", c.name, v.Free(), v.Escape != nil, v.Unreachable)
		}
		config := packets.Presets()[0].Config
		config.Buffer = config.MTU + packets.Block // of one packet with its header
		n, err := packets.New(tables, config)
		if err != nil {
			t.Fatal(err)
		}
		stopped := 0
		seeds := testnet.Of(4, 1)
		for seed := range uint64(seeds) {
			load := packets.Injection{Offered: 1, Seed: seed, Placement: routing.HCA.Endpoints(f)}
			r, err := n.Measure(t.Context(), load, packets.Window{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Deadlock != nil {
				stopped++
			} else if c.free && r.Accepted < .05 {
				t.Errorf("%s, seed %d: %.3f accepted", c.name, seed, r.Accepted)
			}
		}
		t.Logf("%s: %d of %d runs stop", c.name, stopped, seeds)
		if c.free && stopped > 0 || !c.free && stopped < seeds {
			t.Errorf("%s: %d of %d runs stop", c.name, stopped, seeds)
		}
	}
}
