package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
)

// Whatever the seed draws, it is one network within the limits of InfiniBand, which its
// spelled out spec makes again, and among sixty everything occurs that patchwork is for.
func TestPatchwork(t *testing.T) {
	seen := map[string]int{}
	for seed := range 60 {
		spec := fmt.Sprintf("patchwork:%d", seed)
		family, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		f := build(t, spec)
		if !same(f, build(t, family.String())) {
			t.Errorf("%s: %s is another network", spec, family)
		}
		if n := len(f.Parts()); n != 1 {
			t.Errorf("%s is in %d parts", spec, n)
		}
		for what, is := range traits(f) {
			if is {
				seen[what]++
			}
		}
	}
	for _, what := range []string{"several rates", "aggregation nodes", "parallel cables", "leaves without hosts", "several adapters", "hosts on upper switches", "a tail", "directors"} {
		if seen[what] < 4 || seen[what] > 58 {
			t.Errorf("%s: on %d of 60", what, seen[what])
		}
	}
}

// traits is what a network has.
func traits(f *fabric.Fabric) map[string]bool {
	has, rates := map[string]bool{}, map[fabric.Rate]bool{}
	for _, c := range f.Channels() {
		rates[c.Rate] = true
	}
	has["several rates"] = len(rates) > 1
	for s := range fabric.NodeID(f.Switches()) {
		name, hosts := f.Node(s).Name, 0
		for _, e := range f.Attached(s) {
			switch f.Endpoint(e).Class {
			case fabric.Aggregation:
				has["aggregation nodes"] = true
			case fabric.HostAdapter:
				hosts++
				has["several adapters"] = has["several adapters"] || strings.HasSuffix(f.Node(f.Endpoint(e).Node).Name, "mlx5_1")
			}
		}
		leaf := strings.Contains(name, "-leaf-") && !strings.HasPrefix(name, "sw-d")
		has["leaves without hosts"] = has["leaves without hosts"] || leaf && hosts == 0
		has["hosts on upper switches"] = has["hosts on upper switches"] || hosts > 0 && (strings.Contains(name, "mid") || strings.Contains(name, "top"))
		has["a tail"] = has["a tail"] || strings.Contains(name, "tail")
		has["directors"] = has["directors"] || strings.Contains(name, "-spine-")
		near := f.Neighbours(s)
		for i, v := range near {
			has["parallel cables"] = has["parallel cables"] || slices.Contains(near[:i], v)
		}
	}
	return has
}

// What is given takes nothing from what is drawn for the others; what is missing is as much
// as is said; zero is a number that can be given.
func TestPatchworkGiven(t *testing.T) {
	plain, given := params{}, params{given: map[string]string{"tails": "0", "seed": "8", "missing": "100"}}
	(&patchwork{Seed: 8}).declare(&plain)
	(&patchwork{}).declare(&given)
	for i, p := range plain.seen {
		if q := given.seen[i]; p.text != q.text && q.key != "tails" && q.key != "missing" {
			t.Errorf("%s=%s becomes %s", p.key, p.text, q.text)
		}
	}
	whole, less := build(t, "patchwork:8,missing=0"), build(t, "patchwork:8,missing=100")
	if gone, of := (whole.Trunks()-less.Trunks())/2, whole.Trunks()/2; gone < of/12 || gone > of/10 {
		t.Errorf("%d of %d cables are missing", gone, of)
	}
	for seed := range 60 {
		f := build(t, fmt.Sprintf("patchwork:%d,tails=0,upper=0,sharp=0,old=0,missing=0,directors=0,rails=1", seed))
		for what, is := range traits(f) {
			if is && what != "parallel cables" && what != "leaves without hosts" {
				t.Errorf("seed %d has %s", seed, what)
			}
		}
	}
}

// A leaf is reached from a top by several mids of its pod, not by one as in a generalized
// fat tree; and its oversubscription differs from that of others.
func TestPatchworkIsNoPlainTree(t *testing.T) {
	several, uneven := 0, 0
	for seed := range 30 {
		f := build(t, fmt.Sprintf("patchwork:%d,levels=3,parallel=2,pods=3", seed))
		ratios := map[float64]bool{}
		for s := range fabric.NodeID(f.Switches()) {
			near := list.Once(f.Neighbours(s))
			switch name := f.Node(s).Name; {
			case strings.Contains(name, "sw-top"):
				pods := map[string]int{}
				for _, v := range near {
					pods[strings.SplitN(f.Node(v).Name, "-", 3)[1]]++
				}
				for _, n := range pods {
					if n > 1 {
						several++
					}
				}
			case strings.Contains(name, "-leaf-"):
				ratios[float64(len(f.Attached(s))-1)/float64(len(f.Neighbours(s)))] = true
			}
		}
		if len(ratios) > 3 {
			uneven++
		}
	}
	if several < 100 || uneven < 20 {
		t.Errorf("%d tops reach a pod by several mids; on %d of 30 leaves differ", several, uneven)
	}
}
