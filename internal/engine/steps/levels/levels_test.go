package levels

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// oddRing makes a network of a ring of switches, trees that hang below it, and hosts. below has for each
// switch after those of the ring the one it hangs below, and hosts for every switch how many it has.
func oddRing(t interface{ Fatal(...any) }, ring int, below, hosts []int) *fabric.Fabric {
	var b fabric.Builder
	ports := make([]uint8, len(hosts)) // [switch] with a cable
	refs := make([]fabric.Ref, len(hosts))
	add := func(kind fabric.Kind, ports int, name string) fabric.Ref {
		return b.Node(fabric.Node{Kind: kind, Ports: ports, Name: name}, name)
	}
	join := func(x, y int) {
		ports[x]++
		ports[y]++
		b.Cable(refs[x], ports[x], refs[y], ports[y], fabric.Rate{})
	}
	for s := range refs {
		refs[s] = add(fabric.Switch, 64, fmt.Sprintf("switch-%02d", s))
	}
	for s := range ring {
		join(s, (s+1)%ring)
	}
	for i, above := range below {
		join(ring+i, above)
	}
	for s, n := range hosts {
		for k := range n {
			ports[s]++
			b.Cable(refs[s], ports[s], add(fabric.Adapter, 1, fmt.Sprintf("host-%02d-%d HCA-1", s, k)), 1, fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// An odd ring has no levels, and measure ends with a refusal: also where the ring has no hosts, and only
// what hangs below it does. A core without hosts would be searched for ever, so no count of hosts may leave
// the core of a part with hosts without any.
func TestOddRings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ring := rapid.SampledFrom([]int{3, 5, 7}).Draw(t, "ring")
		below := make([]int, rapid.IntRange(0, 8).Draw(t, "switches below"))
		for i := range below {
			below[i] = rapid.IntRange(0, ring+i-1).Draw(t, "below")
		}
		hosts, bare, all := make([]int, ring+len(below)), rapid.Bool().Draw(t, "bare ring"), 0
		for s := range hosts {
			if s >= ring || !bare {
				hosts[s] = rapid.IntRange(0, 3).Draw(t, "hosts")
			}
			all += hosts[s]
		}
		f := oddRing(t, ring, below, hosts)
		for i, count := range []func(*Levels) []int64{(*Levels).ownOrBelow, (*Levels).below, (*Levels).unpeeled} {
			l, inCore := newLevels(f), int64(0)
			for s, n := range count(l) {
				if l.inCore(fabric.NodeID(s)) {
					inCore += n
				}
			}
			if inCore == 0 && all > 0 {
				t.Fatalf("count %d: none of %d hosts is in the core", i, all)
			}
		}
		if _, refusal := measureAll(f); (refusal != nil) != (all > 0) {
			t.Errorf("%d hosts: %v; a ring is refused where there are hosts", all, refusal)
		}
	})
}

// What a refusal says of hosts is so: switches with hosts that count for no leaf are named with them, and leaves whose
// hosts hang below them are no switches with hosts.
func TestRefusalIsTrue(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		below, hosts []int
		want         string
	}{
		"hosts beside more": {nil, []int{1, 4, 4, 1}, "the cable to switch-03, port 2, joins two switches that both have the nearest leaves 1 hop away; " +
			"switch-00 has 1 host and counts for no leaf, since its neighbour switch-01 has more; switch-03 has 1 host and counts for no leaf, since its neighbour switch-02 has more"},
		"none":  {nil, []int{0, 2, 2, 0}, "the cable to switch-03, port 2, joins two switches that both have the nearest leaves 1 hop away"},
		"alike": {nil, []int{2, 2, 2, 2}, "the cable to switch-01, port 1, joins two leaves: both have hosts, and no neighbour with more"},
		"below": {[]int{0, 1, 2}, []int{0, 0, 0, 5, 5, 5}, "the cable to switch-01, port 1, joins two leaves: both have hosts on them or hanging below, and no neighbour with more"},
	} {
		_, refusal := Find(oddRing(t, len(tc.hosts)-len(tc.below), tc.below, tc.hosts))
		if refusal == nil || refusal.Why != tc.want {
			t.Errorf("%s: %+v, want %s", name, refusal, tc.want)
		}
	}
}
