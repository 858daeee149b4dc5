package judge_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
)

// The judge of adaptive routing counts the trunks of a switch in words of bits: also
// where a switch has as many as a word, or two words, or more.
func TestAdaptiveJudgeOfManyPorts(t *testing.T) {
	for _, cables := range []int{32, 33, 64, 65} {
		var b fabric.Builder
		hub := b.Node(fabric.Node{GUID: 1, Ports: 2 * cables}, "")
		for leaf := range 2 {
			sw := b.Node(fabric.Node{GUID: fabric.GUID(10 + leaf), Ports: cables + 1}, "")
			for c := range cables {
				b.Cable(hub, uint8(leaf*cables+c+1), sw, uint8(c+1), fabric.Rate{})
			}
			b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(100 + leaf), Kind: fabric.Adapter, Ports: 1}, ""), 1, sw, uint8(cables+1), fabric.Rate{})
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		v, err := judge.Verify(context.Background(), everyShortest(f, 1, all(1), all(1)), judge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// From every cable of the one leaf to every cable of the other.
		if !v.Free() || v.Dependencies != 2*cables*cables {
			t.Fatalf("%d cables: free %v, %d dependencies", cables, v.Free(), v.Dependencies)
		}
		for in := range fabric.ChannelID(f.Trunks()) {
			for out := range fabric.ChannelID(f.Trunks()) {
				i, o := f.Channel(in), f.Channel(out)
				if i.To == 0 && o.From == 0 && i.From != o.To && v.Certificate.Rank[in] >= v.Certificate.Rank[out] {
					t.Fatalf("%d cables: the rank does not rise from trunk %d to %d", cables, in, out)
				}
			}
		}
	}
}
