package packets_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// The campaign puts the judge and the simulator against each other: a routing that
// is proven and stops, or a credit loop whose traffic does not stop, would be a
// mistake of one of them. WEFT_CAMPAIGN=N makes N rounds in place of a few.
func TestCampaign(t *testing.T) {
	rounds, every := 30, testnet.Of(1, 3)
	if text := os.Getenv("WEFT_CAMPAIGN"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal("WEFT_CAMPAIGN is no number of rounds")
		}
		rounds, every = n, 1
	}
	var c campaign
	for round := 0; round < rounds; round += every {
		c.round(t, rand.New(rand.NewPCG(2026, uint64(round))))
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("%d rounds: %d proven routings ran %d times and never stopped, %.3g packets; %d credit loops were replayed, %d stopped (%d where the judge said), %d did not; %d refusals",
		rounds, c.proven, c.runs, float64(c.packets), c.loops, c.stopped, c.matched, c.loops-c.stopped, c.refused)
	if c.proven == 0 || c.stopped == 0 {
		t.Error("the campaign met no proven routing, or no loop")
	}
}

type campaign struct {
	proven, runs, loops, stopped, matched, refused int
	packets                                        int64
}

// anyFabric is a network of some family, perhaps with a cable missing.
func anyFabric(t *testing.T, r *rand.Rand) (*fabric.Fabric, string) {
	specs := []string{
		fmt.Sprintf("ring:%d,hosts=%d", 3+r.IntN(8), 1+r.IntN(2)),
		fmt.Sprintf("torus:%dx%d,hosts=%d", 2+r.IntN(5), 3+r.IntN(4), 1+r.IntN(2)),
		fmt.Sprintf("torus:%dx%dx%d", 2+r.IntN(3), 3+r.IntN(2), 3+r.IntN(2)),
		fmt.Sprintf("random:switches=%d,links=%d,hosts=%d,seed=%d", 16, 24+r.IntN(24), 1+r.IntN(3), r.IntN(1000)),
		fmt.Sprintf("mesh:%dx%d,hosts=2", 2+r.IntN(4), 2+r.IntN(4)),
		"karytree:k=2,n=3", "slimfly:q=3,hosts=2", "slimfly:q=5,hosts=2", "dragonfly:p=2", "hypercube:n=4", "kautz:b=2,n=3",
	}
	spec := specs[r.IntN(len(specs))]
	f := testnet.Build(t, spec)
	if r.IntN(3) == 0 {
		if g, err := f.Without([]fabric.ChannelID{fabric.ChannelID(r.IntN(f.Trunks()))}, nil); err == nil && len(g.Parts()) == 1 {
			return g, spec + " without a cable"
		}
	}
	return f, spec
}

func (c *campaign) round(t *testing.T, r *rand.Rand) {
	f, name := anyFabric(t, r)
	all, adaptives := engines.All(), choosing.Engines()
	var e engines.Engine
	var adaptive choosing.Engine
	if i := r.IntN(len(all) + len(adaptives)); i < len(all) {
		e = all[i]
	} else {
		adaptive = adaptives[i-len(all)]
	}
	budget := routing.Budget{VLs: []int{1, 2, 4, 8}[r.IntN(4)], Scope: routing.Adapters}
	name = fmt.Sprintf("%s, %s, %d lanes", name, e.Name+adaptive.Name, budget.VLs)
	config, err := packets.PresetNamed([]string{"ib-hdr", "unit"}[r.IntN(2)])
	if err != nil {
		t.Fatal(err)
	}
	packet := (config.MTU + config.Header + packets.Block - 1) / packets.Block * packets.Block
	config.Buffer = packet * (1 + r.IntN(3))
	config.Lottery = r.IntN(2) == 0
	if r.IntN(4) == 0 {
		config.OutBuffer = packet
	}
	ctx := context.Background()
	if e.New == nil {
		a, err := adaptive.RouteAdaptive(ctx, f, budget, nil)
		if err != nil {
			c.refused++
			return
		}
		v, err := judge.Verify(ctx, a, judge.Options{Scope: routing.Adapters})
		if err != nil || !v.Free() {
			t.Fatalf("%s: %v", name, err)
		}
		n, err := packets.NewAdaptive(a, config)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.runsFree(t, n, r, name)
		return
	}
	tables, err := e.Route(ctx, f, engines.Options{}, budget, nil)
	if err != nil {
		c.refused++
		return
	}
	v := judged(t, tables)
	n, err := packets.New(tables, config)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if v.Free() {
		c.runsFree(t, n, r, name)
		return
	}
	c.loops++
	replay, err := n.Replay(ctx, stepsOf(v), r.Uint64())
	switch {
	case err != nil:
		t.Fatalf("%s: %v", name, err)
	case replay.Result.Deadlock == nil:
		t.Logf("%s: a loop of %d steps does not stop in %d attempts", name, len(v.Cycle), replay.Attempt)
	default:
		c.stopped++
		if config.OutBuffer == 0 && replay.Result.Deadlock.Matches(stepsOf(v)) {
			c.matched++
		}
	}
}

// runsFree runs a proven routing under traffic that fills it.
func (c *campaign) runsFree(t *testing.T, n *packets.Network, r *rand.Rand, name string) {
	c.proven++
	for _, spec := range []string{"uniform", "permutation", "shift:k=1", "tornado"} {
		l := packets.Injection{Offered: 1, Placement: routing.HCA.Endpoints(n.Fabric), Seed: r.Uint64()}
		if spec != "uniform" {
			p, err := traffic.Parse(spec)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Phases(len(l.Placement)); err != nil || len(l.Placement) < 8 {
				continue
			}
			l.Pattern = p
		}
		packet := packets.Time(83_000)
		if n.Config.FlitTime > 0 {
			packet = 32
		}
		result, err := n.Measure(context.Background(), l, packets.Window{Length: 400 * packet, WarmUp: 100 * packet, Exactly: true})
		if err != nil {
			t.Fatalf("%s, %s: %v", name, spec, err)
		}
		if result.Deadlock != nil {
			t.Fatalf("%s, %s: proven, and it stops: %s", name, spec, result.Deadlock)
		}
		c.runs++
		c.packets += result.Arrived
	}
}
