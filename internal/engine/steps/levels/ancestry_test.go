package levels

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// A switch reaches itself and what is on the ways down from it, but what has no weight.
func TestReach(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:4,hosts=1")
	l := &Levels{Fabric: f, Height: []int32{0, 1, 0, 2}} // switch 3 is above 0 and 2, and so is 1
	r := l.Reach([]fabric.NodeID{3, 1, 2, 0}, []int64{5, 7, 0, 11})
	for s, want := range []int64{5, 7 + 5, 0, 11 + 5} {
		if got := r.Sum(fabric.NodeID(s), []int64{1: 7, 0: 5, 2: 100, 3: 11}); got != want {
			t.Errorf("switch %d reaches %d, want %d", s, got, want)
		}
	}
}

// The pairs that are joined count over all parts of the network; a part in which fewer
// than half of them are is refused, at the switch with fewest, in hosts and per cent.
func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		common []ancestry
		share  float64
	}{
		{nil, 1},
		{[]ancestry{{}}, 1},
		{[]ancestry{{joined: 3, pairs: 4}}, 0.75},
		{[]ancestry{{joined: 1, pairs: 2}, {joined: 3, pairs: 6}, {joined: 2, pairs: 2}}, 0.6},
	} {
		if got := share(c.common); got != c.share {
			t.Errorf("%+v: a share of %v, want %v", c.common, got, c.share)
		}
	}
	l := &Levels{Fabric: testnet.Build(t, "ring:3")}
	for _, c := range []struct {
		common []ancestry
		want   string
	}{
		{[]ancestry{{joined: 50, pairs: 100}, {joined: 9, pairs: 10}}, ""},
		{[]ancestry{{joined: 50, pairs: 100}, {joined: 49, pairs: 99, isolated: 2, joinedWith: 3, hosts: 8}}, "3 of 8 hosts, and only 49 % of all pairs"},
		{[]ancestry{{joined: 0, pairs: 1, isolated: 1, joinedWith: 1, hosts: 4}}, "1 of 4 hosts, and only 0 % of all pairs"},
	} {
		l.common = c.common
		no := l.tooFewJoined()
		switch {
		case c.want == "" && no != nil:
			t.Errorf("%+v: %v", c.common, no)
		case c.want != "" && (no == nil || !strings.Contains(no.Error(), c.want) || no.Node != c.common[len(c.common)-1].isolated):
			t.Errorf("%+v: %v, want %q", c.common, no, c.want)
		}
	}
}
