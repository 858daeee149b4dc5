package topology

import (
	"cmp"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// shape is what the closed forms of the literature say about a network.
type shape struct {
	switches, hosts, cables int // cables between switches
	degreeMin, degreeMax    int // cables to other switches of a switch
	radix                   int // ports of the largest switch
	diameter                int // hops between any two switches
	reach                   int // hops between any two switches with hosts
}

func build(t testing.TB, spec string) *fabric.Fabric {
	t.Helper()
	family, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := family.Build()
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return f
}

func measure(f *fabric.Fabric) shape {
	n := f.Count()
	s := shape{switches: n.Switches, hosts: n.HCA, cables: n.SwitchCables, degreeMin: fabric.MaxPorts}
	for v := range fabric.NodeID(f.Switches()) {
		first, end := f.TrunksFrom(v)
		s.degreeMin = min(s.degreeMin, int(end-first))
		s.degreeMax = max(s.degreeMax, int(end-first))
		s.radix = max(s.radix, f.Node(v).Ports)
		for u, hops := range distances(f, v) {
			s.diameter = max(s.diameter, hops)
			if len(f.Attached(v)) > 1 && len(f.Attached(fabric.NodeID(u))) > 1 {
				s.reach = max(s.reach, hops)
			}
		}
	}
	return s
}

const unreached = 1 << 20

// distances is the hops from a switch to every other.
func distances(f *fabric.Fabric, from fabric.NodeID) []int {
	hops := slices.Repeat([]int{unreached}, f.Switches())
	hops[from] = 0
	queue := []fabric.NodeID{from}
	for i := 0; i < len(queue); i++ {
		first, end := f.TrunksFrom(queue[i])
		for _, v := range f.Heads()[first:end] {
			if hops[v] == unreached {
				hops[v] = hops[queue[i]] + 1
				queue = append(queue, v)
			}
		}
	}
	return hops
}

func pow(k, n int) int {
	if n == 0 {
		return 1
	}
	return k * pow(k, n-1)
}

func TestClosedForms(t *testing.T) {
	tests := []struct {
		spec string
		want shape
	}{
		{"ring:2", shape{2, 2, 1, 1, 1, 2, 1, 1}},
		{"ring:3", shape{3, 3, 3, 2, 2, 3, 1, 1}},
		{"ring:8,hosts=1", shape{8, 8, 8, 2, 2, 3, 4, 4}},
		{"ring:9,hosts=5", shape{9, 45, 9, 2, 2, 7, 4, 4}},

		{"mesh:1", shape{1, 1, 0, 0, 0, 1, 0, 0}},
		{"mesh:2", shape{2, 2, 1, 1, 1, 2, 1, 1}},
		{"mesh:5", shape{5, 5, 4, 1, 2, 3, 4, 4}},
		{"mesh:3x4", shape{12, 12, 2*4 + 3*3, 2, 4, 5, 5, 5}},
		{"mesh:4x4x4,hosts=2", shape{64, 128, 3 * 3 * 16, 3, 6, 8, 9, 9}},
		{"mesh:1x6x1", shape{6, 6, 5, 1, 2, 3, 5, 5}},
		{"mesh:2x3", shape{6, 6, 3 + 2*2, 2, 3, 4, 3, 3}},

		{"torus:1x1", shape{1, 1, 0, 0, 0, 1, 0, 0}},
		{"torus:4x4", shape{16, 16, 32, 4, 4, 5, 4, 4}},
		{"torus:2x3", shape{6, 6, 3 + 6, 3, 3, 4, 2, 2}},
		{"torus:2x2x2", shape{8, 8, 12, 3, 3, 4, 3, 3}},
		{"torus:3x1x5,hosts=4", shape{15, 60, 30, 4, 4, 8, 3, 3}},
		{"torus:8x8x8,hosts=2", shape{512, 1024, 1536, 6, 6, 8, 12, 12}},

		{"hypercube:1", shape{2, 2, 1, 1, 1, 2, 1, 1}},
		{"hypercube:6,hosts=1", shape{64, 64, 6 * 32, 6, 6, 7, 6, 6}},
		{"hypercube:9,hosts=3", shape{512, 1536, 9 * 256, 9, 9, 12, 9, 9}},

		{"karytree:k=5,n=1", shape{1, 5, 0, 0, 0, 5, 0, 0}},
		{"karytree:k=2,n=2", shape{4, 4, 4, 2, 2, 4, 2, 2}},
		{"karytree:k=4,n=3", shape{3 * 16, 64, 2 * 64, 4, 8, 8, 4, 4}},
		{"karytree:k=2,n=6", shape{6 * 32, 64, 5 * 64, 2, 4, 4, 10, 10}},
		{"karytree:k=18,n=3", shape{3 * 324, 5832, 2 * 5832, 18, 36, 36, 4, 4}},

		// Table I of the DFSSSP paper, and the tree of three levels of 36 ports.
		{"xgft:m=6,w=3", shape{9, 36, 18, 3, 6, 9, 2, 2}},
		{"xgft:m=16,w=8,hosts=16", shape{24, 256, 128, 8, 16, 24, 2, 2}},
		{"xgft:m=6x6,w=3x3,hosts=14", shape{36 + 18 + 9, 504, 108 + 54, 3, 9, 17, 4, 4}},
		{"xgft:m=18x18,w=9x9,hosts=13", shape{324 + 162 + 81, 4212, 2916 + 1458, 9, 27, 27, 4, 4}},
		{"xgft:m=18x36,w=18x18,hosts=18", shape{1620, 11664, 2 * 648 * 18, 18, 36, 36, 4, 4}},
		{"xgft:m=3x2x2,w=1x2x3,hosts=2", shape{12 + 4 + 4 + 6, 24, 12 + 8 + 12, 1, 5, 5, 6, 6}},
		{"xgft:m=4x1,w=2x1,hosts=1", shape{4 + 2 + 2, 4, 8 + 2, 1, 5, 5, 4, 2}},

		{"dragonfly:p=1", shape{6, 6, 3 + 3, 2, 2, 3, 3, 3}},
		{"dragonfly:p=2", shape{36, 72, 9*6 + 36, 5, 5, 7, 3, 3}},
		{"dragonfly:p=4", shape{264, 1056, 33*28 + 33*16, 11, 11, 15, 3, 3}},
		{"dragonfly:p=6", shape{876, 5256, 73*66 + 73*36, 17, 17, 23, 3, 3}},
		{"dragonfly:p=8", shape{2064, 16512, 129*120 + 129*64, 23, 23, 31, 3, 3}},
		{"dragonfly:p=2,g=5", shape{20, 40, 5*6 + 2*10, 5, 5, 7, 3, 3}},
		{"dragonfly:p=2,g=6", shape{24, 48, 6*6 + 1*15, 3, 5, 7, 3, 3}},
		{"dragonfly:p=3,a=4,h=1,g=1", shape{4, 12, 6, 3, 3, 7, 1, 1}},
		{"dragonfly:p=1,a=1,h=7", shape{8, 8, 28, 7, 7, 8, 1, 1}},

		{"deimos", shape{108, 724, 3*24*12 + 60, 13, 24, 24, 4, 4}},
	}
	for _, test := range tests {
		t.Run(test.spec, func(t *testing.T) {
			if test.want.switches > 1000 && testing.Short() {
				t.Skip("long: a search from each of many switches")
			}
			f := build(t, test.spec)
			if got := measure(f); got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			checkOrder(t, f)
		})
	}
}

// TestFormulas walks over the parameters where the closed form is one line.
func TestFormulas(t *testing.T) {
	for k := 2; k <= 5; k++ {
		for n := 1; n <= 4; n++ {
			f, err := KaryTree{K: k, N: n}.Build()
			if err != nil {
				t.Fatal(err)
			}
			got := measure(f)
			if got.switches != n*pow(k, n-1) || got.hosts != pow(k, n) || got.cables != (n-1)*pow(k, n) || got.reach != 2*(n-1) {
				t.Errorf("%d-ary %d-tree: %+v", k, n, got)
			}
			dims := slices.Repeat([]int{k}, n)
			for _, family := range []Family{Mesh{Dims: dims}, Torus{Dims: dims}} {
				f, err := family.Build()
				if err != nil {
					t.Fatal(err)
				}
				cables, diameter := n*(k-1)*pow(k, n-1), n*(k-1)
				if _, wraps := family.(Torus); wraps && k > 2 {
					cables, diameter = n*pow(k, n), n*(k/2)
				}
				if got := measure(f); got.switches != pow(k, n) || got.cables != cables || got.diameter != diameter {
					t.Errorf("%s: %+v, want %d cables and diameter %d", family, got, cables, diameter)
				}
			}
		}
	}
}

// checkOrder holds for every family: one connected part, every endpoint on a
// switch, hosts numbered in the order of nodes and switches, on the lowest ports.
func checkOrder(t testing.TB, f *fabric.Fabric) {
	t.Helper()
	if parts := f.Parts(); len(parts) != 1 {
		t.Errorf("%d connected parts", len(parts))
	}
	if w := f.Warnings(); len(w) != 0 {
		t.Errorf("warnings: %q", w)
	}
	names := map[string]bool{}
	for n := range f.Nodes() {
		node := f.Node(fabric.NodeID(n))
		if names[node.Name] {
			t.Errorf("two nodes are named %s", node.Name)
		}
		names[node.Name] = true
		want := firstSwitchGUID + fabric.GUID(n)*guidStep
		if host := n - f.Switches(); host >= 0 {
			want = firstHostGUID + fabric.GUID(host)*guidStep
			if node.Name != named("host", host) {
				t.Errorf("node %d is named %s", n, node.Name)
			}
		}
		if node.GUID != want {
			t.Errorf("%s has GUID %s, want %s", node.Name, node.GUID, want)
		}
	}
	last := fabric.NodeID(-1)
	for v := range fabric.NodeID(f.Switches()) {
		for i, e := range f.Attached(v)[1:] {
			end := f.Endpoint(e)
			if end.Node < last {
				t.Errorf("%s is on %s, after %s", f.Label(end.Node), f.Label(v), f.Label(last))
			}
			if port := f.Channel(end.Deliver).FromPort; int(port) != i+1 {
				t.Errorf("%s is on port %d of %s, not %d", f.Label(end.Node), port, f.Label(v), i+1)
			}
			last = end.Node
		}
	}
	for i := range f.Channels() {
		if c := f.Channel(fabric.ChannelID(i)); c.Rate.String() != "4xHDR" {
			t.Errorf("channel %d runs at %s", i, c.Rate)
		}
	}
}

// joint is a cable between switches, by name and port.
type joint struct {
	from     string
	fromPort uint8
	to       string
	toPort   uint8
}

// joints is every trunk, sorted: each cable twice.
func joints(f *fabric.Fabric) []joint {
	var all []joint
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		all = append(all, joint{f.Node(ch.From).Name, ch.FromPort, f.Node(ch.To).Name, ch.ToPort})
	}
	sortJoints(all)
	return all
}

func sortJoints(all []joint) {
	slices.SortFunc(all, func(a, b joint) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.fromPort, b.fromPort))
	})
}
