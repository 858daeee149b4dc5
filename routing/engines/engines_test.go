package engines_test

import (
	"bytes"
	"context"
	"errors"
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
		if pair, err := engines.Named(e.Paths + "+" + e.Lanes); err == nil && e.BothWays == nil && pair.Name != e.Name {
			t.Errorf("%s with %s is %s, not %s", e.Paths, e.Lanes, pair.Name, e.Name)
		}
		if e.Paper == "" {
			t.Errorf("engine %s has no paper", e.Name)
		}
	}
	for _, f := range engines.Finders() {
		if got, err := engines.FinderNamed(f.Name); err != nil || got.Name != f.Name || f.Summary == "" {
			t.Errorf("path finder %s: %v", f.Name, err)
		}
		for _, a := range engines.Assigners() {
			if e := engines.Pair(f, a); (f.Safe || a.Safe) && !e.Safe || e.Paths != f.Name || e.Lanes != a.Name || e.Uses != f.Uses|a.Uses {
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

// Lanes needed, held against what OpenSM 3.3.23 needs on the same networks. Its lash
// gives both ways between two switches one service level, as contract honored asks for;
// its dfsssp does not, and is what directed is held against.
func TestLanesNeeded(t *testing.T) {
	for i, c := range []struct {
		spec         string
		lash, dfsssp int // OpenSM's; 0: it gives up
	}{
		{"dragonfly:p=4", 3, 4}, {"deimos", 2, 5}, {"torus:4x4x4,hosts=2", 5, 0}, {"torus:6x5x5,hosts=7", 7, 0},
		{"random:switches=64,links=128,hosts=16,seed=1", 4, 5}, {"random:switches=128,links=256,hosts=16,seed=1", 7, 0},
		{"random:switches=128,links=512,hosts=16,seed=1", 4, 8}, {"random:switches=128,links=1024,hosts=16,seed=1", 3, 5},
		{"kautz:b=5,n=3,hosts=7", 5, 7}, {"slimfly:q=5,hosts=7", 2, 2},
		{"karytree:k=6,n=2", 1, 1}, {"karytree:k=4,n=3", 0, 1},
	} {
		if i%testnet.Of(1, 4) != 0 {
			continue
		}
		f := testnet.Build(t, c.spec)
		for name, most := range map[string]int{"lash": c.lash, "dfsssp": c.dfsssp} {
			e, err := engines.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			need := map[routing.Contract]int{}
			for _, contract := range []routing.Contract{routing.Directed, routing.Honored} {
				tables, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: routing.DefaultVLs, Contract: contract}, nil)
				if err != nil && contract == routing.Directed && most == 0 {
					continue // as OpenSM
				}
				if err != nil {
					t.Fatalf("%s, %s, %s: %v", c.spec, name, contract, err)
				}
				need[contract] = tables.Lanes.Needed
				v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: contract})
				if err != nil || !v.Free() || !v.Complete() {
					t.Errorf("%s, %s, %s: %v, free %v, complete %v", c.spec, name, contract, err, v.Free(), v.Complete())
				}
			}
			if n := need[routing.Directed]; most > 0 && n > most {
				t.Errorf("%s: %s needs %d lanes, OpenSM %d", c.spec, name, n, most)
			}
			if n := need[routing.Honored]; name == "lash" && most > 0 && n > most || need[routing.Directed] > 0 && n > 2*need[routing.Directed] {
				t.Errorf("%s: %s needs %d lanes under honored, %d under directed, OpenSM %d", c.spec, name, n, need[routing.Directed], most)
			}
		}
	}
}

// What leaves addresses of switches apart serves host adapters, and refuses whoever asks
// for more, by the first pair.
func TestRefusesWhatItLeavesApart(t *testing.T) {
	f := testnet.Build(t, "planes:ports=12,groups=4,planes=3,wide=2")
	ftree := named(t, "ftree")
	for _, scope := range []routing.Scope{routing.HCA, routing.Adapters} {
		tables, err := ftree.Route(t.Context(), f, engines.Options{}, routing.Budget{Scope: scope}, nil)
		if err != nil || !tables.Forwarding.Apart {
			t.Fatalf("%s: %v", scope, err)
		}
	}
	_, err := ftree.Route(t.Context(), f, engines.Options{}, routing.Budget{Scope: routing.All}, nil)
	if no := (*routing.Refusal)(nil); !errors.As(err, &no) || no.Label == "" || !strings.Contains(no.Why, "no such path to LID ") {
		t.Errorf("asked for all switches: %v", err)
	}
}

// Hosts keep their paths on one lane where aggregation nodes ask for others: lanes are planned for the hosts alone then.
func TestHostsKeepTheirPaths(t *testing.T) {
	testnet.OnlyWhole(t) // the search for balanced paths takes two seconds
	f := testnet.Build(t, "patchwork:2954276922")
	o := engines.Options{}.Sharing()
	balanced, _, err := named(t, "balance").RouteWide(t.Context(), f, o, routing.Budget{Scope: routing.Adapters}, routing.HCA, nil)
	if err != nil {
		t.Fatal(err)
	}
	tables, scope, err := named(t, "weave-any").RouteWide(t.Context(), f, o, routing.Budget{Scope: routing.Adapters}, routing.HCA, nil)
	if err != nil || scope != routing.HCA || tables.Lanes.Needed != 1 {
		t.Fatalf("scope %s, %d lanes, %v", scope, tables.Lanes.Needed, err)
	}
	for lid := range routing.HCA.LIDs(f) {
		if !slices.Equal(tables.Forwarding.Row(lid), balanced.Forwarding.Row(lid)) {
			t.Errorf("LID %d has other paths", lid)
		}
	}
}

// Where the layers do not suffice, pairs go to an Up*/Down* layer, both ways.
func TestEscapesBothWays(t *testing.T) {
	for _, name := range []string{"lash", "mp-lash"} {
		e, err := engines.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for lmc := range uint8(3) {
			f, err := testnet.Build(t, "torus:7x7").WithLMC(lmc)
			if err != nil {
				t.Fatal(err)
			}
			tables, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: 2}, nil)
			if few := (*routing.TooFewLanes)(nil); lmc == 0 {
				if !errors.As(err, &few) || few.Need < 3 {
					t.Errorf("%s with one address: %v", name, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{}); err != nil || !v.Free() || !v.Complete() || v.VLs != 2 {
				t.Errorf("%s, LMC %d: %v, free %v, complete %v, %d lanes", name, lmc, err, v.Free(), v.Complete(), v.VLs)
			}
		}
	}
}

// A pair asked for by its parts has the paths asked for, whatever the contract, and
// else all that the engine of the table has.
func TestPairKeepsItsPaths(t *testing.T) {
	lash := named(t, "lash")
	e, err := engines.Named(lash.Paths + "+" + lash.Lanes)
	if err != nil || e.Name != "shortest+first-fit" || e.PathsUnder(routing.Honored) != "shortest" || !e.Escapes || e.Paper != lash.Paper {
		t.Errorf("%+v, %v", e, err)
	}
	if lash.PathsUnder(routing.Honored) != "symmetric" || lash.PathsUnder(routing.Directed) != "shortest" {
		t.Errorf("lash begins with %s, under directed with %s", lash.PathsUnder(routing.Honored), lash.PathsUnder(routing.Directed))
	}
	f := testnet.Build(t, "torus:3x3")
	for _, contract := range []routing.Contract{routing.Honored, routing.Directed} {
		finder, err := engines.FinderNamed(lash.PathsUnder(contract))
		if err != nil {
			t.Fatal(err)
		}
		want, err := finder.New(engines.Options{}).Paths(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := lash.Route(t.Context(), f, engines.Options{}, routing.Budget{Contract: contract}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for lid := range f.LIDs() {
			if !bytes.Equal(want.Row(lid), got.Forwarding.Row(lid)) {
				t.Errorf("%s, LID %d: %v, not %v", contract, lid, got.Forwarding.Row(lid), want.Row(lid))
			}
		}
	}
}

// Roots given to an engine are those of its path finder.
func TestRoots(t *testing.T) {
	f := testnet.Build(t, "torus:3x3")
	o := engines.Options{Roots: []fabric.GUID{f.Node(5).GUID}}
	tables, err := named(t, "updn").Route(context.Background(), f, o, routing.Budget{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fw := tables.Forwarding
	if want := "roots: " + f.Label(5); !slices.Contains(fw.Notes, want) {
		t.Errorf("notes are %q, want %q", fw.Notes, want)
	}
}

func named(t testing.TB, name string) engines.Engine {
	t.Helper()
	e, err := engines.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
