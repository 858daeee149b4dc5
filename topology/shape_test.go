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

		{"dragonfly:p=2,global=consecutive", shape{36, 72, 9*6 + 36, 5, 5, 7, 3, 3}},
		{"dragonfly:p=4,global=random,seed=5", shape{264, 1056, 33*28 + 33*16, 11, 11, 15, 3, 3}},
		{"dragonfly:p=2,g=5,global=random", shape{20, 40, 5*6 + 2*10, 5, 5, 7, 3, 3}},

		// Two levels: L leaves, ⌈L·U/P⌉ tops. Three: P pods, and (P/2)² tops if full.
		{"fattree:ports=24", shape{24 + 12, 24 * 12, 24 * 12, 12, 24, 24, 2, 2}},
		{"fattree:ports=24,hosts=16", shape{24 + 8, 24 * 16, 24 * 8, 8, 24, 24, 2, 2}},
		{"fattree:ports=24,hosts=18,leaves=10", shape{10 + 3, 180, 10 * 6, 6, 20, 24, 2, 2}},
		{"fattree:ports=24,leaves=12", shape{12 + 6, 144, 144, 12, 24, 24, 2, 2}},
		{"fattree:ports=24,hosts=23,leaves=1", shape{1 + 1, 23, 1, 1, 1, 24, 1, 0}},
		{"fattree:ports=2", shape{2 + 1, 2, 2, 1, 2, 2, 2, 2}},
		{"fattree:ports=4,levels=3", shape{8 + 8 + 4, 16, 16 + 16, 2, 4, 4, 4, 4}},
		{"fattree:ports=36,levels=3", shape{648 + 648 + 324, 11664, 2 * 11664, 18, 36, 36, 4, 4}},
		{"fattree:ports=24,levels=3,hosts=16", shape{24*12 + 24*8 + 8*12, 24 * 12 * 16, 24*12*8 + 24*8*12, 8, 24, 24, 4, 4}},
		{"fattree:ports=8,levels=3,hosts=6,leaves=5,pods=3", shape{15 + 6 + 2*2, 90, 15*2 + 6*3, 2, 8, 8, 4, 4}},

		// Leaves, tails, spines, tops; cables from leaves up, in tails, from spines up.
		{"planes:groups=14,hosts=4341", shape{14*17 + 7*2 + 14*18 + 18*9, 4341, 14*17*18 + 7*2*14 + 14*18*18, 14, 35, 36, 8, 8}},
		{"planes:groups=14,leaves=26,on=9,up=10,hosts=4341", shape{14*26 + 7*2 + 14*9 + 18*9, 4341, 14*26*9 + 7*2*14 + 14*9*10, 5 * 10 / 9, 36, 36, 10, 10}},
		{"planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2", shape{3*3 + 2*2 + 3*2 + 4*2, 70, 3*3*2 + 2*2*2 + 3*2*4, 2, 7, 8, 12, 10}},
		{"planes:groups=14,planes=9,wide=2,hosts=4341", shape{14*17 + 7*2 + 14*18 + 9*14, 4341, 14*17*18 + 7*2*14 + 14*18*18, 14, 36, 36, 8, 8}},
		{"planes:ports=8,groups=3,planes=2,wide=2,tails=2,trunk=2", shape{3*3 + 2*2 + 3*4 + 2*3, 52, 3*3*4 + 2*2*2 + 3*4*4, 2, 8, 8, 8, 8}},
		{"planes:ports=6,groups=1,leaves=1,planes=1,tops=1,tails=1,tail=1,trunk=1,up=2", shape{1 + 1 + 1 + 1, 9, 1 + 1 + 2, 1, 3, 6, 3, 1}},

		{"director:288", shape{36, 288, 288, 12, 24, 24, 2, 2}},
		{"director:144", shape{18, 144, 144, 12, 24, 24, 2, 2}},
		{"director:radix=36,ports=648", shape{54, 648, 648, 18, 36, 36, 2, 2}},
		{"director:radix=36,ports=324,hosts=300", shape{27, 300, 324, 18, 36, 36, 2, 2}},
		{"odin", shape{18, 128, 144, 12, 24, 24, 2, 2}},

		// HOTI 2016, Figure 7; its 337 switches are 338.
		{"slimfly:q=3,hosts=5", shape{18, 90, 9 * 5, 5, 5, 10, 2, 2}},
		{"slimfly:q=5,hosts=7", shape{50, 350, 25 * 7, 7, 7, 14, 2, 2}},
		{"slimfly:q=7,hosts=11", shape{98, 1078, 49 * 11, 11, 11, 22, 2, 2}},
		{"slimfly:q=11,hosts=17", shape{242, 4114, 121 * 17, 17, 17, 34, 2, 2}},
		{"slimfly:q=13,hosts=19", shape{338, 6422, 169 * 19, 19, 19, 38, 2, 2}},

		// PolarFly's paper, Table 1: 993 switches of 32 cables and 16 hosts.
		{"polarfly:q=7", shape{57, 228, 7 * 32, 7, 8, 12, 2, 2}},
		{"polarfly:q=31", shape{993, 15888, 31 * 512, 31, 32, 48, 2, 2}},

		// PolarStar's paper compares these three, 15 cables and 5 hosts a switch each.
		{"polarstar:q=11,d=3", shape{133 * 8, 133 * 8 * 5, 133 * 4 * 15, 15, 15, 20, 3, 3}},
		{"polarstar:q=8,d=6,supernode=paley", shape{73 * 13, 73 * 13 * 5, (73*15 - 9) * 13 / 2, 14, 15, 20, 3, 3}},
		{"bundlefly:q=7,p=9", shape{98 * 9, 98 * 9 * 5, 98 * 9 * 15 / 2, 15, 15, 20, 3, 3}},

		// 3R switches and 2KR hosts, R = K²-K+1.
		{"oft:k=3", shape{3 * 7, 42, 42, 3, 6, 6, 3, 2}},
		{"oft:k=4", shape{3 * 13, 104, 104, 4, 8, 8, 3, 2}},
		{"oft:k=6", shape{3 * 31, 372, 372, 6, 12, 12, 3, 2}},
		{"oft:k=8", shape{3 * 57, 912, 912, 8, 16, 16, 3, 2}},
		{"oft:k=14", shape{3 * 183, 5124, 5124, 14, 28, 28, 3, 2}},
		{"oft:k=18", shape{3 * 307, 11052, 11052, 18, 36, 36, 3, 2}},

		{"kautz:b=2,n=2", shape{6, 6, 12, 4, 4, 5, 2, 2}},
		{"kautz:b=2,n=3", shape{12, 12, 24, 4, 4, 5, 3, 3}},
		{"kautz:b=5,n=3,hosts=7", shape{150, 1050, 750, 10, 10, 17, 3, 3}},
		{"kautz:b=2,n=6", shape{96, 96, 192, 4, 4, 5, 6, 6}},

		{"hyperx:7,hosts=2", shape{7, 14, 21, 6, 6, 8, 1, 1}},
		{"hyperx:4x4,hosts=4", shape{16, 64, 2 * 4 * 6, 6, 6, 10, 2, 2}},
		{"hyperx:2x2x2x2", shape{16, 16, 32, 4, 4, 5, 4, 4}},
		{"hyperx:3x1x4,k=2x9x1", shape{12, 12, 4*3*2 + 3*6, 7, 7, 8, 2, 2}},

		{"jellyfish:switches=4,degree=3", shape{4, 4, 6, 3, 3, 4, 1, 1}},
		{"jellyfish:switches=9,degree=8,hosts=2", shape{9, 18, 36, 8, 8, 10, 1, 1}},

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
			f, err := karyTree{K: k, N: n}.Build()
			if err != nil {
				t.Fatal(err)
			}
			got := measure(f)
			if got.switches != n*pow(k, n-1) || got.hosts != pow(k, n) || got.cables != (n-1)*pow(k, n) || got.reach != 2*(n-1) {
				t.Errorf("%d-ary %d-tree: %+v", k, n, got)
			}
			dims := slices.Repeat([]int{k}, n)
			for _, family := range []Family{mesh{Dims: dims}, torus{Dims: dims}} {
				f, err := family.Build()
				if err != nil {
					t.Fatal(err)
				}
				cables, diameter := n*(k-1)*pow(k, n-1), n*(k-1)
				if _, wraps := family.(torus); wraps && k > 2 {
					cables, diameter = n*pow(k, n), n*(k/2)
				}
				if got := measure(f); got.switches != pow(k, n) || got.cables != cables || got.diameter != diameter {
					t.Errorf("%s: %+v, want %d cables and diameter %d", family, got, cables, diameter)
				}
			}
		}
	}
}

// TestKautzFormula: (b+1)·b^(n-1) switches of 2b cables, diameter n; of the pairs
// of switches only those of words that alternate are joined twice.
func TestKautzFormula(t *testing.T) {
	for b := 2; b <= 5; b++ {
		for n := 2; n <= 4; n++ {
			k := kautz{B: b, N: n}
			f, err := k.Build()
			if err != nil {
				t.Fatal(err)
			}
			words := (b + 1) * pow(b, n-1)
			if got, want := measure(f), (shape{words, words, words * b, 2 * b, 2 * b, 2*b + 1, n, n}); got != want {
				t.Errorf("%s: %+v, want %+v", k, got, want)
			}
		}
	}
}

// TestTable1: every entry of the table, with the switches that its parameters make
// and no more than 36 ports.
func TestTable1(t *testing.T) {
	switches := map[string][]int{
		"xgft":     {6 + 3, 10 + 5, 16 + 8, 36 + 18 + 9, 100 + 50 + 25, 196 + 98 + 49, 324 + 162 + 81},
		"kautz":    {6, 6, 12, 36, 36, 80, 252},
		"karytree": {12, 20, 32, 108, 300, 588, 972},
	}
	leaves := map[string][]int{
		"xgft":     {6, 10, 16, 36, 100, 196, 324},
		"kautz":    switches["kautz"],
		"karytree": {6, 10, 16, 36, 100, 196, 324},
	}
	for family, want := range switches {
		for i := range want {
			network := tableOne{Family: family, Endpoints: 64 << i}
			f, err := network.Build()
			if err != nil {
				t.Fatal(err)
			}
			n, fewest, most, radix, with := f.Count(), fabric.MaxPorts, 0, 0, 0
			for v := range fabric.NodeID(f.Switches()) {
				radix = max(radix, f.Node(v).Ports)
				if hosts := len(f.Attached(v)) - 1; hosts > 0 {
					with, fewest, most = with+1, min(fewest, hosts), max(most, hosts)
				}
			}
			if n.Switches != want[i] || n.HCA != 64<<i || radix > 36 || with != leaves[family][i] || most-fewest > 1 {
				t.Errorf("%s: %+v, %d ports, %d to %d hosts on %d switches", network, n, radix, fewest, most, with)
			}
			checkOrder(t, f)
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

// checkSimple holds where no two cables join the same pair.
func checkSimple(t testing.TB, f *fabric.Fabric) {
	t.Helper()
	pairs := map[[2]fabric.NodeID]bool{}
	for _, c := range f.Channels()[:f.Trunks()] {
		if pair := [2]fabric.NodeID{c.From, c.To}; pairs[pair] {
			t.Fatalf("%s and %s are joined twice", f.Label(c.From), f.Label(c.To))
		} else {
			pairs[pair] = true
		}
	}
}
