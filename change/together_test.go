package change_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Hosts, cables and switches that go together or one after another, some of which come back before
// others go: no plan is an error, both judges accept every step, service levels and maps stay, the
// counts of each step add up, no entry leads over a cable that is gone, a host that leaves changes
// no other row, and when all are back so are the first tables, service levels included.
func TestGoTogether(t *testing.T) {
	cases := uint64(testnet.Of(300, 100))
	if os.Getenv("WEFT_THOROUGH") != "" {
		cases = 20_000
	}
	var all together
	for seed := range cases {
		all.draw(t, seed)
	}
	t.Logf("%+v", all)
	if all.fabrics < int(cases*2/3) || all.steps < 3*all.fabrics || all.waiting == 0 {
		t.Error("too few to say anything")
	}
}

// together counts what TestGoTogether saw.
type together struct{ fabrics, plans, steps, left, notBack, waiting int }

// lives is a fabric while parts of it go and come back.
type lives struct {
	*together
	t        *testing.T
	what     string
	rng      *rand.Rand
	first    *routing.Tables
	o        change.Options
	channels []fabric.ChannelID // gone
	nodes    []fabric.NodeID    // gone
	now      *routing.Tables
}

// draw lets parts of a network go and come back, drawn by a seed like the network itself.
func (n *together) draw(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 77))
	specs := []string{
		"random:switches=8,links=12,hosts=2,seed=%d", "random:switches=10,links=18,hosts=1,seed=%d", "random:switches=12,links=18,hosts=2,seed=%d",
		"random:switches=7,links=14,hosts=2,seed=%d", "torus:4x4,hosts=1", "torus:3x3,hosts=2", "mesh:3x4,hosts=1", "ring:7,hosts=2",
		"xgft:m=3x3,w=2x2,hosts=2", "xgft:m=2x3,w=2x3,hosts=1", "dragonfly:p=2", "planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2",
	}
	pick := rng.IntN(len(specs))
	spec := specs[pick]
	if strings.Contains(spec, "%d") {
		spec = fmt.Sprintf(spec, 1+seed%40)
	}
	name := []string{"weave-any", "updn", "dfsssp", "lash", "nue"}[rng.IntN(5)]
	if pick >= len(specs)-2 && rng.IntN(6) > 0 {
		return // large
	}
	f := testnet.Build(t, spec)
	r, err := weft.Route(t.Context(), f, weft.Request{Engine: name, Options: engines.Options{Seed: seed}})
	if err != nil && routing.Refused(err) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	if seed%2 == 1 { // then repairs see to packets between hosts only, and hosts that come back have to wait now and then
		leaveEmpty(r.Tables)
	}
	o := change.Options{Contract: r.Contract, AllowDrops: rng.IntN(4) == 0}
	l := &lives{n, t, fmt.Sprintf("seed %d, %s on %s, drops %v", seed, name, spec, o.AllowDrops), rng, r.Tables, o, nil, nil, r.Tables}
	n.fabrics++
	for i := range 1 + rng.IntN(4) {
		l.event(i == 0)
	}
	l.allBack()
}

// leaveEmpty takes one entry for port 0 of the first switch out of tables, by which no other switch goes.
func leaveEmpty(tables *routing.Tables) {
	f := tables.Fabric
	for lid, e := range f.LIDs() {
		if to := f.Endpoint(e); to.Class != fabric.SwitchPort || to.Switch != 0 {
			continue
		}
		row := tables.Forwarding.Row(lid)
		for s := range row {
			used := s == 0
			for at := range row {
				c := f.Trunk(fabric.NodeID(at), row[at])
				used = used || at != 0 && c != fabric.None && f.Heads()[c] == fabric.NodeID(s)
			}
			if !used {
				row[s] = routing.NoPort
				return
			}
		}
	}
}

// event lets parts go, or one come back.
func (l *lives) event(first bool) {
	l.t.Helper()
	channels, nodes := slices.Clone(l.channels), slices.Clone(l.nodes)
	back, onlyHosts := len(channels)+len(nodes) > 0 && l.rng.IntN(3) == 0, true
	if i := l.rng.IntN(1 + len(channels) + len(nodes)); back && i < len(channels) {
		l.channels = slices.Delete(l.channels, i, i+1)
	} else if i -= len(channels); back && i < len(nodes) {
		l.nodes = slices.Delete(l.nodes, i, i+1)
	}
	if !back || l.rng.IntN(3) == 0 {
		for range 1 + l.rng.IntN(3) {
			onlyHosts = l.takeAway() && onlyHosts
		}
	}
	live, err := l.first.Fabric.Without(l.channels, l.nodes)
	if err != nil {
		l.t.Fatal(err)
	}
	switch {
	case live.Switches() < 3:
		l.channels, l.nodes = channels, nodes
	case back:
		target := l.judged(change.Mend(l.t.Context(), l.first, live, l.o))
		l.now = l.judged(change.Return(l.t.Context(), l.now, target.After, l.o)).After
	default:
		p := l.judged(change.Mend(l.t.Context(), l.now, live, l.o))
		for lid := range live.LIDs() {
			if first && onlyHosts && !bytes.Equal(p.After.Forwarding.Row(lid), p.Before.Forwarding.Row(lid)) {
				l.t.Errorf("%s: the row of LID %d changes, but only hosts are gone", l.what, lid)
			}
		}
		l.now = p.After
	}
}

// takeAway takes a host away, with its adapter or by its cable, a cable between switches, or a
// switch. It says whether it is a host.
func (l *lives) takeAway() bool {
	f := l.first.Fabric
	hosts := routing.HCA.Endpoints(f)
	switch l.rng.IntN(6) {
	case 0, 1:
		l.channels = append(l.channels, fabric.ChannelID(l.rng.IntN(f.Trunks())))
		return false
	case 2, 3:
		l.nodes = append(l.nodes, f.Endpoint(hosts[l.rng.IntN(len(hosts))]).Node)
	case 4:
		l.channels = append(l.channels, f.Endpoint(hosts[l.rng.IntN(len(hosts))]).Inject)
	default:
		l.nodes = append(l.nodes, fabric.NodeID(l.rng.IntN(f.Switches())))
		return false
	}
	return true
}

// allBack brings everything back.
func (l *lives) allBack() {
	l.t.Helper()
	l.channels, l.nodes = nil, nil
	p := l.judged(change.Return(l.t.Context(), l.now, l.first, l.o))
	cost := transition.CostOf(p.After, l.first)
	if cost.Entries > 0 {
		l.notBack++
		if len(p.Left) == 0 || l.o.AllowDrops {
			l.t.Errorf("%s: all are back, and %d entries differ, %d destinations left", l.what, cost.Entries, len(p.Left))
		}
	}
	for lid, e := range l.first.Fabric.LIDs() {
		if a, b := p.After.Lanes.SL(e, lid), l.first.Lanes.SL(e, lid); a != b {
			l.t.Errorf("%s: all are back, and LID %d has service level %d to itself, in place of %d", l.what, lid, a, b)
		}
	}
}

// judged demands of a plan what holds of each.
func (l *lives) judged(p *change.Proven, err error) *change.Proven {
	l.t.Helper()
	what := fmt.Sprintf("%s, without channels %v and nodes %v", l.what, l.channels, l.nodes)
	if err != nil {
		l.t.Fatalf("%s: %v", what, err)
	}
	l.plans++
	l.steps += len(p.Steps)
	if len(p.Waiting) > 0 {
		l.waiting++
	}
	for i, s := range p.Steps {
		if s.Union.SLs+int64(s.Union.Maps)+s.Union.Circles > 0 {
			l.t.Errorf("%s, step %d: %d service levels and %d maps change, %d LIDs circle", what, i+1, s.Union.SLs, s.Union.Maps, s.Union.Circles)
		}
		if s.Mended+s.Drops+s.Follow != s.Union.Entries || min(s.Mended, s.Drops, s.Follow) < 0 {
			l.t.Errorf("%s, step %d: %d entries, of them %d mended, %d drop and %d follow", what, i+1, s.Union.Entries, s.Mended, s.Drops, s.Follow)
		}
	}
	if n := l.overNothing(p.After); n > 0 && len(p.Steps) > 0 {
		l.t.Errorf("%s: %d entries lead over cables between switches that are gone", what, n)
	}
	if len(p.Left) > 0 {
		l.left++
		return p
	}
	if p.CutAfter != p.Disconnected {
		l.t.Errorf("%s: %d pairs are cut after the last step, %d in different parts", what, p.CutAfter, p.Disconnected)
	}
	return p
}

// overNothing counts entries that led over a cable to a switch which is still there.
func (l *lives) overNothing(tables *routing.Tables) int {
	f, live, n := l.first.Fabric, tables.Fabric, 0
	for lid := range live.TopLID() + 1 {
		for s, port := range tables.Forwarding.Row(lid) {
			at := fabric.NodeID(s)
			c := f.Out(f.NodeByGUID(live.Node(at).GUID), port)
			if c != fabric.None && int(c) < f.Trunks() && live.Out(at, port) == fabric.None && live.NodeByGUID(f.Node(f.Heads()[c]).GUID) != fabric.None {
				n++
			}
		}
	}
	return n
}
