package ibdiagnet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/slvl"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// routed is the tables of a network with several lanes, and the folder of them.
func routed(t *testing.T, spec string) (*routing.Tables, folder) {
	t.Helper()
	r, err := weft.Route(t.Context(), testnet.Build(t, spec), weft.Request{Engine: "lash"})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := write(r.Tables, r.Tables.Lanes.SL2VL)
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables, dir
}

func TestRoundTrip(t *testing.T) {
	for _, spec := range []string{"torus:4x4,hosts=2", testnet.Small, "dragonfly:p=2"} {
		want, dir := routed(t, spec)
		f, err := Read(strings.NewReader(dir.db), "db")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Fabric.Nodes(), f.Nodes()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.Fabric.Channels(), f.Channels()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.Fabric.Endpoints(), f.Endpoints()); diff != "" {
			t.Error(diff)
		}
		d, err := lft.Read(strings.NewReader(dir.fdbs), "fdbs", f, lft.Join{})
		if err != nil {
			t.Fatal(err)
		}
		maps, err := slvl.Read(strings.NewReader(dir.slvl), "slvl", f)
		if err != nil {
			t.Fatal(err)
		}
		again, err := write(&routing.Tables{Fabric: f, Forwarding: d.Forwarding}, maps)
		if err != nil {
			t.Fatal(err)
		}
		if again != dir {
			t.Errorf("%s: the folder that is written of what was read is another one", spec)
		}
	}
}

// Files that are cut short, or are of another fabric, are errors that name a line.
func TestOtherFiles(t *testing.T) {
	_, dir := routed(t, "torus:4x4")
	f, err := Read(strings.NewReader(dir.db), "db")
	if err != nil {
		t.Fatal(err)
	}
	other := testnet.Build(t, "ring:5")
	for i, cut := range strings.SplitAfter(dir.db, "\n")[:60] {
		if end := strings.Index(dir.db, cut); i > 3 {
			if _, err := Read(strings.NewReader(dir.db[:end]), "db"); err == nil {
				t.Fatalf("cut short before line %d, and read all the same", i+1)
			}
		}
	}
	for name, read := range map[string]func(f *fabric.Fabric, text string) error{
		"fdbs": func(f *fabric.Fabric, text string) error {
			_, err := lft.Read(strings.NewReader(text), "fdbs", f, lft.Join{})
			return err
		},
		"slvl": func(f *fabric.Fabric, text string) error {
			_, err := slvl.Read(strings.NewReader(text), "slvl", f)
			return err
		},
	} {
		mine := dir.fdbs
		if name == "slvl" {
			mine = dir.slvl
		}
		line := "\n" + mine[strings.LastIndexByte(mine[:len(mine)-2], '\n')+1:]
		for what, err := range map[string]error{
			"cut within a line": read(f, mine[:strings.LastIndex(strings.TrimSpace(mine), "\n")+len(line)/3]),
			"of another fabric": read(other, mine),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), name+":") {
				t.Errorf("%s %s: %v", name, what, err)
			}
		}
	}
}
