package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/internal/format/mcfdbs"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// TestMulticast has ports join and leave 50 groups on the networks of these tests. The trees
// that OpenSM has installed are the parts of the daemon's spanning tree that the members need,
// and unicast and multicast as they are installed are free of credit loops together, by our judge
// on OpenSM's own dumps, and by ibdmchk as far as it looks at multicast. The daemon is gone while
// members come and go.
func TestMulticast(t *testing.T) {
	live.Need(t)
	t.Parallel()
	for i, n := range []struct {
		name, spec, engine string
		contract           routing.Contract
		sls                uint16
		thorough           bool
	}{
		{"ring", "ring:5,hosts=2", "weave-any", routing.Any, 1<<routing.SLs - 1, false},
		{"torus", "torus:3x3,hosts=1", "dfsssp", routing.Honored, 1, false},
		{"dragonfly", "dragonfly:p=2", "nue", routing.Honored, 1, false},
		{"damaged fat tree", "karytree:k=3,n=3", "ftree", routing.Any, 1<<routing.SLs - 1, false},
		{"torus-2qos", "torus:4x4,hosts=1", "torus-2qos", routing.Honored, 1, false},
		{"random", "random:switches=14,links=24,hosts=2,seed=5", "weave", routing.Honored, 1, true},
		{"psmn-x5-2020", "", "weave-any", routing.Any, 1<<routing.SLs - 1, true},
		{"topograph-ndr-dgx-2025", "", "dfsssp", routing.Honored, 1, true},
		{"kalcher-stage-2014", "", "updn", routing.Any, 1<<routing.SLs - 1, true},
	} {
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			if n.thorough && os.Getenv("WEFT_THOROUGH") == "" {
				t.Skip("WEFT_THOROUGH is not set")
			}
			if i > 1 {
				testnet.OnlyWhole(t)
			}
			f := fabricOf(t, n.name, n.spec)
			d := serve(t, nil)
			d.become(d.withTree(n.engine, n.contract, n.sls))
			r := start(t, f, d, conf(d, enough))
			if log := r.Await(t, up, soon); !strings.Contains(log, "unicast and multicast") {
				t.Fatalf("not about multicast\n%s", log)
			}
			d.become(func(*wire.Request, net.Conn) error { return errors.New("nobody is to ask") })
			g := &groups{f: f, mlid: live.Joined{}}
			chance := rand.New(rand.NewPCG(7, uint64(f.Switches())))
			hosts := routing.HCA.Endpoints(f)
			var list []live.Membership
			for i := range 50 {
				g.sls, g.members = append(g.sls, 0), append(g.members, map[fabric.EndpointID]bool{})
				if n.sls&2 != 0 {
					g.sls[i] = uint8(chance.IntN(routing.SLs))
				}
				for _, at := range chance.Perm(len(hosts))[:1+chance.IntN(min(len(hosts), 12))] {
					list = append(list, g.join(i, hosts[at]))
				}
			}
			r.regroup(t, g, list)
			r.treesHold(t, g, d.tables(), n.contract)
			for range 2 {
				list = nil
				for i := range g.members {
					for _, e := range slices.Sorted(keys(g.members[i])) {
						if chance.IntN(3) == 0 && len(g.members[i]) > 1 {
							list = append(list, g.leave(i, e))
						}
					}
					if e := hosts[chance.IntN(len(hosts))]; !g.members[i][e] {
						list = append(list, g.join(i, e))
					}
				}
				r.regroup(t, g, list)
				r.treesHold(t, g, d.tables(), n.contract)
			}
		})
	}
}

// keys is those of a map.
func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// regroup has members join and leave.
func (r *run) regroup(t *testing.T, g *groups, list []live.Membership) {
	t.Helper()
	last := g.f.Node(g.f.Endpoint(fabric.EndpointID(len(g.f.Endpoints()) - 1)).Node)
	for group, mlid := range r.Members(t, fmt.Sprintf("H-%016x", uint64(last.GUID)), list) {
		if was, known := g.mlid[group]; known && was != mlid {
			t.Fatalf("group %d was MLID 0x%x and is 0x%x", group, was, mlid)
		}
		g.mlid[group] = mlid
	}
}

// treesHold waits until OpenSM has dumped the trees of all groups as they are to be, and has the
// whole judged.
func (r *run) treesHold(t *testing.T, g *groups, tables *routing.Tables, contract routing.Contract) {
	t.Helper()
	var wrong string
	var m *routing.Multicast
	for end := time.Now().Add(soon); ; time.Sleep(100 * time.Millisecond) {
		var err error
		if m, err = mcfdbs.Read(open(t, r.Dumps().MCFDBs), "opensm.mcfdbs", g.f, tables.Multicast.SLs); err == nil { // else it is being written
			if wrong = g.differ(m, &tables.Multicast.Trees[0]); wrong == "" {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%v; %s\n%s", err, wrong, r.Fresh(t))
		}
	}
	read := &routing.Tables{Fabric: g.f, Forwarding: r.forwarding(t, g.f), Lanes: tables.Lanes, Multicast: m}
	v, err := deadlock.Verify(t.Context(), read, deadlock.Options{Contract: contract, Scope: routing.Adapters})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Free() || len(v.Multicast.Circling)+len(v.Multicast.Split) > 0 {
		t.Fatalf("what is installed: free %v, %+v", v.Free(), v.Multicast)
	}
	if verdict, out := r.ibdmchk(t, tables); verdict != live.NoLoop || strings.Contains(out, "-E-") {
		t.Errorf("ibdmchk: %v\n%s", verdict, out[max(0, len(out)-600):])
	}
	t.Logf("%d groups, %d dependencies", v.Multicast.Groups, v.Dependencies)
}

// withTree answers with an engine's tables and a spanning tree.
func (d *daemon) withTree(engine string, contract routing.Contract, sls uint16) answer {
	return d.writesOf(engine, wire.WriteTables, func(q *wire.Request) (*routing.Tables, *deadlock.Certificate, error) {
		return spanned(q, engine, contract, sls)
	})
}

// spanned is routed with a spanning tree for groups on some service levels, given as bits.
func spanned(q *wire.Request, engine string, contract routing.Contract, sls uint16) (*routing.Tables, *deadlock.Certificate, error) {
	ctx := context.Background()
	tables, _, err := routed(q, engine, contract)
	if err != nil {
		return nil, nil, err
	}
	with := *tables
	if with.Multicast, err = spanning.Tree(ctx, tables, spanning.Options{Contract: contract, Scope: routing.Adapters, SLs: sls}); err != nil {
		return nil, nil, err
	}
	v, err := deadlock.Verify(ctx, &with, deadlock.Options{Contract: contract, Scope: routing.Adapters})
	if err != nil || !v.Free() {
		return nil, nil, fmt.Errorf("with a tree: free %v, %w", v.Free(), err)
	}
	return &with, v.Certificate, nil
}

// some is any number of ports but none.
const some = -1

// ports waits until OpenSM has set so many ports for the groups.
func (r *run) ports(t *testing.T, g *groups, want ...int) {
	t.Helper()
	has := make([]int, len(want))
	met := func(has, want int) bool { return has == want || want == some && has > 0 }
	for end := time.Now().Add(soon); ; time.Sleep(50 * time.Millisecond) {
		m, err := mcfdbs.Read(open(t, r.Dumps().MCFDBs), "opensm.mcfdbs", g.f, 1)
		if err == nil { // else it is being written
			for n := range want {
				has[n] = 0
				if i := slices.IndexFunc(m.Trees, func(t routing.MulticastTree) bool { return uint16(t.MLID) == g.mlid[n] }); i >= 0 {
					for _, node := range m.Trees[i].Nodes {
						has[n] += node.Ports.Len()
					}
				}
			}
			if slices.EqualFunc(has, want, met) {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("the groups have %d ports, want %d (%v)", has, want, err)
		}
	}
}

// TestGroupsOnOtherLevels has groups on service levels that the tree is not proven for: they get
// no tree, and that is said; others beside them do.
func TestGroupsOnOtherLevels(t *testing.T) {
	live.Need(t)
	t.Parallel()
	f := testnet.Build(t, "ring:5,hosts=2")
	d := serve(t, nil)
	d.become(d.withTree("dfsssp", routing.Honored, 1))
	r := start(t, f, d, conf(d, enough))
	r.Await(t, up, soon)
	g, hosts := lone(f, 0, 3), routing.HCA.Endpoints(f)
	r.regroup(t, g, []live.Membership{g.join(0, hosts[0]), g.join(0, hosts[5]), g.join(1, hosts[2]), g.join(1, hosts[8])})
	log := r.Await(t, "Unable to create spanning tree", soon)
	if want := fmt.Sprintf("ERR W008: no tree for a multicast group: group 0x%x is on SL 3, for which there is no proven tree", g.mlid[1]); !strings.Contains(strings.ToLower(log), strings.ToLower(want)) {
		t.Errorf("not %q\n%s", want, log)
	}
	r.ports(t, g, some, 0)
}

// TestTreeOverCablesThatAreGone takes out a cable that no path uses and the tree does, with the
// daemon gone: the tables stay, groups on both sides of the cable get no tree, others do. Then another
// cable is there in its place.
func TestTreeOverCablesThatAreGone(t *testing.T) {
	live.Need(t)
	t.Parallel()
	f := testnet.Build(t, "ring:5,hosts=2")
	const cable = fabric.ChannelID(0)
	ch := f.Channel(cable)
	d := serve(t, nil)
	d.become(d.writesOf("updn", wire.WriteTables, func(q *wire.Request) (*routing.Tables, *deadlock.Certificate, error) { return overCable(q, cable) }))
	r := start(t, f, d, conf(d, enough))
	r.Await(t, up, soon)
	g := lone(f, 0, 0)
	near, far := f.Attached(ch.From)[1:], f.Attached(ch.To)[1:]
	r.regroup(t, g, []live.Membership{g.join(0, near[0]), g.join(0, far[0]), g.join(1, near[0]), g.join(1, near[1])})
	r.ports(t, g, 4, 2)
	d.become(func(q *wire.Request, c net.Conn) error { return wire.WriteRefusal(c, q.Sweep, "out of order") })
	r.Console(t, "Unlink \"S-%016x\"[%d]", uint64(f.Node(ch.From).GUID), ch.FromPort)
	r.Sweep(t)
	log := r.Await(t, "Unable to create spanning tree", soon)
	if !strings.Contains(log, "ERR W003") || !strings.Contains(log, "which is not where it was when the tree was proven") {
		t.Errorf("the tables do not stay, or the tree does\n%s", log)
	}
	r.ports(t, g, 0, 2) // the first goes over the cable

	// A cable in the same port of the lower switch that leads to another port of the upper one is none of
	// the tree.
	port := f.LastPort(f.Endpoint(near[1]))
	r.Console(t, "Unlink \"S-%016x\"[%d]", uint64(f.Node(ch.From).GUID), port)
	r.Console(t, "Link \"S-%016x\"[%d] \"S-%016x\"[%d]", uint64(f.Node(ch.To).GUID), ch.ToPort, uint64(f.Node(ch.From).GUID), port)
	r.Fresh(t)
	log = r.resweep(t)
	if !strings.Contains(log, "ERR W003") || !strings.Contains(log, "which is not where it was when the tree was proven") {
		t.Errorf("the tables do not stay, or the tree does\n%s", log)
	}
	r.ports(t, g, 0)
}

// overCable is tables whose paths leave out a cable, with a tree that has it.
func overCable(q *wire.Request, cable fabric.ChannelID) (*routing.Tables, *deadlock.Certificate, error) {
	f, err := q.Fabric()
	if err != nil {
		return nil, nil, err
	}
	less, err := f.Without([]fabric.ChannelID{cable}, nil)
	if err != nil {
		return nil, nil, err
	}
	without, _, err := routed(wire.Of(less, 1), "updn", routing.Honored)
	if err != nil {
		return nil, nil, err
	}
	on, err := transition.On(f, &routing.Tables{Fabric: less, Forwarding: without.Forwarding, Lanes: without.Lanes}, nil)
	if err != nil {
		return nil, nil, err
	}
	tables := &routing.Tables{Fabric: f, Forwarding: on.Forwarding, Lanes: routing.OneSL(f, routing.UniformSL2VL([routing.SLs]uint8{}))}
	ch := f.Channel(cable)
	ends := []routing.TreeNode{{Switch: ch.From}, {Switch: ch.To}}
	ends[0].Ports.Add(ch.FromPort)
	ends[1].Ports.Add(ch.ToPort)
	slices.SortFunc(ends, func(a, b routing.TreeNode) int { return int(a.Switch - b.Switch) })
	o := spanning.Options{Scope: routing.Adapters, SLs: 1, Keep: &routing.MulticastTree{Nodes: ends}}
	if tables.Multicast, err = spanning.Tree(context.Background(), tables, o); err != nil {
		return nil, nil, err
	}
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Scope: routing.Adapters})
	if err != nil || !v.Free() {
		return nil, nil, fmt.Errorf("free %v, %w", v.Free(), err)
	}
	return tables, v.Certificate, nil
}

// TestStockTrees has a stock OpenSM route a ring by its updn, whose paths have no credit loop, and
// make trees for groups by its hop counts: together they have one, the judge shows it, and the
// packets of that loop stop the simulated network.
func TestStockTrees(t *testing.T) {
	live.Need(t)
	t.Parallel()
	f := testnet.Build(t, "ring:6,hosts=2")
	dir := t.TempDir()
	live.Pin(t, dir, f)
	roots := filepath.Join(dir, "roots")
	if err := os.WriteFile(roots, fmt.Appendf(nil, "0x%016x\n", uint64(f.Node(0).GUID)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := live.Simulate(t, netFile(t, f))
	r := &run{Subnet: s, Manager: s.Manage(t, "", dir, map[string]string{"routing_engine": "updn,no_fallback", "root_guid_file": roots, "qos": "FALSE"})}
	r.Await(t, up, soon)
	g, hosts := lone(f, make([]uint8, 6)...), routing.HCA.Endpoints(f)
	var list []live.Membership
	for i := range g.members { // each around another part of the ring
		for k := range 6 {
			list = append(list, g.join(i, hosts[(2*i+k)%len(hosts)]))
		}
	}
	r.regroup(t, g, list)
	tables := &routing.Tables{Fabric: f, Forwarding: r.forwarding(t, f), Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	judge := deadlock.Options{Contract: routing.Any}
	if v, err := deadlock.Verify(t.Context(), tables, judge); err != nil || !v.Free() {
		t.Fatalf("unicast alone: free %v, %v", v.Free(), err)
	}
	var v *deadlock.Verdict
	for end := time.Now().Add(soon); ; time.Sleep(200 * time.Millisecond) {
		m, err := mcfdbs.Read(open(t, r.Dumps().MCFDBs), "opensm.mcfdbs", f, 1)
		if err == nil {
			tables.Multicast = m
			if v, err = deadlock.Verify(t.Context(), tables, judge); err != nil {
				t.Fatal(err)
			}
			if v.Multicast.Groups >= len(g.members) && !v.Free() {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("no loop: %v, %+v", err, v)
		}
	}
	var loop []packets.LoopStep
	for _, s := range v.Cycle {
		loop = append(loop, packets.LoopStep{Trunk: s.Trunk, VL: s.VL, SL: s.SL, Src: s.Src, Dst: s.Dst})
	}
	if !slices.ContainsFunc(v.Cycle, func(s deadlock.LoopStep) bool { return s.Multicast }) {
		t.Errorf("no group is part of the loop: %+v", v.Cycle)
	}
	n, err := packets.New(tables, packets.Presets()[0].Config)
	if err != nil {
		t.Fatal(err)
	}
	replay, err := n.Replay(t.Context(), loop, 1)
	if err != nil || replay.Result.Deadlock == nil {
		t.Fatalf("the network does not stop: %v, %+v", err, replay)
	}
	t.Logf("a loop of %d links; attempt %d: %s", len(loop), replay.Attempt, replay.Result.Deadlock)
}
