package engines

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// counting makes empty paths, and counts; the first time it is interrupted.
type counting struct{ n *int }

func (c counting) Paths(_ context.Context, f *fabric.Fabric, _ routing.Progress) (*routing.Forwarding, error) {
	if *c.n++; *c.n == 1 {
		return nil, context.Canceled
	}
	return routing.NewForwarding(f), nil
}

// Paths are made once for a fabric and a name, and again for another fabric or
// after an error.
func TestSharedPathsAreMadeOnce(t *testing.T) {
	f, g := testnet.Build(t, "ring:4"), testnet.Build(t, "ring:5")
	n := 0
	finder := Options{}.Sharing().shared.finder("x", counting{&n})
	if _, err := finder.Paths(t.Context(), f, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the first attempt: %v", err)
	}
	first, _ := finder.Paths(t.Context(), f, nil)
	again, _ := finder.Paths(t.Context(), f, nil)
	if first == nil || first != again || n != 2 {
		t.Errorf("made %d times, the same: %v", n, first == again)
	}
	if other, _ := finder.Paths(t.Context(), g, nil); other == first || n != 3 {
		t.Errorf("made %d times with another fabric", n)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := finder.Paths(cancelled, g, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits, and the error is %v", err)
	}
}

// An engine makes several paths at the same time: each is kept.
func TestSharedPathsMadeAtTheSameTime(t *testing.T) {
	f := testnet.Build(t, "ring:4")
	shared := Options{}.Sharing().shared
	var group sync.WaitGroup
	for k := range 50 {
		group.Go(func() {
			n := 1
			if _, err := shared.finder(string(rune('A'+k)), counting{&n}).Paths(t.Context(), f, nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if len(shared.paths) != 50 {
		t.Errorf("%d paths are kept of 50", len(shared.paths))
	}
}

// What balanced paths may begin with depends on the aim.
func TestBeginnings(t *testing.T) {
	for aim, want := range map[balance.Aim]string{Mixed: "ftree sssp dmodc nue", Shifts: "ftree sssp nue"} {
		var names []string
		for _, b := range (Options{Aim: aim}).balance().(onOrders).finder.Begin {
			names = append(names, b.Name)
			if b.Slow != (b.Name == "dmodc" || b.Name == "nue") {
				t.Errorf("%s: %s is slow: %v", aim, b.Name, b.Slow)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s begins with %s, want %s", aim, got, want)
		}
	}
}

// Balanced paths may begin with those of nue on one lane.
func TestBeginsWithNue(t *testing.T) {
	f := testnet.Build(t, testnet.Small)
	all := Options{}.balance().(onOrders).finder.Begin
	last := all[len(all)-1]
	fw, err := last.Paths.Paths(t.Context(), f, nil)
	if err != nil || last.Name != "nue" || !last.Slow {
		t.Fatalf("the last of %d beginnings is %s, slow: %v; %v", len(all), last.Name, last.Slow, err)
	}
	e, err := Named("nue")
	if err != nil {
		t.Fatal(err)
	}
	want, err := e.Route(t.Context(), f, Options{}, routing.Budget{VLs: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for lid := range f.LIDs() {
		if d := cmp.Diff(want.Forwarding.Row(lid), fw.Row(lid)); d != "" {
			t.Fatalf("LID %d: %s", lid, d)
		}
	}
}

// weave's two sets of paths are one where a fabric has no dimensions.
func TestWovenPathsAreMadeOnce(t *testing.T) {
	for spec, one := range map[string]bool{"xgft:m=4x4,w=2x4,hosts=2": true, "torus:3x4": false} {
		f := testnet.Build(t, spec)
		finders := weavePaths(Options{}.Sharing())
		first, err := finders[0].Paths(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := finders[1].Paths(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (first == second) != one {
			t.Errorf("%s: made once: %v", spec, first == second)
		}
	}
}

// Engines that share paths, in any order, make the same tables as those that do not.
func TestSharingChangesNothing(t *testing.T) {
	names := []string{"balance", "weave-any", "weave", "sssp", "dfsssp", "df-dn", "lash", "weave", "balance"}
	b := routing.Budget{VLs: routing.DefaultVLs, Scope: routing.Adapters}
	for _, spec := range testnet.First([]string{"torus:4x4,hosts=2", testnet.Small, "dragonfly:p=2"}, 1) {
		f := testnet.Build(t, spec)
		o := Options{Seed: 3}.Sharing()
		type made struct {
			tables *routing.Tables
			err    error
		}
		byName := map[string]made{} // without sharing
		for _, name := range names {
			e, err := Named(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, again := byName[name]; !again {
				tables, err := e.Route(t.Context(), f, Options{Seed: 3}, b, nil)
				byName[name] = made{tables, err}
			}
			alone, err := byName[name].tables, byName[name].err
			with, errWith := e.Route(t.Context(), f, o, b, nil)
			if routing.Refused(err) && routing.Refused(errWith) {
				continue
			}
			if err != nil || errWith != nil {
				t.Fatalf("%s on %s: %v, and sharing %v", name, spec, err, errWith)
			}
			for lid := range f.LIDs() {
				if d := cmp.Diff(alone.Forwarding.Row(lid), with.Forwarding.Row(lid)); d != "" {
					t.Fatalf("%s on %s, LID %d: %s", name, spec, lid, d)
				}
			}
			if d := cmp.Diff(alone.Forwarding.Notes, with.Forwarding.Notes); d != "" {
				t.Errorf("%s on %s: %s", name, spec, d)
			}
			for e := range f.Endpoints() {
				for lid := range f.LIDs() {
					if a, b := alone.Lanes.SL(fabric.EndpointID(e), lid), with.Lanes.SL(fabric.EndpointID(e), lid); a != b {
						t.Fatalf("%s on %s: service levels %d and %d", name, spec, a, b)
					}
				}
			}
		}
	}
}

// The finder balance makes its paths once, and weave begins with the same.
func TestBalanceIsShared(t *testing.T) {
	finder, err := FinderNamed("balance")
	if err != nil {
		t.Fatal(err)
	}
	f, o := testnet.Build(t, "torus:3x3"), Options{}.Sharing()
	var made []*routing.Forwarding
	for _, p := range []routing.PathFinder{finder.New(o), finder.New(o), weavePaths(o)[0]} {
		fw, err := p.Paths(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, fw)
	}
	if made[0] != made[1] || made[0] != made[2] {
		t.Error("the paths were made more than once")
	}
}
