package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Damage takes parts of a fabric away: some by name, and then so many at random,
// as failures do.
//
// Switches are drawn before cables. An adapter goes with the last of its cables.
// Draws keep together what is together: a switch or cable that holds two others
// together is passed over, unless MayCut. Every cable that can go is found (a cable
// that holds a network together always will, whatever else goes), switches are
// looked at again until none can go any more.
//
// The draws are math/rand/v2's PCG with Seed and a constant stream, over the
// switches and cables in the order of the fabric. With the same seed, more switches
// are those of fewer and further ones, and so are cables where the switches are the
// same. Drawing takes O(E) a candidate, for E cables, and far less where the ends
// of a cable find each other nearby.
type Damage struct {
	Nodes    []fabric.NodeID    // to take away, drawn or not
	Channels []fabric.ChannelID // whose cables to take away
	Switches int                // to draw
	Links    int                // cables between switches to draw
	MayCut   bool               // draw blindly, though the network may fall apart
	Seed     uint64             // of the random stream
}

// Loss is what damage takes away, everything once and in order.
type Loss struct {
	Switches []fabric.NodeID
	Links    []fabric.ChannelID // cables between nodes that stay, by their lower channel
	Adapters []fabric.NodeID    // and routers, with no cable left
}

// damageStream is the second half of the PCG seed: "weft" and "damg" in ASCII.
const damageStream = 0x77656674_64616d67

// wreck is a fabric while parts are drawn.
type wreck struct {
	f        *fabric.Fabric
	goneNode []bool // [NodeID]
	goneLink []bool // [ChannelID] both channels of a cable
	keep     bool
	seen     []int // [NodeID of a switch] the last search that found it
	searches int
	queue    []fabric.NodeID
}

// Draw says what goes. It refuses to take more than there is, or than can go while
// the rest holds together; the fabric needs at least one switch in the end.
func (d Damage) Draw(f *fabric.Fabric) (*Loss, error) {
	w := &wreck{
		f: f, keep: !d.MayCut,
		goneNode: make([]bool, len(f.Nodes())), goneLink: make([]bool, len(f.Channels())), seen: make([]int, f.Switches()),
	}
	for _, n := range d.Nodes {
		w.goneNode[n] = true
	}
	for _, c := range d.Channels {
		w.take(c)
	}
	rng := rand.New(rand.NewPCG(d.Seed, damageStream))
	if err := w.drawSwitches(rng.Perm(f.Switches()), d.Switches); err != nil {
		return nil, err
	}
	if err := w.drawLinks(rng.Perm(f.Trunks()), d.Links); err != nil {
		return nil, err
	}
	return w.loss(), nil
}

// Apply is the fabric without the loss.
func (l *Loss) Apply(f *fabric.Fabric) (*fabric.Fabric, error) {
	return f.Without(l.Links, slices.Concat(l.Switches, l.Adapters))
}

func (w *wreck) take(c fabric.ChannelID) {
	w.goneLink[c], w.goneLink[w.f.Channel(c).Reverse] = true, true
}

// there says whether a trunk is still there.
func (w *wreck) there(c fabric.ChannelID) bool {
	ch := w.f.Channel(c)
	return !w.goneLink[c] && !w.goneNode[ch.From] && !w.goneNode[ch.To]
}

func (w *wreck) drawSwitches(order []int, want int) error {
	left, drawn := 0, 0
	for s := range w.f.Switches() {
		if !w.goneNode[s] {
			left++
		}
	}
	if want < 0 || want > 0 && want >= left {
		return fmt.Errorf("topology: cannot draw %d of %d switches; one has to stay", want, left)
	}
	for drawn < want {
		before := drawn
		for _, s := range order {
			if v := fabric.NodeID(s); drawn < want && !w.goneNode[v] && !w.holdsTogether(v) {
				w.goneNode[v] = true
				drawn++
			}
		}
		if drawn == before {
			return &TooFragile{What: "switches", Want: want, Can: drawn}
		}
	}
	return nil
}

func (w *wreck) drawLinks(order []int, want int) error {
	left, drawn := 0, 0
	for c := range fabric.ChannelID(w.f.Trunks()) {
		if c < w.f.Reverses()[c] && w.there(c) {
			left++
		}
	}
	if want < 0 || want > left {
		return fmt.Errorf("topology: cannot draw %d of %d cables between switches", want, left)
	}
	for _, t := range order {
		c := fabric.ChannelID(t)
		if drawn == want {
			return nil
		}
		if c > w.f.Reverses()[c] || !w.there(c) {
			continue
		}
		w.take(c)
		if ch := w.f.Channel(c); w.keep && !w.reach(ch.From, []fabric.NodeID{ch.To}) {
			w.goneLink[c], w.goneLink[ch.Reverse] = false, false
			continue
		}
		drawn++
	}
	if drawn < want {
		return &TooFragile{What: "cables between switches", Want: want, Can: drawn}
	}
	return nil
}

// TooFragile says that the network would fall apart if as much went as is asked.
type TooFragile struct {
	What      string
	Want, Can int
}

func (e *TooFragile) Error() string {
	return fmt.Sprintf("topology: the network falls apart if more than %d of its %s go, and %d are asked for", e.Can, e.What, e.Want)
}

// holdsTogether says whether the neighbours of a switch would lose each other with
// it.
func (w *wreck) holdsTogether(v fabric.NodeID) bool {
	if !w.keep {
		return false
	}
	var next []fabric.NodeID
	for c, end := w.f.TrunksFrom(v); c < end; c++ {
		if u := w.f.Heads()[c]; w.there(c) && !slices.Contains(next, u) {
			next = append(next, u)
		}
	}
	if len(next) == 0 {
		return false
	}
	w.goneNode[v] = true
	defer func() { w.goneNode[v] = false }()
	return !w.reach(next[0], next[1:])
}

// reach says whether one switch reaches all of some others.
func (w *wreck) reach(from fabric.NodeID, to []fabric.NodeID) bool {
	w.searches++
	missing := len(to)
	w.queue = append(w.queue[:0], from)
	w.seen[from] = w.searches
	for i := 0; i < len(w.queue) && missing > 0; i++ {
		for c, end := w.f.TrunksFrom(w.queue[i]); c < end; c++ {
			u := w.f.Heads()[c]
			if w.seen[u] == w.searches || !w.there(c) {
				continue
			}
			w.seen[u] = w.searches
			w.queue = append(w.queue, u)
			if slices.Contains(to, u) {
				missing--
			}
		}
	}
	return missing == 0
}

// loss lists what is gone.
func (w *wreck) loss() *Loss {
	l := &Loss{}
	cables, kept := make([]int, len(w.goneNode)), make([]int, len(w.goneNode)) // [NodeID]
	for c := range fabric.ChannelID(len(w.goneLink)) {
		from := w.f.Channel(c).From
		cables[from]++
		if w.there(c) {
			kept[from]++
		}
	}
	for v := range fabric.NodeID(len(w.goneNode)) {
		switch {
		case w.f.Node(v).Kind == fabric.Switch:
			if w.goneNode[v] {
				l.Switches = append(l.Switches, v)
			}
		case w.goneNode[v], cables[v] > 0 && kept[v] == 0:
			w.goneNode[v] = true
			l.Adapters = append(l.Adapters, v)
		}
	}
	for c := range fabric.ChannelID(len(w.goneLink)) {
		if ch := w.f.Channel(c); w.goneLink[c] && c < ch.Reverse && !w.goneNode[ch.From] && !w.goneNode[ch.To] {
			l.Links = append(l.Links, c)
		}
	}
	return l
}
