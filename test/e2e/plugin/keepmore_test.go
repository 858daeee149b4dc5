package plugin_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/least"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// said is what the daemon logged.
func (k *served) said(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(k.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// says waits for a phrase in the daemon's log, and returns the line.
func (k *served) says(t *testing.T, phrase string) string {
	t.Helper()
	for end := time.Now().Add(2 * soon); ; time.Sleep(50 * time.Millisecond) {
		for line := range strings.Lines(k.said(t)) {
			if strings.Contains(line, phrase) {
				return line
			}
		}
		if time.Now().After(end) {
			k.logs(t)
			t.Fatalf("the daemon does not say %q", phrase)
		}
	}
}

// due is the blocks that have to be written when a cable goes, so that all is reached again
// by one step: all of its two ends, and those of switches that have to avoid one of these.
func (k *served) due(t *testing.T, less *fabric.Fabric, gone fabric.ChannelID) int {
	t.Helper()
	least := k.least(t, less)
	if least.Entries == 0 {
		t.Fatal("nothing goes by the cable")
	}
	ends := k.f.Channel(gone)
	blocks := 2 * k.all()
	for s, n := range least.BySwitch {
		if at := fabric.NodeID(s); at != ends.From && at != ends.To {
			blocks += n
		}
	}
	return blocks
}

// least is what has to change in the tables that OpenSM dumped last, on another fabric with
// the same switches.
func (k *served) least(t *testing.T, less *fabric.Fabric) least.Bound {
	t.Helper()
	now, err := transition.On(less, &routing.Tables{Fabric: k.f, Forwarding: k.forwarding(t, k.f), Lanes: routing.OneSL(k.f, routing.LanePerSL(1))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return least.Of(now, routing.HCA)
}

// TestKeepsSwitch has whole switches leave with their hosts, and come back: those that stay
// reach each other, and then the tables are the first.
func TestKeepsSwitch(t *testing.T) {
	t.Parallel()
	for spec, engine := range map[string]string{"dragonfly:p=2": "weave-any", "xgft:m=4x4,w=2x4,hosts=2": "updn"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, spec)
			k := keeps(t, f, "engine: "+engine)
			first := k.tables(t)
			// Not that of OpenSM's host, which is the first, nor of the last, which asks it.
			for _, s := range []fabric.NodeID{3, fabric.NodeID(f.Switches() - 2)} {
				away := []fabric.NodeID{s}
				for _, e := range f.Attached(s) {
					if f.Endpoint(e).Class != fabric.SwitchPort {
						away = append(away, f.Endpoint(e).Node)
					}
				}
				less, err := f.Without(nil, away)
				if err != nil {
					t.Fatal(err)
				}
				blocks := k.change(t, fmt.Sprintf(`Unlink "%s"`, nodeID(f, s)))
				t.Logf("%s and %d hosts leave: %d blocks; plan %+v", f.Label(s), len(away)-1, blocks, k.status(t).Plan)
				k.resweep(t)
				k.safe(t, &routing.Tables{Fabric: less, Lanes: routing.OneSL(less, nil)})
				blocks = k.change(t, fmt.Sprintf(`ReLink "%s"`, nodeID(f, s)))
				t.Logf("back: %d blocks", blocks)
				if k.tables(t) != first {
					k.logs(t)
					t.Error("the switch is back, and the tables are others")
				}
			}
			if strings.Contains(k.said(t), "change=full") {
				t.Error("all is routed anew")
			}
		})
	}
}

// TestFlaps has cables and hosts flap while OpenSM sweeps and steps are under way. Whatever
// it has seen of that, every answer is a step, and when all is back so are the first tables.
func TestFlaps(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:4x4,hosts=2")
	k := keeps(t, f, "engine: weave-any")
	first := k.tables(t)
	hosts := routing.HCA.Endpoints(f)
	candidates := []fabric.ChannelID{2, 13, 40, f.Endpoint(hosts[7]).Deliver, f.Endpoint(hosts[20]).Deliver}
	chance, gone := rand.New(rand.NewPCG(5, 5)), []fabric.ChannelID{}
	// On a busy machine OpenSM sweeps seldom: until it has seen some of that.
	mended := func() int { return strings.Count(k.said(t), "change=repair") }
	for n, end := 0, time.Now().Add(soon); n < 60 || mended() < 3 && time.Now().Before(end); n++ {
		c := candidates[chance.IntN(len(candidates))]
		if i := slices.Index(gone, c); i >= 0 {
			k.Console(t, "%s", k.plug(c))
			gone = slices.Delete(gone, i, i+1)
		} else {
			k.Console(t, "%s", k.unplug(c))
			gone = append(gone, c)
		}
		k.Sweep(t)
		time.Sleep(time.Duration(chance.IntN(120)) * time.Millisecond)
	}
	// With this cable gone, and known to be, there is something to come back to.
	if !slices.Contains(gone, candidates[0]) {
		k.Console(t, "%s", k.unplug(candidates[0]))
		gone = append(gone, candidates[0])
	}
	k.change(t)
	var back []string
	for _, c := range gone {
		back = append(back, k.plug(c))
	}
	k.change(t, back...)
	if k.tables(t) != first {
		k.logs(t)
		t.Error("all is back, and the tables are others")
	}
	if said := k.said(t); strings.Contains(said, "change=full") || mended() < 3 || strings.Count(said, "change=return") == 0 {
		k.logs(t)
		t.Error("all is routed anew, or nothing was mended")
	}
}

// TestHostsOfMany is about the fabric of 160 switches and 225,120 entries on which a host that
// leaves had 80 % of them rewritten when all was routed anew: it costs no more than under
// OpenSM's minhop.
func TestHostsOfMany(t *testing.T) {
	if os.Getenv("WEFT_THOROUGH") == "" {
		t.Skip("WEFT_THOROUGH is not set")
	}
	likeMinHop(t, testnet.Build(t, "planes:groups=5,leaves=16,on=9,planes=9,tops=3,up=9,tails=4,hosts=1247"))
}

// TestNeverKept has a cable leave with keep: never: all is routed anew, which on a tree is a
// step as well. Where it is none, OpenSM's log says that nothing is proven about the time between.
func TestNeverKept(t *testing.T) {
	t.Parallel()
	for spec, c := range map[string]struct{ engine, says string }{
		"torus:4x4,hosts=2":        {"weave-any", "not a step: nothing is proven about the time until it is written"},
		"xgft:m=4x4,w=2x4,hosts=2": {"updn", "; a step, proven while it is written"},
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, spec)
			k := keeps(t, f, "engine: "+c.engine, "keep: never")
			k.Console(t, "%s", k.unplug(0))
			says(t, k.settle(t), c.says)
			less, err := f.Without([]fabric.ChannelID{0}, nil)
			if err != nil {
				t.Fatal(err)
			}
			k.resweep(t)
			k.safe(t, &routing.Tables{Fabric: less, Lanes: routing.OneSL(less, nil)})
			if s := k.status(t); s.Keep != "never" || s.Plan != nil && (s.Plan.Kind != "full" || s.Plan.Ended == nil) {
				t.Errorf("keep: %s, plan %+v", s.Keep, s.Plan)
			}
		})
	}
}

// TestDrops has all be routed anew on a torus with drops: allowed. The plugin takes a step that
// cuts pairs only if its own options allow that.
func TestDrops(t *testing.T) {
	t.Parallel()
	for option, says := range map[string]string{
		"weft.drops=allowed": "; a step, proven while it is written; 1 steps follow",
		"weft.drops=never":   "a step that may cut pairs; event_plugin_options has no weft.drops=allowed",
	} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, "torus:4x4,hosts=2")
			k := started(t, f, "0x0e", option, "engine: weave-any", "keep: never", "drops: allowed")
			first := k.dump(t)
			k.Console(t, "%s", k.unplug(0))
			k.Sweep(t)
			k.Await(t, says, soon)
			if option == "weft.drops=never" {
				if k.dump(t) != first {
					t.Error("the tables are others")
				}
				return
			}
			k.rest(t, 0)
			less, err := f.Without([]fabric.ChannelID{0}, nil)
			if err != nil {
				t.Fatal(err)
			}
			k.resweep(t)
			k.safe(t, &routing.Tables{Fabric: less, Lanes: routing.OneSL(less, nil)})
			if s := k.status(t); s.Plan == nil || s.Plan.Kind != "full" || s.Plan.Steps != 2 || s.Plan.Ended == nil {
				t.Errorf("%+v", s.Plan)
			}
		})
	}
}

// TestBalancedInHours has a cable leave with keep: balanced: it is mended at once. Better
// tables follow when the hours for that have come, in steps of no more entries than asked.
func TestBalancedInHours(t *testing.T) {
	if os.Getenv("WEFT_THOROUGH") == "" {
		t.Skip("WEFT_THOROUGH is not set: it waits for hours that begin in a minute or two")
	}
	live.Need(t)
	t.Parallel()
	const most = 12
	f := testnet.Build(t, "torus:4x4,hosts=2")
	begins := time.Now().Add(2 * time.Minute).Truncate(time.Minute)
	k := keeps(t, f, "engine: updn", "keep: balanced", fmt.Sprintf("max_entries_per_change: %d", most),
		fmt.Sprintf("rebalance: %s-%s", begins.Format("15:04"), begins.Add(time.Hour).Format("15:04")))
	k.tables(t)
	k.change(t, k.unplug(unbalanced(t, f, "updn")))
	mended := k.status(t).LastGood
	if time.Now().After(begins) {
		t.Skip("the machine is too slow: the hours have begun")
	}
	if said := k.said(t); strings.Contains(said, "msg=rebalance") || strings.Contains(said, "change=return") {
		t.Error("it does not wait for the hours")
	}
	time.Sleep(time.Until(begins))
	if line := k.says(t, "msg=rebalance"); !strings.Contains(line, "better=true") {
		t.Fatal(line)
	}
	k.rest(t, 0)
	s := k.status(t)
	if s.Plan.Kind != "return" || s.Plan.Ended == nil || s.LastGood.MaxLoad > mended.MaxLoad-mended.MaxLoad/20 {
		t.Errorf("%+v, largest load %d, %d before", s.Plan, s.LastGood.MaxLoad, mended.MaxLoad)
	}
	steps := 0
	for _, m := range regexp.MustCompile(`change=return entries=(\d+)`).FindAllStringSubmatch(k.said(t), -1) {
		if n, _ := strconv.Atoi(m[1]); n > most+f.Switches() { // or a whole row
			t.Errorf("a step of %d entries, %d at most", n, most)
		}
		steps++
	}
	if steps < 2 {
		t.Errorf("%d steps", steps)
	}
}

// unbalanced is a cable without which mended tables have a load that tables from scratch have
// not, and to which safe steps lead.
func unbalanced(t *testing.T, f *fabric.Fabric, engine string) fabric.ChannelID {
	t.Helper()
	was, _ := honest(t, f, engine, routing.Any)
	o := installed.Options{Contract: routing.Any}
	load := func(x *routing.Tables) uint32 { return congestion.Count(x.Fabric, x.Forwarding, routing.HCA).Max }
	for c := range fabric.ChannelID(f.Trunks()) {
		less, err := f.Without([]fabric.ChannelID{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := installed.State{Sent: was, Goal: was}
		m, err := s.Next(t.Context(), less, o)
		if err != nil || m.More > 0 {
			continue
		}
		better, _ := honest(t, less, engine, routing.Any)
		if now := load(m.Tables); load(better) > now-now/20 {
			continue
		}
		s = installed.State{Sent: m.Tables, Goal: better, Returning: true}
		if m, err = s.Next(t.Context(), less, o); err == nil && m.Kind == installed.Return && m.Left == 0 {
			return c
		}
	}
	t.Fatal("mended tables are never worse")
	return 0
}
