package engines_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/setting"
	"github.com/weft-fabric/weft/internal/engine/weave"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// A zero budget is the defaults, for every engine alike.
func TestZeroBudgetIsTheDefaults(t *testing.T) {
	for _, spec := range []string{"torus:3x4,hosts=2", "xgft:m=3x4,w=2x2,hosts=3", "dragonfly:p=2"} {
		f, o := testnet.Build(t, spec), engines.Options{}.Sharing() // paths have no budget
		for _, e := range engines.All() {
			zero, err := e.Route(t.Context(), f, o, routing.Budget{}, nil)
			full, errFull := e.Route(t.Context(), f, o, routing.Budget{VLs: routing.DefaultVLs, SLs: routing.SLs}, nil)
			if routing.Refused(err) && routing.Refused(errFull) && err.Error() == errFull.Error() {
				continue
			}
			if err != nil || errFull != nil {
				t.Errorf("%s on %s: %v; with the defaults written out %v", e.Name, spec, err, errFull)
				continue
			}
			if !same(zero, full) {
				t.Errorf("%s on %s: other tables than with the defaults written out", e.Name, spec)
			}
		}
		for _, a := range choosing.Engines() {
			if _, err := a.RouteAdaptive(t.Context(), f, routing.Budget{}, nil); err != nil {
				t.Errorf("%s on %s: %v", a.Name, spec, err)
			}
		}
	}
}

// Every lane assigner by itself, too: it is asked without an engine by whoever has
// paths already.
func TestAssignersWithoutABudget(t *testing.T) {
	f, err := testnet.Build(t, "torus:3x3").WithLMC(1)
	if err != nil {
		t.Fatal(err)
	}
	minhop, err := named(t, "minhop").Route(t.Context(), f, engines.Options{}, routing.Budget{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fw := minhop.Forwarding
	for _, a := range engines.Assigners() {
		l, err := a.New(engines.Options{}).Lanes(t.Context(), f, fw, routing.Budget{}, nil)
		if err != nil && !routing.Refused(err) || err == nil && l.Needed > routing.DefaultVLs {
			t.Errorf("%s: %v", a.Name, err)
		}
		if _, err := a.New(engines.Options{}).Lanes(t.Context(), f, fw, routing.Budget{VLs: routing.MaxDataVLs + 1}, nil); err == nil || routing.Refused(err) {
			t.Errorf("%s takes 16 lanes: %v", a.Name, err)
		}
	}
}

// Whatever the engine, no path has a service level that is not in the budget, or it
// refuses and says how many it would take.
func TestServiceLevelsAreInTheBudget(t *testing.T) {
	refusals, routed := 0, 0
	for _, spec := range testnet.First([]string{"torus:4x4,hosts=2", "torus:3x3x3", "mesh:5x4,hosts=2", "dragonfly:p=2", "kautz:b=3,n=3,hosts=2"}, 2) {
		f, err := testnet.Build(t, spec).WithLMC(1)
		if err != nil {
			t.Fatal(err)
		}
		o := engines.Options{}.Sharing() // paths have no budget
		for _, e := range engines.All() {
			for _, limit := range []int{1, 2, 3, 5, 8, 15} {
				b := routing.Budget{SLs: limit, VLs: routing.MaxDataVLs, Contract: e.Contract}
				tables, err := e.Route(t.Context(), f, o, b, nil)
				levels := (*routing.TooFewLevels)(nil)
				switch {
				case errors.As(err, &levels):
					if refusals++; levels.Have != limit || levels.Need <= limit {
						t.Errorf("%s on %s, %d service levels: %v", e.Name, spec, limit, err)
					}
					b.SLs = levels.Need
					if _, err := e.Route(t.Context(), f, o, b, nil); err != nil {
						t.Errorf("%s on %s needs %d service levels, with so many it says: %v", e.Name, spec, levels.Need, err)
					}
				case routing.Refused(err):
				case err != nil:
					t.Errorf("%s on %s, %d service levels: %v", e.Name, spec, limit, err)
				default:
					routed++
					if top := topLevel(tables); top >= limit {
						t.Errorf("%s on %s, %d service levels: gives out SL %d", e.Name, spec, limit, top)
					}
				}
			}
		}
	}
	if refusals < testnet.Of(20, 10) || routed < testnet.Of(300, 150) {
		t.Errorf("%d refusals and %d tables: the networks show nothing", refusals, routed)
	}
}

// topLevel is the highest service level of a pair.
func topLevel(t *routing.Tables) int {
	top := 0
	for lid := range t.Fabric.LIDs() {
		for _, sl := range t.Lanes.SLRow(lid) {
			if sl != routing.NoSL {
				top = max(top, int(sl))
			}
		}
	}
	return top
}

// An engine's row says of each option whether the engine looks at it: those that it
// uses change its tables on some network, and it is told of no other.
func TestUses(t *testing.T) {
	nets := []*fabric.Fabric{testnet.Build(t, "torus:4x4,hosts=2"), testnet.Build(t, "random:switches=20,links=50,hosts=2,seed=5")}
	for _, e := range engines.All() {
		used := option.Set(0)
		for _, whole := range nets {
			f, err := whole.WithLMC(1)
			if err != nil {
				t.Fatal(err)
			}
			before := f
			if f, err = f.Without([]fabric.ChannelID{0}, nil); err != nil {
				t.Fatal(err)
			}
			weights := make([]uint8, len(f.Endpoints()))
			for i := range weights {
				weights[i] = uint8(1 + i%3*20)
			}
			b := routing.Budget{VLs: routing.MaxDataVLs, Contract: routing.Directed}
			plain, err := e.Route(t.Context(), f, engines.Options{}, b, nil)
			if routing.Refused(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for option, o := range map[option.Set]engines.Options{
				option.Roots: {Roots: []fabric.GUID{f.Node(fabric.NodeID(f.Switches() - 1)).GUID}}, option.Seed: {Seed: 17}, option.Aim: {Aim: balance.AllToAll},
				option.Weights: {Weights: weights}, option.Order: {Order: layer.LongestFirst}, option.Prefer: {Prefer: weave.Lanes}, option.Before: {Before: before},
				option.Orders:  {Orders: []engines.RankOrder{{Name: "backwards", Ranks: backwards(f)}}},
				option.Demands: {Demands: demands(f)},
			} {
				if got := o.Given(); got != option {
					t.Fatalf("%s: given is %s", option, got)
				}
				told, err := e.Route(t.Context(), f, o, b, nil)
				if err != nil {
					t.Fatalf("%s, %s: %v", e.Name, option, err)
				}
				if !same(plain, told) {
					used |= option
				}
			}
		}
		const elsewhere = option.Before | option.Prefer | option.Orders // take other networks to show
		if e.Uses&^elsewhere != used&^elsewhere {
			t.Errorf("%s says that it uses %q, and these make a difference: %q", e.Name, e.Uses, used)
		}
	}
	for option, want := range map[option.Set]string{option.Before: "torus-2qos", option.Prefer: "weave"} {
		if got := engines.Names(func(e engines.Engine) bool { return e.Uses&option != 0 }); len(got) != 1 || got[0] != want {
			t.Errorf("%s is for %v", option, got)
		}
	}
}

// demands is traffic of a few hosts to others.
func demands(f *fabric.Fabric) (all []engines.Demand) {
	hosts := routing.HCA.Endpoints(f)
	for i, e := range hosts[:len(hosts)/2] {
		all = append(all, engines.Demand{From: e, To: hosts[len(hosts)-1-i], Bytes: int64(1 + i%3*50)})
	}
	return all
}

// What an option's row says of its words is true: the default is that of the zero Options,
// what is read is set, and what is no word is refused and changes nothing.
func TestWords(t *testing.T) {
	other := map[option.Set]string{option.Aim: "alltoall", option.Order: "shuffled", option.Prefer: "lanes"}
	words := setting.Words()
	if len(words) != len(other) {
		t.Errorf("%d options are words, %d are tried", len(words), len(other))
	}
	for _, option := range words {
		var o engines.Options
		if err := setting.Read(option, &o, setting.Default(option)); err != nil || o.Given() != 0 {
			t.Errorf("%s: the default %q makes %v, %v", option, setting.Default(option), o, err)
		}
		if err := setting.Read(option, &o, other[option]); err != nil || o.Given() != option {
			t.Errorf("%s: %q sets %q, %v", option, other[option], o.Given(), err)
		}
		if err := setting.Read(option, &o, "no word"); err == nil || o.Given() != option {
			t.Errorf("%s: %v, and %q is set", option, err, o.Given())
		}
		if !strings.Contains(setting.Usage(option), other[option]) {
			t.Errorf("%s: %q does not name %s", option, setting.Usage(option), other[option])
		}
	}
}

// skips is a router that gives out service levels 0 and 9.
type skips struct{ engines.Implementation }

func (r skips) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, s engines.Stages) (*routing.Tables, error) {
	t, err := r.Implementation.Route(ctx, f, b, s)
	if err == nil {
		t.Lanes = routing.NewLanes(f, routing.LanePerSL(1))
		t.Lanes.SLRow(f.TopLID())[0] = 9
	}
	return t, err
}

// It is not how many service levels there are that counts, but which.
func TestServiceLevelsThatAreSkipped(t *testing.T) {
	e := named(t, "updn")
	made := e.New
	e.New = func(o engines.Options) engines.Implementation { return skips{made(o)} }
	f := testnet.Build(t, "ring:4")
	if _, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{SLs: 10}, nil); err != nil {
		t.Error(err)
	}
	levels := (*routing.TooFewLevels)(nil)
	if _, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{SLs: 9}, nil); !errors.As(err, &levels) || levels.Need != 10 {
		t.Errorf("SL 9 of 0 to 8: %v", err)
	}
}

func same(a, b *routing.Tables) bool {
	for lid := range a.Fabric.LIDs() {
		if !bytes.Equal(a.Forwarding.Row(lid), b.Forwarding.Row(lid)) || !bytes.Equal(a.Lanes.SLRow(lid), b.Lanes.SLRow(lid)) {
			return false
		}
	}
	return true
}

// Who is told what it does not use is told who does; all of that comes from the rows.
func TestUnheard(t *testing.T) {
	ftree := named(t, "ftree")
	err := setting.FirstUnused(ftree.Name, ftree.Uses, option.Aim|option.Roots)
	if want := "roots is for updn, auto; ftree does not look at it"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, e := range engines.All() {
		if err := setting.FirstUnused(e.Name, e.Uses, e.Uses); err != nil {
			t.Errorf("%s may not be told what it uses: %v", e.Name, err)
		}
		for one := option.Roots; one <= option.Before; one <<= 1 {
			unused := (*setting.Unused)(nil)
			if err := setting.FirstUnused(e.Name, e.Uses, one); errors.As(err, &unused) != (e.Uses&one == 0) {
				t.Errorf("%s, %s: %v", e.Name, one, err)
			} else if unused != nil && strings.Contains(unused.Error(), " "+e.Name+",") {
				t.Errorf("%s is sent to itself: %v", e.Name, err)
			}
		}
	}
}

// auto's places are one after another, and what it tries first takes every network.
func TestPlacesOfAuto(t *testing.T) {
	var places []int
	for _, e := range engines.All() {
		if e.Auto.Place > 0 {
			places = append(places, e.Auto.Place)
		}
		if e.Auto.Sure && (!e.Safe || e.Contract != routing.Any) {
			t.Errorf("%s is no engine to begin with: it is not proven under every contract", e.Name)
		}
	}
	slices.Sort(places)
	for i, place := range places {
		if place != i+1 {
			t.Fatalf("the places are %v", places)
		}
	}
}

// What makes no tables is found as such, and its name is nobody else's.
func TestAdaptivesHaveNoTables(t *testing.T) {
	for _, a := range choosing.Engines() {
		none := (*engines.NoTables)(nil)
		if _, err := engines.Named(a.Name); !errors.As(err, &none) {
			t.Errorf("%s: %v", a.Name, err)
		}
		if got, err := choosing.Named(a.Name); err != nil || got.Name != a.Name || a.Paper == "" || a.Summary == "" || a.Needs == "" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := choosing.Named("updn"); err == nil {
		t.Error("updn is adaptive")
	}
}

// An engine is told of the options that its row names, and of no others.
func TestToldOfNothingElse(t *testing.T) {
	f := testnet.Build(t, "ring:4")
	all := engines.Options{
		Roots: []fabric.GUID{f.Node(0).GUID}, Seed: 3, Aim: balance.AllToAll, Weights: make([]uint8, len(f.Endpoints())),
		Order: layer.BySource, Prefer: weave.Lanes, Before: f, Orders: []engines.RankOrder{},
	}
	e := named(t, "updn")
	made := e.New
	for uses := option.Set(0); uses <= all.Given(); uses++ {
		told := option.Set(0)
		e.Uses = uses
		e.New = func(o engines.Options) engines.Implementation { told = o.Given(); return made(o) }
		if _, err := e.Route(t.Context(), f, all, routing.Budget{}, nil); err != nil || told != uses {
			t.Fatalf("%q: told of %q, %v", uses, told, err)
		}
	}
}

// backwards is the hosts from the last to the first.
func backwards(f *fabric.Fabric) []fabric.EndpointID {
	hosts := routing.HCA.Endpoints(f)
	slices.Reverse(hosts)
	return hosts
}
