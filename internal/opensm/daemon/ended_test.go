package daemon

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// An OpenSM that ends while it writes a step begins again with none of our tables in use: the
// switches may have a part of the step, so that it is handed over once more, also by a daemon that
// was started anew, and the plan goes on. Where the step cuts pairs it is not, and the log says
// that nothing is proven.
func TestOpenSMEndsWhileItWrites(t *testing.T) {
	t.Parallel()
	for _, n := range []struct {
		spec, engine string
		proven       bool
	}{{"fattree:ports=8,levels=3", "updn", true}, {"torus:5x5,hosts=1", "weave-any", false}} {
		for _, both := range []bool{false, true} {
			c := Config{Engine: Names{n.engine}, State: stateDir(t)}
			o := openSM(start(t, c))
			f := testnet.Build(t, n.spec)
			o.settles(f)
			var gone *fabric.Fabric
			for cable := fabric.ChannelID(0); ; cable++ { // whose repair takes several steps
				gone = less(t, f, []fabric.ChannelID{cable})
				if o.asks(gone, false).More > 0 {
					break
				}
				o.settles(f)
			}
			step := o.ports
			if both {
				o.end()
				o.running = start(t, c)
			}
			o.inUse = 0
			a := o.asks(gone, false)
			if a.Refusal != "" || bytes.Equal(o.ports, step) != n.proven || (a.More > 0) != n.proven {
				t.Errorf("%s: %q, %d steps follow, the same step: %v\n%s", n.spec, a.Refusal, a.More, bytes.Equal(o.ports, step), o.log)
			}
			if rest := o.settles(gone); rest[len(rest)-1].More > 0 || bytes.Equal(o.ports, step) {
				t.Errorf("%s: the plan does not end\n%s", n.spec, o.log)
			}
			o.end()
			if said := strings.Contains(o.log.String(), "proven_meanwhile=false"); said == n.proven {
				t.Errorf("%s: said that it is not proven: %v\n%s", n.spec, said, o.log)
			}
		}
	}
}
