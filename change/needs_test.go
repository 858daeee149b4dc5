package change

import (
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// What is left matters if a host does not reach a host: not to aggregation nodes, nor from switches without hosts.
func TestNeeds(t *testing.T) {
	f := testnet.Build(t, "patchwork:8")
	lidOf := func(c fabric.Class) fabric.LID {
		for lid, e := range f.LIDs() {
			if f.Endpoint(e).Class == c {
				return lid
			}
		}
		t.Fatalf("no endpoint of class %v", c)
		return 0
	}
	host, other := fabric.NodeID(fabric.None), fabric.NodeID(fabric.None) // switches with and without hosts
	for s, ends := range routing.HCA.Ends(f) {
		if ends {
			host = fabric.NodeID(s)
		} else {
			other = fabric.NodeID(s)
		}
	}
	for _, x := range []struct {
		to   fabric.Class
		from fabric.NodeID
		want bool
	}{{fabric.HostAdapter, host, true}, {fabric.Aggregation, host, false}, {fabric.HostAdapter, other, false}} {
		left := []repair.Left{{LID: lidOf(x.to), Switches: []fabric.NodeID{x.from}}}
		if got := (Options{}).needs(left, f); got != x.want {
			t.Errorf("left from %s to an endpoint of class %v: needs is %v", f.Label(x.from), x.to, got)
		}
	}
}
