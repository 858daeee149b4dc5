package packets_test

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// spanned is the tables of a network by updn, with a tree that all hosts are in.
func spanned(t *testing.T, spec string) *routing.Tables {
	t.Helper()
	tables := routed.Of(t, testnet.Build(t, spec), "updn", routing.Budget{VLs: 1, Contract: routing.Any})
	with := *tables
	var err error
	if with.Multicast, err = spanning.Tree(t.Context(), tables, spanning.Options{Contract: routing.Any, SLs: 1}); err != nil {
		t.Fatal(err)
	}
	return &with
}

func toGroup(e fabric.EndpointID) packets.Message {
	return packets.Message{From: e, To: e, LID: routing.FirstMLID}
}

// Every member gets one copy of what every other sends, whatever the buffers and speeds. Copies
// for switches of the tree that have no hosts and lead no further are dropped there.
func TestCopies(t *testing.T) {
	for _, spec := range []string{"ring:5,hosts=2", "torus:4x4,hosts=1", "karytree:k=3,n=2", testnet.Small} {
		tables := spanned(t, spec)
		hosts := routing.HCA.Endpoints(tables.Fabric)
		for _, change := range []func(*packets.Config){
			func(*packets.Config) {}, func(c *packets.Config) { c.Speedup = 2 }, func(c *packets.Config) { c.OutBuffer = 2 * c.Buffer }, func(c *packets.Config) { c.StoreWhole = true },
		} {
			c := packets.Presets()[0].Config
			change(&c)
			n, err := packets.New(tables, c)
			if err != nil {
				t.Fatal(err)
			}
			const each = 5
			var messages []packets.Message
			for range each {
				for i, e := range hosts {
					messages = append(messages, toGroup(e), packets.Message{From: e, To: hosts[(i+1)%len(hosts)]})
				}
			}
			r, err := n.Complete(t.Context(), [][]packets.Message{messages}, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(each * (len(hosts)*(len(hosts)-1) + len(hosts))); r.Status != packets.Completed || r.Arrived != want || r.Held != 0 {
				t.Errorf("%s: %s, %d delivered, want %d; %d held", spec, r.Status, r.Arrived, want, r.Held)
			}
		}
	}
}

// A tree by fewest hops from another switch than the root of the paths has a loop with them; the
// packets of the judge's loop stop the network in the buffers that it names.
func TestTreeThatStops(t *testing.T) {
	stopped := 0
	for _, spec := range []string{"ring:5,hosts=2", "ring:6,hosts=2", "torus:4x4,hosts=2", "random:switches=14,links=24,hosts=2,seed=5"} {
		tables := spanned(t, spec)
		for root := range fabric.NodeID(tables.Fabric.Switches()) {
			other := *tables
			other.Multicast = fewestHops(tables.Fabric, root)
			v, err := deadlock.Verify(t.Context(), &other, deadlock.Options{Contract: routing.Any})
			if err != nil {
				t.Fatal(err)
			}
			if v.Free() {
				continue
			}
			n, err := packets.New(&other, packets.Presets()[0].Config)
			if err != nil {
				t.Fatal(err)
			}
			var loop []packets.LoopStep
			groups := 0
			for _, s := range v.Cycle {
				loop = append(loop, packets.LoopStep{Trunk: s.Trunk, VL: s.VL, SL: s.SL, Src: s.Src, Dst: s.Dst})
				if s.Multicast {
					groups++
				}
			}
			r, err := n.Replay(t.Context(), loop, 1)
			if err != nil {
				t.Fatal(err)
			}
			if groups == 0 || r.Result.Deadlock == nil {
				t.Errorf("%s, root %d: %d of %d steps by a group; %s", spec, root, groups, len(loop), r.Result.Status)
				continue
			}
			stopped++
			good, err := packets.New(tables, packets.Presets()[0].Config)
			if err != nil {
				t.Fatal(err)
			}
			if on, err := r.On(t.Context(), good); err != nil || on.Status != packets.Completed {
				t.Errorf("%s, root %d: over the proven tree: %v, %v", spec, root, on.Status, err)
			}
		}
	}
	if stopped < 10 {
		t.Errorf("only %d networks stopped", stopped)
	}
	t.Logf("%d networks stopped", stopped)
}

// With a share of the traffic on groups a proven tree keeps going at any load, and one with a loop
// stops the network.
func TestGroupsBesidePairs(t *testing.T) {
	tables := spanned(t, "torus:4x4,hosts=2")
	load := packets.Injection{Offered: .9, Placement: routing.HCA.Endpoints(tables.Fabric), Groups: .2, Seed: 3}
	trees := []*routing.Multicast{tables.Multicast}
	for _, root := range testnet.First([]fabric.NodeID{0, 2, 5, 9}, 2) { // the first closes no loop, the others do
		trees = append(trees, fewestHops(tables.Fabric, root))
	}
	for i, m := range trees {
		with := *tables
		with.Multicast = m
		v, err := deadlock.Verify(t.Context(), &with, deadlock.Options{Contract: routing.Any})
		if err != nil {
			t.Fatal(err)
		}
		n, err := packets.New(&with, packets.Presets()[0].Config)
		if err != nil {
			t.Fatal(err)
		}
		r, err := n.Measure(t.Context(), load, packets.Window{})
		if err != nil {
			t.Fatal(err)
		}
		if loops := i > 1; v.Free() == loops || (r.Deadlock != nil) != loops {
			t.Errorf("tree %d: proven %v, and the network is %s", i, v.Free(), r.Status)
		}
	}
}

// fewestHops is a tree of the shortest paths from a switch.
func fewestHops(f *fabric.Fabric, root fabric.NodeID) *routing.Multicast {
	ports := make([]routing.PortSet, f.Switches())
	hops := f.Hops(root)
	for s := range fabric.NodeID(f.Switches()) {
		for _, e := range f.Attached(s) {
			ports[s].Add(f.LastPort(f.Endpoint(e)))
		}
		first, end := f.TrunksFrom(s)
		for c := first; c < end; c++ {
			if ch := f.Channel(c); hops[ch.To] < hops[s] {
				ports[s].Add(ch.FromPort)
				ports[ch.To].Add(ch.ToPort)
				break
			}
		}
	}
	m := &routing.Multicast{SLs: 1, Trees: []routing.MulticastTree{{MLID: routing.FirstMLID}}}
	for s := range ports {
		m.Trees[0].Nodes = append(m.Trees[0].Nodes, routing.TreeNode{Switch: fabric.NodeID(s), Ports: ports[s]})
	}
	return m
}
