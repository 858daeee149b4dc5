// Package dependencies derives which lane of a lossless Ethernet network waits for which: it follows the packets of
// every class from every sender over every next hop, under the rules that change their marks. The judge looks for circles
// in what it finds. Base keeps the dependencies of a network, so that changes of a few classes are judged quickly, and
// Union judges the routes of many networks together; these two answer whether there is a circle, and have neither proof nor loop.
package dependencies

import (
	"context"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-fabric/weft/ethernet"
)

// Graph is which lane waits for which. A vertex is a lane of a link: link × Lanes + lane.
type Graph struct {
	Network *ethernet.Network
	Lanes   int

	first []int32    // [LinkID] the first of its words in next, with one entry more for the end
	next  [][]uint64 // [mark] for each link the links that its packets with the mark go on to, as bits: the Words of the device where it ends
	carry []uint64   // [LinkID] marks that it carries, as bits
	extra [][2]int32 // from vertex, to vertex: of packets that a tunnel wraps, which have another mark then; sorted by order
}

func newGraph(n *ethernet.Network) *Graph {
	d := &Graph{Network: n, first: make([]int32, len(n.Links)+1), next: make([][]uint64, len(n.Priorities.Marks)), carry: make([]uint64, len(n.Links))}
	for l := range n.Links {
		to := n.Links[l].To
		d.first[l+1] = d.first[l] + int32(n.FirstWord(to+1)-n.FirstWord(to))
	}
	for m := range d.next {
		d.next[m] = make([]uint64, d.first[len(n.Links)])
	}
	for _, lane := range n.Priorities.Lossless() {
		d.Lanes = lane + 1
	}
	return d
}

// add adds the dependencies of another worker, or those in tunnels.
func (d *Graph) add(o *Graph) {
	for m := range d.next {
		for i, w := range o.next[m] {
			d.next[m][i] |= w
		}
	}
	for l, marks := range o.carry {
		d.carry[l] |= marks
	}
	d.extra = append(d.extra, o.extra...)
}

// Vertex is the lane of packets with a mark on a link, or -1 if they are lossy there.
func (d *Graph) Vertex(l ethernet.LinkID, mark uint8) int32 {
	lane := d.Network.Priorities.Of(mark, l)
	if lane == ethernet.Lossy {
		return -1
	}
	return int32(int(l)*d.Lanes + int(lane))
}

// Successors appends to a list every vertex that packets in v may wait for; several
// times one that they wait for with several marks.
func (d *Graph) Successors(v int32, list []int32) []int32 {
	l := ethernet.LinkID(int(v) / d.Lanes)
	to := d.Network.Links[l].To
	for m := range d.next {
		if d.Vertex(l, uint8(m)) != v {
			continue
		}
		d.Network.Each(d.next[m][d.first[l]:d.first[l+1]], to, func(out ethernet.LinkID) {
			if u := d.Vertex(out, d.Network.Priorities.Rules.Becomes(l, out, uint8(m))); u >= 0 {
				list = append(list, u)
			}
		})
	}
	i, _ := slices.BinarySearchFunc(d.extra, [2]int32{v, -1}, comparePairs)
	for ; i < len(d.extra) && d.extra[i][0] == v; i++ {
		list = append(list, d.extra[i][1])
	}
	return list
}

func comparePairs(a, b [2]int32) int {
	if a[0] != b[0] {
		return int(a[0] - b[0])
	}
	return int(a[1] - b[1])
}

// Count counts the dependencies, each once.
func (d *Graph) Count() int {
	n := 0
	var seen []int32
	for v := range int32(len(d.Network.Links) * d.Lanes) {
		seen = d.Successors(v, seen[:0])
		slices.Sort(seen)
		n += len(slices.Compact(seen))
	}
	return n
}

// InUse is the lanes that carry packets, [vertex].
func (d *Graph) InUse() []bool {
	used := make([]bool, len(d.Network.Links)*d.Lanes)
	for l, marks := range d.carry {
		for ; marks != 0; marks &= marks - 1 {
			if v := d.Vertex(ethernet.LinkID(l), uint8(bits.TrailingZeros64(marks))); v >= 0 {
				used[v] = true
			}
		}
	}
	return used
}

// entry is where packets are wrapped: the device of a tunnel, which they come to by a link, None for hosts.
type entry struct {
	tunnel ethernet.Tunnel
	in     ethernet.LinkID
}

// walk follows the packets of one class after the other, and adds the dependencies that it finds to d. It is for
// one goroutine.
type walk struct {
	d       *Graph
	seen    []uint64 // [LinkID] marks that reached it, as bits
	there   []uint64 // [DeviceID] marks that came to it, if it changes none
	stack   []arrival
	links   []ethernet.LinkID   // with marks in seen
	at      []ethernet.DeviceID // with marks in there
	entries map[entry]uint64    // marks that came to tunnels, as bits, of all classes so far
}

// arrival is marks that are new at a link.
type arrival struct {
	link  ethernet.LinkID
	marks uint64
}

func newWalk(d *Graph) *walk {
	return &walk{d: d, seen: make([]uint64, len(d.Network.Links)), there: make([]uint64, len(d.Network.Names)), entries: map[entry]uint64{}}
}

// begin forgets the class before.
func (w *walk) begin() {
	for _, l := range w.links {
		w.seen[l] = 0
	}
	for _, d := range w.at {
		w.there[d] = 0
	}
	w.links, w.at = w.links[:0], w.at[:0]
}

// class follows the packets of a class from the devices where they are sent, by the class's next hops or others in
// their place.
func (w *walk) class(i int, next ethernet.Row, from []ethernet.DeviceID) {
	w.begin()
	c := &w.d.Network.Classes[i]
	for _, at := range from {
		w.arrive(c, next, ethernet.None, at, w.d.Network.Priorities.Start)
	}
	w.run(c, next)
}

// tunnelled follows the packets whose outer header is of a class, by next hops of it, from the entries where they
// are wrapped. A device wraps first, and changes marks by its rules then. It is called when all classes have been
// followed, since these make the entries.
func (w *walk) tunnelled(i int, next ethernet.Row, entries map[entry]uint64) {
	w.begin()
	n := w.d.Network
	for e, marks := range entries {
		if e.tunnel.Into != i {
			continue
		}
		at := e.tunnel.Device
		n.Each(n.Words(next, at), at, func(out ethernet.LinkID) {
			for m := marks; m != 0; m &= m - 1 {
				w.wrap(e, uint8(bits.TrailingZeros64(m)), out)
			}
		})
	}
	w.run(&n.Classes[i], next)
}

// wrap sends packets that came with a mark into a tunnel, by the link out.
func (w *walk) wrap(e entry, mark uint8, out ethernet.LinkID) {
	n := w.d.Network
	for set := n.TunnelMaps[e.tunnel.Map][mark]; set != 0; set &= set - 1 {
		outer := n.Priorities.Rules.Becomes(e.in, out, uint8(bits.TrailingZeros64(set)))
		if e.in != ethernet.None {
			if waiting, free := w.d.Vertex(e.in, mark), w.d.Vertex(out, outer); waiting >= 0 && free >= 0 {
				w.d.extra = append(w.d.extra, [2]int32{waiting, free})
			}
		}
		w.push(out, 1<<outer)
	}
}

// run follows what is on the stack until nothing is new, and notes which links carried which marks.
func (w *walk) run(c *ethernet.Class, next ethernet.Row) {
	for len(w.stack) > 0 {
		a := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		w.arrive(c, next, a.link, w.d.Network.Links[a.link].To, a.marks)
	}
	for _, l := range w.links {
		w.d.carry[l] |= w.seen[l]
	}
}

// push notes marks on a link, and puts those that are new there on the stack.
func (w *walk) push(l ethernet.LinkID, marks uint64) {
	if marks &^= w.seen[l]; marks == 0 {
		return
	}
	if w.seen[l] == 0 {
		w.links = append(w.links, l)
	}
	w.seen[l] |= marks
	w.stack = append(w.stack, arrival{l, marks})
}

// arrive sends packets of class c that came to a device by the link in, None for hosts, on to all next hops there, and
// notes what they wait for.
func (w *walk) arrive(c *ethernet.Class, next ethernet.Row, in ethernet.LinkID, at ethernet.DeviceID, marks uint64) {
	n := w.d.Network
	words := n.Words(next, at)
	if n.Priorities.Rules.Changes(at) {
		w.remark(words, in, at, marks)
	} else {
		if in != ethernet.None {
			for m := marks; m != 0; m &= m - 1 {
				to := w.d.next[bits.TrailingZeros64(m)][w.d.first[in]:w.d.first[in+1]]
				for i, bits := range words {
					to[i] |= bits
				}
			}
		}
		if fresh := marks &^ w.there[at]; fresh != 0 {
			if w.there[at] == 0 {
				w.at = append(w.at, at)
			}
			w.there[at] |= fresh
			n.Each(words, at, func(out ethernet.LinkID) { w.push(out, fresh) })
		}
	}
	for _, t := range c.Tunnels {
		if t.Device == at {
			w.entries[entry{t, in}] |= marks
		}
	}
}

// remark is what arrive does at a device that changes marks; words are its next hops.
func (w *walk) remark(words []uint64, in ethernet.LinkID, at ethernet.DeviceID, marks uint64) {
	n := w.d.Network
	n.Each(words, at, func(out ethernet.LinkID) {
		for m := marks; m != 0; m &= m - 1 {
			mark := uint8(bits.TrailingZeros64(m))
			if in != ethernet.None {
				first, _ := n.LinksFrom(at)
				i := int(out - first)
				w.d.next[mark][int(w.d.first[in])+i/64] |= 1 << (i % 64)
			}
			w.push(out, 1<<n.Priorities.Rules.Becomes(in, out, mark))
		}
	})
}

// Of finds all dependencies of a scope: first those of all classes, which
// the cores share out, then those in the tunnels that their packets came to.
func Of(ctx context.Context, n *ethernet.Network, scope ethernet.Scope) (*Graph, error) {
	all := newGraph(n)
	from := Sources(n, scope)
	workers := make([]*walk, runtime.GOMAXPROCS(0))
	var taken atomic.Int64 // classes
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = newWalk(newGraph(n))
		wg.Go(func() {
			for {
				class := int(taken.Add(1)) - 1
				if class >= len(n.Classes) || ctx.Err() != nil {
					return
				}
				if n.Wanted(class, scope) {
					workers[i].class(class, n.Classes[class].Next, from)
				}
			}
		})
	}
	wg.Wait()
	entries := map[entry]uint64{}
	for _, w := range workers {
		all.add(w.d)
		for e, marks := range w.entries {
			entries[e] |= marks
		}
	}
	inTunnels := newWalk(newGraph(n))
	for _, class := range outerClasses(entries) {
		inTunnels.tunnelled(class, n.Classes[class].Next, entries)
	}
	all.add(inTunnels.d)
	all.order()
	return all, ctx.Err()
}

// order sorts the dependencies through tunnels: Successors looks them up by binary search.
func (d *Graph) order() {
	slices.SortFunc(d.extra, comparePairs)
	d.extra = slices.Compact(d.extra)
}

// outerClasses is the classes of the outer headers that packets get at entries, ascending.
func outerClasses(entries map[entry]uint64) []int {
	var list []int
	for e := range entries {
		list = append(list, e.tunnel.Into)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Sources is the devices where packets enter the network, ascending.
func Sources(n *ethernet.Network, scope ethernet.Scope) []ethernet.DeviceID {
	in := make([]bool, len(n.Names))
	for _, s := range n.Senders(scope) {
		for _, d := range s.At {
			in[d] = true
		}
	}
	var list []ethernet.DeviceID
	for d, yes := range in {
		if yes {
			list = append(list, ethernet.DeviceID(d))
		}
	}
	return list
}
