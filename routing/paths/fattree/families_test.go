package fattree

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
)

// The pairs that are joined count over all parts of the network; a part in which fewer
// than half of them are is refused, at the switch with fewest, in hosts and per cent.
func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		fams  []family
		share float64
	}{
		{nil, 1},
		{[]family{{}}, 1},
		{[]family{{joined: 3, pairs: 4}}, 0.75},
		{[]family{{joined: 1, pairs: 2}, {joined: 3, pairs: 6}, {joined: 2, pairs: 2}}, 0.6},
	} {
		if got := share(c.fams); got != c.share {
			t.Errorf("%+v: a share of %v, want %v", c.fams, got, c.share)
		}
	}
	l := &levels{f: testnet.Build(t, "ring:3")}
	for _, c := range []struct {
		fams []family
		want string
	}{
		{[]family{{joined: 50, pairs: 100}, {joined: 9, pairs: 10}}, ""},
		{[]family{{joined: 50, pairs: 100}, {joined: 49, pairs: 99, loner: 2, with: 3, of: 8}}, "3 of 8 hosts, and only 49 % of all pairs"},
		{[]family{{joined: 0, pairs: 1, loner: 1, with: 1, of: 4}}, "1 of 4 hosts, and only 0 % of all pairs"},
	} {
		no := l.estranged(c.fams)
		switch {
		case c.want == "" && no != nil:
			t.Errorf("%+v: %v", c.fams, no)
		case c.want != "" && (no == nil || !strings.Contains(no.Error(), c.want) || no.Node != c.fams[len(c.fams)-1].loner):
			t.Errorf("%+v: %v, want %q", c.fams, no, c.want)
		}
	}
}
