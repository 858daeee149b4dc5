package levels

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// noted is a path finder that makes no paths and notes something.
type noted string

func (n noted) Paths(context.Context, *fabric.Fabric, routing.Progress) (*routing.Forwarding, error) {
	return &routing.Forwarding{Notes: []string{string(n)}}, nil
}

// The findings about a network that keeps all rules say how many switches are on which level, and how many pairs of hosts
// have a switch above both.
func TestExplain(t *testing.T) {
	for _, x := range []struct {
		name           string
		f              *fabric.Fabric
		levels, joined string
	}{
		{"a switch", oddRing(t, 0, nil, []int{2}), "1 level", "all do"},
		{"a tree", testnet.Build(t, "karytree:k=3,n=2"), "2 levels with 3, 3 switches, from the lowest up", "all do"},
		{"a tree as it was grown", testnet.Build(t, "patchwork:3"), "3 levels with 1, 18, 9 switches, from the lowest up", "99.1 % do"},
		{"a tree that lacks little", testnet.Build(t, "patchwork:5"), "4 levels with 1, 139, 84, 32 switches, from the lowest up", "all but 100 pairs do"},
	} {
		got := Explain(x.f, noted("a note"))
		want := []string{x.levels, x.joined, "a note"}
		if len(got) != len(want) {
			t.Errorf("%s: %+v", x.name, got)
			continue
		}
		for i, finding := range got {
			if !finding.OK || finding.Why != want[i] {
				t.Errorf("%s, %s: %v, %q, want %q", x.name, finding.Rule, finding.OK, finding.Why, want[i])
			}
		}
	}
}
