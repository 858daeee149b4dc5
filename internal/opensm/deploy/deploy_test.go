package deploy

import (
	"bytes"
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

var specs = []string{"ring:7,hosts=2", "torus:5x5", "mesh:4x4", "dragonfly:p=2", "karytree:k=3,n=2", "random:switches=12,links=24,hosts=2,seed=3"}

// route is an engine's tables, nil where it refuses.
func route(t testing.TB, f *fabric.Fabric, e engines.Engine) *routing.Tables {
	t.Helper()
	tables, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: routing.DefaultVLs, Scope: routing.Adapters, Contract: routing.Directed}, nil)
	few, rule := (*routing.TooFewLanes)(nil), (*routing.Refusal)(nil)
	if errors.As(err, &few) || errors.As(err, &rule) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// byNue is Nue's tables for contract directed, which files can always say.
func byNue(t testing.TB, f *fabric.Fabric) *Plan {
	t.Helper()
	e, err := engines.Named("nue")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Express(route(t, f, e), routing.Adapters)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// expressible is the rules told naively: one map, and one service level for each
// destination from wherever it crosses a cable.
func expressible(t *routing.Tables, scope routing.Scope) bool {
	f := t.Fabric
	var lane []uint8
	for s := range fabric.NodeID(f.Switches()) {
		for in := 0; in <= f.Node(s).Ports; in++ {
			for out := 1; out <= f.Node(s).Ports; out++ {
				if in == out || in > 0 && f.Out(s, uint8(in)) == fabric.None || f.Out(s, uint8(out)) == fabric.None {
					continue
				}
				var here []uint8
				for sl := range uint8(routing.SLs) {
					here = append(here, t.Lanes.SL2VL.VL(s, uint8(in), uint8(out), sl))
				}
				if lane != nil && !slices.Equal(here, lane) {
					return false
				}
				lane = here
			}
		}
	}
	for to := range f.Endpoints() {
		dest := f.Endpoint(fabric.EndpointID(to))
		seen := map[uint8]bool{}
		for from := range f.Endpoints() {
			src := f.Endpoint(fabric.EndpointID(from))
			if src.Switch == fabric.None || dest.Switch == fabric.None || src.Switch == dest.Switch || !scope.Includes(src.Class) || !scope.Includes(dest.Class) {
				continue
			}
			for lid := dest.LID; lid < dest.LID+1<<dest.LMC; lid++ {
				seen[t.Lanes.SL(fabric.EndpointID(from), lid)] = true
			}
		}
		if len(seen) > 1 || seen[routing.NoSL] {
			return false
		}
	}
	return true
}

// Express takes what the rules allow and nothing else, and what it takes it keeps:
// every pair that crosses a cable has the service level that it had, and the proof
// holds.
func TestExpress(t *testing.T) {
	limits := map[Limit]bool{}
	for _, spec := range specs {
		for lmc := range uint8(2) {
			f, err := testnet.Build(t, spec).WithLMC(lmc)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range engines.All() {
				tables := route(t, f, e)
				if tables == nil {
					continue
				}
				p, err := Express(tables, routing.Adapters)
				if want := expressible(tables, routing.Adapters); (err == nil) != want {
					t.Fatalf("%s on %s, LMC %d: %v, expressible %v", e.Name, spec, lmc, err, want)
				}
				if limit := (*Inexpressible)(nil); errors.As(err, &limit) {
					limits[limit.Limit] = true
					continue
				}
				keeps(t, tables, p)
				o := deadlock.Options{Contract: routing.Directed, Scope: routing.Adapters}
				before, errB := deadlock.Verify(t.Context(), tables, o)
				after, errA := deadlock.Verify(t.Context(), p.Tables, o)
				if err := errors.Join(errB, errA); err != nil || before.Free() != after.Free() || before.Complete() != after.Complete() {
					t.Errorf("%s on %s: %v, free %v before and %v after", e.Name, spec, err, before.Free(), after.Free())
				}
			}
		}
	}
	for _, l := range []Limit{PortMaps, SourceSLs, AddressSLs, NoAddress} {
		if !limits[l] {
			t.Errorf("no engine met the limit %q", l)
		}
	}
}

// Lanes that cables to hosts do not run are not in the way: files can express the same as without
// them, and what OpenSM will have names none.
func TestExpressWithinCables(t *testing.T) {
	codes, expressed, narrow := []uint8{1, 2, 4, 8, 0}, 0, 0
	for n, spec := range specs {
		f := testnet.Build(t, spec)
		stated := testnet.WithLanes(t, f, func(c fabric.ChannelID) uint8 {
			if int(c) < f.Trunks() {
				return 0
			}
			return codes[(int(c)*7+n)%len(codes)]
		})
		for _, e := range engines.All() {
			plain, tables := route(t, f, e), route(t, stated, e)
			if tables == nil {
				continue
			}
			want, errW := Express(plain, routing.Adapters)
			within := tables.WithinCables()
			got, err := Express(within, routing.Adapters)
			if (err == nil) != (errW == nil) {
				t.Fatalf("%s on %s: %v, without lanes stated %v", e.Name, spec, err, errW)
			}
			if err != nil {
				continue
			}
			expressed++
			if within != tables {
				narrow++
			}
			if got.Lane != want.Lane || got.VLs != want.VLs || !slices.Equal(got.SL, want.SL) || got.Tables.WithinCables() != got.Tables {
				t.Errorf("%s on %s: %v on %d lanes, want %v on %d; as installed they are %v", e.Name, spec, got.Lane, got.VLs, want.Lane, want.VLs, got.Tables.WithinCables() == got.Tables)
			}
		}
	}
	if expressed < 20 || narrow < 10 {
		t.Errorf("%d expressed, %d of them with lanes that a cable does not run", expressed, narrow)
	}
}

func keeps(t *testing.T, tables *routing.Tables, p *Plan) {
	t.Helper()
	f := tables.Fabric
	for from := range f.Endpoints() {
		for lid, to := range f.LIDs() {
			src, dest := f.Endpoint(fabric.EndpointID(from)), f.Endpoint(to)
			if src.Class == fabric.SwitchPort || dest.Class == fabric.SwitchPort || src.Switch == dest.Switch {
				continue
			}
			want, got := tables.Lanes.SL(fabric.EndpointID(from), lid), p.Tables.Lanes.SL(fabric.EndpointID(from), lid)
			if got != want || p.SL[to] != want {
				t.Fatalf("%s to LID %d: SL %d, in the plan %d, want %d", f.Label(src.Node), lid, got, p.SL[to], want)
			}
		}
	}
}

// written is the files of a plan by name.
func written(t *testing.T, p *Plan, o Options) map[string]string {
	t.Helper()
	files, err := p.Files(o)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(Names, f.Name) {
			t.Errorf("%s is not among the names", f.Name)
		}
		all[f.Name] = b.String()
	}
	return all
}

// Every destination is in the group of its level, once, and in no other.
func TestPolicyNamesEveryDestinationOnce(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2")
	p := byNue(t, f)
	text := written(t, p, Options{Dir: "/d", VLs: 8})[Policy]
	groups, _, _ := strings.Cut(text, "end-port-groups")
	for i := range f.Endpoints() {
		ep := f.Endpoint(fabric.EndpointID(i))
		if ep.Class == fabric.SwitchPort {
			continue
		}
		sl, guid := p.SL[i], ep.PortGUID.String()
		if n := strings.Count(groups, guid); n != min(1, int(sl)) {
			t.Errorf("%s with SL %d is named %d times", guid, sl, n)
		}
		before, _, found := strings.Cut(groups, guid)
		if at := strings.LastIndex(before, "name: weft-sl"); found && before[at+len("name: weft-sl")] != '0'+sl {
			t.Errorf("%s with SL %d is in another group", guid, sl)
		}
	}
}

func TestFilesRefuse(t *testing.T) {
	f := testnet.Build(t, "torus:4x4")
	p := byNue(t, f)
	for _, o := range []Options{{Dir: "relative", VLs: 8}, {Dir: "/a b", VLs: 8}, {Dir: "/d", VLs: 1}} {
		if _, err := p.Files(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestOpVLs(t *testing.T) {
	for lanes, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 8: 4, 9: 5, 15: 5} {
		if got := OpVLs(lanes); got != want {
			t.Errorf("%d lanes have code %d, want %d", lanes, got, want)
		}
	}
}

func TestTops(t *testing.T) {
	tree := testnet.Build(t, "karytree:k=3,n=3")
	for _, s := range Tops(tree) {
		if len(tree.Attached(s)) > 1 {
			t.Errorf("%s has hosts", tree.Label(s))
		}
	}
	if n := len(Tops(tree)); n != 9 {
		t.Errorf("%d tops of a 3-ary 3-tree, which has 9 roots", n)
	}
	if n := len(Tops(testnet.Build(t, "ring:6"))); n != 1 {
		t.Errorf("%d tops of a ring", n)
	}
}
