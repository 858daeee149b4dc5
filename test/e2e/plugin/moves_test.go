package plugin_test

import (
	"os"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestMoves has hosts exchange their places, adapters and cables replaced, while OpenSM runs. Every
// moment is proven, or the daemon's log says that nothing is; in the end everybody is reached.
func TestMoves(t *testing.T) {
	t.Parallel()
	for _, n := range []struct{ spec, engine string }{{"torus:4x4,hosts=2", "weave-any"}, {"xgft:m=4x4,w=2x4,hosts=2", "updn"}} {
		t.Run(n.spec, func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, n.spec)
			k := interrupts(t, f, "engine: "+n.engine)
			changes := 0
			hosts := routing.HCA.Endpoints(f)
			rounds := testnet.Of(2, 1)
			if os.Getenv("WEFT_THOROUGH") != "" {
				rounds = 20
			}
			now := f
			for i := range rounds {
				for _, what := range []string{"hosts", "cables"} {
					a, b := now.Endpoint(hosts[3+(5*i)%20]).Deliver, now.Endpoint(hosts[8+(7*i)%20]).Deliver
					if what == "cables" {
						a, b = fabric.ChannelID((3*i)%now.Trunks()), fabric.ChannelID((11*i+9)%now.Trunks())
						x, y := now.Channel(a), now.Channel(b)
						if x.From == y.From || x.To == y.To || x.From == y.To || x.To == y.From || a == y.Reverse {
							continue
						}
					}
					if a == b {
						continue
					}
					g, commands := exchanged(t, now, a, b)
					k.between.plan(-1)
					for _, c := range commands {
						k.Console(t, "%s", c)
					}
					k.Sweep(t)
					k.follow(t, restart{})
					k.f = g
					k.swept(t)
					v := k.judged(t, &routing.Tables{Fabric: g, Lanes: routing.OneSL(g, nil)}, routing.Any)
					if !v.Free() || !v.Complete() {
						k.logs(t)
						t.Fatalf("%s exchanged: free %v, complete %v", what, v.Free(), v.Complete())
					}
					now, hosts = g, routing.HCA.Endpoints(g)
					changes++
				}
			}
			said := k.said(t)
			told := strings.Count(said, "proven_meanwhile=false")
			t.Logf("%d changes, %d moments, %d of them not proven, %d said so; %d repairs, %d anew", changes, k.between.moments, len(k.between.unproven), told, strings.Count(said, "change=repair"), strings.Count(said, "change=full"))
			if len(k.between.unproven) > told || strings.Contains(said, "internal error") || strings.Contains(said, "verdict=refused") {
				k.logs(t)
				t.Errorf("not proven: %q", k.between.unproven)
			}
			if log := k.logFrom(t, 0); strings.Contains(log, "ERR W00") {
				k.logs(t)
				t.Error("the plugin complains")
			}
		})
	}
}
