package daemon

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
)

// A key is the same for the same fabric in any order and by any names, and another
// for everything that tables depend on.
func TestKeys(t *testing.T) {
	t.Parallel()
	set, err := Config{Socket: "/s"}.check()
	if err != nil {
		t.Fatal(err)
	}
	keyed := func(change func(q *wire.Request), s *settings, lanes int) key {
		q := request(t, "ring:n=4,hosts=2", 1)
		change(q)
		f, err := q.Fabric()
		if err != nil {
			t.Fatal(err)
		}
		return keyOf(f, s, lanes)
	}
	same := func(*wire.Request) {}
	was := keyed(same, set, 8)
	host := func(q *wire.Request) *wire.Node {
		return &q.Nodes[slices.IndexFunc(q.Nodes, func(n wire.Node) bool { return n.Kind == fabric.Adapter })]
	}
	for what, change := range map[string]func(q *wire.Request){
		"nothing": same,
		"names":   func(q *wire.Request) { q.Nodes[0].Name = "another" },
		"sweep":   func(q *wire.Request) { q.Sweep, q.OpenSM = 77, "OpenSM 3.3.24" },
	} {
		if keyed(change, set, 8) != was {
			t.Errorf("%s: another key", what)
		}
	}
	for what, change := range map[string]func(q *wire.Request){
		"a LID":           func(q *wire.Request) { host(q).Has[0].LID = 700 },
		"an LMC":          func(q *wire.Request) { host(q).Has[0].LMC, host(q).Has[0].LID = 1, 700 },
		"a GUID":          func(q *wire.Request) { host(q).GUID++ },
		"a GUID of ports": func(q *wire.Request) { host(q).Has[0].GUID++ },
		"ports":           func(q *wire.Request) { q.Nodes[0].Ports++ },
		"a rate": func(q *wire.Request) {
			h := host(q)
			q.Nodes[h.Has[0].Peer].Has[h.Has[0].PeerPort].Rate.Width = 1
			h.Has[0].Rate.Width = 1
		},
		"a kind": func(q *wire.Request) { host(q).Kind = fabric.Router },
	} {
		if keyed(change, set, 8) == was {
			t.Errorf("%s: the same key", what)
		}
	}
	for what, c := range map[string]Config{
		"engine": {Engine: Names{"updn"}}, "contract": {Contract: "honored"}, "endpoints": {Endpoints: "ca"}, "vls": {VLs: 3}, "sls": {SLs: 3}, "classes": {Classes: 2},
		"roots": {Roots: Names{"a"}}, "aim": {Aim: "alltoall"}, "rank order": {RankOrder: Names{"rail"}}, "weight": {Weight: Names{"a=1"}}, "budget": {Budget: 1},
	} {
		c.Socket = "/s"
		other, err := c.check()
		if err != nil {
			t.Fatal(err)
		}
		if keyed(same, other, 8) == was {
			t.Errorf("%s: the same key", what)
		}
	}
	if keyed(same, set, 4) == was {
		t.Error("lanes: the same key")
	}
}
