package daemon

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
)

// The cable with the fewest lanes breaks, and comes back: there are more lanes, then fewer, and both
// times the tables in use are changed by steps that are proven.
func TestNarrowestCableBreaks(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:3x3,hosts=1")
	r := start(t, Config{Engine: Names{"updn"}})
	narrow := wire.Of(f, 1)
	narrow.Improves = true
	narrowTrunk(narrow)
	a := r.ask(narrow)
	if a.Refusal != "" || narrow.Lanes() != 1 {
		t.Fatal(a.Refusal, narrow.Lanes())
	}
	var port uint8 // of the cable, at the first switch
	for _, p := range narrow.Nodes[0].Has {
		if p.Peer >= 0 && narrow.Nodes[p.Peer].Kind == fabric.Switch {
			port = p.Number
			break
		}
	}
	less, err := f.Without([]fabric.ChannelID{f.Out(0, port)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range []*wire.Request{wire.Of(less, 2), narrow} {
		for steps := 0; ; steps++ {
			ask := *q
			ask.Sweep, ask.InUse, ask.Improves = uint64(2+10*i+steps), a.Number, true
			last := a.Number
			if a = r.ask(&ask); a.Refusal != "" || steps > 9 {
				t.Fatalf("%d steps, %q", steps, a.Refusal)
			}
			if a.Number != last && !a.Step {
				t.Fatalf("change %d: the tables are made anew, and no step leads to them\n%s", i, r.log)
			}
			if a.More == 0 {
				break
			}
			ask.Again = true
		}
	}
	if strings.Contains(r.log.String(), "number of lanes") {
		t.Error(r.log)
	}
}
