package ethernet

// Lossy is the lane of packets that are dropped where there is no space.
const Lossy = -1

// MaxPriorities is how many priorities PFC has.
const MaxPriorities = 8

// MaxMarks is how many marks a network may have: those of a DSCP.
const MaxMarks = 64

// Priorities says which lane of a link a packet is in, by its mark, and where devices change
// marks.
type Priorities struct {
	Marks []string // [mark] its name for people
	Start uint64   // marks that hosts send with, as bits
	Lane  []int8   // [mark × links + link] the lowest priority that pauses its priority group at the receiving port; Lossy
	Rules *Rules   // nil: marks never change
}

// Of is the lane of packets with a mark on a link.
func (p *Priorities) Of(mark uint8, l LinkID) int8 {
	return p.Lane[int(mark)*(len(p.Lane)/len(p.Marks))+int(l)]
}

// Lossless lists the lanes that some link has, ascending.
func (p *Priorities) Lossless() []int {
	var used [MaxPriorities]bool
	for _, lane := range p.Lane {
		if lane != Lossy {
			used[lane] = true
		}
	}
	var list []int
	for i, u := range used {
		if u {
			list = append(list, i)
		}
	}
	return list
}

// Uniform is priorities without maps: packets keep the priority that they are sent with,
// and some priorities are lossless on every link.
func Uniform(c *Cabling, lossless []uint8) *Priorities {
	p := &Priorities{Lane: make([]int8, 0, len(lossless)*len(c.Links))}
	for i, priority := range lossless {
		p.Marks = append(p.Marks, "priority "+string('0'+rune(priority)))
		p.Start |= 1 << i
		for range c.Links {
			p.Lane = append(p.Lane, int8(priority))
		}
	}
	return p
}

// Rules is what devices do to the marks of packets that they forward.
type Rules struct {
	c     *Cabling
	marks int
	table [][]uint8 // [DeviceID][index] the mark that a packet leaves with; nil: the device changes nothing
}

// NewRules is rules that change nothing.
func NewRules(c *Cabling, marks int) *Rules {
	return &Rules{c: c, marks: marks, table: make([][]uint8, len(c.Names))}
}

// Changes reports whether a device changes marks at all.
func (r *Rules) Changes(d DeviceID) bool { return r != nil && r.table[d] != nil }

// Set makes the device between two links give packets with one mark another. in is the link
// they come by, None for hosts; out is the one they leave by.
func (r *Rules) Set(in, out LinkID, mark, becomes uint8) {
	d := r.c.Links[out].From
	if r.table[d] == nil {
		first, end := r.c.LinksFrom(d)
		links := int(end - first)
		t := make([]uint8, (links+1)*links*r.marks) // in from each link, and from hosts
		for i := range t {
			t[i] = uint8(i % r.marks)
		}
		r.table[d] = t
	}
	r.table[d][r.index(d, in, out, mark)] = becomes
}

// Becomes is the mark with which a packet leaves the device between two links. in is None for hosts;
// nil rules change nothing.
func (r *Rules) Becomes(in, out LinkID, mark uint8) uint8 {
	if r == nil {
		return mark
	}
	d := r.c.Links[out].From
	if r.table[d] == nil {
		return mark
	}
	return r.table[d][r.index(d, in, out, mark)]
}

// index is the place in the table of a device: (in × links + out) × marks + mark, where links are counted from the
// device's first, in by its other direction, and hosts come behind the last.
func (r *Rules) index(d DeviceID, in, out LinkID, mark uint8) int {
	first, end := r.c.LinksFrom(d)
	links := int(end - first)
	from := links
	if in != None {
		from = int(r.c.Reverse[in] - first)
	}
	return (from*links+int(out-first))*r.marks + int(mark)
}
