package failures

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// network is a few devices with any cables and hosts, and routes computed one way or another.
func network(t *testing.T, r *rand.Rand) (*bgp.Plan, *ethernet.Network) {
	t.Helper()
	leaves, spines := 2+r.IntN(4), 1+r.IntN(3)
	p := testcables.Devices(leaves + spines)
	for i := range leaves {
		for j := range spines {
			if r.IntN(6) > 0 {
				p.Join(i, leaves+j)
			}
		}
	}
	p.Draw(r, r.IntN(8))
	c := p.Cabling(t)
	hosts := make([]int, len(c.Names))
	for i := range leaves {
		hosts[i] = 1
	}
	n := &ethernet.Network{Cabling: c, Classes: bgp.Subnets(c, hosts), Priorities: ethernet.Uniform(c, []uint8{3, 4})}
	if r.IntN(4) == 0 { // hosts behind two devices
		n.Classes[0].At = []ethernet.DeviceID{n.Classes[0].At[0], n.Classes[1].At[0]}
	}
	at := bgp.Leaves(n.Classes)
	as := bgp.Numbers(c, at, bgp.Scheme(r.IntN(3)))
	for d := range as { // some devices in one AS that no scheme would put there
		if r.IntN(4) == 0 {
			as[d] = uint32(1 + r.IntN(2))
		}
	}
	plan, err := bgp.NewPlan(c, at, bgp.BGP, as)
	if err != nil || r.IntN(4) == 0 {
		if plan, err = bgp.NewPlan(c, at, bgp.UpDown, nil); err != nil {
			t.Fatal(err)
		}
	}
	if r.IntN(3) == 0 {
		plan.OwnAS = make([]uint8, len(c.Names))
		for d := range plan.OwnAS {
			plan.OwnAS[d] = uint8(r.IntN(3))
		}
	}
	plan.Fill(n.Classes)
	pin(r, plan, n)
	return plan, n
}

// pin gives some networks pins, where devices that can stand in for each other share an AS.
func pin(r *rand.Rand, plan *bgp.Plan, n *ethernet.Network) {
	var pins []bgp.Pin
	for i := range n.Classes {
		if len(n.Classes[i].At) != 1 {
			continue
		}
		p := bgp.Pin{Prefix: netip.PrefixFrom(n.Classes[i].Prefix().Addr().Next(), 32), At: n.Classes[i].At[0], Under: i}
		for at := p.At; ; at = p.Up[len(p.Up)-1] {
			var above []ethernet.DeviceID
			for l, end := n.LinksFrom(at); l < end; l++ {
				if to := n.Links[l].To; plan.Level(to) > plan.Level(at) {
					above = append(above, to)
				}
			}
			if len(above) == 0 || len(p.Up) > 0 && r.IntN(3) == 0 {
				break
			}
			p.Up = append(p.Up, above[r.IntN(len(above))])
		}
		if len(p.Up) > 0 {
			pins = append(pins, p)
		}
	}
	if classes, err := plan.SetPins(n.Classes, pins); err == nil {
		n.Classes = classes
	}
}

// What is judged by what changed is what a network computed from scratch is judged to be.
func TestFromScratch(t *testing.T) {
	loops, cuts, tried, pinned := 0, 0, 0, 0
	for i := range 1500 {
		plan, n := network(t, rand.New(rand.NewPCG(9, uint64(i))))
		if plan.Pin(len(n.Classes)-1) != nil {
			pinned++
		}
		if i%5 == 0 {
			rewrite(rand.New(rand.NewPCG(10, uint64(i))), n)
		}
		o := Options{Kind: Kind(i % 3), Converging: i%4 == 0, Most: 1000}
		r, err := Run(context.Background(), plan, n, o)
		if err != nil {
			t.Fatal(err)
		}
		tr := &trial{plan: plan, n: n, o: o}
		tr.o.Samples = 10_000
		all, _ := tr.failures()
		if r.Tried != len(all) || r.Of != len(all) {
			t.Fatalf("network %d: %d of %d tried, not %d", i, r.Tried, r.Of, len(all))
		}
		got := map[string]Finding{}
		for _, f := range r.Findings {
			got[fmt.Sprint(f.Failure)] = f
			if f.Loop && (f.Verdict == nil || f.Verdict.Free()) {
				t.Fatalf("network %d: a loop without a verdict that shows it", i)
			}
		}
		for _, f := range all {
			loop, cut := scratch(t, plan, n, f, o.Converging)
			if g := got[fmt.Sprint(f)]; g.Loop != loop || g.Cut != cut {
				t.Fatalf("network %d (%s), failure %v: loop %v, %d cut; from scratch %v, %d", i, o.Kind, f, g.Loop, g.Cut, loop, cut)
			}
			tried++
			if loop {
				loops++
			}
			if cut > 0 {
				cuts++
			}
		}
	}
	if pinned < 100 {
		t.Errorf("%d networks have pins: this tests little", pinned)
	}
	if loops < tried/50 || cuts < tried/50 {
		t.Fatalf("%d of %d failures open a loop, %d cut a pair: this tests little", loops, tried, cuts)
	}
}

// scratch computes and judges a network without what fails.
func scratch(t *testing.T, plan *bgp.Plan, n *ethernet.Network, f Failure, converging bool) (loop bool, cut int64) {
	t.Helper()
	down := make([]bool, len(n.Links))
	for _, l := range f.Links {
		down[l], down[n.Reverse[l]] = true, true
	}
	after := *n
	after.Classes = nil
	c := bgp.NewComputer(plan)
	for i := range n.Classes {
		old := n.Classes[i]
		class := old
		class.At = nil
		for _, d := range old.At {
			if d != f.Device {
				class.At = append(class.At, d)
			}
		}
		class.Next = n.NewRow()
		c.Class(i, class.At, down, class.Next)
		for _, s := range n.Senders(ethernet.HostScope) {
			lost := false
			for _, d := range s.At {
				lost = lost || d != f.Device && !old.Leaves(d) && has(n, old.Next, d) && !has(n, class.Next, d)
			}
			if lost && len(class.At) > 0 {
				cut += int64(s.Count * len(class.Prefixes))
			}
		}
		if converging {
			mixed := []ethernet.Row{old.Next}
			changed := false // more than that links are down
			for l := range n.Links {
				changed = changed || n.Has(class.Next, ethernet.LinkID(l)) != (n.Has(old.Next, ethernet.LinkID(l)) && !down[l])
			}
			if p := plan.Pin(i); p != nil && changed { // it can be withdrawn before or after the subnet's routes change
				subnet := n.NewRow()
				c.Row(class.At, down, subnet)
				mixed = append(mixed, n.Classes[p.Under].Next, subnet)
			}
			for l := range n.Links {
				for _, row := range mixed {
					if n.Has(row, ethernet.LinkID(l)) && !down[l] {
						n.Add(class.Next, ethernet.LinkID(l))
					}
				}
			}
		}
		after.Classes = append(after.Classes, class)
	}
	v, err := judge.Verify(context.Background(), &after, judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return !v.Free(), cut
}

// What is left of a class without computing it is what computing it gives, pins too.
func TestWithdrawal(t *testing.T) {
	simple, anew := 0, 0
	for i := range 1000 {
		plan, n := network(t, rand.New(rand.NewPCG(11, uint64(i))))
		tr := &trial{plan: plan, n: n, o: Options{Kind: Kind(i % 2)}}
		if err := tr.prepare(context.Background()); err != nil {
			t.Fatal(err)
		}
		w := tr.worker()
		all, _ := tr.failures()
		for _, f := range all {
			w.fail(f)
			for c := range n.Classes {
				class := &n.Classes[c]
				if slices.Contains(class.At, f.Device) {
					continue
				}
				if !w.pinLoss.Try(c, class.Next, w.known[c], w.links, w.down) {
					anew++
					continue
				}
				simple++
				got, want := n.NewRow(), n.NewRow()
				if pin := w.pins[c]; pin != nil {
					w.computer.Row(class.At, w.down, got)
				} else {
					copy(got, class.Next)
				}
				w.pinLoss.Over(got)
				w.computer.Class(c, class.At, w.down, want)
				if !slices.Equal(got, want) {
					t.Fatalf("network %d, class %d, failure %v: %x is left, not %x", i, c, f, got, want)
				}
			}
		}
	}
	if min(simple, anew) < 1000 {
		t.Errorf("%d simple, %d anew: this tests little", simple, anew)
	}
}

// Reports are the same on any number of processors.
func TestProcessors(t *testing.T) {
	for i := range 20 {
		plan, n := network(t, rand.New(rand.NewPCG(12, uint64(i))))
		var text [2]string
		for k, processors := range [...]int{1, 3} {
			before := runtime.GOMAXPROCS(processors)
			r, err := Run(context.Background(), plan, n, Options{Kind: Kind(i % 3), Most: 1})
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				text[k] += fmt.Sprint(f.Failure, f.Loop, f.Cut, f.Verdict != nil)
			}
			text[k] += fmt.Sprint(r.Tried, r.Loops, r.Cuts)
		}
		if text[0] != text[1] {
			t.Fatalf("network %d: %s on one processor, %s on three", i, text[0], text[1])
		}
	}
}

func has(n *ethernet.Network, row ethernet.Row, d ethernet.DeviceID) bool {
	return !empty(n.Words(row, d))
}

// rewrite makes devices change the priorities of packets, and of every second network wrap some.
func rewrite(r *rand.Rand, n *ethernet.Network) {
	n.Priorities.Rules = ethernet.NewRules(n.Cabling, 2)
	for l := range n.Links {
		in := ethernet.LinkID(l)
		for out, end := n.LinksFrom(n.Links[l].To); out < end; out++ {
			if r.IntN(3) == 0 {
				n.Priorities.Rules.Set(in, out, uint8(r.IntN(2)), uint8(r.IntN(2)))
			}
		}
	}
	if r.IntN(2) == 0 || len(n.Classes) == 1 {
		return
	}
	n.TunnelMaps = [][]uint64{{1, 2}}
	for i := 1; i < len(n.Classes); i++ {
		n.Classes[i].Tunnels = []ethernet.Tunnel{{Device: n.Classes[i].At[0], Into: 0}}
	}
}

// Of many pairs of cables some are drawn, each once.
func TestSamples(t *testing.T) {
	plan, n := network(t, rand.New(rand.NewPCG(9, 1)))
	for seed := uint64(2); n.Cables() < 5; seed++ {
		plan, n = network(t, rand.New(rand.NewPCG(9, seed)))
	}
	tr := &trial{plan: plan, n: n, o: Options{Kind: TwoLinks, Samples: 5}}
	list, of := tr.failures()
	seen := map[string]bool{}
	for _, f := range list {
		seen[fmt.Sprint(f)] = true
	}
	if len(list) != 5 || len(seen) != 5 || of != n.Cables()*(n.Cables()-1)/2 {
		t.Fatalf("%d of %d drawn, %d different", len(list), of, len(seen))
	}
}
