package topology

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// drawRandom draws parameters that work, small networks and dense ones included.
func drawRandom(t *rapid.T) random {
	r := random{
		Switches: rapid.IntRange(2, 40).Draw(t, "switches"),
		Hosts:    rapid.IntRange(1, 3).Draw(t, "hosts"),
		Seed:     rapid.Uint64().Draw(t, "seed"),
	}
	least, most := r.Switches-1, min(r.Switches*(fabric.MaxPorts-r.Hosts)/6, r.Switches*r.Switches)
	r.Links = rapid.IntRange(least, max(least, most)).Draw(t, "links")
	return r
}

func TestRandomPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRandom(t)
		f, err := r.Build()
		if err != nil {
			t.Fatal(err)
		}
		if n := f.Count(); n.Switches != r.Switches || n.HCA != r.Switches*r.Hosts || n.SwitchCables != r.Links || n.SelfCables != 0 {
			t.Fatalf("%s has %+v", r, n)
		}
		if parts := f.Parts(); len(parts) != 1 {
			t.Fatalf("%s has %d parts", r, len(parts))
		}
		pairs := map[[2]fabric.NodeID]bool{}
		for _, c := range f.Channels()[:f.Trunks()] {
			pairs[[2]fabric.NodeID{min(c.From, c.To), max(c.From, c.To)}] = true
		}
		if want := min(r.Links, r.Switches*(r.Switches-1)/2); len(pairs) != want {
			t.Fatalf("%s joins %d pairs, want %d", r, len(pairs), want)
		}
		for v := range fabric.NodeID(r.Switches) {
			first, end := f.TrunksFrom(v)
			if f.Node(v).Ports != r.Hosts+int(end-first) {
				t.Fatalf("%s has %d ports, %d hosts and %d cables", f.Label(v), f.Node(v).Ports, r.Hosts, end-first)
			}
		}
	})
}

// TestRandomGrows: more links only add cables, on new ports.
func TestRandomGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRandom(t)
		small, err := r.Build()
		if err != nil {
			t.Fatal(err)
		}
		r.Links = min(r.Links+5, r.Switches*(fabric.MaxPorts-r.Hosts)/6)
		large, err := r.Build()
		if err != nil {
			t.Fatal(err)
		}
		has := map[joint]bool{}
		for _, j := range joints(large) {
			has[j] = true
		}
		for _, j := range joints(small) {
			if !has[j] {
				t.Fatalf("%s lacks %+v", r, j)
			}
		}
	})
}

// TestRandomBounds: the most and the fewest links, and hosts on nearly all ports.
func TestRandomBounds(t *testing.T) {
	for _, spec := range []string{
		"random:switches=2,links=1", "random:switches=2,links=84",
		"random:switches=3,links=2,hosts=249", "random:switches=3,links=126",
		"random:switches=190,links=190,hosts=248", "random:switches=85,links=3570", "random:switches=300,links=12650",
	} {
		f := build(t, spec)
		if parts := f.Parts(); len(parts) != 1 {
			t.Errorf("%s has %d parts", spec, len(parts))
		}
	}
}

// fingerprint digests all that a fabric says of itself, but for what no computed network
// says: the digests are older than the field.
func fingerprint(f *fabric.Fabric) string {
	h := sha256.New()
	text := fmt.Sprintf("%+v\n%+v\n%+v\n", f.Nodes(), f.Channels(), f.Endpoints())
	h.Write([]byte(strings.ReplaceAll(text, " DataVLs:0}", "}")))
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// same reports whether two networks have the same parts with the same numbers, as fingerprint does.
func same(f, g *fabric.Fabric) bool {
	return slices.Equal(f.Nodes(), g.Nodes()) && slices.Equal(f.Channels(), g.Channels()) && slices.Equal(f.Endpoints(), g.Endpoints())
}

// TestRandomIsPinned: published results name a seed, so the network behind a seed
// must never change.
func TestRandomIsPinned(t *testing.T) {
	const want = "a316287f99dafee0"
	if got := fingerprint(build(t, "random:switches=64,links=128,hosts=16,seed=1")); got != want {
		t.Errorf("the network of seed 1 has changed: fingerprint %s, want %s", got, want)
	}
	if fingerprint(build(t, "random:switches=64,links=128,hosts=16,seed=2")) == want {
		t.Error("seed 2 makes the network of seed 1")
	}
}

// TestJellyfishPromises: connected, simple and regular, for any parameters that fit:
// nearly complete graphs need cables to be taken away again.
func TestJellyfishPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := jellyfish{
			Switches: rapid.IntRange(4, 40).Draw(t, "switches"),
			Hosts:    rapid.IntRange(1, 3).Draw(t, "hosts"),
			Seed:     rapid.Uint64().Draw(t, "seed"),
		}
		j.Degree = rapid.IntRange(3, j.Switches-1).Draw(t, "degree")
		if j.Switches*j.Degree%2 == 1 {
			j.Degree--
		}
		if j.Degree < 3 {
			return
		}
		f, err := j.Build()
		if err != nil {
			t.Fatal(err)
		}
		got := measure(f)
		want := shape{j.Switches, j.Switches * j.Hosts, j.Switches * j.Degree / 2, j.Degree, j.Degree, j.Hosts + j.Degree, got.diameter, got.diameter}
		if got != want || got.diameter >= unreached {
			t.Fatalf("%s: %+v, want %+v", j, got, want)
		}
		for pair, n := range pairsOf(f) {
			if n != 1 {
				t.Fatalf("%s: %d cables join %v", j, n, pair)
			}
		}
	})
}

// TestJellyfishIsPinned: the network behind a seed must never change. It is one of
// the SSSP paper's: 516 endpoints on 24-port crossbars.
func TestJellyfishIsPinned(t *testing.T) {
	const want = "c3c696eca88f341b"
	f := build(t, "jellyfish:switches=43,degree=12,hosts=12,seed=1")
	if n := f.Count(); n.HCA != 516 || n.SwitchCables != 258 {
		t.Errorf("%+v", n)
	}
	if got := fingerprint(f); got != want {
		t.Errorf("the network of seed 1 has changed: fingerprint %s, want %s", got, want)
	}
	if fingerprint(build(t, "jellyfish:switches=43,degree=12,hosts=12,seed=2")) == want {
		t.Error("seed 2 makes the network of seed 1")
	}
}
