package plugin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/mcfdbs"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestTreeWhileHung has a cable break that paths and the tree for multicast use, while the daemon
// takes its time: members on one side of it still reach each other over what is left of the tree. The
// late answer comes with another tree, and all groups follow it without a sweep.
func TestTreeWhileHung(t *testing.T) {
	live.Need(t)
	t.Parallel()
	const sls = 1<<routing.SLs - 1
	f := testnet.Build(t, "torus:3x3,hosts=2")
	d := serve(t, nil)
	d.become(d.withTree("updn", routing.Any, sls))
	settings := conf(d, enough)
	settings["event_plugin_options"] += ",weft.wait=1"
	settings["routing_engine"] = "weft,no_fallback"
	r := start(t, f, d, settings)
	says(t, r.Await(t, up, soon), "unicast and multicast")
	before := d.tables()

	// All ports are in group 0; group 1 has one member on each side of the cable, group 2 two on one.
	gone, near, far := fabric.ChannelID(fabric.None), fabric.NodeID(0), fabric.NodeID(0)
	tree := &before.Multicast.Trees[0]
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		if ports := tree.At(ch.From); ports.Has(ch.FromPort) && ch.From != 0 && ch.To != 0 {
			gone, near, far = c, ch.From, ch.To
		}
	}
	g := lone(f, 0, 0, 0)
	var list []live.Membership
	for _, e := range routing.HCA.Endpoints(f) {
		list = append(list, g.join(0, e))
	}
	list = append(list, g.join(1, f.Attached(near)[1]), g.join(1, f.Attached(far)[1]), g.join(2, f.Attached(near)[1]), g.join(2, f.Attached(near)[2]))
	r.regroup(t, g, list)
	r.treesHold(t, g, before, routing.Any)

	late, tell := heldBack(t, d.withTree("updn", routing.Any, sls))
	d.become(late)
	ch := f.Channel(gone)
	r.Console(t, `Unlink "%s"[%d]`, nodeID(f, ch.From), ch.FromPort)
	r.Sweep(t)
	log := r.Await(t, "what is left of them is proven and stays", soon) + r.Await(t, up, soon)
	if strings.Contains(log, "ERR W008") {
		t.Errorf("a group has no tree\n%s", log)
	}
	less, err := f.Without([]fabric.ChannelID{gone}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.f = less
	r.ports(t, g, 18+2*7, 2, 2) // 18 hosts, and 8 cables of the tree with two ends each, of which one cable is gone
	tell()
	r.Await(t, "REROUTE COMPLETE", soon)
	now := d.tables()
	for end := time.Now().Add(soon); ; time.Sleep(50 * time.Millisecond) {
		wrong := "it is being written"
		if m, err := mcfdbs.Read(open(t, r.Dumps().MCFDBs), "opensm.mcfdbs", less, now.Multicast.SLs); err == nil {
			wrong = g.differ(m, &now.Multicast.Trees[0])
		}
		if wrong == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatal(wrong)
		}
	}
	r.resweep(t)
	r.treesHold(t, g, d.tables(), routing.Any)
}
