package daemon

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
)

// lacks asks, while the tables in use are written, with a block that a switch has as it was before:
// they are handed over once more.
func (o *opensm) lacks(f *fabric.Fabric, before []uint8) {
	o.t.Helper()
	row := 0
	for bytes.Equal(o.ports[row:row+64], before[row:row+64]) {
		row += len(before) / o.switches
	}
	q := o.question(f, true)
	q.Blocks = []wire.Block{{Switch: row * o.switches / len(before), Ports: before[row:][:64]}}
	if a := o.ask(q); !bytes.Equal(a.OutPorts, o.ports) {
		o.t.Errorf("%q, other tables", a.Refusal)
	}
}

// An OpenSM that ends while it writes a step begins again with none of our tables in use: the
// switches may have a part of the step, so that it is handed over once more, also by a daemon that
// was started anew, and the plan goes on. Where the step cuts pairs and the switches are said to be
// empty it is not, and the log says that nothing is proven.
func TestOpenSMEndsWhileItWrites(t *testing.T) {
	t.Parallel()
	for _, n := range []struct {
		spec, engine   string
		filled, proven bool
	}{{"fattree:ports=8,levels=3", "updn", false, true}, {"torus:5x5,hosts=1", "weave-any", true, true}, {"torus:5x5,hosts=1", "weave-any", false, false}} {
		for _, both := range []bool{false, true} {
			c := Config{Engine: Names{n.engine}, State: stateDir(t)}
			o := openSM(start(t, c))
			f := testnet.Build(t, n.spec)
			o.settles(f)
			whole := o.ports
			var gone *fabric.Fabric
			for cable := fabric.ChannelID(0); ; cable++ { // whose repair takes several steps
				gone = less(t, f, []fabric.ChannelID{cable})
				if o.asks(gone, false).More > 0 {
					break
				}
				o.settles(f)
				whole = o.ports
			}
			step, number := o.ports, o.inUse
			if both {
				o.end()
				o.running = start(t, c)
			} else {
				o.lacks(gone, whole)
			}
			o.inUse, o.filled = 0, n.filled
			a := o.asks(gone, false)
			if a.Step != n.filled || n.proven && o.inUse != number {
				t.Errorf("%s: a step: %v, the same one: %v", n.spec, a.Step, o.inUse == number)
			}
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

// The same on the way back, whose first step goes with no tree for multicast: that the tables before
// have one does not keep the step from being handed over once more. Nor does a question before that
// lists what a switch has not confirmed: it has a part of them then.
func TestOpenSMEndsWhileItWritesTheWayBack(t *testing.T) {
	t.Parallel()
	for _, lacking := range []bool{false, true} {
		o := openSM(start(t, Config{Engine: Names{"weave-any"}, MaxEntries: 20}))
		f := testnet.Build(t, "torus:5x5,hosts=1")
		o.settles(f)
		before := o.ports
		o.settles(less(t, f, []fabric.ChannelID{0}))
		o.asks(f, false)
		mended, was := o.ports, o.inUse
		if o.asks(f, true).Groups != 0 {
			t.Fatal("there is a tree")
		}
		step := o.ports
		if lacking {
			o.lacks(f, mended)
		}
		o.inUse, o.filled = 0, true
		if a := o.asks(f, false); !bytes.Equal(o.ports, step) || a.More == 0 {
			t.Errorf("%q, %d steps follow, the same step: %v", a.Refusal, a.More, bytes.Equal(o.ports, step))
		}
		if is := o.keeper.find(o.inUse).since.number; is != was {
			t.Errorf("tables %x are proven beside it, not %x, of which switches have a part", is, was)
		}
		if o.settles(f); !bytes.Equal(o.ports, before) {
			t.Error("it does not end as planned")
		}
		o.end()
		if strings.Contains(o.log.String(), "proven_meanwhile=false") {
			t.Errorf("%s", o.log)
		}
	}
}
