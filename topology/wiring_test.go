package topology

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
)

// The tests here say the definitions of the papers once more, as slowly and
// plainly as they are printed, and compare them cable by cable and port by port.

func checkJoints(t *testing.T, f *fabric.Fabric, want []joint) {
	t.Helper()
	sortJoints(want)
	if diff := cmp.Diff(want, joints(f), cmp.AllowUnexported(joint{})); diff != "" {
		t.Errorf("cables differ (-definition +built):\n%s", diff)
	}
}

// twice adds both directions of a cable.
func twice(list []joint, j joint) []joint {
	return append(list, j, joint{j.to, j.toPort, j.from, j.fromPort})
}

func TestGridWiring(t *testing.T) {
	tests := []struct {
		spec string
		want []joint // one direction of each cable
	}{
		{"ring:2,hosts=3", []joint{{"sw-0", 4, "sw-1", 4}}},
		{"ring:4", []joint{{"sw-0", 2, "sw-1", 3}, {"sw-1", 2, "sw-2", 3}, {"sw-2", 2, "sw-3", 3}, {"sw-3", 2, "sw-0", 3}}},
		{"mesh:3", []joint{{"sw-0", 2, "sw-1", 3}, {"sw-1", 2, "sw-2", 3}}},
		{"torus:2x3,hosts=2", []joint{
			{"sw-0-0", 3, "sw-1-0", 3}, {"sw-0-1", 3, "sw-1-1", 3}, {"sw-0-2", 3, "sw-1-2", 3},
			{"sw-0-0", 4, "sw-0-1", 5}, {"sw-0-1", 4, "sw-0-2", 5}, {"sw-0-2", 4, "sw-0-0", 5},
			{"sw-1-0", 4, "sw-1-1", 5}, {"sw-1-1", 4, "sw-1-2", 5}, {"sw-1-2", 4, "sw-1-0", 5},
		}},
		{"hypercube:2", []joint{{"sw-00", 2, "sw-10", 2}, {"sw-01", 2, "sw-11", 2}, {"sw-00", 3, "sw-01", 3}, {"sw-10", 3, "sw-11", 3}}},
	}
	for _, test := range tests {
		t.Run(test.spec, func(t *testing.T) {
			var want []joint
			for _, j := range test.want {
				want = twice(want, j)
			}
			checkJoints(t, build(t, test.spec), want)
		})
	}
}

// TestKaryTreeWiring: (w, l) and (w', l+1) are joined if and only if w and w'
// agree outside digit l.
func TestKaryTreeWiring(t *testing.T) {
	const k = 3
	var want []joint
	for level := range 2 { // n = 3: words of two digits
		for w := range k * k {
			for v := range k * k {
				a, b := [2]int{w / k, w % k}, [2]int{v / k, v % k}
				if a[1-level] == b[1-level] {
					want = twice(want, joint{
						fmt.Sprintf("sw-l%d-%d-%d", level, a[0], a[1]), uint8(1 + b[level]),
						fmt.Sprintf("sw-l%d-%d-%d", level+1, b[0], b[1]), uint8(k + 1 + a[level]),
					})
				}
			}
		}
	}
	f := build(t, "karytree:k=3,n=3")
	checkJoints(t, f, want)
	for host := range k * k * k {
		e := f.Endpoint(f.Attached(fabric.NodeID(2*k*k + host/k))[1+host%k])
		if got := f.Label(e.Node); got != fmt.Sprintf("host-%d", host) {
			t.Errorf("port %d of leaf %d has %s, want host-%d", 1+host%k, host/k, got, host)
		}
	}
}

// TestXGFTWiring: XGFT(2; 3,2; 2,4) with two hosts on a leaf. Words are (d2, d1).
func TestXGFTWiring(t *testing.T) {
	var want []joint
	for a2 := range 2 {
		for a1 := range 3 {
			for b1 := range 2 {
				want = twice(want, joint{
					fmt.Sprintf("sw-l0-%d-%d", a2, a1), uint8(2 + 1 + b1),
					fmt.Sprintf("sw-l1-%d-%d", a2, b1), uint8(1 + a1),
				})
			}
		}
	}
	for a2 := range 2 {
		for b1 := range 2 {
			for b2 := range 4 {
				want = twice(want, joint{
					fmt.Sprintf("sw-l1-%d-%d", a2, b1), uint8(3 + 1 + b2),
					fmt.Sprintf("sw-l2-%d-%d", b2, b1), uint8(1 + a2),
				})
			}
		}
	}
	checkJoints(t, build(t, "xgft:m=3x2,w=2x4,hosts=2"), want)
}

// TestPlanesWiring: three groups of two leaves on two of three planes each, a chain
// of two leaves behind the last leaf of the first group. Switches have eight ports:
// two of a leaf lead up, three of the last one to its tail.
func TestPlanesWiring(t *testing.T) {
	var want []joint
	for g := range 3 {
		for i := range 2 {
			spine := fmt.Sprintf("sw-l1-%d-%d", g, (g+i)%3)
			for leaf := range 2 {
				want = twice(want, joint{fmt.Sprintf("sw-l0-%d-%d", g, leaf), uint8(7 + i), spine, uint8(1 + leaf)})
			}
		}
	}
	for plane := range 3 { // the spines of a plane, lower groups first; port 3 to one top, port 4 to the other
		for n, g := range [][]int{{0, 2}, {0, 1}, {1, 2}}[plane] {
			for top := range 2 {
				want = twice(want, joint{fmt.Sprintf("sw-l1-%d-%d", g, plane), uint8(3 + top), fmt.Sprintf("sw-l2-%d-%d", plane, top), uint8(1 + n)})
			}
		}
	}
	for c := range uint8(3) {
		want = twice(want, joint{"sw-l0-0-1", 4 + c, "sw-tail-0-0", 6 + c})
		want = twice(want, joint{"sw-tail-0-0", 3 + c, "sw-tail-0-1", 6 + c})
	}
	f := build(t, "planes:ports=8,groups=3,leaves=2,planes=3,on=2,up=2,tops=2,tails=1,trunk=3,hosts=35")
	checkJoints(t, f, want)
	for s, hosts := range []int{5, 3, 2, 5, 5, 5, 5, 5} { // 35 hosts, by leaf, tails after the leaves of their group
		if got := len(f.Attached(fabric.NodeID(s))) - 1; got != hosts {
			t.Errorf("%s has %d hosts, not %d", f.Label(fabric.NodeID(s)), got, hosts)
		}
	}
}

// TestWidePlanesWiring: two groups of two leaves, each with two spines on each of two
// planes. The highest four of the eight ports of a leaf lead up, from plane g on and
// by spine.
func TestWidePlanesWiring(t *testing.T) {
	var want []joint
	for g := range 2 {
		for plane := range 2 {
			for i := range 2 {
				spine := fmt.Sprintf("sw-l1-%d-%d-%d", g, plane, i)
				for leaf := range 2 {
					want = twice(want, joint{fmt.Sprintf("sw-l0-%d-%d", g, leaf), uint8(5 + 2*((plane+g)%2) + i), spine, uint8(1 + leaf)})
				}
				want = twice(want, joint{spine, 3, fmt.Sprintf("sw-l2-%d-0", plane), uint8(1 + 2*g + i)})
			}
		}
	}
	want = twice(want, joint{"sw-l0-0-1", 4, "sw-tail-0-0", 8})
	checkJoints(t, build(t, "planes:ports=8,groups=2,leaves=2,planes=2,wide=2,up=1,tails=1,tail=1,trunk=1"), want)
}

// TestDragonflyWiring: every port of every group, by the formulas of the comment.
func TestDragonflyWiring(t *testing.T) {
	for _, d := range []dragonfly{{P: 1}, {P: 2}, {P: 2, A: 3, H: 1}, {P: 1, A: 4, H: 3, G: 6}, {P: 1, A: 4, H: 2, G: 2}, {P: 1, A: 4, H: 2, G: 3}, {P: 1, A: 3, H: 2, G: 1}} {
		f, err := d.Build()
		if err != nil {
			t.Fatal(err)
		}
		if err := rowOf(&d).complete(&d, nil); err != nil {
			t.Fatal(err)
		}
		t.Run(d.String(), func(t *testing.T) {
			name := func(g, r int) string { return fmt.Sprintf("sw-g%d-r%d", g, r) }
			var want []joint
			for g := range d.G {
				for r := range d.A {
					for other := range r {
						want = twice(want, joint{name(g, r), uint8(d.P + 1 + other), name(g, other), uint8(d.P + r)})
					}
				}
			}
			global := func(k int) uint8 { return uint8(d.P + d.A + k%d.H) }
			for g := range d.G {
				for link := 0; d.G > 1 && link < d.A*d.H/(d.G-1)*(d.G-1); link++ {
					round, k := link/(d.G-1), link%(d.G-1)
					peer, back := ((g-k-1)%d.G+d.G)%d.G, round*(d.G-1)+d.G-2-k
					if d.G == d.A*d.H+1 && back != d.A*d.H-1-link {
						t.Fatalf("at full size port %d should lead to port %d", link, d.A*d.H-1-link)
					}
					want = append(want, joint{name(g, link/d.H), global(link), name(peer, back/d.H), global(back)})
				}
			}
			checkJoints(t, f, want)
			checkGroups(t, f, d)
		})
	}
}

// checkGroups: every two groups are joined by the same number of cables.
func checkGroups(t *testing.T, f *fabric.Fabric, d dragonfly) {
	t.Helper()
	cables := map[[2]int]int{}
	for _, c := range f.Channels()[:f.Trunks()] {
		if a, z := int(c.From)/d.A, int(c.To)/d.A; a < z {
			cables[[2]int{a, z}]++
		}
	}
	if len(cables) != d.G*(d.G-1)/2 {
		t.Errorf("%d pairs of groups are joined, want %d", len(cables), d.G*(d.G-1)/2)
	}
	for pair, n := range cables {
		if n != d.A*d.H/(d.G-1) {
			t.Errorf("groups %v are joined by %d cables, want %d", pair, n, d.A*d.H/(d.G-1))
		}
	}
}

// TestDragonflyArrangements: every two groups are joined alike, on the same global
// ports, whichever way; consecutive by its formula; random as the seed says.
func TestDragonflyArrangements(t *testing.T) {
	for _, d := range []dragonfly{{P: 2}, {P: 1, A: 4, H: 3, G: 6}, {P: 1, A: 4, H: 2, G: 2}, {P: 1, A: 3, H: 2, G: 1}} {
		for _, d.Global = range []string{"consecutive", "random"} {
			f, err := d.Build()
			if err != nil {
				t.Fatal(err)
			}
			if err := rowOf(&d).complete(&d, nil); err != nil {
				t.Fatal(err)
			}
			checkGroups(t, f, d)
			name := func(g, k int) string { return fmt.Sprintf("sw-g%d-r%d", g, k/d.H) }
			port := func(k int) uint8 { return uint8(d.P + d.A + k%d.H) }
			has := map[joint]bool{}
			for _, j := range joints(f) {
				has[j] = true
			}
			for g := range d.G {
				for k := range d.A * d.H {
					leads := f.Out(fabric.NodeID(g*d.A+k/d.H), port(k)) != fabric.None
					if used := d.G > 1 && k < d.A*d.H/(d.G-1)*(d.G-1); leads != used {
						t.Errorf("%s: global port %d of group %d has a cable: %v", d, k, g, leads)
					} else if used && d.Global == "consecutive" {
						round, i := k/(d.G-1), k%(d.G-1)
						peer, back := i, g-1
						if i >= g {
							peer, back = i+1, g
						}
						back += round * (d.G - 1)
						if j := (joint{name(g, k), port(k), name(peer, back), port(back)}); !has[j] {
							t.Errorf("%s: no cable %+v", d, j)
						}
					}
				}
			}
		}
	}
	one, again, other := "dragonfly:p=2,global=random,seed=1", "dragonfly:p=2,global=random,seed=1", "dragonfly:p=2,global=random,seed=2"
	if fingerprint(build(t, one)) != fingerprint(build(t, again)) || fingerprint(build(t, one)) == fingerprint(build(t, other)) {
		t.Error("random global cables do not go by the seed")
	}
	// Published results name a seed.
	if got := fingerprint(build(t, one)); got != "1b0a02b823066bb0" {
		t.Errorf("the network of seed 1 has changed: fingerprint %s", got)
	}
}

// TestFatTreeWiring: what each level reaches, and by how many cables.
func TestFatTreeWiring(t *testing.T) {
	for _, spec := range []string{
		"fattree:ports=24,hosts=16", "fattree:ports=24,leaves=12", "fattree:ports=10,hosts=7,leaves=7",
		"fattree:ports=6,levels=3", "fattree:ports=8,levels=3,hosts=6,leaves=5,pods=3", "fattree:ports=7,levels=3,leaves=2,pods=4",
	} {
		parsed, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		tree := parsed.(*fatTree)
		f := build(t, spec)
		up, cables := tree.P-tree.Hosts, map[[2]string]int{}
		for _, j := range joints(f) {
			cables[[2]string{j.from, j.to}]++
		}
		expect := func(lower, upper string, least, most int) {
			if n := cables[[2]string{lower, upper}]; n < least || n > most {
				t.Errorf("%s: %d cables from %s to %s, not %d to %d", spec, n, lower, upper, least, most)
			}
			delete(cables, [2]string{lower, upper})
			delete(cables, [2]string{upper, lower})
		}
		if tree.Levels == 2 {
			tops := ceilDiv(tree.Leaves*up, tree.P)
			for leaf := range tree.Leaves {
				for top := range tops {
					expect(named("sw-l0", leaf), named("sw-l1", top), up/tops, ceilDiv(up, tops))
				}
			}
		}
		for pod := range tree.Pods {
			for agg := 0; agg < up && tree.Levels == 3; agg++ {
				for leaf := range tree.Leaves {
					expect(named("sw-l0", pod, leaf), named("sw-l1", pod, agg), 1, 1)
				}
				upper := tree.P - tree.Leaves
				tops := ceilDiv(tree.Pods*upper, tree.P)
				for top := range tops {
					expect(named("sw-l1", pod, agg), named("sw-l2", agg, top), upper/tops, ceilDiv(upper, tops))
				}
			}
		}
		if len(cables) != 0 {
			t.Errorf("%s: further cables %v", spec, cables)
		}
		for v := range fabric.NodeID(f.Switches()) {
			if f.Node(v).Ports != tree.P {
				t.Errorf("%s: %s has %d ports", spec, f.Label(v), f.Node(v).Ports)
			}
		}
	}
}

// TestDirector: Odin's crossbars are one system, with two cables from each leaf to
// each spine and the hosts as its comment says.
func TestDirector(t *testing.T) {
	f := build(t, "odin")
	cables := map[[2]fabric.NodeID]int{}
	for _, c := range f.Channels()[:f.Trunks()] {
		cables[[2]fabric.NodeID{c.From, c.To}]++
	}
	for leaf := range fabric.NodeID(12) {
		for spine := fabric.NodeID(12); spine < 18; spine++ {
			if n := cables[[2]fabric.NodeID{leaf, spine}]; n != 2 {
				t.Errorf("%d cables from %s to %s", n, f.Label(leaf), f.Label(spine))
			}
		}
		want := 11
		if leaf > 7 {
			want = 10
		}
		if hosts := len(f.Attached(leaf)) - 1; hosts != want {
			t.Errorf("%d hosts on %s", hosts, f.Label(leaf))
		}
	}
	for v := range fabric.NodeID(18) {
		if f.Node(v).SystemGUID != f.Node(0).GUID {
			t.Errorf("%s is not a part of the director", f.Label(v))
		}
	}
}
