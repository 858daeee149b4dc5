package installed_test

import (
	"os"
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// fault is a fabric before and after something of it went, with a step that follows.
type fault struct {
	testing.TB
	was      *routing.Tables // on the fabric of before
	next     *routing.Tables // the step, on the fabric of before too
	contract routing.Contract
	alive    []bool // [trunk of before] it is there still
	stays    []bool // [switch of before]
	gone     []bool // [endpoint of before]
}

func faultOf(t testing.TB, s *sweeps, live *fabric.Fabric, step *routing.Tables) *fault {
	t.Helper()
	f := s.Sent.Fabric
	next, err := transition.On(f, step, s.Sent)
	if err != nil {
		t.Fatal(err)
	}
	x := &fault{TB: t, was: s.Sent, next: next, contract: s.o.Contract}
	for n := range fabric.NodeID(f.Switches()) {
		x.stays = append(x.stays, live.NodeByGUID(f.Node(n).GUID) != fabric.None)
	}
	for c := range fabric.ChannelID(f.Trunks()) {
		at := live.NodeByGUID(f.Node(f.Channel(c).From).GUID)
		x.alive = append(x.alive, at != fabric.None && live.Out(at, f.Channel(c).FromPort) != fabric.None)
	}
	for i := range f.Endpoints() {
		x.gone = append(x.gone, live.NodeByGUID(f.Node(f.Endpoint(fabric.EndpointID(i)).Node).GUID) == fabric.None)
	}
	return x
}

// walk follows packets to a LID by every entry of before and of the step, over what is there.
func (x *fault) walk(waits map[[2]int]bool, seen map[[3]int]bool, lid fabric.LID, at fabric.NodeID, in, sl uint8, holds int) {
	f := x.was.Fabric
	for _, t := range []*routing.Tables{x.was, x.next} {
		port := t.Forwarding.Port(at, lid)
		c := f.Out(at, port)
		if c == fabric.None || int(c) >= f.Trunks() || !x.alive[c] || x.gone[f.Owner(lid)] && t == x.next {
			continue
		}
		lane := int(c)*routing.SLs + int(x.was.Lanes.SL2VL.VL(at, in, port, sl))
		if holds >= 0 {
			waits[[2]int{holds, lane}] = true
		}
		if key := [3]int{lane, int(sl), int(lid)}; !seen[key] {
			seen[key] = true
			x.walk(waits, seen, lid, f.Channel(c).To, f.Channel(c).ToPort, sl, lane)
		}
	}
}

// loops reports whether packets can wait for each other in a circle; past counts those, too, that
// are past what is gone: to and from hosts that left, and beyond cables and switches.
func (x *fault) loops(past bool) bool {
	f := x.was.Fabric
	waits, seen := map[[2]int]bool{}, map[[3]int]bool{}
	for lid, to := range f.LIDs() {
		for i := range f.Endpoints() {
			from := fabric.EndpointID(i)
			e := f.Endpoint(from)
			if from == to || !routing.HCA.Includes(e.Class) || !routing.HCA.Includes(f.Endpoint(to).Class) || (x.gone[from] || x.gone[to]) && !past {
				continue
			}
			sl := x.was.Lanes.SL(from, lid) // under any all are alike: weave-any's maps do not tell them apart
			if x.stays[e.Switch] {
				x.walk(waits, seen, lid, e.Switch, f.Channel(e.Inject).ToPort, sl, -1)
			}
			for at := e.Switch; past; {
				c := f.Out(at, x.was.Forwarding.Port(at, lid))
				if c == fabric.None || int(c) >= f.Trunks() {
					break
				}
				if at = f.Channel(c).To; !x.alive[c] && x.stays[at] {
					x.walk(waits, seen, lid, at, f.Channel(c).ToPort, sl, -1)
				}
			}
		}
	}
	return circular(waits)
}

// circular reports whether a relation has a circle: what waits for nothing is taken out until nothing is left.
func circular(waits map[[2]int]bool) bool {
	for {
		holders := map[int]bool{}
		for w := range waits {
			holders[w[0]] = true
		}
		before := len(waits)
		for w := range waits {
			if !holders[w[1]] {
				delete(waits, w)
			}
		}
		if len(waits) == before {
			return before > 0
		}
	}
}

// TestPast counts the faults after which packets that are past what is gone, and that no proof
// of the first step is about, could close a loop with others, if they were in the network all
// the time until OpenSM has written the step. The twin, which knows nothing of the judge, finds
// no loop without them.
func TestPast(t *testing.T) {
	for _, n := range []struct {
		spec, engine string
		contract     routing.Contract
		none         bool // is known to have a loop
		thorough     bool
	}{
		{"xgft:m=4x4,w=2x4,hosts=1", "updn", routing.Any, true, false},
		{"torus:4x4,hosts=1", "weave-any", routing.Any, true, false},
		{"dragonfly:p=2", "weave-any", routing.Any, true, true},
		{"dragonfly:p=2", "dfsssp", routing.Directed, false, true},
		{"torus:6x5x5,hosts=1", "weave-any", routing.Any, false, true},
	} {
		if n.thorough && os.Getenv("WEFT_THOROUGH") == "" {
			continue
		}
		f := testnet.Build(t, n.spec)
		s := begin(t, f, n.engine, n.contract)
		faults, loops := 0, 0
		for i := 0; i < 48; i++ {
			var cables []fabric.ChannelID
			var nodes []fabric.NodeID
			if i%2 == 0 {
				cables = append(cables, fabric.ChannelID(i*7%f.Trunks()))
			} else {
				n := fabric.NodeID(i * 5 % f.Switches())
				for _, e := range f.Attached(n) {
					nodes = append(nodes, f.Endpoint(e).Node)
				}
			}
			live := without(t, f, cables, nodes...)
			m, err := s.Next(t.Context(), live, s.o)
			if err != nil {
				continue // no repair
			}
			x := faultOf(t, s, live, m.Tables)
			if x.loops(false) {
				t.Errorf("%s, fault %d: a loop", n.spec, i)
			}
			if faults++; x.loops(true) {
				loops++
			}
		}
		if t.Logf("%s, %s: %d faults, %d with a loop of packets past what is gone", n.spec, n.engine, faults, loops); faults < 20 || n.none && loops > 0 {
			t.Errorf("%s, %s: %d faults, %d loops", n.spec, n.engine, faults, loops)
		}
	}
}
