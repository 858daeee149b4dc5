package daemon

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// shuffled is the fabric of a request after work on it: hosts with other LIDs, at other
// switches, or with other GUIDs, and switches replaced.
type shuffled struct {
	name   string
	change func(q *wire.Request, chance *rand.Rand)
}

// hostsOf is the indices of the adapters of a request.
func hostsOf(q *wire.Request) (all []int) {
	for i := range q.Nodes {
		if q.Nodes[i].Kind != fabric.Switch {
			all = append(all, i)
		}
	}
	return all
}

// swapPlaces has two adapters exchange their cables.
func swapPlaces(q *wire.Request, a, b int) {
	x, y := q.Nodes[a].Has[0], q.Nodes[b].Has[0]
	x.Peer, x.PeerPort, y.Peer, y.PeerPort = y.Peer, y.PeerPort, x.Peer, x.PeerPort
	q.Nodes[a].Has[0], q.Nodes[b].Has[0] = x, y
	for node, p := range map[int]wire.Port{a: x, b: y} {
		for i := range q.Nodes[p.Peer].Has {
			if far := &q.Nodes[p.Peer].Has[i]; far.Number == p.PeerPort {
				far.Peer, far.PeerPort = node, p.Number
			}
		}
	}
}

// swapLIDs has two adapters exchange their LIDs.
func swapLIDs(q *wire.Request, a, b int) {
	x, y := &q.Nodes[a].Has[0], &q.Nodes[b].Has[0]
	x.LID, y.LID = y.LID, x.LID
}

// renew gives a node another GUID.
func renew(q *wire.Request, at int) {
	n := &q.Nodes[at]
	n.GUID += 0xabc0000
	for i := range n.Has {
		if n.Has[i].GUID != 0 {
			n.Has[i].GUID += 0xabc0000
		}
	}
}

var shuffles = []shuffled{
	{"all LIDs are others", func(q *wire.Request, chance *rand.Rand) {
		hosts := hostsOf(q)
		for i := range hosts {
			swapLIDs(q, hosts[i], hosts[chance.IntN(i+1)])
		}
	}},
	{"two LIDs exchanged", func(q *wire.Request, chance *rand.Rand) {
		hosts := hostsOf(q)
		swapLIDs(q, hosts[chance.IntN(len(hosts)/2)], hosts[len(hosts)/2+chance.IntN(len(hosts)/2)])
	}},
	{"all hosts are elsewhere", func(q *wire.Request, chance *rand.Rand) {
		hosts := hostsOf(q)
		for i := range hosts {
			swapPlaces(q, hosts[i], hosts[chance.IntN(i+1)])
		}
	}},
	{"two hosts exchanged", func(q *wire.Request, chance *rand.Rand) {
		hosts := hostsOf(q)
		swapPlaces(q, hosts[chance.IntN(len(hosts)/2)], hosts[len(hosts)/2+chance.IntN(len(hosts)/2)])
	}},
	{"all adapters are others", func(q *wire.Request, _ *rand.Rand) {
		for _, h := range hostsOf(q) {
			renew(q, h)
		}
	}},
	{"all adapters are others, and their LIDs", func(q *wire.Request, chance *rand.Rand) {
		hosts := hostsOf(q)
		for i, h := range hosts {
			renew(q, h)
			swapLIDs(q, h, hosts[chance.IntN(i+1)])
		}
	}},
	{"a switch is another", func(q *wire.Request, chance *rand.Rand) {
		var switches []int
		for i := range q.Nodes {
			if q.Nodes[i].Kind == fabric.Switch {
				switches = append(switches, i)
			}
		}
		renew(q, switches[chance.IntN(len(switches))])
	}},
	{"all switches are others", func(q *wire.Request, _ *rand.Rand) {
		for i := range q.Nodes {
			if q.Nodes[i].Kind == fabric.Switch {
				renew(q, i)
			}
		}
	}},
	{"all LIDs are higher", func(q *wire.Request, _ *rand.Rand) {
		for i := range q.Nodes {
			for j := range q.Nodes[i].Has {
				if p := &q.Nodes[i].Has[j]; p.LID != 0 {
					p.LID += 20
				}
			}
		}
	}},
	{"hosts have two LIDs", func(q *wire.Request, _ *rand.Rand) {
		for i, h := range hostsOf(q) {
			q.Nodes[h].Has[0].LID, q.Nodes[h].Has[0].LMC = fabric.LID(100+2*i), 1
		}
	}},
	{"all adapters are others, with higher LIDs", func(q *wire.Request, _ *rand.Rand) {
		for i, h := range hostsOf(q) {
			renew(q, h)
			q.Nodes[h].Has[0].LID = fabric.LID(200 + i)
		}
	}},
	{"adapters are others, with LIDs that switches had", func(q *wire.Request, chance *rand.Rand) {
		var lids []fabric.LID
		for i := range q.Nodes {
			lids = append(lids, q.Nodes[i].Has[0].LID)
		}
		chance.Shuffle(len(lids), func(i, j int) { lids[i], lids[j] = lids[j], lids[i] })
		for i := range q.Nodes {
			if q.Nodes[i].Kind != fabric.Switch {
				renew(q, i)
			}
			q.Nodes[i].Has[0].LID = lids[i]
		}
	}},
	{"half of the hosts are gone, others have their LIDs", func(q *wire.Request, _ *rand.Rand) {
		hosts := hostsOf(q)
		for i, h := range hosts[:len(hosts)/2] {
			swapLIDs(q, h, hosts[len(hosts)/2+i])
			if i%2 == 0 {
				renew(q, h)
			}
		}
	}},
}

// firstServesAll asks for an OpenSM that has begun: the answer is whole tables that cut no pair.
func firstServesAll(t *testing.T, o *opensm, q *wire.Request, what string) {
	t.Helper()
	q.OpenSM, q.Deadline, q.Improves, q.Lifetime = "OpenSM 3.3.23", time.Minute, true, time.Second
	a := o.ask(q)
	if a.Refusal != "" || a.Step || a.Drops {
		t.Fatalf("%s: %q, a step: %v\n%s", what, a.Refusal, a.Step, o.log)
	}
	if cut := cutBy(t, q, a); cut > 0 {
		t.Errorf("%s: %d pairs are cut\n%s", what, cut, o.log)
	}
}

// cutBy is the pairs of a request's hosts that an answer's forwarding tables do not deliver.
func cutBy(t *testing.T, q *wire.Request, a *wire.Answer) (cut int64) {
	t.Helper()
	f, err := q.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	var rows []fabric.NodeID
	for i := range q.Nodes {
		if q.Nodes[i].Kind == fabric.Switch {
			rows = append(rows, f.NodeByGUID(q.Nodes[i].GUID))
		}
	}
	port := func(s fabric.NodeID, lid fabric.LID) uint8 {
		return a.OutPorts[slices.Index(rows, s)*a.LIDs+int(lid)]
	}
	for _, from := range routing.HCA.Endpoints(f) {
		for lid, owner := range f.LIDs() {
			if f.Endpoint(owner).Class != fabric.HostAdapter || owner == from {
				continue
			}
			at, left := f.Endpoint(from).Switch, f.Switches()
			for ; left > 0; left-- {
				c := f.Out(at, port(at, lid))
				if c == fabric.None {
					left = 0
					break
				}
				if f.Channel(c).To == f.Endpoint(owner).Node {
					break
				}
				if at = f.Channel(c).To; int(at) >= f.Switches() {
					left = 0
					break
				}
			}
			if left <= 0 {
				cut++
			}
		}
	}
	return cut
}

// An OpenSM that has no tables of ours gets some that serve every pair at its first question,
// whatever the state that the daemon has from before is about.
func TestFirstAnswerServesAll(t *testing.T) {
	t.Parallel()
	for spec, engine := range map[string]string{"torus:4x4,hosts=2": "weave-any", "xgft:m=4x4,w=2x4,hosts=2": "updn"} {
		for i, s := range shuffles {
			t.Run(fmt.Sprintf("%s/%s", spec, s.name), func(t *testing.T) {
				if i%4 > 0 {
					testnet.OnlyWhole(t)
				}
				t.Parallel()
				f := testnet.Build(t, spec)
				chance := rand.New(rand.NewPCG(1, 2))
				for _, pulled := range []bool{false, true} { // the state is in the midst of a plan, or of none
					c := Config{Engine: Names{engine}, State: stateDir(t), MaxEntries: 8}
					o := openSM(start(t, c))
					sweeps := len(o.settles(f))
					if pulled {
						sweeps += len(o.settles(less(t, f, []fabric.ChannelID{0, 30})))
						o.asks(f, false)
						sweeps++
					}
					o.after(int64(sweeps))
					o.end()
					o.running = start(t, c)
					q := wire.Of(f, 77)
					s.change(q, chance)
					firstServesAll(t, o, q, fmt.Sprintf("in the midst of a plan: %v", pulled))
					o.end()
				}
			})
		}
	}
}

// Where an OpenSM that has tables of ours in use finds hosts, LIDs, adapters or switches to be others,
// also in the midst of a plan, it is led there in proven steps. Only where what the switches have closes
// a loop as soon as LIDs are elsewhere it is routed anew, and the log says that this is not proven. In the
// end all pairs are served.
func TestMovesInSteps(t *testing.T) {
	t.Parallel()
	for spec, engine := range map[string]string{"torus:4x4,hosts=2": "weave-any", "xgft:m=4x4,w=2x4,hosts=2": "updn", "ring:8,hosts=2": "updn"} {
		for i, s := range shuffles {
			t.Run(fmt.Sprintf("%s/%s", spec, s.name), func(t *testing.T) {
				if i%4 > 0 {
					testnet.OnlyWhole(t)
				}
				t.Parallel()
				f := testnet.Build(t, spec)
				chance := rand.New(rand.NewPCG(3, 4))
				proven, steps := 0, 0
				for _, pulled := range []bool{false, true} {
					o := openSM(start(t, Config{Engine: Names{engine}, MaxEntries: 8}))
					sweeps := len(o.settles(f))
					if pulled {
						sweeps += len(o.settles(less(t, f, []fabric.ChannelID{0}))) + 1
						o.asks(f, false)
					}
					q := wire.Of(f, 1)
					s.change(q, chance)
					g, err := q.Fabric()
					if err != nil {
						t.Fatal(err)
					}
					var a *wire.Answer
					for again := false; a == nil || a.SoFar; again = true {
						was, next := o.keeper.find(o.inUse), o.asks(g, again)
						if next.Refusal == errNoBetter.Error() {
							break
						}
						sweeps++
						if a = next; a.Refusal != "" {
							t.Fatalf("%s\n%s", a.Refusal, o.log)
						}
						if a.Step {
							o.proven(t, was, a)
							proven++
						}
						if steps++; steps > 100 {
							t.Fatalf("no end\n%s", o.log)
						}
					}
					if cut := cutBy(t, wire.Of(g, 1), a); cut > 0 {
						t.Errorf("in the midst of a plan: %v: %d pairs are cut\n%s", pulled, cut, o.log)
					}
					o.after(int64(sweeps))
					for line := range strings.Lines(o.log.String()) {
						anew := strings.Contains(line, "change=full")
						if strings.Contains(line, "internal error") || anew && !strings.Contains(line, "the tables in force have a credit loop") || anew && !strings.Contains(line, "proven_meanwhile=false") {
							t.Errorf("in the midst of a plan: %v: %s", pulled, line)
						}
					}
					o.end()
				}
				t.Logf("%d steps, %d proven", steps, proven)
			})
		}
	}
}

// The first answer where the state is of another network altogether, whose switches have the same GUIDs.
func TestFirstAnswerOnAnotherNetwork(t *testing.T) {
	t.Parallel()
	specs := []string{"torus:4x4,hosts=2", "torus:4x4,hosts=1", "xgft:m=4x4,w=4x4,hosts=2", "ring:n=16,hosts=2"}
	for i, was := range specs {
		t.Run(was, func(t *testing.T) {
			if i > 0 {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			for i, now := range specs {
				for _, pulled := range []bool{false, true} {
					engine := []string{"weave-any", "updn"}[i%2]
					c := Config{Engine: Names{engine}, State: stateDir(t), MaxEntries: 8}
					o := openSM(start(t, c))
					f := testnet.Build(t, was)
					sweeps := len(o.settles(f))
					if pulled {
						sweeps += len(o.settles(less(t, f, []fabric.ChannelID{0, 6})))
					}
					o.after(int64(sweeps))
					o.end()
					o.running = start(t, c)
					firstServesAll(t, o, wire.Of(testnet.Build(t, now), 77), now)
					o.end()
				}
			}
		})
	}
}

// Where Up*/Down* has no path to a switch the answer has one all the same: the plugin takes no
// tables by which a switch with adapters does not reach all LIDs.
func TestEverySwitchIsReached(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	o := openSM(start(t, Config{Engine: Names{"updn"}}))
	found, g, chance := 0, f, rand.New(rand.NewPCG(4, 4))
	for n := 0; n < 200 && found < 3; n++ {
		a, b := fabric.ChannelID(chance.IntN(f.Trunks())), fabric.ChannelID(chance.IntN(f.Trunks()))
		if next := recabled(t, g, a, b); next != nil && len(next.Parts()) == 1 {
			g = next
		}
		e, err := engines.Named("updn")
		if err != nil {
			t.Fatal(err)
		}
		tables, err := e.Route(t.Context(), g, engines.Options{}, routing.Budget{VLs: 8, Scope: routing.HCA, Contract: routing.Any}, nil)
		if err != nil {
			continue
		}
		lacks := func(port func(fabric.NodeID, fabric.LID) uint8) bool {
			for lid, owner := range g.LIDs() {
				row := make([]uint8, g.Switches())
				for s := range row {
					row[s] = port(fabric.NodeID(s), lid)
				}
				if !reached(g, row, g.Endpoint(owner)) {
					return true
				}
			}
			return false
		}
		if !lacks(tables.Forwarding.Port) {
			continue
		}
		found++
		o.inUse = 0
		answer := o.asks(g, false)
		if answer.Refusal != "" {
			t.Fatal(answer.Refusal)
		}
		if lacks(func(s fabric.NodeID, lid fabric.LID) uint8 { return answer.OutPorts[int(s)*answer.LIDs+int(lid)] }) {
			t.Errorf("after %d exchanges not every LID is reached", n)
		}
	}
	if found == 0 {
		t.Error("Up*/Down* always has a path")
	}
}

// recabled is a fabric in which two cables between switches have exchanged the ends that their
// channels lead to; nil if they have an end in common.
func recabled(t *testing.T, f *fabric.Fabric, a, b fabric.ChannelID) *fabric.Fabric {
	t.Helper()
	x, y := f.Channel(a), f.Channel(b)
	if x.From == y.From || x.To == y.To || x.From == y.To || x.To == y.From {
		return nil
	}
	q := wire.Of(f, 1)
	join := func(from fabric.NodeID, fromPort uint8, to fabric.NodeID, toPort uint8) {
		for i := range q.Nodes[from].Has {
			if p := &q.Nodes[from].Has[i]; p.Number == fromPort {
				p.Peer, p.PeerPort = int(to), toPort
			}
		}
	}
	join(x.From, x.FromPort, y.To, y.ToPort)
	join(y.To, y.ToPort, x.From, x.FromPort)
	join(y.From, y.FromPort, x.To, x.ToPort)
	join(x.To, x.ToPort, y.From, y.FromPort)
	g, err := q.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A step that was handed over is not called confirmed before OpenSM has said so, in the question of a
// later sweep; and status and page say alike what no proof covers.
func TestConfirmed(t *testing.T) {
	t.Parallel()
	o := openSM(start(t, Config{Engine: Names{"weave-any"}}))
	f := testnet.Build(t, "torus:4x4,hosts=2")
	sweeps := int64(len(o.settles(f)))
	g := less(t, f, []fabric.ChannelID{0})
	sweeps += int64(len(o.settles(g)))
	s := o.after(sweeps)
	if s.Plan == nil || s.Plan.Steps == 0 || s.Plan.Confirmed != 0 {
		t.Fatalf("%+v", s.Plan)
	}
	q := o.question(g, false)
	q.Blocks = []wire.Block{{Ports: slices.Repeat([]uint8{routing.NoPort}, 64)}} // a switch has not confirmed
	if a := o.ask(q); a.Refusal != "" {
		t.Fatal(a.Refusal)
	}
	if s := o.after(sweeps + 1); s.Plan.Confirmed != 0 {
		t.Errorf("%+v", s.Plan)
	}
	o.asks(g, false)
	if s = o.after(sweeps + 2); s.Plan.Confirmed != s.Plan.Steps {
		t.Errorf("%+v", s.Plan)
	}
	if s.LastGood.Covers == unicastAndMulticast == slices.Contains(s.NotCovered, "multicast") {
		t.Errorf("covers %s, outside %v", s.LastGood.Covers, s.NotCovered)
	}
}
