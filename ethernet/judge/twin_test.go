package judge

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/dependencies"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// held is a lane of a link.
type held struct {
	link ethernet.LinkID
	lane int8
}

// twin is the judge once more: one packet at a time, in maps.
type twin struct {
	n     *ethernet.Network
	waits map[[2]held]bool
	uses  map[held]bool
	seen  map[string]bool
}

// send follows a packet that is at a device, having come by a link or from a host.
func (w *twin) send(class int, wrapped bool, in ethernet.LinkID, at ethernet.DeviceID, mark uint8) {
	key := fmt.Sprint(class, wrapped, in, at, mark)
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	c := &w.n.Classes[class]
	go1 := func(class int, wrapped bool, out ethernet.LinkID, becomes uint8) {
		a, b := held{in, -1}, held{out, w.n.Priorities.Of(becomes, out)}
		if in != ethernet.None {
			a.lane = w.n.Priorities.Of(mark, in)
		}
		if b.lane >= 0 {
			w.uses[b] = true
		}
		if a.lane >= 0 && b.lane >= 0 {
			w.waits[[2]held{a, b}] = true
		}
		w.send(class, wrapped, out, w.n.Links[out].To, becomes)
	}
	for l := range w.n.Links {
		out := ethernet.LinkID(l)
		if w.n.Links[l].From != at {
			continue
		}
		if w.n.Has(c.Next, out) {
			go1(class, wrapped, out, w.n.Priorities.Rules.Becomes(in, out, mark))
		}
		for _, t := range c.Tunnels {
			if !wrapped && t.Device == at && w.n.Has(w.n.Classes[t.Into].Next, out) {
				for outer := range w.n.Priorities.Marks {
					if w.n.TunnelMaps[t.Map][mark]>>outer&1 == 1 {
						go1(t.Into, true, out, w.n.Priorities.Rules.Becomes(in, out, uint8(outer)))
					}
				}
			}
		}
	}
}

// shortest is the length of a shortest circle, 0 without.
func (w *twin) shortest() int {
	best := 0
	for e := range w.waits {
		start := e[0]
		distance := map[held]int{start: 0}
		for queue := []held{start}; len(queue) > 0; queue = queue[1:] {
			for next := range w.waits {
				if next[0] != queue[0] {
					continue
				}
				if next[1] == start && (best == 0 || distance[queue[0]]+1 < best) {
					best = distance[queue[0]] + 1
				}
				if _, seen := distance[next[1]]; !seen {
					distance[next[1]] = distance[queue[0]] + 1
					queue = append(queue, next[1])
				}
			}
		}
	}
	return best
}

// arrives reports whether packets arrive from a device, whatever is chosen: on is the devices on the way.
func (w *twin) arrives(class int, at ethernet.DeviceID, on map[ethernet.DeviceID]bool) bool {
	if on[at] {
		return false
	}
	on[at] = true
	defer delete(on, at)
	c := &w.n.Classes[class]
	ways := 0
	for l := range w.n.Links {
		if w.n.Links[l].From == at && w.n.Has(c.Next, ethernet.LinkID(l)) {
			ways++
			if !w.arrives(class, w.n.Links[l].To, on) {
				return false
			}
		}
	}
	for _, t := range c.Tunnels {
		if t.Device == at {
			ways++
			if !w.arrives(t.Into, at, map[ethernet.DeviceID]bool{}) {
				return false
			}
		}
	}
	return ways > 0 || c.Leaves(at)
}

// circles reports whether packets can come to a device again.
func (w *twin) circles(class int, at ethernet.DeviceID, on map[ethernet.DeviceID]bool) bool {
	if on[at] {
		return true
	}
	on[at] = true
	defer delete(on, at)
	for l := range w.n.Links {
		if w.n.Links[l].From == at && w.n.Has(w.n.Classes[class].Next, ethernet.LinkID(l)) && w.circles(class, w.n.Links[l].To, on) {
			return true
		}
	}
	return false
}

// The judge finds what one packet after the other finds, and its proofs and loops hold.
func TestTwin(t *testing.T) {
	const rounds = 10_000
	free, loops, lossy := 0, 0, 0
	for i := range rounds {
		n := testcables.Network(t, rand.New(rand.NewPCG(17, uint64(i))))
		scope := ethernet.Scope(i % 2)
		v, err := Verify(context.Background(), n, Options{Scope: scope, Most: -1})
		if err != nil {
			t.Fatal(err)
		}
		w := &twin{n, map[[2]held]bool{}, map[held]bool{}, map[string]bool{}}
		var pairs, unreachable int64
		circles := 0
		for class := range n.Classes {
			if !n.Wanted(class, scope) {
				continue
			}
			circling := false
			for _, s := range n.Senders(scope) {
				count := int64(s.Count * len(n.Classes[class].Prefixes))
				if s.Class == class {
					count = int64(s.Count * (s.Count - 1))
				}
				pairs += count
				sure := true
				for _, at := range s.At {
					for mark := range uint8(len(n.Priorities.Marks)) {
						if n.Priorities.Start>>mark&1 == 1 {
							w.send(class, false, ethernet.None, at, mark)
						}
					}
					sure = sure && w.arrives(class, at, map[ethernet.DeviceID]bool{})
					circling = circling || count > 0 && w.circles(class, at, map[ethernet.DeviceID]bool{})
				}
				if !sure {
					unreachable += count
				}
			}
			if circling {
				circles += len(n.Classes[class].Prefixes)
			}
		}
		if v.Dependencies != len(w.waits) || len(v.Cycle) != w.shortest() || v.Pairs != pairs || v.Unreachable != unreachable || v.Circles != circles || len(v.Circling) > circles {
			t.Fatalf("network %d: %d dependencies, a loop of %d, %d of %d pairs cut off, %d circle; packet by packet %d, %d, %d, %d, %d",
				i, v.Dependencies, len(v.Cycle), v.Unreachable, v.Pairs, v.Circles, len(w.waits), w.shortest(), unreachable, pairs, circles)
		}
		if v.Free() {
			free++
			holds(t, n, v, w)
		} else {
			loops++
			explained(t, n, v, w)
		}
		if v.Unreachable > 0 {
			lossy++
		}
	}
	if free < rounds/5 || loops < rounds/20 || lossy < rounds/10 {
		t.Fatalf("%d proven, %d with loops, %d with pairs cut off: the networks test little", free, loops, lossy)
	}
}

// A union of the next hops that a network has is judged as the network is.
func TestUnion(t *testing.T) {
	wrapped := 0
	for i := range uint64(3000) {
		n := testcables.Network(t, rand.New(rand.NewPCG(19, i)))
		v, err := Verify(context.Background(), n, Options{})
		if err != nil {
			t.Fatal(err)
		}
		u := dependencies.NewUnion(n, ethernet.HostScope)
		for class := range n.Classes {
			if n.Wanted(class, ethernet.HostScope) {
				u.Add(class, n.Classes[class].Next)
			}
		}
		free, count := u.Free()
		if free != v.Free() || count != v.Dependencies {
			t.Fatalf("network %d: %v, %d dependencies; alone %v, %d", i, free, count, v.Free(), v.Dependencies)
		}
		if len(n.TunnelMaps) > 0 && n.Priorities.Rules == nil && !free {
			wrapped++
		}
	}
	if wrapped < 20 {
		t.Errorf("%d loops of networks with tunnels: this tests little", wrapped)
	}
}

// holds checks a proof by the twin's dependencies, and that a proof with a rank changed
// is refused.
func holds(t *testing.T, n *ethernet.Network, v *Verdict, w *twin) {
	t.Helper()
	c := v.Certificate
	rank := func(h held) int32 { return c.Rank[int(h.link)*c.Lanes+int(h.lane)] }
	for e := range w.waits {
		if rank(e[0]) >= rank(e[1]) {
			t.Fatalf("ranks do not rise along %v", e)
		}
	}
	for h := range w.uses {
		if rank(h) == Unused {
			t.Fatalf("%v carries packets and has no rank", h)
		}
	}
	var file bytes.Buffer
	if err := WriteCertificate(&file, n, c); err != nil {
		t.Fatal(err)
	}
	whole := file.String()
	c, err := ReadCertificate(&file, "proof", n)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(context.Background(), n, c); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCertificate(strings.NewReader(whole[:strings.LastIndex(whole, "end")]), "proof", n); err == nil {
		t.Fatal("a certificate without its end is accepted")
	}
	for e := range w.waits {
		wrong := *c
		wrong.Rank = append([]int32{}, c.Rank...)
		wrong.Rank[int(e[0].link)*c.Lanes+int(e[0].lane)] = rank(e[1])
		if Check(context.Background(), n, &wrong) == nil {
			t.Fatal("a proof whose ranks do not rise is accepted")
		}
		break
	}
}

// explained checks that each step of a loop is a dependency, and its path one that packets take.
func explained(t *testing.T, n *ethernet.Network, v *Verdict, w *twin) {
	t.Helper()
	for i, s := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)]
		if !w.waits[[2]held{{s.Link, int8(s.Lane)}, {next.Link, int8(next.Lane)}}] {
			t.Fatalf("step %d is not a dependency", i)
		}
		if s.Class == ethernet.None || len(s.Path) < 2 || s.Path[len(s.Path)-1] != next.Link || s.Path[len(s.Path)-2] != s.Link {
			t.Fatalf("step %d is not explained: %+v", i, s)
		}
		for j := 1; j < len(s.Path); j++ {
			if n.Links[s.Path[j]].From != n.Links[s.Path[j-1]].To {
				t.Fatalf("the path of step %d is in pieces: %v", i, s.Path)
			}
		}
	}
}
