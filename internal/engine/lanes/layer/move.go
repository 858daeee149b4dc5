package layer

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
)

// branch is a switch whose path passes the turn at hand in some of the eight trees of a word.
type branch struct {
	at     fabric.NodeID
	out    fabric.ChannelID // the trunk by which it forwards in these trees
	parent int32            // the branch, in breaker.behind, where that trunk ends
	trees  uint8            // these trees, as bits
	moved  uint8            // of these, those in which the path from the switch is moved
	paths  uint32           // paths between endpoints that are moved and lead through the switch
}

// fork is a trunk from whose end some of eight trees, as bits, go on by another port than others.
type fork struct {
	in    fabric.ChannelID
	trees uint8
}

// move moves all bundles of the layer with a path over a turn to the next layer, and counts their paths
// off from bc.count.
func (bc *breaker) move(in, out fabric.ChannelID, layer uint8) {
	if bc.columns == nil {
		bc.columns = newColumns(bc.pathSet, bc.trees)
	}
	f, left := bc.Fabric, &bc.count[bc.Fabric.Turn(in, out)] // left: paths that still make the turn
	a, b := f.Channel(in), f.Channel(out)
	from, via := bc.ports[int(a.From)*bc.width:][:bc.width], bc.ports[int(b.From)*bc.width:][:bc.width]
	second := bc.carries[int(out)*bc.stride:][:bc.stride]
	for i, both := range bc.carries[int(in)*bc.stride:][:bc.stride] {
		for both &= second[i]; both != 0 && *left > 0; both &= both - 1 {
			word := i*64 + bits.TrailingZeros64(both)
			trees := equal(from[word], a.FromPort) & equal(via[word], b.FromPort)
			switch {
			case trees == 0:
			case bc.both:
				bc.collect(in, word, trees)
				bc.moveBundles(word, layer)
			default:
				bc.collect(in, word, trees)
				bc.movePaths(word, layer)
			}
		}
	}
}

// collect sets bc.behind to the switches whose paths in some trees of a word lead over a trunk, each
// after the one it forwards to. Most have none behind them, and are not asked for their neighbours.
func (bc *breaker) collect(over fabric.ChannelID, word int, trees uint8) {
	f := bc.Fabric
	heads, reverses := f.Heads(), f.Reverses()
	behind := append(bc.behind[:0], branch{at: f.Channel(over).From, out: over, trees: trees}) //nolint:gocritic // scratch space, put back at the end
	for i := 0; i < len(behind); i++ {
		v := behind[i].at
		inner := behind[i].trees & bc.inner[int(v)*bc.width+word]
		if inner == 0 {
			continue
		}
		for c, end := f.TrunksFrom(v); c < end; c++ {
			if some := equal(bc.ports[int(heads[c])*bc.width+word], bc.lastPort[c]) & inner; some != 0 {
				behind = append(behind, branch{at: heads[c], out: reverses[c], parent: int32(i), trees: some})
			}
		}
	}
	bc.behind = behind
}

// moveBundles moves the bundles of the paths in bc.behind, where a bundle has paths of other trees too.
func (bc *breaker) moveBundles(word int, layer uint8) {
	for i := range bc.behind {
		b := &bc.behind[i]
		for trees := b.trees; trees != 0 && bc.sources[b.at] > 0; trees &= trees - 1 {
			d, s := bc.bundle(bc.trees[word*eight+bits.TrailingZeros8(trees)].to, b.at)
			if d.sl[s] != layer {
				continue
			}
			d.sl[s] = layer + 1
			w := bc.weight(d, s)
			bc.turns = bc.appendTurns(bc.turns[:0], d, s)
			for _, t := range bc.turns {
				bc.count[t.ID] -= w
			}
		}
	}
}

// movePaths moves the paths in bc.behind, where each is a bundle. It counts them off turn by turn: first
// from their sources to the trunk that collect was asked for, together where they meet, then from there
// to the destination, those of several trees together as far as these agree.
func (bc *breaker) movePaths(word int, layer uint8) {
	f := bc.Fabric
	moved := uint8(0)
	for i := len(bc.behind) - 1; i >= 0; i-- {
		b := &bc.behind[i]
		held := &bc.held[int(b.at)*bc.width+word]
		b.moved = b.trees & *held
		*held &^= b.moved
		moved |= b.moved
		for trees := b.moved; trees != 0; trees &= trees - 1 {
			bc.trees[word*eight+bits.TrailingZeros8(trees)].to.sl[b.at] = layer + 1
		}
		b.paths += uint32(bits.OnesCount8(b.moved)) * bc.sources[b.at]
		if i > 0 && b.paths > 0 {
			next := &bc.behind[b.parent]
			next.paths += b.paths
			bc.count[f.Turn(b.out, next.out)] -= b.paths
		}
	}
	if moved == 0 {
		return
	}
	heads := f.Heads()
	forks := [eight]fork{{in: bc.behind[0].out, trees: moved}} // the first n are still to be followed
	for n := 1; n > 0; {
		n--
		in, trees := forks[n].in, forks[n].trees
		paths := bc.behind[0].paths
		if trees != moved {
			paths = bc.pathsOf(trees)
		}
		for {
			at := heads[in]
			ports := bc.ports[int(at)*bc.width+word]
			port := lowest(ports, trees)
			if same := equal(ports, port) & trees; same != trees {
				forks[n] = fork{in: in, trees: trees &^ same}
				n++
				trees = same
				paths = bc.pathsOf(trees)
			}
			out := f.Trunk(at, port)
			if out == fabric.None {
				break // the destination's switch
			}
			bc.count[f.Turn(in, out)] -= paths
			in = out
		}
	}
}

// pathsOf is the paths between endpoints that are moved in some of the trees.
func (bc *breaker) pathsOf(trees uint8) (n uint32) {
	for i := range bc.behind {
		b := &bc.behind[i]
		n += uint32(bits.OnesCount8(b.moved&trees)) * bc.sources[b.at]
	}
	return n
}
