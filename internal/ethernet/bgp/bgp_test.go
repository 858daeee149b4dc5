package bgp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// speaker is a BGP speaker that remembers what its neighbors announced.
type speaker struct {
	heard map[ethernet.DeviceID][]uint32 // AS path by neighbor
	path  []uint32                       // what it announces; nil: nothing
	hops  []ethernet.DeviceID
}

// speak lets speakers announce in any order until nothing changes.
func speak(r *rand.Rand, c *ethernet.Cabling, as []uint32, own []uint8, at []ethernet.DeviceID, down []bool) []speaker {
	s := make([]speaker, len(c.Names))
	for d := range s {
		s[d].heard = map[ethernet.DeviceID][]uint32{}
		if slices.Contains(at, ethernet.DeviceID(d)) {
			s[d].path = []uint32{as[d]}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, l := range r.Perm(len(c.Links)) {
			if down[l] {
				continue
			}
			from, to := c.Links[l].From, c.Links[l].To
			if slices.Equal(s[to].heard[from], s[from].path) {
				continue
			}
			changed = true
			s[to].heard[from] = s[from].path
			s[to].decide(as[to], int(own[to]), slices.Contains(at, to))
		}
	}
	return s
}

func (s *speaker) decide(as uint32, own int, origin bool) {
	takes := func(p []uint32) bool {
		return p != nil && len(slices.DeleteFunc(slices.Clone(p), func(n uint32) bool { return n != as })) <= own
	}
	s.hops = nil
	if origin {
		return
	}
	s.path = nil
	best := 0
	for _, p := range s.heard {
		if takes(p) && (best == 0 || len(p) < best) {
			best = len(p)
		}
	}
	for d, p := range s.heard {
		if takes(p) && len(p) == best {
			s.hops = append(s.hops, d)
		}
	}
	slices.Sort(s.hops)
	if len(s.hops) > 0 {
		s.path = append([]uint32{as}, s.heard[s.hops[0]]...)
	}
}

// What is computed is what speakers that announce to each other in any order settle at.
func TestSpeakers(t *testing.T) {
	shared := 0
	for i := range 2000 {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		c := testcables.Random(t, r, 3+r.IntN(8))
		as := make([]uint32, len(c.Names))
		for d := range as {
			as[d] = uint32(d)
			if r.IntN(3) == 0 {
				as[d] = uint32(100 + r.IntN(2))
			}
		}
		at := []ethernet.DeviceID{ethernet.DeviceID(r.IntN(len(c.Names)))}
		p, err := NewPlan(c, at, BGP, as)
		if err != nil {
			continue // neighbors in one AS
		}
		own := make([]uint8, len(as))
		if r.IntN(2) == 0 {
			for d := range own {
				own[d] = uint8(r.IntN(3))
			}
			p.OwnAS = own
		}
		if !p.unique {
			shared++
		}
		down := make([]bool, len(c.Links))
		for l := range down {
			if r.IntN(10) == 0 {
				down[l], down[c.Reverse[l]] = true, true
			}
		}
		computer := NewComputer(p)
		row := c.NewRow()
		computer.Row(at, down, row)
		for d, s := range speak(r, c, as, own, at, down) {
			var hops []ethernet.DeviceID
			c.Each(c.Words(row, ethernet.DeviceID(d)), ethernet.DeviceID(d), func(l ethernet.LinkID) {
				if down[l] {
					t.Fatalf("network %d: a next hop by a link that is down", i)
				}
				hops = append(hops, c.Links[l].To)
			})
			slices.Sort(hops)
			if hops = slices.Compact(hops); !slices.Equal(hops, s.hops) {
				t.Fatalf("network %d: %s to %v goes by %v, speakers say %v", i, c.Names[d], at, hops, s.hops)
			}
		}
	}
	if shared < 200 {
		t.Fatalf("devices share an AS in %d networks only", shared)
	}
}

// Up*/Down* routes never lead up after down, and reach whatever can be reached so, by a way as
// short as there is where it leads down only.
func TestUpDown(t *testing.T) {
	for i := range 500 {
		r := rand.New(rand.NewPCG(4, uint64(i)))
		c := testcables.Random(t, r, 3+r.IntN(8))
		leaves := []ethernet.DeviceID{0, ethernet.DeviceID(len(c.Names) - 1)}
		p, err := NewPlan(c, leaves, UpDown, nil)
		if err != nil {
			t.Fatal(err)
		}
		computer := NewComputer(p)
		row := c.NewRow()
		computer.Row(leaves[:1], make([]bool, len(c.Links)), row)
		type place struct {
			d  ethernet.DeviceID
			up bool // nothing led down yet
		}
		for d := range ethernet.DeviceID(len(c.Names)) {
			reach := map[place]bool{{d, true}: true} // by any links that do not lead up after down
			for queue := []place{{d, true}}; len(queue) > 0; queue = queue[1:] {
				at := queue[0]
				for l, end := c.LinksFrom(at.d); l < end; l++ {
					next := place{c.Links[l].To, computer.up(l)}
					if (at.up || !next.up) && !reach[next] {
						reach[next] = true
						queue = append(queue, next)
					}
				}
			}
			seen := map[place]bool{}
			var walk func(place, int)
			walk = func(at place, hops int) {
				if seen[at] {
					return
				}
				seen[at] = true
				if hops > 2*len(c.Names) {
					t.Fatalf("network %d: a path without end", i)
				}
				ways := 0
				c.Each(c.Words(row, at.d), at.d, func(l ethernet.LinkID) {
					ways++
					if computer.up(l) && !at.up {
						t.Fatalf("network %d: up after down at %s", i, c.Names[at.d])
					}
					walk(place{c.Links[l].To, computer.up(l)}, hops+1)
				})
				if ways == 0 && at.d != leaves[0] && (reach[place{leaves[0], true}] || reach[place{leaves[0], false}]) {
					t.Fatalf("network %d: %s does not reach %s", i, c.Names[d], c.Names[leaves[0]])
				}
			}
			walk(place{d, true}, 0)
		}
	}
}

// AS numbers of a Clos of three levels, as RFC 7938 gives them, with only the top alike, and
// all different.
func TestNumbers(t *testing.T) {
	var names []string
	var cables []ethernet.Cable
	port := 0
	cable := func(a, b string) {
		port++
		p := fmt.Sprintf("e%d", port)
		cables = append(cables, ethernet.Cable{A: ethernet.End{Device: a, Interface: p}, B: ethernet.End{Device: b, Interface: p}})
	}
	for pod := range 2 {
		for i := range 2 {
			names = append(names, fmt.Sprintf("leaf%d%d", pod, i), fmt.Sprintf("mid%d%d", pod, i))
			for j := range 2 {
				cable(fmt.Sprintf("leaf%d%d", pod, i), fmt.Sprintf("mid%d%d", pod, j))
				cable(fmt.Sprintf("mid%d%d", pod, i), fmt.Sprintf("top%d%d", i, j))
			}
		}
	}
	names = append(names, "top00", "top01", "top10", "top11")
	c, err := ethernet.NewCabling(names, cables)
	if err != nil {
		t.Fatal(err)
	}
	var leaves []ethernet.DeviceID
	for d, name := range c.Names {
		if name[0] == 'l' {
			leaves = append(leaves, ethernet.DeviceID(d))
		}
	}
	for s, want := range map[Scheme]int{PerSwitch: 12, PerLeaf: 4 + 2 + 1, SpinesAlike: 4 + 4 + 1} {
		as := Numbers(c, leaves, s)
		different := slices.Compact(slices.Sorted(slices.Values(as)))
		if len(different) != want {
			t.Errorf("%s: %d AS numbers, not %d", s, len(different), want)
		}
		if _, err := NewPlan(c, leaves, BGP, as); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}
