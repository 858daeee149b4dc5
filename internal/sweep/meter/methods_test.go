package meter

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/results"
	"github.com/weft-fabric/weft/internal/testnet"
)

// weave-any, which does with few lanes whatever service level is used, gets copies of them as
// classes of traffic; nue takes all.
func TestLanesOfAnother(t *testing.T) {
	s, err := sweep.Read(strings.NewReader("networks: ['random:switches=32,links=64,hosts=1,seed=1']\n"+
		"engines: [{engine: weave-any, lanes-of: a-lash}, {engine: nue, contract: directed, lanes-of: a-lash}]\nmeasures: [settled]"), "SPEC", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Points {
		p := &s.Points[i]
		x := new(Meter).taking(p)
		if err := x.route(t.Context()); err != nil {
			t.Fatal(err)
		}
		lanes := x.of.Result.Tables.Lanes
		classes := lanes.Classes > 1 && lanes.Needed <= x.of.Lanes && lanes.Needed+lanes.Needed/lanes.Classes > x.of.Lanes
		if x.of.Lanes < 3 || classes != (p.Engine.Name == "weave-any") || x.of.Result.Verdict.VLs > x.of.Lanes {
			t.Errorf("%s needs %d lanes in %d classes, of %d; the judge finds %d", p.Engine.Name, lanes.Needed, lanes.Classes, x.of.Lanes, x.of.Result.Verdict.VLs)
		}
	}
}

// Where A-LASH would do with one, Escape needs two.
func TestALASHHasTwoLanesAtLeast(t *testing.T) {
	tree := testnet.Build(t, "random:switches=8,links=7,hosts=1,seed=1")
	for of, want := range map[string]int{"a-lash": 2, "mp-lash": 1, "lash": 1} {
		if n, err := lanesOf(t.Context(), tree, of, 1); err != nil || n != want {
			t.Errorf("%s on a tree: %d lanes, want %d; %v", of, n, want, err)
		}
	}
}

// A network in parts is refused, and no defect of the engine; a part without hosts does no harm.
func TestMethodsInParts(t *testing.T) {
	ring := testnet.Build(t, "ring:4,hosts=2")
	first, _ := ring.TrunksFrom(0)
	third, _ := ring.TrunksFrom(2)
	halves, err := ring.Without([]fabric.ChannelID{first, third}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tree := testnet.Build(t, "xgft:m=2,w=2,hosts=2")
	var cables []fabric.ChannelID
	for c := range fabric.ChannelID(tree.Trunks()) {
		if ch := tree.Channel(c); ch.To == fabric.NodeID(tree.Switches()-1) {
			cables = append(cables, c)
		}
	}
	idle, err := tree.Without(cables, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(halves.Parts()) != 2 || len(idle.Parts()) != 2 {
		t.Fatalf("%d and %d parts", len(halves.Parts()), len(idle.Parts()))
	}
	for _, e := range sweep.SimulatedEngines() {
		for f, want := range map[*fabric.Fabric]results.Status{halves: results.Refused, idle: results.OK} {
			m := &Meter{Open: func(string) (*fabric.Fabric, error) { return f, nil }}
			s, err := sweep.Read(strings.NewReader("networks: [{file: it}]\nengines: [{engine: "+e.Name+", vls: 4}]\nmeasures: [{measure: settled, load: 0.1, window: 2000}]"), "SPEC",
				func(name string) (string, string, error) { return name, "digest", nil })
			if err != nil {
				t.Fatal(err)
			}
			rows, err := m.Take(t.Context(), &s.Points[0])
			if err != nil || rows[0].Status != want || want == results.Refused && !strings.Contains(rows[0].Reason, "in 2 parts") {
				t.Errorf("%s: %v, %s, %q", e.Name, err, rows[0].Status, rows[0].Reason)
			}
		}
	}
}
