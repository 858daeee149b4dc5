package routing_test

import (
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// A refusal says where, as far as it is somewhere, then what, and at last the rule.
func TestRefusalSaysWhere(t *testing.T) {
	f := testnet.Build(t, "ring:3")
	for _, c := range []struct {
		refusal *routing.Refusal
		brief   string
	}{
		{routing.Refuse(f, "no rings", 1, 2, "%d of them", 7), f.Label(1) + ", port 2: 7 of them"},
		{routing.Refuse(f, "no rings", 0, 0, "one"), f.Label(0) + ": one"},
		{routing.Refuse(f, "no rings", fabric.None, 0, "one"), "one"},
		{routing.Refuse(f, "no rings", fabric.None, 3, "one"), "one"},
	} {
		if got := c.refusal.Brief(); got != c.brief {
			t.Errorf("%q, want %q", got, c.brief)
		}
		if got, want := c.refusal.Error(), c.brief+" (rule: no rings)"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
