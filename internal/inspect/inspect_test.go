package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/inspect"
	"github.com/weft-fabric/weft/internal/testnet"
)

// texts is the findings as lines: kind, sentence, and how many places.
func texts(f *fabric.Fabric) (lines []string) {
	for _, o := range inspect.Anomalies(f) {
		lines = append(lines, fmt.Sprintf("%s: %s [%d]", o.Kind, o.What, len(o.Links)+len(o.Nodes)+len(o.Hosts)))
	}
	return lines
}

// edited is a copy of a fabric: node and cable change what they are given, and a
// cable for which cable returns false is left out.
func edited(t *testing.T, f *fabric.Fabric, node func(*fabric.Node), cable func(*fabric.Channel) bool) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	refs := make([]fabric.Ref, len(f.Nodes()))
	for i, n := range f.Nodes() {
		if node != nil {
			node(&n)
		}
		refs[i] = b.Node(n, "")
	}
	for i := range f.Channels() {
		c := *f.Channel(fabric.ChannelID(i))
		if c.Reverse > fabric.ChannelID(i) && (cable == nil || cable(&c)) {
			b.Cable(refs[c.From], c.FromPort, refs[c.To], c.ToPort, c.Rate)
		}
	}
	out, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What generators build has nothing odd: all parts are like their like.
func TestGeneratedNetworksAreRegular(t *testing.T) {
	for _, spec := range []string{
		"torus:4x4,hosts=2", "ring:2", "mesh:4x4", "dragonfly:p=3", "xgft:m=8x6,w=3x4", "karytree:k=4,n=3",
		"random:switches=64,links=128", "kautz:b=3,n=3,hosts=2", "oft:k=4", "director:288", "deimos", "odin",
		"fattree:ports=24,hosts=16", "hyperx:4x4,hosts=4", "hyperx:4x2,k=2x1", "slimfly:q=5,hosts=7", "jellyfish:switches=43,degree=12,hosts=12,seed=1",
		"planes:ports=8,groups=4,leaves=3,on=2,tails=2,trunk=2",
	} {
		if got := texts(testnet.Build(t, spec)); got != nil {
			t.Errorf("%s: %q", spec, got)
		}
	}
}

func TestLevels(t *testing.T) {
	f := testnet.Build(t, "xgft:m=8x6,w=3x4") // 8 hosts a leaf, 3 spines each, 4 tops each
	want := []inspect.Level{
		{
			Switches: 48, Hosts: 384, Up: 144,
			Over: inspect.Ratio{Below: 384 * 200_000, Above: 144 * 200_000}, Least: inspect.Ratio{Below: 1_600_000, Above: 600_000}, Most: inspect.Ratio{Below: 1_600_000, Above: 600_000},
		},
		{
			Switches: 18, Down: 144, Up: 72,
			Over: inspect.Ratio{Below: 144 * 200_000, Above: 72 * 200_000}, Least: inspect.Ratio{Below: 1_600_000, Above: 800_000}, Most: inspect.Ratio{Below: 1_600_000, Above: 800_000},
		},
		{Switches: 12, Down: 72, NoUp: 12, Over: inspect.Ratio{Below: 72 * 200_000}},
	}
	if diff := cmp.Diff(want, inspect.Levels(f)); diff != "" {
		t.Error(diff)
	}
	// Without rates, cables count; with a cable gone, switches differ and a port is free.
	gone := false
	f = edited(t, f, nil, func(c *fabric.Channel) bool {
		c.Rate = fabric.Rate{}
		if !gone && f.Node(c.To).Kind == fabric.Switch {
			gone = true
			return false
		}
		return true
	})
	got := inspect.Levels(f)
	if l := got[0]; l.Free != 1 || l.Over != (inspect.Ratio{Below: 384, Above: 143}) || l.Least.Value() != 8.0/3 || l.Most.Value() != 4 {
		t.Errorf("%+v", l)
	}
	if got := inspect.Levels(testnet.Build(t, "torus:4x4")); len(got) != 1 || got[0].Across != 32 || got[0].Over.Value() != 0 {
		t.Errorf("a torus: %+v", got)
	}
}

// Spines without a cable up count for all together, and are none of those between the least and the most.
func TestLevelsWithoutCablesUp(t *testing.T) {
	f := testnet.Build(t, "xgft:m=8x6,w=3x4")
	f = edited(t, f, nil, func(c *fabric.Channel) bool { // the tops, behind 48 leaves and 18 spines, keep the cables of a spine of two pods
		return f.Node(c.To).Kind != fabric.Switch || max(c.From, c.To) < 66 || min(c.From, c.To) == 48 || min(c.From, c.To) == 51
	})
	levels := inspect.Levels(f)
	if l := levels[1]; l.NoUp != 16 || l.Over.Value() != 18 || l.Least.Value() != 2 || l.Most.Value() != 2 {
		t.Errorf("%+v", l)
	}
	if levels[0].NoUp != 0 {
		t.Errorf("%+v", levels[0])
	}
}

// A leaf from which nothing hangs is no top beside the others, nor a line card of a director one above its spines: both are on no
// shortest path, and are told.
func TestSwitchesBesideAllPaths(t *testing.T) {
	f := testnet.Build(t, "xgft:m=8x6,w=3x4")
	bare := edited(t, f, nil, func(c *fabric.Channel) bool { return f.Node(c.To).Kind == fabric.Switch || min(c.From, c.To) > 1 })
	levels := inspect.Levels(bare)
	if len(levels) != 3 || levels[0].Switches != 46 || levels[1].Switches != 18 || levels[2].Switches != 12 || levels[1].Down != 46*3 || levels[1].Over.Value() != 46*3/72. || levels[1].Free != 0 {
		t.Errorf("%+v", levels)
	}
	if got := texts(bare); !slices.Equal(got, []string{"no-cable: 16 nodes have no cable [16]", "no-path: 2 switches have no hosts, and are on no shortest path between hosts: they count for no level [2]"}) {
		t.Errorf("%q", got)
	}
	lone := edited(t, f, nil, func(c *fabric.Channel) bool { return f.Node(c.To).Kind == fabric.Switch || min(c.From, c.To) == 0 })
	if levels := inspect.Levels(lone); len(levels) != 5 {
		t.Errorf("hosts on one leaf alone: %+v", levels)
	}
}

// A server or two on a spine do not make it a leaf, and a leaf with few hosts stays
// one.
func TestLevelsWithHostsAbove(t *testing.T) {
	f := testnet.Dump(t, "kalcher-stage-2014") // three hosts on the two spines
	levels := inspect.Levels(f)
	if len(levels) != 2 || levels[0].Switches != 6 || levels[1].Hosts != 3 || levels[0].Across+levels[1].Across != 0 {
		t.Errorf("%+v", levels)
	}
	host := fabric.NodeID(fabric.None)
	f = testnet.Build(t, "xgft:m=8x6,w=3x4")
	kept := map[fabric.NodeID]int{}
	f = edited(t, f, nil, func(c *fabric.Channel) bool { // one host is left on the first leaf
		if f.Node(c.To).Kind == fabric.Switch && f.Node(c.From).Kind == fabric.Switch {
			return true
		}
		leaf := min(c.From, c.To)
		if host < 0 {
			host = leaf
		}
		kept[leaf]++
		return leaf != host || kept[leaf] == 1
	})
	if levels := inspect.Levels(f); levels[0].Switches != 48 || len(levels) != 3 {
		t.Errorf("%+v", levels)
	}
}

// Switches with hosts around them stay leaves, if theirs are not far fewer.
func TestUnevenHosts(t *testing.T) {
	f := testnet.Build(t, "ring:6,hosts=3")
	first := 0
	f = edited(t, f, nil, func(c *fabric.Channel) bool {
		if min(c.From, c.To) == 0 && f.Node(max(c.From, c.To)).Kind == fabric.Adapter {
			first++
			return first == 1
		}
		return true
	})
	if levels := inspect.Levels(f); len(levels) != 1 || levels[0].Switches != 6 || levels[0].Hosts != 16 {
		t.Errorf("%+v", levels)
	}
}

// Where a third of the pairs of two levels have no cable, that is how the network is.
func TestSparseLevels(t *testing.T) {
	f := testnet.Build(t, "fattree:ports=16,hosts=8")
	f = edited(t, f, nil, func(c *fabric.Channel) bool {
		return f.Node(c.From).Kind != fabric.Switch || f.Node(c.To).Kind != fabric.Switch || (int(c.From)+int(c.To))%3 != 0
	})
	if got := texts(f); got != nil {
		t.Errorf("%q", got)
	}
}

func TestSlowLinks(t *testing.T) {
	f := testnet.Build(t, "xgft:m=8x6,w=3x4")
	trunks, hosts := 0, 0
	f = edited(t, f, nil, func(c *fabric.Channel) bool {
		if f.Node(c.From).Kind == fabric.Switch && f.Node(c.To).Kind == fabric.Switch {
			switch trunks++; trunks {
			case 3, 9:
				c.Rate.Speed = fabric.EDR
			case 5:
				c.Rate.Width = 1
			case 7:
				c.Rate.Speed = fabric.NDR // faster is not odd
			}
		} else if hosts++; hosts == 4 {
			c.Rate = fabric.Rate{} // nor what is not known
		}
		return true
	})
	want := []string{
		"narrow-link: 1 cable runs at 1xHDR, where 140 of 144 like it run at 4xHDR [1]",
		"slow-link: 2 cables run at 4xEDR, where 140 of 144 like them run at 4xHDR [2]",
	}
	if diff := cmp.Diff(want, texts(f)); diff != "" {
		t.Error(diff)
	}
	// Adapters of an older model are not expected to be as fast.
	n := 0
	f = testnet.Build(t, "ring:8,hosts=2")
	old := func(device uint32) *fabric.Fabric {
		return edited(t, f, func(node *fabric.Node) {
			if node.Kind == fabric.Adapter {
				if n++; n%4 == 0 {
					node.DeviceID = device
				}
			}
		}, func(c *fabric.Channel) bool {
			if from, to := f.Node(c.From), f.Node(c.To); from.Kind == fabric.Adapter || to.Kind == fabric.Adapter {
				if k := max(c.From, c.To) - 8; k%4 == 3 {
					c.Rate.Speed = fabric.QDR
				}
			}
			return true
		})
	}
	if got := texts(old(7)); got != nil {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff([]string{"slow-link: 4 cables run at 4xQDR, where 12 of 16 like them run at 4xHDR [4]"}, texts(old(f.Node(8).DeviceID))); diff != "" {
		t.Error(diff)
	}
}

func TestMissingCables(t *testing.T) {
	// A two-level tree with two cables for each pair: one pair loses one, one both.
	f := testnet.Build(t, "fattree:ports=16,hosts=8")
	pairs := map[[2]fabric.NodeID]int{}
	for c := range f.Trunks() {
		ch := f.Channel(fabric.ChannelID(c))
		pairs[[2]fabric.NodeID{ch.From, ch.To}]++
	}
	per := 0
	for _, n := range pairs {
		per = n
	}
	if per < 1 {
		t.Fatal("no pair")
	}
	var first [2]fabric.NodeID
	f = edited(t, f, nil, func(c *fabric.Channel) bool {
		if f.Node(c.From).Kind != fabric.Switch || f.Node(c.To).Kind != fabric.Switch {
			return true
		}
		if first == [2]fabric.NodeID{} {
			first = [2]fabric.NodeID{c.From, c.To}
		}
		return first != [2]fabric.NodeID{c.From, c.To}
	})
	want := []string{fmt.Sprintf("missing-cable: 1 pair of switches has no cable, where %d of %d like it have %d [1]", len(pairs)/2-1, len(pairs)/2, per)}
	if diff := cmp.Diff(want, texts(f)); diff != "" {
		t.Error(diff)
	}
	odd := inspect.Anomalies(f)[0].Links[0]
	if odd.A != first[0] && odd.B != first[0] || odd.A != first[1] && odd.B != first[1] || odd.Cables != 0 {
		t.Errorf("%+v, want %v", odd, first)
	}
}

// In a tree with pods a cable is missed within its pod only.
func TestMissingCableInAPod(t *testing.T) {
	f := testnet.Build(t, "karytree:k=4,n=3")
	gone := 0
	f = edited(t, f, nil, func(c *fabric.Channel) bool {
		if f.Node(c.From).Kind == fabric.Switch && f.Node(c.To).Kind == fabric.Switch {
			gone++
		}
		return gone != 1
	})
	if got := texts(f); len(got) != 1 || got[0] != "missing-cable: 1 pair of switches has no cable, where 63 of 64 like it have 1 [1]" {
		t.Errorf("%q", got)
	}
}

func TestNamesAndHosts(t *testing.T) {
	var b fabric.Builder
	sw := b.Node(fabric.Node{GUID: 0x10, Ports: 40, Name: "leaf"}, "")
	other := b.Node(fabric.Node{GUID: 0x20, Ports: 40, Name: "leaf"}, "")
	b.Cable(sw, 40, other, 40, fabric.Rate{})
	b.Node(fabric.Node{GUID: 0x30, Ports: 40, Name: "shelved"}, "")
	alone := b.Node(fabric.Node{GUID: 0x40, Ports: 40, Name: "alone"}, "")
	for i, name := range []string{
		"a mlx5_0", "a mlx5_1", "b mlx5_0", "b mlx5_1", "c mlx5_0", "c mlx5_1", "d mlx5_0", "storage", "storage", "", "",
		"MT4129 ConnectX7   Mellanox Technologies", "MT4129 ConnectX7   Mellanox Technologies", "lone one of many",
		"Mellanox Technologies Aggregation Node", "Mellanox Technologies Aggregation Node",
	} {
		n := fabric.Node{GUID: fabric.GUID(0x1000 * (i + 1)), Kind: fabric.Adapter, Ports: 1, Name: name}
		if strings.HasSuffix(name, "Aggregation Node") {
			n.VendorID, n.DeviceID = fabric.AggregationVendor, fabric.AggregationDevice
		}
		h := b.Node(n, "")
		if i == 0 {
			b.Cable(alone, 1, h, 1, fabric.Rate{})
			continue
		}
		b.Cable(sw, uint8(i+1), h, 1, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"no-cable: 1 node has no cable [1]",
		"no-switch: 1 switch is cabled to no other switch [1]",
		"no-path: 1 switch has no hosts, and is on no shortest path between hosts: it counts for no level [1]",
		"missing-rail: 1 host has fewer than 2 adapters, which 4 of 5 hosts have [1]",
		`duplicate-name: 2 nodes are called "leaf" [2]`,
		`duplicate-name: 2 nodes are called "storage" [2]`,
		"no-name: 2 nodes have no description [2]",
		`no-name: 2 adapters are called "MT4129 ConnectX7   Mellanox Technologies", which names no host [2]`,
	}
	if diff := cmp.Diff(want, texts(f)); diff != "" {
		t.Error(diff)
	}
}

// The real cluster: 31 leaves, 9 spines, two cables for each pair but 26.
func TestRealCluster(t *testing.T) {
	f := testnet.Dump(t, "topograph-ndr-dgx-2025")
	want := []string{
		"missing-cable: 10 pairs of switches have no cable, where 263 of 279 like them have 2 [10]",
		"missing-cable: 6 pairs of switches have 1 cable, where 263 of 279 like them have 2 [6]",
		"missing-rail: 13 hosts have fewer than 4 adapters, which 109 of 122 hosts have [13]",
		`no-name: 69 adapters are called "MT4129 ConnectX7   Mellanox Technologies", which names no host [69]`,
	}
	if diff := cmp.Diff(want, texts(f)); diff != "" {
		t.Error(diff)
	}
}

// Where as many cables run at one rate as at another, none is slower than usual, but those
// of one pair should still agree.
func TestMixedRates(t *testing.T) {
	var b fabric.Builder
	one := b.Node(fabric.Node{GUID: 1, Kind: fabric.Switch, Ports: 4, Name: "one"}, "")
	two := b.Node(fabric.Node{GUID: 2, Kind: fabric.Switch, Ports: 4, Name: "two"}, "")
	b.Cable(one, 1, two, 1, fabric.Rate{Width: 4, Speed: fabric.EDR})
	b.Cable(one, 2, two, 2, fabric.Rate{Width: 4, Speed: fabric.HDR})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"mixed-rates: 1 pair of nodes is joined by cables of several rates [2]"}, texts(f)); diff != "" {
		t.Error(diff)
	}
}

// A cable that one end's record only mentions is named from that end.
func TestOneSided(t *testing.T) {
	var b fabric.Builder
	one := b.Node(fabric.Node{GUID: 1, Kind: fabric.Switch, Ports: 4, Name: "one"}, "")
	two := b.Node(fabric.Node{GUID: 2, Kind: fabric.Switch, Ports: 4, Name: "two"}, "")
	b.Cable(one, 1, two, 1, fabric.Rate{})
	b.Cable(one, 2, two, 3, fabric.Rate{})
	b.OneSided(two, 3)
	b.OneSided(two, 4) // no cable
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	found := inspect.Anomalies(f)
	if len(found) != 1 || found[0].Kind != inspect.OneSided || len(found[0].Links) != 1 || found[0].Links[0].A != 1 || found[0].Links[0].APort != 3 {
		t.Errorf("%+v", found)
	}
}
