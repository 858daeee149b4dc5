package conformance

import (
	"fmt"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// recipe is a network before it is built, so that it can be built in any order.
type recipe struct {
	nodes  []recipeNode
	cables [][2]plug // the node of a plug indexes nodes
}

type recipeNode struct {
	fabric.Node
	ports map[uint8]fabric.Port
}

// build builds the network with nodes and cables in the order of two
// permutations; nil: as they are.
func (r *recipe) build(nodes, cables []int) (*fabric.Fabric, error) {
	var b fabric.Builder
	refs := make([]fabric.Ref, len(r.nodes))
	for i := range r.nodes {
		if nodes != nil {
			i = nodes[i]
		}
		refs[i] = b.Node(r.nodes[i].Node, fmt.Sprintf("node %03d", i))
		for p, port := range r.nodes[i].ports {
			b.Port(refs[i], p, port)
		}
	}
	for i := range r.cables {
		a, z := r.cables[i][0], r.cables[i][1]
		if cables != nil {
			// The order of the two ends says nothing either.
			a, z = r.cables[cables[i]][1], r.cables[cables[i]][0]
		}
		b.Cable(refs[a.node], a.port, refs[z.node], z.port, fabric.Rate{})
	}
	return b.Build()
}

// recipes draws networks of all sorts: parallel cables, cables from a node to
// itself and from adapter to adapter, adapters with two ports, aggregation nodes
// and routers, in parts or not, with LIDs given sparsely or not at all, LMC 0 to
// 2, with GUIDs or without.
func recipes(maxSwitches int) *rapid.Generator[*recipe] {
	return rapid.Custom(func(t *rapid.T) *recipe {
		r := &recipe{}
		guids := rapid.Bool().Draw(t, "GUIDs")
		lids := rapid.Bool().Draw(t, "LIDs")
		lmc := uint8(rapid.IntRange(0, 2).Draw(t, "LMC"))
		// Sizes and wiring come from a seed: drawn one by one they would nearly
		// always be small, and small networks have no loops.
		rng := chance(t, "wiring")
		add := func(kind fabric.Kind, name string, ports int) int {
			n := recipeNode{Node: fabric.Node{Kind: kind, Name: name, Ports: ports}, ports: map[uint8]fabric.Port{}}
			if guids {
				// Not in the order in which they are added.
				n.GUID = fabric.GUID(1+uint64(len(r.nodes))*7919%1009) << 16
			}
			for p := range uint8(ports + 1) {
				port := fabric.Port{LMC: lmc}
				if lids && rapid.Bool().Draw(t, "has LID") {
					port.LID = fabric.LID(rapid.IntRange(1, 60).Draw(t, "LID") << lmc)
				}
				n.ports[p] = port
			}
			r.nodes = append(r.nodes, n)
			return len(r.nodes) - 1
		}
		var free []plug
		switches := 1 + rng.IntN(maxSwitches)
		for i := range switches {
			ports := 2 + rng.IntN(8)
			n := add(fabric.Switch, fmt.Sprintf("sw-%d", i), ports)
			for p := range uint8(ports) {
				free = append(free, plug{fabric.NodeID(n), p + 1})
			}
		}
		take := func() plug {
			i := rng.IntN(len(free))
			p := free[i]
			free = append(free[:i], free[i+1:]...)
			return p
		}
		for range rng.IntN(7) {
			ports := 1 + rng.IntN(2)
			kind, sharp := fabric.Adapter, false
			switch rng.IntN(6) {
			case 0:
				sharp = true
			case 1:
				kind = fabric.Router
			}
			n := add(kind, "host", ports)
			if sharp {
				r.nodes[n].VendorID, r.nodes[n].DeviceID = fabric.AggregationVendor, fabric.AggregationDevice
			}
			for p := range uint8(ports) {
				if end := (plug{fabric.NodeID(n), p + 1}); len(free) > 0 {
					r.cables = append(r.cables, [2]plug{end, take()})
				}
			}
			if rng.IntN(10) == 0 {
				a, z := add(fabric.Adapter, "left", 1), add(fabric.Adapter, "right", 1)
				r.cables = append(r.cables, [2]plug{{fabric.NodeID(a), 1}, {fabric.NodeID(z), 1}})
			}
		}
		for range rng.IntN(len(free)/2 + 1) {
			r.cables = append(r.cables, [2]plug{take(), take()})
		}
		return r
	})
}

// chance is a random stream from a drawn seed, drawn byte by byte so that it is
// seldom small.
func chance(t *rapid.T, label string) *rand.Rand {
	seed := uint64(0)
	for _, b := range rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, label) {
		seed = seed<<8 | uint64(b)
	}
	return rand.New(rand.NewPCG(seed, 4))
}

// mustBuild builds a recipe as it is.
func mustBuild(t *rapid.T, r *recipe) *fabric.Fabric {
	f, err := r.build(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fail takes cables between switches and, now and then, a switch away.
func fail(f *fabric.Fabric, rng *rand.Rand) (*fabric.Fabric, error) {
	var channels []fabric.ChannelID
	for range 1 + f.Trunks()/8 {
		channels = append(channels, fabric.ChannelID(rng.IntN(f.Trunks())))
	}
	var nodes []fabric.NodeID
	if rng.IntN(3) == 0 {
		nodes = append(nodes, fabric.NodeID(rng.IntN(f.Switches())))
	}
	return f.Without(channels, nodes)
}
