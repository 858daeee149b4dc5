package repair_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Entries that the path finder left empty stay empty after a failure, unless packets of a host to a host come
// there, or others that had a path need them.
func TestEmptyEntriesStay(t *testing.T) {
	empty, cut := 0, 0
	for _, spec := range []string{"xgft:m=3x3,w=3x3,hosts=2", "torus:4x4,hosts=1", "xgft:m=4x4x2,w=2x2x2,hosts=2"} {
		f := testnet.Build(t, spec)
		was, contract := route(t, f, "updn")
		emptied(was, rand.New(rand.NewPCG(1, 1)))
		for _, x := range change.Sample(change.Cables(f), 12) {
			live, err := f.Without(x.Channels, x.Nodes)
			if err != nil {
				t.Fatal(err)
			}
			p, err := change.Mend(t.Context(), was, live, change.Options{Contract: contract})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Left) > 0 {
				t.Errorf("%s, %v: %d destinations are left", spec, x, len(p.Left))
			}
			cut += int(p.CutBefore)
			for lid, id := range live.LIDs() {
				passed := needed(was, p.After, lid, live.Endpoint(id))
				for s := range fabric.NodeID(f.Switches()) {
					if was.Forwarding.Port(s, lid) != routing.NoPort {
						continue
					}
					if empty++; p.After.Forwarding.Port(s, lid) != routing.NoPort && !passed[s] {
						t.Fatalf("%s, %v: %s has a new entry for LID %d, which nobody needs", spec, x, f.Label(s), lid)
					}
				}
			}
		}
	}
	if empty == 0 || cut == 0 {
		t.Errorf("%d empty entries, %d pairs cut off: too few to say anything", empty, cut)
	}
}

// emptied takes out of tables about half of the entries that lead no other switch's packets on, for LIDs of
// switches and, where a switch has no hosts, of hosts.
func emptied(tables *routing.Tables, r *rand.Rand) {
	f := tables.Fabric
	for lid, id := range f.LIDs() {
		to, row := f.Endpoint(id), tables.Forwarding.Row(lid)
		fed := make([]bool, f.Switches())
		for s := range row {
			if c := f.Trunk(fabric.NodeID(s), row[s]); c != fabric.None {
				fed[f.Heads()[c]] = true
			}
		}
		for s := range row {
			at := fabric.NodeID(s)
			needed := to.Class == fabric.HostAdapter && len(f.Attached(at)) > 0
			if at != to.Switch && !fed[s] && !needed && r.IntN(2) == 0 {
				row[s] = routing.NoPort
			}
		}
	}
}

// needed is the switches, [switch], where packets to an endpoint come, after a repair, from switches with hosts, if
// it is a host, and from those that had an entry before.
func needed(was, now *routing.Tables, lid fabric.LID, to *fabric.Endpoint) []bool {
	f := now.Fabric
	passed := make([]bool, f.Switches())
	for s := range fabric.NodeID(f.Switches()) {
		if was.Forwarding.Port(s, lid) == routing.NoPort && (to.Class != fabric.HostAdapter || len(f.Attached(s)) == 0) {
			continue
		}
		for at := s; at != fabric.None && !passed[at]; {
			passed[at] = true
			c := f.Trunk(at, now.Forwarding.Port(at, lid))
			if at = fabric.None; c != fabric.None {
				at = f.Heads()[c]
			}
		}
	}
	return passed
}

// Entries that a repair removed because a switch was cut off are there again when its cables are back; those
// that were empty from the beginning are not.
func TestRemovedEntriesComeBack(t *testing.T) {
	f := testnet.Build(t, "xgft:m=3x3,w=3x3,hosts=2")
	was, contract := route(t, f, "updn")
	emptied(was, rand.New(rand.NewPCG(2, 1)))
	o := change.Options{Contract: contract}
	removed, empty := 0, 0
	for s := range fabric.NodeID(f.Switches()) {
		first, end := f.TrunksFrom(s)
		var cables []fabric.ChannelID
		for c := first; c < end; c++ {
			cables = append(cables, c)
		}
		live, err := f.Without(cables, nil)
		if err != nil {
			t.Fatal(err)
		}
		apart, err := change.Mend(t.Context(), was, live, o)
		if err != nil {
			t.Fatal(err)
		}
		back, err := change.Mend(t.Context(), apart.After, f, o)
		if err != nil {
			t.Fatal(err)
		}
		for lid := range f.LIDs() {
			for at := range fabric.NodeID(f.Switches()) {
				before := was.Forwarding.Port(at, lid) == routing.NoPort
				meanwhile := apart.After.Forwarding.Port(at, lid) == routing.NoPort
				now := back.After.Forwarding.Port(at, lid) == routing.NoPort
				switch {
				case before:
					empty++
				case meanwhile:
					removed++
				}
				if now && !before {
					t.Fatalf("%s was cut off and is back: %s has no entry for LID %d, and had one", f.Label(s), f.Label(at), lid)
				}
			}
		}
	}
	if removed == 0 || empty == 0 {
		t.Errorf("%d entries were removed, %d were empty: too few to say anything", removed, empty)
	}
}

// Empty entries are filled where hosts need them, though they were so before: at their own switch, at one that
// their packets come to, and at one that nothing leads on from.
func TestNeededEntriesAreFilled(t *testing.T) {
	f := testnet.Build(t, "xgft:m=3x3,w=3x3,hosts=2")
	hosts := routing.HCA.Endpoints(f)
	from, to := f.Endpoint(hosts[0]), f.Endpoint(hosts[len(hosts)-1])
	all := routing.All.Endpoints(f)
	port0 := f.Endpoint(all[slices.IndexFunc(all, func(e fabric.EndpointID) bool {
		return f.Endpoint(e).Class == fabric.SwitchPort && f.Endpoint(e).Switch == to.Switch
	})])
	for what, empty := range map[string]func(*routing.Tables){
		"at the host's switch": func(was *routing.Tables) { was.Forwarding.Row(to.LID)[from.Switch] = routing.NoPort },
		"at the next switch": func(was *routing.Tables) {
			row := was.Forwarding.Row(to.LID)
			row[f.Heads()[f.Trunk(from.Switch, row[from.Switch])]] = routing.NoPort
		},
		"for port 0 of a switch": func(was *routing.Tables) {
			row := was.Forwarding.Row(port0.LID)
			row[f.Heads()[f.Trunk(from.Switch, row[from.Switch])]] = routing.NoPort
		},
		"of a whole switch": func(was *routing.Tables) {
			for lid := range f.LIDs() {
				if row := was.Forwarding.Row(lid); f.Trunk(0, row[0]) != fabric.None {
					row[0] = routing.NoPort
				}
			}
		},
	} {
		was, contract := route(t, f, "updn")
		empty(was)
		p, err := change.Mend(t.Context(), was, f, change.Options{Contract: contract})
		if err != nil {
			t.Fatal(err)
		}
		if err := whole(p.After, p.Left); err != nil || len(p.Left) > 0 {
			t.Errorf("%s: %v, %d destinations are left", what, err, len(p.Left))
		}
		if slices.ContainsFunc(p.Steps, func(s change.Step) bool { return s.Rebuilt }) {
			t.Errorf("%s: others make way", what)
		}
	}
}

// Where the only other way leads by a switch whose entry is empty, it is filled, and the next step goes that way:
// no destination has to make room.
func TestWayByEmptyEntry(t *testing.T) {
	f := testnet.Build(t, "xgft:m=2,w=2,hosts=1")
	was, contract := route(t, f, "updn")
	hosts := routing.HCA.Endpoints(f)
	from, to := f.Endpoint(hosts[0]), f.Endpoint(hosts[1])
	row := was.Forwarding.Row(to.LID)
	up := f.Trunk(from.Switch, row[from.Switch])
	spine := f.Heads()[up]
	for s := range row {
		if at := fabric.NodeID(s); at != spine && at != from.Switch && at != to.Switch {
			row[s] = routing.NoPort
		}
	}
	live, err := f.Without([]fabric.ChannelID{f.Trunk(spine, row[spine])}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := change.Mend(t.Context(), was, live, change.Options{Contract: contract})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Left) > 0 || p.CutAfter > 0 {
		t.Errorf("%d destinations are left, %d pairs cut off", len(p.Left), p.CutAfter)
	}
	for i, s := range p.Steps {
		if s.Rebuilt {
			t.Errorf("step %d has others make way", i+1)
		}
	}
}
