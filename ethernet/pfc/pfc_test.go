package pfc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/cure"
	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/ethernet/internal/testcables"
	"github.com/weft-fabric/weft/ethernet/judge"
)

func verify(t *testing.T, n *ethernet.Network) *judge.Verdict {
	t.Helper()
	v, err := judge.Verify(context.Background(), n, judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// FRR's Clos with two links down stops in the loop that the judge names, and drains with rules.
func TestClosStopsAndDrains(t *testing.T) {
	n, err := folder.Read("../../examples/ethernet/clos-two-links-down", folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := verify(t, n)
	for _, p := range Presets() {
		r, err := ReplayCycle(context.Background(), n, p.Config, v.Cycle, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Result.Deadlocked() || len(r.Result.Cycle) != 4 || r.Result.Overflows > 0 || r.Result.Dropped > 0 {
			t.Fatalf("%s: attempt %d, %+v", p.Name, r.Attempt, r.Result)
		}
		for _, held := range r.Result.Cycle {
			found := false
			for _, s := range v.Cycle {
				found = found || s.Link == held.Link && s.Lane == held.Lane
			}
			if !found {
				t.Fatalf("%s: stopped at %s, which is not in the judge's loop", p.Name, n.End(held.Link))
			}
		}
		c, err := cure.Compute(context.Background(), n, cure.Options{Lossless: 2, Start: []uint8{3}})
		if err != nil {
			t.Fatal(err)
		}
		drained, err := r.On(context.Background(), c.Network, p.Config, func(mark uint8) uint8 { return mark })
		if err != nil {
			t.Fatal(err)
		}
		if drained.Deadlocked() || drained.Dropped > 0 || drained.Overflows > 0 || drained.Delivered != len(r.Flows)*2000 {
			t.Fatalf("%s, with rules: %+v", p.Name, drained)
		}
	}
}

// random is a small network with a class for each of some devices, routed one way or another.
func random(t *testing.T, r *rand.Rand) *ethernet.Network {
	t.Helper()
	devices := 3 + r.IntN(4)
	p := testcables.Devices(devices)
	for i := range devices { // a ring, and more
		p.Join(i, (i+1)%devices)
		p.Join(i, r.IntN(devices))
	}
	c := p.Cabling(t)
	n := &ethernet.Network{Cabling: c, Priorities: ethernet.Uniform(c, []uint8{3})}
	for d := range ethernet.DeviceID(devices) {
		class := ethernet.Class{Prefixes: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.0.%d.0/24", d))}, At: []ethernet.DeviceID{d}, Hosts: true, Next: n.NewRow()}
		done := map[ethernet.DeviceID]bool{d: true} // an in-tree, and more next hops toward it
		order := []ethernet.DeviceID{d}
		for len(order) < devices {
			at := order[r.IntN(len(order))]
			first, end := n.LinksFrom(at)
			l := first + ethernet.LinkID(r.IntN(int(end-first)))
			if to := n.Links[l].To; !done[to] {
				done[to] = true
				order = append(order, to)
				n.Add(class.Next, n.Reverse[l])
			}
		}
		n.Classes = append(n.Classes, class)
	}
	return n
}

// Every loop that the judge finds stops, and nothing that it proves ever does.
func TestLoopsStop(t *testing.T) {
	config := Presets()[0].Config
	config.Xoff, config.Xon = 3*config.Packet, 2*config.Packet
	loops, free, not := 0, 0, 0
	for i := range 500 {
		r := rand.New(rand.NewPCG(8, uint64(i)))
		n := random(t, r)
		v := verify(t, n)
		if !v.Free() {
			loops++
			replay, err := ReplayCycle(context.Background(), n, config, v.Cycle, 3)
			if err != nil {
				t.Fatal(err)
			}
			if !replay.Result.Deadlocked() {
				not++
				t.Logf("network %d: a loop of %d does not stop", i, len(v.Cycle))
			}
			continue
		}
		free++
		var flows []Flow
		for range 60 {
			class, from := r.IntN(len(n.Classes)), ethernet.DeviceID(r.IntN(len(n.Names)))
			key := r.Uint64()
			if path := route(n, class, key, from); len(path) > 0 {
				flows = append(flows, Flow{Class: class, Key: key, Path: path, Count: 100})
			}
		}
		result, err := Run(context.Background(), n, config, flows)
		if err != nil {
			t.Fatal(err)
		}
		if result.Deadlocked() || result.Overflows > 0 || result.Delivered != 100*len(flows) {
			t.Fatalf("network %d is proven, and: %+v", i, result)
		}
	}
	if not > 0 || loops < 20 || free < 20 {
		t.Fatalf("%d of %d loops do not stop; %d networks are proven", not, loops, free)
	}
}

// The headroom of a preset is what arrives behind a pause, and no more than that.
func TestHeadroom(t *testing.T) {
	for _, p := range Presets() {
		if h := p.Config.Headroom(); h < 3*p.Config.Packet || h > 20*p.Config.Packet {
			t.Errorf("%s: %d bytes of headroom", p.Name, h)
		}
	}
	if _, err := PresetNamed("roce-9g"); err == nil {
		t.Error("a preset that does not exist is accepted")
	}
	bad := Presets()[0].Config
	bad.Xon = bad.Xoff
	if _, err := Run(context.Background(), nil, bad, nil); err == nil {
		t.Error("xon at xoff is accepted")
	}
}
