package spanning_test

import (
	"errors"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

const anySL = 1<<routing.SLs - 1

// routed is the tables of a network by an engine, under the engine's contract.
func routed(t *testing.T, f *fabric.Fabric, engine string) (*routing.Tables, routing.Contract) {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8, Contract: e.Contract}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tables, e.Contract
}

// with is tables with trees.
func with(t *routing.Tables, m *routing.Multicast) *routing.Tables {
	both := *t
	both.Multicast = m
	return &both
}

// The judge and a twin that follows every packet find no loop in unicast and multicast
// together, and the tree joins all switches without a ring.
func TestProven(t *testing.T) {
	for _, tc := range []struct {
		spec, engine string
		sls          uint16
	}{
		{"ring:7,hosts=2", "weave-any", anySL},
		{"ring:7,hosts=2", "dfsssp", 1},
		{"torus:4x4,hosts=1", "lash", 1},
		{"torus:4x4,hosts=1", "torus-2qos", anySL},
		{"dragonfly:p=2,a=4,h=1", "nue", 1},
		{"dragonfly:p=2,a=4,h=1", "df-dn", 1},
		{"random:switches=14,links=24,hosts=2,seed=5", "weave-any", anySL},
		{"random:switches=14,links=24,hosts=2,seed=5", "weave", anySL},
		{"karytree:k=3,n=3", "ftree", anySL},
		{testnet.Small, "updn", anySL},
		{testnet.SmallWide, "weave-any", anySL},
	} {
		f := testnet.Build(t, tc.spec)
		tables, contract := routed(t, f, tc.engine)
		m, err := spanning.Tree(t.Context(), tables, spanning.Options{Contract: contract, SLs: tc.sls})
		if err != nil {
			t.Errorf("%s %s: %v", tc.spec, tc.engine, err)
			continue
		}
		both := with(tables, m)
		v, err := deadlock.Verify(t.Context(), both, deadlock.Options{Contract: contract})
		if err != nil {
			t.Fatal(err)
		}
		if !v.Free() || len(v.Multicast.Circling)+len(v.Multicast.Split) > 0 {
			t.Errorf("%s %s: free %v, %+v", tc.spec, tc.engine, v.Free(), v.Multicast)
		}
		if cyclic(twin(both, contract)) {
			t.Errorf("%s %s: the twin finds a loop", tc.spec, tc.engine)
		}
		if cables := cablesOf(f, m); cables != f.Switches()-1 {
			t.Errorf("%s %s: %d cables join %d switches", tc.spec, tc.engine, cables, f.Switches())
		}
	}
}

// cablesOf counts the cables of a tree.
func cablesOf(f *fabric.Fabric, m *routing.Multicast) int {
	n := 0
	for _, node := range m.Trees[0].Nodes {
		for port := range node.Ports.All() {
			if c := f.Out(node.Switch, port); c != fabric.None && int(c) < f.Trunks() {
				n++
			}
		}
	}
	return n / 2
}

// The search finds a tree where trying every tree finds one. On rings every tree lacks one
// cable, and where the paths of a lane pass all switches but one none fits.
func TestAgreesWithEveryTree(t *testing.T) {
	found, none := 0, 0
	for _, spec := range []string{
		"ring:5,hosts=1", "ring:6,hosts=1", "ring:7,hosts=2", "ring:8,hosts=1", "ring:9,hosts=1", "kautz:b=2,n=2,hosts=1",
		"random:switches=6,links=9,hosts=1,seed=2", "random:switches=7,links=10,hosts=1,seed=3", "random:switches=8,links=11,hosts=1,seed=4",
	} {
		f := testnet.Build(t, spec)
		for _, engine := range []string{"updn", "lash", "dfsssp", "nue", "weave", "torus-2qos"} {
			e, _ := engines.Named(engine)
			contract := e.Contract
			tables, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8, Contract: contract}, nil)
			if routing.Refused(err) {
				continue
			}
			for _, sls := range []uint16{1, 2, 3, anySL} {
				_, err := spanning.Tree(t.Context(), tables, spanning.Options{Contract: contract, SLs: sls})
				there := anyTree(f, func(m *routing.Multicast) bool {
					m.SLs = sls
					return !cyclic(twin(with(tables, m), contract))
				})
				if there != (err == nil) {
					t.Errorf("%s %s, SLs %#x: there is a tree: %v; the search: %v", spec, engine, sls, there, err)
				}
				if there {
					found++
				} else {
					none++
				}
			}
		}
	}
	if found < 20 || none < 20 {
		t.Errorf("%d cases with a tree, %d without: too few of either to mean anything", found, none)
	}
}

// anyTree reports whether some spanning tree will do.
func anyTree(f *fabric.Fabric, do func(*routing.Multicast) bool) bool {
	var cables []fabric.ChannelID
	for c := range fabric.ChannelID(f.Trunks()) {
		if c < f.Reverses()[c] {
			cables = append(cables, c)
		}
	}
	for set := range 1 << len(cables) {
		part := fabric.All[fabric.NodeID](f.Switches())
		root := func(s fabric.NodeID) fabric.NodeID {
			for part[s] != s {
				s = part[s]
			}
			return s
		}
		ports := make([]routing.PortSet, f.Switches())
		n, ring := 0, false
		for i, c := range cables {
			if set>>i&1 == 0 {
				continue
			}
			ch := f.Channel(c)
			a, b := root(ch.From), root(ch.To)
			ring = ring || a == b
			part[a] = b
			ports[ch.From].Add(ch.FromPort)
			ports[ch.To].Add(ch.ToPort)
			n++
		}
		if ring || n != f.Switches()-1 {
			continue
		}
		m := &routing.Multicast{Trees: []routing.MulticastTree{{MLID: routing.FirstMLID}}}
		for s := range ports {
			for _, e := range f.Attached(fabric.NodeID(s)) {
				ports[s].Add(f.LastPort(f.Endpoint(e)))
			}
			m.Trees[0].Nodes = append(m.Trees[0].Nodes, routing.TreeNode{Switch: fabric.NodeID(s), Ports: ports[s]})
		}
		if do(m) {
			return true
		}
	}
	return false
}

// What is left of a tree in use is kept, and the union of both is the new tree.
func TestKeeps(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=1")
	tables, contract := routed(t, f, "updn")
	m, err := spanning.Tree(t.Context(), tables, spanning.Options{Contract: contract, SLs: 1})
	if err != nil {
		t.Fatal(err)
	}
	lost := fabric.ChannelID(-1)
	for port := range m.Trees[0].Nodes[5].Ports.All() {
		if c := f.Out(5, port); int(c) < f.Trunks() && c != fabric.None {
			lost = c
		}
	}
	less, err := f.Without([]fabric.ChannelID{lost}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mended, contract := routed(t, less, "updn")
	now, err := spanning.Tree(t.Context(), mended, spanning.Options{Contract: contract, SLs: 1, Keep: &m.Trees[0]})
	if err != nil {
		t.Fatal(err)
	}
	if cables := cablesOf(less, now); cables != less.Switches()-1 {
		t.Errorf("%d cables join %d switches", cables, less.Switches())
	}
	for s, n := range m.Trees[0].Nodes {
		for port := range n.Ports.All() {
			c := less.Out(n.Switch, port)
			if has := now.Trees[0].Nodes[s].Ports; c != fabric.None && !has.Has(port) {
				t.Errorf("the cable at port %d of switch %d is kept no more", port, s)
			}
		}
	}
}

// Tables with a loop, and networks in pieces, have no tree and say why.
func TestRefuses(t *testing.T) {
	tables, contract := routed(t, testnet.Build(t, "torus:5x5,hosts=1"), "minhop")
	if _, err := spanning.Tree(t.Context(), tables, spanning.Options{Contract: contract, SLs: 1}); !errors.Is(err, spanning.ErrLoop) {
		t.Errorf("tables with a loop: %v", err)
	}
	f := testnet.Build(t, "ring:4,hosts=1")
	first, end := f.TrunksFrom(0)
	var cables []fabric.ChannelID
	for c := first; c < end; c++ {
		cables = append(cables, c)
	}
	apart, err := f.Without(cables, nil)
	if err != nil {
		t.Fatal(err)
	}
	tables, contract = routed(t, apart, "updn")
	none := (*spanning.None)(nil)
	if _, err := spanning.Tree(t.Context(), tables, spanning.Options{Contract: contract, SLs: 1}); !errors.As(err, &none) {
		t.Errorf("a network in pieces: %v", err)
	}
}
