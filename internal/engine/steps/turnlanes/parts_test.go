package turnlanes

import (
	"math/bits"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// What is left of a tree of planes without its leaves is the planes; every cable of a leaf
// is of one, those behind leaves of none. Where all switches send there are no parts.
func TestPartsArePlanes(t *testing.T) {
	f := testnet.Build(t, "planes:ports=12,groups=7,leaves=5,planes=8,on=4,up=5")
	p := newParts(f, routing.HCA.Ends(f))
	if p == nil || p.n != 8 || len(p.sees) != 7 {
		t.Fatalf("%+v", p)
	}
	for _, set := range p.sees {
		if bits.OnesCount64(set) != 4 {
			t.Errorf("a leaf sees the parts %b", set)
		}
	}
	for a, joins := range p.joins { // groups on planes g … g+3: all within three of a, as far as there are groups
		if joins>>a&1 == 0 || joins>>((a+4)%8)&1 == 1 {
			t.Errorf("a turn may lead from part %d to %b", a, joins)
		}
	}
	for c, of := range p.of {
		ch := f.Channel(fabric.ChannelID(c))
		ends := routing.HCA.Ends(f)
		if (of == none) != (ends[ch.From] && ends[ch.To]) {
			t.Errorf("%s – %s is of part %d", f.Label(ch.From), f.Label(ch.To), of)
		}
	}
	torus := testnet.Build(t, "torus:4x4")
	if p := newParts(torus, routing.HCA.Ends(torus)); p != nil {
		t.Errorf("a torus, all of whose switches send, has %d parts", p.n)
	}
}

// Of the parts that each switch sees some are drawn as late, so that ways are left between all pairs,
// if there are enough: three or two are not.
func TestLateParts(t *testing.T) {
	for spec, enough := range map[string]bool{
		"planes:ports=12,groups=7,leaves=5,planes=8,on=4,up=5": true,
		"planes:ports=12,groups=5,leaves=4,planes=6,on=3,up=4": false,
		testnet.Small: false,
	} {
		f := testnet.Build(t, spec)
		p := newParts(f, routing.HCA.Ends(f))
		late, w := p.drawLate()
		if w != p.judge(late) || (w.lacks == 0) != enough {
			t.Errorf("%s: late %b, %+v", spec, late, w)
		}
		for _, set := range p.sees {
			if n := bits.OnesCount64(set & late); enough && (n < 2 || n > bits.OnesCount64(set)-2) {
				t.Errorf("%s: %d of the parts %b are late", spec, n, set)
			}
		}
	}
}
