package proofchecker

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
)

// longestList is how many bytes a list may have: weft-proof reads lines of 64 KiB.
const longestList = 60_000

// WriteTables writes the tables of a lossless Ethernet network as weft-proof reads them (docs/proof.md): sections of lines
// that are counted, and at the end how many lines there are, so that a line that is lost is noticed. Devices, links,
// marks and classes are numbers there, from 0 in the order of their lines; a cable is two links, 2i and 2i+1.
func WriteTables(w io.Writer, n *ethernet.Network) error {
	t := &tables{n: n, out: bufio.NewWriter(w), link: make([]int, len(n.Links))}
	t.line("weft ethernet tables 1")
	t.section("devices", n.Names)
	t.cables()
	t.marks()
	t.rules()
	t.tunnelMaps()
	t.classes()
	t.nextHops()
	t.tunnels()
	t.line("end\t%d", t.lines)
	return t.out.Flush()
}

// tables is a file on its way. Each of its methods below writes one section, or two that belong together.
type tables struct {
	n     *ethernet.Network
	out   *bufio.Writer
	lines int   // written so far
	link  []int // [LinkID] its number in the file; cables sets it
}

// line writes a line.
func (t *tables) line(form string, values ...any) {
	fmt.Fprintf(t.out, form+"\n", values...)
	t.lines++
}

// section writes the name of a section with the number of its lines, and these.
func (t *tables) section(name string, lines []string) {
	t.line("%s\t%d", name, len(lines))
	for _, l := range lines {
		t.line("%s", l)
	}
}

// cables numbers the links and writes the cables: device and interface of both ends.
func (t *tables) cables() {
	var lines []string
	for i, l := range t.n.Links {
		if back := t.n.Reverse[i]; ethernet.LinkID(i) < back {
			t.link[i], t.link[back] = 2*len(lines), 2*len(lines)+1
			lines = append(lines, fmt.Sprintf("%d\t%s\t%d\t%s", l.From, l.FromInterface, l.To, l.ToInterface))
		}
	}
	t.section("cables", lines)
}

// marks writes the marks, and the lane of each on the links where it is not lossy.
func (t *tables) marks() {
	p := t.n.Priorities
	var marks, lanes []string
	for m, name := range p.Marks {
		when := "later"
		if p.Start>>m&1 == 1 {
			when = "start"
		}
		marks = append(marks, when+"\t"+name)
		on := make([][]int, ethernet.MaxPriorities) // [lane] the links where packets of this mark are on it
		for l := range t.n.Links {
			if lane := p.Of(uint8(m), ethernet.LinkID(l)); lane != ethernet.Lossy {
				on[lane] = append(on[lane], t.link[l])
			}
		}
		for lane, links := range on {
			for _, list := range listed(links) {
				lanes = append(lanes, fmt.Sprintf("%d\t%d\t%s", m, lane, list))
			}
		}
	}
	t.section("marks", marks)
	t.section("lanes", lanes)
}

// rules writes which marks become others, on the way from a link (- for packets that begin at the device) to the next.
func (t *tables) rules() {
	n := t.n
	var lines []string
	for out, link := range n.Links {
		if !n.Priorities.Rules.Changes(link.From) {
			continue
		}
		add := func(in ethernet.LinkID, name string) {
			for m := range n.Priorities.Marks {
				if becomes := n.Priorities.Rules.Becomes(in, ethernet.LinkID(out), uint8(m)); int(becomes) != m {
					lines = append(lines, fmt.Sprintf("%s\t%d\t%d\t%d", name, t.link[out], m, becomes))
				}
			}
		}
		add(ethernet.None, "-")
		for l, end := n.LinksFrom(link.From); l < end; l++ {
			in := n.Reverse[l]
			add(in, strconv.Itoa(t.link[in]))
		}
	}
	t.section("rules", lines)
}

// tunnelMaps writes, for each map of tunnels, the marks that each mark can become there, mark by mark.
func (t *tables) tunnelMaps() {
	var lines []string
	for _, m := range t.n.TunnelMaps {
		var fields []string
		for _, set := range m {
			var marks []int
			for ; set != 0; set &= set - 1 {
				marks = append(marks, bits.TrailingZeros64(set))
			}
			fields = append(fields, cmp.Or(strings.Join(listed(marks), ","), "-"))
		}
		lines = append(lines, strings.Join(fields, "\t"))
	}
	t.section("tunnel maps", lines)
}

// classes writes the classes, their prefixes, and the devices where their packets leave the network.
func (t *tables) classes() {
	var classes, prefixes, ends []string
	for i := range t.n.Classes {
		c := &t.n.Classes[i]
		kind := "devices"
		if c.Hosts {
			kind = "hosts"
		}
		classes = append(classes, kind)
		for _, p := range c.Prefixes {
			prefixes = append(prefixes, fmt.Sprintf("%d\t%s", i, p))
		}
		at := make([]int, len(c.At))
		for k, d := range c.At {
			at[k] = int(d)
		}
		for _, list := range listed(at) {
			ends = append(ends, fmt.Sprintf("%d\t%s", i, list))
		}
	}
	t.section("classes", classes)
	t.section("prefixes", prefixes)
	t.section("ends", ends)
}

// nextHops writes, for every device, each set of next hops with the classes that have it.
func (t *tables) nextHops() {
	n := t.n
	var lines []string
	for d := range ethernet.DeviceID(len(n.Names)) {
		of := map[string][]int{} // [words of a row] the classes whose next hops they are
		var sets []string        // its keys, in the order of the first class of each
		var key []byte
		for i := range n.Classes {
			key = key[:0]
			for _, word := range n.Words(n.Classes[i].Next, d) {
				key = binary.LittleEndian.AppendUint64(key, word)
			}
			if of[string(key)] == nil {
				sets = append(sets, string(key))
			}
			of[string(key)] = append(of[string(key)], i)
		}
		for _, set := range sets {
			var links []int
			n.Each(n.Words(n.Classes[of[set][0]].Next, d), d, func(l ethernet.LinkID) { links = append(links, t.link[l]) })
			if len(links) == 0 {
				continue
			}
			for _, list := range listed(of[set]) {
				lines = append(lines, fmt.Sprintf("%d\t%s\t%s", d, list, strings.Join(listed(links), ",")))
			}
		}
	}
	t.section("next hops", lines)
}

// tunnels writes the tunnels of each class: the device that wraps, the class of the outer header, and the map of marks.
func (t *tables) tunnels() {
	var lines []string
	for i := range t.n.Classes {
		for _, u := range t.n.Classes[i].Tunnels {
			lines = append(lines, fmt.Sprintf("%d\t%d\t%d\t%d", i, u.Device, u.Into, u.Map))
		}
	}
	t.section("tunnels", lines)
}

// listed writes numbers as ascending lists such as 0-5,7, several if one were too long.
func listed(numbers []int) []string {
	numbers = slices.Sorted(slices.Values(numbers))
	var lists []string
	var b strings.Builder
	for i := 0; i < len(numbers); {
		k := i + 1
		for k < len(numbers) && numbers[k] == numbers[k-1]+1 {
			k++
		}
		if b.Len() > longestList {
			lists = append(lists, b.String())
			b.Reset()
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(numbers[i]))
		if k > i+1 {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(numbers[k-1]))
		}
		i = k
	}
	if b.Len() > 0 {
		lists = append(lists, b.String())
	}
	return lists
}
