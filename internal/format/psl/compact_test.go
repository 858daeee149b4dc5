package psl_test

import (
	"bytes"
	"testing"

	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// The compact form lists what differs from what it goes without saying, and no more.
func TestCompactIsCompact(t *testing.T) {
	f := testnet.Build(t, "ring:3,hosts=2")
	m := routing.LanePerSL(8)
	text := func(l *routing.Lanes) string {
		t.Helper()
		var b bytes.Buffer
		if err := psl.Write(&b, &routing.Tables{Fabric: f, Lanes: l}, psl.Compact); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, l := range []*routing.Lanes{routing.OneSL(f, m), routing.NewLanes(f, m)} {
		if got := text(l); got != "#compact\n#end 0\n" {
			t.Errorf("everything on SL 0 is written as\n%s", got)
		}
	}
	// A row for every endpoint; one of them differs from its switch at one LID, one must
	// not use another.
	row := make([]int32, len(f.Endpoints()))
	for i := range row {
		row[i] = int32(i)
	}
	l := routing.NewLanesByRow(f, m, row, len(row))
	host := routing.HCA.Endpoints(f)[0]
	e := f.Endpoint(host)
	sw := f.Endpoint(f.Attached(e.Switch)[0])
	for _, source := range f.Attached(e.Switch) {
		l.SLRow(2)[source] = 3
	}
	l.SLRow(4)[host] = 5
	l.SLRow(5)[host] = routing.NoSL
	guid := f.Node(e.Node).GUID.String()
	want := "#compact\n" +
		f.Node(sw.Node).GUID.String() + " 2 3\n" +
		"#port " + guid[2:] + ":1 4 5\n" +
		"#none " + guid[2:] + ":1 5\n" +
		"#end 3\n"
	if got := text(l); got != want {
		t.Errorf("wrote\n%swant\n%s", got, want)
	}
}
