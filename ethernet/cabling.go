package ethernet

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/internal/visible"
	"github.com/weft-fabric/weft/internal/words"
)

type (
	// DeviceID numbers the devices of a Cabling.
	DeviceID int32
	// LinkID numbers its links. Each cable is two links, one in each direction.
	LinkID int32
)

// None is the absent DeviceID or LinkID.
const None = -1

// End is an interface of a device.
type End struct {
	Device, Interface string
}

func (e End) String() string { return e.Device + ", " + e.Interface }

// Cable joins two interfaces.
type Cable struct {
	A, B End
}

// Link is one direction of a cable.
type Link struct {
	From, To                   DeviceID
	FromInterface, ToInterface string
}

// Cabling is devices and the links between them. It is immutable; all slices are shared.
type Cabling struct {
	Names   []string // [DeviceID]
	Links   []Link   // [LinkID]
	Reverse []LinkID // [LinkID] the other direction of the cable

	first []LinkID // [DeviceID] the first of the links that leave it, with one entry more for the end
	word  []int32  // [DeviceID] the first of its words in a Row, with one entry more for the end
}

// NewCabling makes a Cabling. It refuses two devices of one name, names that cannot be printed, cables to
// devices that are not named, cables from a device to itself, and two cables at one interface.
func NewCabling(devices []string, cables []Cable) (*Cabling, error) {
	c := &Cabling{Names: slices.Clone(devices)}
	slices.SortFunc(c.Names, words.Natural)
	id := map[string]DeviceID{}
	for i, name := range c.Names {
		if err := visible.Name(name, name); err != nil {
			return nil, err
		}
		if _, twice := id[name]; twice {
			return nil, fmt.Errorf("two devices are called %s", name)
		}
		id[name] = DeviceID(i)
	}
	plugged := map[End]End{}
	for _, cable := range cables {
		for _, ends := range [2]Cable{cable, {cable.B, cable.A}} {
			if _, ok := id[ends.A.Device]; !ok {
				return nil, fmt.Errorf("a cable from %s to %s: there is no device %s", ends.B, ends.A, ends.A.Device)
			}
			if err := visible.Name(ends.A.Device, ends.A.Interface); err != nil {
				return nil, err
			}
			if other, taken := plugged[ends.A]; taken {
				return nil, fmt.Errorf("two cables at %s: to %s and to %s", ends.A, other, ends.B)
			}
			plugged[ends.A] = ends.B
			c.Links = append(c.Links, Link{
				From: id[ends.A.Device], To: id[ends.B.Device], FromInterface: ends.A.Interface, ToInterface: ends.B.Interface,
			})
		}
		if cable.A.Device == cable.B.Device {
			return nil, fmt.Errorf("a cable from %s to %s, on the same device", cable.A, cable.B.Interface)
		}
	}
	c.index()
	return c, nil
}

// index orders the links and finds the links of each device and the other direction of each link.
func (c *Cabling) index() {
	slices.SortFunc(c.Links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.From, b.From), words.Natural(a.FromInterface, b.FromInterface))
	})
	c.first = make([]LinkID, len(c.Names)+1)
	c.word = make([]int32, len(c.Names)+1)
	leaving := map[End]LinkID{}
	for i, l := range c.Links {
		c.first[l.From+1]++
		leaving[c.End(LinkID(i))] = LinkID(i)
	}
	for d := range c.Names {
		c.word[d+1] = c.word[d] + int32(c.first[d+1]+63)/64
		c.first[d+1] += c.first[d]
	}
	c.Reverse = make([]LinkID, len(c.Links))
	for i, l := range c.Links {
		c.Reverse[i] = leaving[End{c.Names[l.To], l.ToInterface}]
	}
}

// Device finds a device by name; None if there is none.
func (c *Cabling) Device(name string) DeviceID {
	if i, ok := slices.BinarySearchFunc(c.Names, name, words.Natural); ok {
		return DeviceID(i)
	}
	return None
}

// LinkAt is the link that leaves an interface; None if there is none.
func (c *Cabling) LinkAt(d DeviceID, name string) LinkID {
	for l, end := c.LinksFrom(d); l < end; l++ {
		if c.Links[l].FromInterface == name {
			return l
		}
	}
	return None
}

// LinksFrom is the range [first, end) of the links that leave a device.
func (c *Cabling) LinksFrom(d DeviceID) (first, end LinkID) { return c.first[d], c.first[d+1] }

// Cables counts the cables.
func (c *Cabling) Cables() int { return len(c.Links) / 2 }

// End is the interface that a link leaves.
func (c *Cabling) End(l LinkID) End { return End{c.Names[c.Links[l].From], c.Links[l].FromInterface} }

// Row is a set of links. The links that leave a device have words of their own: bit i of them is the i-th of LinksFrom.
type Row []uint64

// NewRow is an empty set.
func (c *Cabling) NewRow() Row { return make(Row, c.word[len(c.Names)]) }

// Words is the part of a row with the links that leave a device. It is not a copy.
func (c *Cabling) Words(r Row, d DeviceID) []uint64 { return r[c.word[d]:c.word[d+1]] }

// FirstWord is where in a row the words of a device begin.
func (c *Cabling) FirstWord(d DeviceID) int { return int(c.word[d]) }

// Has reports whether a link is in a row.
func (c *Cabling) Has(r Row, l LinkID) bool {
	word, bit := c.place(l)
	return r[word]&bit != 0
}

// Add puts a link into a row.
func (c *Cabling) Add(r Row, l LinkID) {
	word, bit := c.place(l)
	r[word] |= bit
}

// Remove takes a link out of a row.
func (c *Cabling) Remove(r Row, l LinkID) {
	word, bit := c.place(l)
	r[word] &^= bit
}

// place is the word of a row that has a link, and the link's bit in it.
func (c *Cabling) place(l LinkID) (word int32, bit uint64) {
	d := c.Links[l].From
	i := int32(l - c.first[d])
	return c.word[d] + i/64, 1 << (i % 64)
}

// Each calls visit for every link in the words of a device (Words), ascending.
func (c *Cabling) Each(words []uint64, d DeviceID, visit func(LinkID)) {
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			visit(c.first[d] + LinkID(i*64+bits.TrailingZeros64(w)))
		}
	}
}

// FirstOf is the lowest link of a set that is not empty, given as the bits of one of the words of a device.
func (c *Cabling) FirstOf(d DeviceID, word int, set uint64) LinkID {
	return c.first[d] + LinkID(word*64+bits.TrailingZeros64(set))
}
