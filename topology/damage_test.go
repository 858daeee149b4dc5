package topology

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// drawNetwork draws a network with cables that hold it together and others.
func drawNetwork(t *rapid.T) *fabric.Fabric {
	spec := rapid.SampledFrom([]string{
		"mesh:1x5", "torus:3x4,hosts=2", "karytree:k=2,n=3", "xgft:m=4x1,w=2x1,hosts=1", "dragonfly:p=1",
		"random:switches=12,links=13,hosts=2,seed=3", "fattree:ports=4,leaves=3", "kautz:b=2,n=3", "mesh:1",
	}).Draw(t, "network")
	family, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := family.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDamageKeepsTogether: exactly as much goes as was asked, the rest is one part,
// and no switch or adapter is left over; or it says how much can go, which is true.
func TestDamageKeepsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawNetwork(t)
		d := Damage{
			Switches: rapid.IntRange(0, f.Switches()-1).Draw(t, "switches"),
			Links:    rapid.IntRange(0, f.Trunks()/4).Draw(t, "links"),
			Seed:     rapid.Uint64().Draw(t, "seed"),
		}
		loss, err := d.Draw(f)
		var fragile *TooFragile
		if errors.As(err, &fragile) {
			if fragile.What == "switches" {
				t.Fatalf("%v, but a network can be taken apart switch by switch", err)
			}
			if d.Links = fragile.Can; fragile.Can >= fragile.Want {
				t.Fatal(err)
			}
			loss, err = d.Draw(f)
		}
		if err != nil {
			if d.Links == 0 {
				t.Fatal(err)
			}
			return // fewer cables left than asked
		}
		left, err := loss.Apply(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(loss.Switches) != d.Switches || len(loss.Links) != d.Links || left.Switches() != f.Switches()-d.Switches || len(left.Parts()) != 1 {
			t.Fatalf("asked %+v, lost %+v, left %+v in %d parts", d, loss, left.Count(), len(left.Parts()))
		}
		hosts := 0
		for v := range fabric.NodeID(left.Switches()) {
			hosts += len(left.Attached(v)) - 1
		}
		if n := left.Count(); n.Adapters != hosts || n.Adapters != f.Count().Adapters-len(loss.Adapters) {
			t.Fatalf("%d adapters of %d are left, %d of them at switches; lost %d", n.Adapters, f.Count().Adapters, hosts, len(loss.Adapters))
		}
		if fragile != nil && left.Trunks()/2 != left.Switches()-1 {
			t.Fatalf("%v, but what is left is not a tree: %+v", fragile, left.Count())
		}
	})
}

// TestDamageGrows: with one seed, more is the same and more.
func TestDamageGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawNetwork(t)
		d := Damage{Switches: rapid.IntRange(0, f.Switches()-1).Draw(t, "switches"), MayCut: rapid.Bool().Draw(t, "may cut"), Seed: rapid.Uint64().Draw(t, "seed")}
		var last Loss
		for {
			loss, err := d.Draw(f)
			if err != nil {
				break
			}
			for _, c := range last.Links {
				if !slices.Contains(loss.Links, c) {
					t.Fatalf("%d links do not take the one of fewer: %v, then %v", d.Links, last, loss)
				}
			}
			last = *loss
			d.Links++
		}
		d.Links, last = 0, Loss{}
		for d.Switches = 0; d.Switches < f.Switches(); d.Switches++ {
			loss, err := d.Draw(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range last.Switches {
				if !slices.Contains(loss.Switches, v) {
					t.Fatalf("%d switches do not take those of fewer: %v, then %v", d.Switches, last, loss)
				}
			}
			last = *loss
		}
	})
}

func TestDamageByName(t *testing.T) {
	f := build(t, "mesh:1x3,hosts=2")
	host := fabric.NodeID(f.Switches())
	d := Damage{Nodes: []fabric.NodeID{2}, Channels: []fabric.ChannelID{f.Out(0, 3), f.Out(1, 4), f.Out(host, 1)}}
	loss, err := d.Draw(f)
	if err != nil {
		t.Fatal(err)
	}
	// Switch 2 takes two hosts and its cable with it; the cable of host 0 takes the host.
	want := &Loss{Switches: []fabric.NodeID{2}, Links: []fabric.ChannelID{f.Out(0, 3)}, Adapters: []fabric.NodeID{host, host + 4, host + 5}}
	if diff := cmp.Diff(want, loss); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDamageRefusals(t *testing.T) {
	f := build(t, "ring:4")
	for want, d := range map[string]Damage{
		"the network falls apart if more than 1 of its cables between switches go, and 2 are asked for": {Links: 2},
		"cannot draw 5 of 4 cables between switches":                                                    {Links: 5, MayCut: true},
		"cannot draw 4 of 4 switches; one has to stay":                                                  {Switches: 4, MayCut: true},
		"cannot draw -1 of 4 switches; one has to stay":                                                 {Switches: -1},
	} {
		if _, err := d.Draw(f); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", d, err, want)
		}
	}
	loss, err := Damage{Links: 4, MayCut: true}.Draw(f)
	if err != nil || len(loss.Links) != 4 || len(loss.Adapters) != 0 {
		t.Errorf("%+v, %v", loss, err)
	}
}
