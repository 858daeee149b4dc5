package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Damage takes parts of a fabric away: some by name, and then a number of others at
// random, as failures do.
//
// Switches are drawn before cables. An adapter is removed with the last of its cables.
// A draw does not disconnect the network: a switch or cable whose removal would is
// skipped, unless MayCut is set. A cable that was skipped stays necessary whatever else
// is removed, so each is tried once; switches are tried again until no more can be
// removed.
//
// The draws use math/rand/v2's PCG with Seed and a constant stream, over the switches
// and cables in the order of the fabric. With the same seed, drawing more switches
// removes the same ones and further ones, and likewise for cables if the switches are
// the same. Drawing takes O(E) for each candidate with E cables, and far less where the
// ends of a cable are connected by a short detour.
type Damage struct {
	Nodes    []fabric.NodeID    // removed in any case
	Channels []fabric.ChannelID // their cables are removed in any case
	Switches int                // number to draw
	Links    int                // number of cables between switches to draw
	MayCut   bool               // draw without regard to whether the network stays connected
	Seed     uint64             // of the random stream
}

// Loss is what damage removes, each part once, in the order of the fabric.
type Loss struct {
	Switches []fabric.NodeID
	Links    []fabric.ChannelID // cables between nodes that remain, by their lower channel
	Adapters []fabric.NodeID    // adapters and routers that have no cable left
}

// damageStream is the second half of the PCG seed: "weft" and "damg" in ASCII.
const damageStream = 0x77656674_64616d67

// damaged is a fabric while parts are removed.
type damaged struct {
	f        *fabric.Fabric
	goneNode []bool          // [NodeID]
	goneLink []bool          // [ChannelID] set for both channels of a cable
	whole    bool            // the network must stay connected
	seen     []int           // [switch] number of the last search that reached it
	searches int             // how many there were; the number of the last
	queue    []fabric.NodeID // of a search
}

// Draw chooses what is removed. It refuses more than there is, or more than can be
// removed while the rest stays connected; at least one switch has to remain.
func (d Damage) Draw(f *fabric.Fabric) (*Loss, error) {
	w := &damaged{
		f: f, whole: !d.MayCut,
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

// take removes a cable, named by either of its channels.
func (w *damaged) take(c fabric.ChannelID) {
	w.goneLink[c], w.goneLink[w.f.Channel(c).Reverse] = true, true
}

// isLeft reports whether a trunk has not been removed.
func (w *damaged) isLeft(c fabric.ChannelID) bool {
	ch := w.f.Channel(c)
	return !w.goneLink[c] && !w.goneNode[ch.From] && !w.goneNode[ch.To]
}

// drawSwitches removes want switches, the first in the order that may go. Those that may not
// are tried again after the others, since they may go once their neighbours have.
func (w *damaged) drawSwitches(order []int, want int) error {
	left, drawn := 0, 0
	for s := range w.f.Switches() {
		if !w.goneNode[s] {
			left++
		}
	}
	if want < 0 || want > 0 && want >= left {
		return fmt.Errorf("cannot draw %d of %d switches; one has to stay", want, left)
	}
	for drawn < want {
		before := drawn
		for _, s := range order {
			if v := fabric.NodeID(s); drawn < want && !w.goneNode[v] && !w.disconnects(v) {
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

// drawLinks removes want cables between switches, the first in an order of trunks that may go.
func (w *damaged) drawLinks(order []int, want int) error {
	left, drawn := 0, 0
	for c := range fabric.ChannelID(w.f.Trunks()) {
		if c < w.f.Reverses()[c] && w.isLeft(c) {
			left++
		}
	}
	if want < 0 || want > left {
		return fmt.Errorf("cannot draw %d of %d cables between switches", want, left)
	}
	for _, t := range order {
		c := fabric.ChannelID(t)
		if drawn == want {
			return nil
		}
		if c > w.f.Reverses()[c] || !w.isLeft(c) {
			continue
		}
		w.take(c)
		if ch := w.f.Channel(c); w.whole && !w.reaches(ch.From, []fabric.NodeID{ch.To}) {
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

// TooFragile says that the network would be disconnected if as much were removed as
// asked for.
type TooFragile struct {
	What      string
	Want, Can int
}

func (e *TooFragile) Error() string {
	return fmt.Sprintf("the network falls apart if more than %d of its %s go, and %d are asked for", e.Can, e.What, e.Want)
}

// disconnects reports whether removing a switch would separate its neighbours, where that
// matters.
func (w *damaged) disconnects(v fabric.NodeID) bool {
	if !w.whole {
		return false
	}
	var next []fabric.NodeID
	for c, end := w.f.TrunksFrom(v); c < end; c++ {
		if u := w.f.Heads()[c]; w.isLeft(c) && !slices.Contains(next, u) {
			next = append(next, u)
		}
	}
	if len(next) == 0 {
		return false
	}
	w.goneNode[v] = true
	defer func() { w.goneNode[v] = false }()
	return !w.reaches(next[0], next[1:])
}

// reaches reports whether one switch reaches all of some others by what is left.
func (w *damaged) reaches(from fabric.NodeID, to []fabric.NodeID) bool {
	w.searches++
	missing := len(to)
	w.queue = append(w.queue[:0], from)
	w.seen[from] = w.searches
	for i := 0; i < len(w.queue) && missing > 0; i++ {
		for c, end := w.f.TrunksFrom(w.queue[i]); c < end; c++ {
			u := w.f.Heads()[c]
			if w.seen[u] == w.searches || !w.isLeft(c) {
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

// loss lists what was removed, and removes the adapters that have lost all their cables.
func (w *damaged) loss() *Loss {
	l := &Loss{}
	cables, kept := make([]int, len(w.goneNode)), make([]int, len(w.goneNode)) // [NodeID]
	for c := range fabric.ChannelID(len(w.goneLink)) {
		from := w.f.Channel(c).From
		cables[from]++
		if w.isLeft(c) {
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
