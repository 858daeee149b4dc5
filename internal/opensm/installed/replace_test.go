package installed_test

import (
	"errors"
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Tables that are routed anew replace others in proven moves on trees, whatever cable is gone;
// on other networks most do only if packets of some destinations may be dropped.
func TestReplace(t *testing.T) {
	for _, n := range []struct {
		spec, engine string
		all          bool
	}{{"xgft:m=4x4,w=2x4,hosts=2", "updn", true}, {"xgft:m=4,w=4,hosts=4", "ftree", true}, {"torus:4x4,hosts=2", "weave-any", false}} {
		f := testnet.Build(t, n.spec)
		safe, refused, drops := 0, 0, 0
		for i := 0; i < f.Trunks(); i += 5 {
			s := begin(t, f, n.engine, routing.Any)
			was := s.Sent
			anew := begin(t, without(t, f, []fabric.ChannelID{fabric.ChannelID(i)}), n.engine, routing.Any).Sent
			m, err := s.Replace(t.Context(), anew, s.o)
			if err != nil {
				refused++
				s.o.Drops = true
				if m, err = s.Replace(t.Context(), anew, s.o); err != nil || !m.Drops || m.CutAfter == 0 {
					t.Fatalf("%s, trunk %d: %v, %+v", n.spec, i, err, m)
				}
				if m.CutAfter < m.Union.Pairs {
					drops++
				}
			}
			if m.Kind != installed.Full || !m.Union.Free() || m.Alone.Complete() == m.Drops || m.Returning {
				t.Errorf("%s, trunk %d: %+v", n.spec, i, m)
			}
			s.Sent, s.Goal, s.Plan = m.Tables, anew, m.Plan
			if m.Drops { // and no switch confirms it
				if s.Confirmed, err = transition.On(anew.Fabric, was, nil); err != nil {
					t.Fatal(err)
				}
				if again := s.sweep(anew.Fabric); again.Kind != installed.Repair || again.More != 1 || !again.Drops || again.CutBefore >= again.CutAfter {
					t.Errorf("%s, trunk %d: %+v", n.spec, i, again)
				}
			}
			for more := m.More; more > 0; more-- {
				if last := s.sweep(anew.Fabric); last.Kind != installed.Full || last.More != more-1 {
					t.Errorf("%s, trunk %d: %s, %d more", n.spec, i, last.Kind, last.More)
				}
			}
			s.same(anew)
			safe++
		}
		if t.Logf("%s: %d in proven moves, %d only with drops, %d of them of some destinations only", n.spec, safe, refused, drops); safe == 0 || n.all != (refused == 0) || !n.all && drops == 0 {
			t.Errorf("%s: %d in proven moves, %d only with drops", n.spec, safe, refused)
		}
	}
}

// Where service levels are by path, packets on those of who had a LID before, or of the switch where a
// host was, are in no proof: none is claimed.
func TestElsewhereByPath(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2")
	hosts := routing.HCA.Endpoints(f)
	a, b := f.Endpoint(hosts[0]), f.Endpoint(hosts[len(hosts)/2])
	otherLIDs, otherSwitches := wire.Of(f, 1), wire.Of(f, 1)
	exchange(otherLIDs, a.Node, b.Node)
	exchange(otherSwitches, a.Node, b.Node)
	x, y := &otherSwitches.Nodes[a.Node], &otherSwitches.Nodes[b.Node]
	x.GUID, y.GUID, x.Has[0].GUID, y.Has[0].GUID = y.GUID, x.GUID, y.Has[0].GUID, x.Has[0].GUID
	for name, q := range map[string]*wire.Request{"other LIDs": otherLIDs, "other switches": otherSwitches} {
		now, err := q.Fabric()
		if err != nil {
			t.Fatal(err)
		}
		s := begin(t, f, "df-dn", routing.Honored)
		if _, err := s.Next(t.Context(), now, s.o); !errors.Is(err, installed.ErrNone) {
			t.Errorf("%s: kept, with %v", name, err)
		}
	}
}
