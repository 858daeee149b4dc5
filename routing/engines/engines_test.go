package engines_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

func TestTable(t *testing.T) {
	for _, e := range engines.All() {
		got, err := engines.Named(e.Name)
		if err != nil || got.Name != e.Name {
			t.Errorf("engine %s: %v", e.Name, err)
		}
		if pair := engines.Pair(e.Finder, e.Lanes); e.Finder.Name != "" && pair.Name != e.Name {
			t.Errorf("%s with %s is %s, not %s", e.Finder.Name, e.Lanes.Name, pair.Name, e.Name)
		}
		if e.Paper == "" || e.Trust() == "" {
			t.Errorf("engine %s: paper %q, trust %q", e.Name, e.Paper, e.Trust())
		}
	}
	for _, f := range engines.Finders() {
		if got, err := engines.FinderNamed(f.Name); err != nil || got.Name != f.Name || f.Summary == "" {
			t.Errorf("path finder %s: %v", f.Name, err)
		}
		for _, a := range engines.Assigners() {
			if e := engines.Pair(f, a); (f.Safe || a.Safe) && !e.Safe() || e.Finder.Name != f.Name || e.Lanes.Name != a.Name {
				t.Errorf("%s with %s is %+v", f.Name, a.Name, e)
			}
		}
	}
	for _, a := range engines.Assigners() {
		if got, err := engines.AssignerNamed(a.Name); err != nil || got.Name != a.Name || a.Summary == "" {
			t.Errorf("lane assigner %s: %v", a.Name, err)
		}
	}
	if _, err := engines.Named("lahs"); err == nil || !strings.Contains(err.Error(), `no engine is called "lahs"`) || !strings.Contains(err.Error(), "lash") {
		t.Errorf("error is %v", err)
	}
}

// Lanes needed, held against what OpenSM 3.3.23 needs on the same networks.
func TestLanesNeeded(t *testing.T) {
	for _, c := range []struct {
		spec, engine string
		most         int
	}{
		{"dragonfly:p=4", "lash", 3}, {"dragonfly:p=4", "dfsssp", 4},
		{"deimos", "lash", 2}, {"deimos", "dfsssp", 5},
		{"torus:4x4x4,hosts=2", "lash", 5},
		{"karytree:k=6,n=2", "lash", 1}, {"karytree:k=6,n=2", "dfsssp", 1}, {"karytree:k=4,n=3", "dfsssp", 1},
	} {
		t.Run(c.spec+"/"+c.engine, func(t *testing.T) {
			f := testnet.Build(t, c.spec)
			e, err := engines.Named(c.engine)
			if err != nil {
				t.Fatal(err)
			}
			tables := route(t, e, f)
			if n := tables.Lanes.Needed; n > c.most {
				t.Errorf("%d lanes, OpenSM needs %d", n, c.most)
			}
			v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: e.Lanes.Contract})
			if err != nil {
				t.Fatal(err)
			}
			if !v.Free() || !v.Complete() {
				t.Errorf("free %v, complete %v", v.Free(), v.Complete())
			}
		})
	}
}

func route(t *testing.T, e engines.Engine, f *fabric.Fabric) *routing.Tables {
	ctx := context.Background()
	fw, err := e.Finder.New(engines.Options{}).Paths(ctx, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.Lanes.New(engines.Options{}).Lanes(ctx, f, fw, routing.Budget{VLs: routing.DefaultVLs}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}
}

// Roots given to an engine are those of its path finder.
func TestRoots(t *testing.T) {
	f := testnet.Build(t, "torus:3x3")
	e, err := engines.Named("updn")
	if err != nil {
		t.Fatal(err)
	}
	o := engines.Options{Roots: []fabric.GUID{f.Node(5).GUID}}
	fw, err := e.Finder.New(o).Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "roots: " + f.Label(5); !slices.Contains(fw.Notes, want) {
		t.Errorf("notes are %q, want %q", fw.Notes, want)
	}
}
