package weft

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// stated is a network with lanes drawn by lot: trunks run at least so many, or it is not
// stated; cables to hosts run any number.
func stated(t testing.TB, spec string, rng *rand.Rand) *fabric.Fabric {
	f := testnet.Build(t, spec)
	codes := []uint8{1, 2, 4, 8, 15, 0}
	least := rng.IntN(4)
	return testnet.WithLanes(t, f, func(c fabric.ChannelID) uint8 {
		if int(c) < f.Trunks() {
			return codes[least+rng.IntN(len(codes)-least)]
		}
		return codes[rng.IntN(len(codes))]
	})
}

// namesAbsent is the first place where maps name a lane that the cable does not run, whoever uses
// it; empty: nowhere.
func namesAbsent(t *routing.Tables) string {
	f := t.Fabric
	for c, ch := range f.Channels() {
		if f.Node(ch.From).Kind != fabric.Switch || ch.DataVLs == 0 {
			continue
		}
		for in := range uint8(f.Node(ch.From).Ports + 1) {
			for sl, vl := range t.Lanes.SL2VL.Map(ch.From, in, ch.FromPort) {
				if vl >= ch.DataVLs && vl < routing.MaxDataVLs {
					return fmt.Sprintf("%s, from port %d, SL %d: VL %d of %d", f.ChannelLabel(fabric.ChannelID(c)), in, sl, vl, ch.DataVLs)
				}
			}
		}
	}
	return ""
}

// requests is all engines, with classes of traffic, auto, and every path finder with every lane
// assigner if there is time.
func requests(thorough bool) (all []Request) {
	for _, e := range engines.All() {
		all = append(all, Request{Engine: e.Name}, Request{Engine: e.Name, Classes: 2})
	}
	all = append(all, Request{Engine: Auto, Patterns: 20})
	if thorough {
		for _, p := range engines.Finders() {
			for _, l := range engines.Assigners() {
				all = append(all, Request{Engine: p.Name + "+" + l.Name})
			}
		}
	}
	return all
}

// Whatever the lanes that cables are stated to run, every engine's tables name those only and lose
// no packet for want of one, or it refuses and names the cable that has no more.
func TestEngineStaysWithinStatedLanes(t *testing.T) {
	runs := 2
	if os.Getenv("WEFT_THOROUGH") != "" {
		runs = 6
	}
	rng := rand.New(rand.NewPCG(4, 2026))
	routed, folded, refused := 0, 0, 0
	for range runs {
		for _, spec := range []string{
			fmt.Sprintf("random:switches=12,links=24,hosts=2,seed=%d", rng.IntN(1000)), "torus:4x4", "mesh:3x4", "ring:7", "fattree:ports=6", "dragonfly:p=2", "kautz:b=2,n=3",
		} {
			f := stated(t, spec, rng)
			if rng.IntN(3) == 0 {
				var err error
				if f, err = f.WithLMC(1); err != nil {
					t.Fatal(err)
				}
			}
			limit := routing.LimitOf(f)
			for _, r := range requests(os.Getenv("WEFT_THOROUGH") != "") {
				for _, k := range []*routing.Contract{nil, new(routing.Honored)} {
					r.Contract, r.NoCycle = k, true
					if r.Classes > 1 && k != nil {
						continue
					}
					s, err := Route(t.Context(), f, r)
					where := fmt.Sprintf("%s, at most %d, %s, %v, %d", spec, limit.Lanes, r.Engine, k, r.Classes)
					loop, few := (*CreditLoop)(nil), (*routing.TooFewLanes)(nil)
					switch {
					case errors.As(err, &few):
						refused++
						if bound := limit.Lanes > 0 && limit.Lanes <= routing.DefaultVLs; few.Have != limit.Within(routing.DefaultVLs) || bound != (few.Where != "") || bound && !strings.Contains(err.Error(), "→") {
							t.Errorf("%s: %v", where, err)
						}
						continue
					case errors.As(err, &loop):
						s = loop.Result
					case routing.Refused(err):
						continue
					case err != nil:
						t.Fatalf("%s: %v", where, err)
					}
					routed++
					if absent := namesAbsent(s.Tables); absent != "" {
						t.Errorf("%s: %s", where, absent)
					}
					if _, uniform := s.Tables.Lanes.SL2VL.Uniform(); !uniform {
						folded++
					}
					for _, k := range []routing.Contract{routing.Any, s.Contract} {
						v, err := deadlock.Verify(t.Context(), s.Tables, deadlock.Options{Contract: k, Scope: routing.All, NoCycle: true})
						if err != nil || len(v.Absent) > 0 || v.Dropped > 0 {
							t.Errorf("%s: %v, %d absent, %d dropped", where, err, len(v.Absent), v.Dropped)
						}
					}
				}
			}
		}
	}
	t.Logf("%d routed, %d of them with maps by port, %d refused", routed, folded, refused)
	if routed < 200*runs || folded == 0 || refused == 0 {
		t.Errorf("%d routed, %d of them with maps by port, %d refused: too few of some kind", routed, folded, refused)
	}
}

// More lanes than a cable runs are refused by its name, fewer are taken; where nothing is stated
// there is no limit, and of cables to hosts none.
func TestMoreLanesThanStated(t *testing.T) {
	f := testnet.Build(t, "torus:3x3")
	four := testnet.WithLanes(t, f, func(c fabric.ChannelID) uint8 {
		switch {
		case int(c) >= f.Trunks():
			return 1
		case c == 5 || f.Channel(c).Reverse == 5:
			return 4
		}
		return 8
	})
	all := testnet.WithLanes(t, f, func(fabric.ChannelID) uint8 { return 2 })
	_, err := Route(t.Context(), four, Request{Engine: "updn", VLs: 5})
	rule := (*routing.Refusal)(nil)
	c := min(5, f.Channel(5).Reverse)
	want := fmt.Sprintf("5 data lanes are asked for, and the cable %s runs 4", f.ChannelLabel(c))
	if !errors.As(err, &rule) || rule.Node != f.Channel(c).From || rule.Port != f.Channel(c).FromPort || rule.Why != want {
		t.Errorf("5 lanes of 4: %v, want %q", err, want)
	}
	_, err = Route(t.Context(), all, Request{VLs: 8})
	if want := "runs 2, as do all 18 between switches"; !errors.As(err, &rule) || !strings.HasSuffix(rule.Why, want) {
		t.Errorf("8 lanes of 2: %v, want %q", err, want)
	}
	if _, err = Route(t.Context(), four, Request{Engine: "updn", VLs: 16}); err == nil || routing.Refused(err) {
		t.Errorf("16 lanes: %v", err)
	}
	for _, c := range []struct {
		f    *fabric.Fabric
		vls  int
		uses int
	}{{four, 0, 4}, {four, 3, 3}, {four, 4, 4}, {all, 0, 2}, {f, 0, 8}, {f, 12, 12}} {
		s, err := Route(t.Context(), c.f, Request{Engine: "dfsssp", Contract: new(routing.Directed), VLs: c.vls})
		if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) && few.Have == c.uses {
			continue
		}
		if err != nil || s.Verdict.VLs > c.uses {
			t.Errorf("%d lanes: %v, %d used, want at most %d", c.vls, err, s.Verdict.VLs, c.uses)
		}
	}
}
