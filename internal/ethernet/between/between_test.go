package between

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// changed is a network with other next hops, and sometimes with a prefix less or elsewhere.
func changed(r *rand.Rand, n *ethernet.Network) *ethernet.Network {
	m := *n
	m.Classes = slices.Clone(n.Classes)
	for i := range m.Classes {
		c := &m.Classes[i]
		c.Next, c.Tunnels = slices.Clone(c.Next), nil
		for l := range ethernet.LinkID(len(n.Links)) {
			if r.IntN(5) == 0 {
				if n.Has(c.Next, l) {
					n.Remove(c.Next, l)
				} else {
					n.Add(c.Next, l)
				}
			}
		}
		if r.IntN(4) == 0 {
			c.At = []ethernet.DeviceID{ethernet.DeviceID(r.IntN(len(n.Names)))}
		}
		if len(c.Prefixes) > 1 && r.IntN(3) == 0 {
			c.Prefixes = c.Prefixes[1:]
		}
	}
	return &m
}

// snapshot is what a network can be while it changes: each device has old next hops of a prefix, or new ones.
func snapshot(r *rand.Rand, old, new *ethernet.Network) *ethernet.Network {
	m := *new
	m.Classes = nil
	was, is := byPrefix(old), byPrefix(new)
	for p := range was {
		is[p] = covering(is, p)
	}
	for p, i := range is {
		c := ethernet.Class{Prefixes: []netip.Prefix{p}, Next: new.NewRow()}
		var of [2]*ethernet.Class
		if k := covering(was, p); k != ethernet.None {
			of[0] = &old.Classes[k]
		}
		if i != ethernet.None {
			of[1] = &new.Classes[i]
		}
		for d := range ethernet.DeviceID(len(new.Names)) {
			from := of[r.IntN(2)]
			if from == nil {
				continue
			}
			copy(new.Words(c.Next, d), new.Words(from.Next, d))
			if from.Leaves(d) {
				c.At = append(c.At, d)
			}
			c.Hosts = c.Hosts || from.Hosts
		}
		m.Classes = append(m.Classes, c)
	}
	return &m
}

func verify(t *testing.T, n *ethernet.Network) *judge.Verdict {
	t.Helper()
	v, err := judge.Verify(context.Background(), n, judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Whatever mixture has a circle, the mixture of all has one.
func TestMixtureHasAll(t *testing.T) {
	loops, alone := 0, 0
	for i := range 600 {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		old := testcables.Network(t, r)
		for k := range old.Classes {
			old.Classes[k].Tunnels = nil
		}
		new := changed(r, old)
		all := verify(t, Mixture(old, new))
		neither := verify(t, old).Free() && verify(t, new).Free()
		for range 20 {
			if v := verify(t, snapshot(r, old, new)); !v.Free() {
				loops++
				if neither {
					alone++
				}
				if all.Free() {
					t.Fatalf("network %d: a mixture has a circle, and all together have none", i)
				}
			}
		}
		if same := verify(t, Mixture(old, old)); same.Free() != verify(t, old).Free() || same.Dependencies != verify(t, old).Dependencies {
			t.Fatalf("network %d: a network that does not change is another one meanwhile", i)
		}
	}
	if loops < 500 || alone < 20 {
		t.Errorf("%d mixtures have a circle, %d of them where neither network has: this tests little", loops, alone)
	}
}

// Whatever maps of priorities devices have meanwhile, no mixture has a circle where all together with any maps have none.
func TestAnyMapsHasAll(t *testing.T) {
	free, loops := 0, 0
	for i := range 600 {
		r := rand.New(rand.NewPCG(8, uint64(i)))
		old := testcables.Network(t, r)
		for k := range old.Classes {
			old.Classes[k].Tunnels = nil
		}
		new := changed(r, old)
		maps := func() *ethernet.Priorities { // drawn link by link
			p := ethernet.Uniform(old.Cabling, []uint8{2, 5})
			for l := range p.Lane {
				switch r.IntN(6) {
				case 0:
					p.Lane[l] = ethernet.Lossy
				case 1:
					p.Lane[l] = 2
				}
			}
			p.Rules = ethernet.NewRules(old.Cabling, 2)
			for out := range ethernet.LinkID(len(old.Links)) {
				if r.IntN(3) == 0 {
					p.Rules.Set(ethernet.None, out, uint8(r.IntN(2)), uint8(r.IntN(2)))
				}
			}
			return p
		}
		old.Priorities, new.Priorities = maps(), maps()
		all := verify(t, AnyMaps(old, new))
		if all.Free() {
			free++
		}
		for range 20 {
			n := snapshot(r, old, new)
			mixed := *old.Priorities
			mixed.Lane = slices.Clone(mixed.Lane)
			for l := range mixed.Lane {
				if r.IntN(2) == 0 {
					mixed.Lane[l] = new.Priorities.Lane[l]
				}
			}
			if n.Priorities = &mixed; !verify(t, n).Free() {
				loops++
				if all.Free() {
					t.Fatalf("network %d: a mixture of maps has a circle, and all together have none", i)
				}
			}
		}
	}
	if loops < 500 || free < 20 {
		t.Errorf("%d mixtures have a circle, and %d of 600 networks have none with any maps: this tests little", loops, free)
	}
}

// Next hops that differ are found one by one.
func TestDiffer(t *testing.T) {
	for i := range 300 {
		r := rand.New(rand.NewPCG(6, uint64(i)))
		old := testcables.Network(t, r)
		new := changed(r, old)
		was, is := byPrefix(old), byPrefix(new)
		want := 0
		for p := range was {
			for d := range ethernet.DeviceID(len(old.Names)) {
				a, b := old.NewRow(), old.NewRow()
				if k := covering(is, p); k != ethernet.None {
					b = new.Classes[k].Next
				}
				if copy(a, old.Classes[was[p]].Next); !slices.Equal(old.Words(a, d), old.Words(b, d)) {
					want++
				}
			}
		}
		d := Differ(old, new)
		listed := 0
		for _, route := range d.Routes {
			listed += len(route.Prefixes)
		}
		if d.Entries != want || listed != want {
			t.Fatalf("network %d: %d entries differ, %d are listed; one by one %d", i, d.Entries, listed, want)
		}
		if same := Differ(old, old); !same.Same() {
			t.Fatalf("network %d differs from itself: %+v", i, same)
		}
	}
}

// A network without parts is what the routes are that are computed of what is left.
func TestWithout(t *testing.T) {
	p := testcables.Devices(5)
	for leaf := range 3 {
		p.Join(leaf, 3)
		p.Join(leaf, 4)
	}
	c := p.Cabling(t)
	n := &ethernet.Network{Cabling: c, Classes: bgp.Subnets(c, []int{1, 1, 1, 0, 0}), Priorities: ethernet.Uniform(c, []uint8{3, 4})}
	n.Priorities.Rules = ethernet.NewRules(c, 2)
	n.Priorities.Rules.Set(ethernet.None, c.LinkAt(1, c.Links[first(c, 1)].FromInterface), 0, 1)
	plan, err := bgp.NewPlan(c, bgp.Leaves(n.Classes), bgp.ECMP, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Fill(n.Classes)
	devices, down := make([]bool, 5), make([]bool, len(c.Links))
	devices[4] = true        // an upper device
	down[first(c, 0)] = true // and the other cable of a lower one
	after, err := Without(plan, n, devices, down)
	if err != nil {
		t.Fatal(err)
	}
	d := Differ(n, after)
	if got := fmt.Sprint(d.DevicesGone, len(d.CablesGone), len(after.Classes), verify(t, after).Unreachable, d.Maps, d.Marks); got != fmt.Sprintf("[%s] 4 3 4 [] false", c.Names[4]) {
		t.Error(got)
	}
	if to := after.Priorities.Rules.Becomes(ethernet.None, first(after.Cabling, 1), 0); to != 1 {
		t.Errorf("a rule is lost: mark 0 becomes %d", to)
	}
}

func first(c *ethernet.Cabling, d ethernet.DeviceID) ethernet.LinkID {
	l, _ := c.LinksFrom(d)
	return l
}
