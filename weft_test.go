package weft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

func route(t testing.TB, f *fabric.Fabric, r Request) *Result {
	t.Helper()
	s, err := Route(t.Context(), f, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func samePaths(a, b *Result) bool {
	for lid := range a.Tables.Fabric.LIDs() {
		if !bytes.Equal(a.Tables.Forwarding.Row(lid), b.Tables.Forwarding.Row(lid)) {
			return false
		}
	}
	return true
}

// What is proven is what is asked for: the contract given, else that of the engine, or
// any where the tables serve all clients alike.
func TestContractOfTheProof(t *testing.T) {
	f := testnet.Build(t, "torus:5x5")
	for _, c := range []struct {
		r    Request
		want routing.Contract
	}{
		{Request{Engine: "lash"}, routing.Honored},
		{Request{Engine: "lash", Contract: new(routing.Directed)}, routing.Directed},
		{Request{Engine: "updn"}, routing.Any},
		{Request{Engine: "updn", Contract: new(routing.Honored)}, routing.Honored},
		{Request{Engine: "nue", VLs: 1}, routing.Any},
		{Request{Engine: "nue", VLs: 1, Contract: new(routing.Honored)}, routing.Honored},
		{Request{}, routing.Any},
		{Request{Engine: Auto, Contract: new(routing.Directed)}, routing.Directed},
	} {
		s := route(t, f, c.r)
		again, err := deadlock.Verify(t.Context(), s.Tables, deadlock.Options{Contract: c.want})
		if err != nil || !again.Free() || s.Contract != c.want || s.Verdict.Contract != c.want || !s.Verdict.Free() {
			t.Errorf("%s: contract %s, want %s; %v", c.r.Engine, s.Contract, c.want, err)
		}
		if auto := c.r.Engine == "" || c.r.Engine == Auto; (s.Choice != nil) != auto {
			t.Errorf("%s: chosen %v", c.r.Engine, s.Choice != nil)
		}
	}
}

// Whoever names no seed has that of the command line, whichever the engine.
func TestDefaultSeed(t *testing.T) {
	f := testnet.Build(t, "random:switches=20,links=50,hosts=2,seed=5")
	for _, engine := range []string{"weave", "weave-any", "shortest-random+first-fit", Auto} {
		request := func(seed uint64) Request {
			return Request{Engine: engine, Options: engines.Options{Seed: seed}, VLs: 4, Patterns: 10, Contract: new(routing.Directed)}
		}
		none, one := route(t, f, request(0)), route(t, f, request(DefaultSeed))
		if !samePaths(none, one) {
			t.Errorf("%s: without a seed other paths than with %d", engine, DefaultSeed)
		}
		if engine != Auto && samePaths(one, route(t, f, request(7))) {
			t.Errorf("%s: the seed makes no difference", engine)
		}
	}
}

// Every error says by its type what is to be done about it.
func TestErrors(t *testing.T) {
	f := testnet.Build(t, "torus:5x5")
	few, rule, loop := (*routing.TooFewLanes)(nil), (*routing.Refusal)(nil), (*CreditLoop)(nil)
	none, levels, tables := (*NoneProven)(nil), (*routing.TooFewLevels)(nil), (*engines.NoTables)(nil)
	for _, c := range []struct {
		r    Request
		as   any
		says string
	}{
		{Request{Engine: "lash", VLs: 1}, &few, "needs 2 lanes"},
		{Request{Engine: "torus-2qos", SLs: 1}, &levels, "service levels"},
		{Request{Engine: "ftree"}, &rule, "sw-"},
		{Request{Engine: "minhop"}, &loop, "a credit loop of 4 links under contract any, one of them sw-"},
		{Request{Engine: "minhop", NoCycle: true}, &loop, "a credit loop under contract any"},
		{Request{Accept: func(*Result) error { return errors.New("no good") }}, &none, "none of"},
		{Request{Engine: "a-lash"}, &tables, "a-lash has no tables"},
	} {
		s, err := Route(t.Context(), f, c.r)
		if s != nil || !errors.As(err, c.as) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.r.Engine, err)
		}
	}
	if loop.Tables == nil || loop.Verdict.Free() || loop.Loads == nil {
		t.Errorf("nothing to look at in %+v", loop.Result)
	}
	if _, err := Route(t.Context(), f, Request{Engine: "lahs"}); err == nil || !strings.Contains(err.Error(), "lash") {
		t.Errorf("%v", err)
	}
	if _, err := Route(t.Context(), f, Request{Engine: "updn", VLs: 99}); err == nil || routing.Refused(err) {
		t.Errorf("99 lanes: %v", err)
	}
}

// spoils is a router whose tables are spoilt behind its back.
type spoils struct {
	engines.Implementation
	spoil func(*routing.Tables)
}

func (r spoils) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, s engines.Stages) (*routing.Tables, error) {
	t, err := r.Implementation.Route(ctx, f, b, s)
	if err == nil {
		r.spoil(t)
	}
	return t, err
}

// An engine is held to what it promises, and only to that.
func TestEngineDefects(t *testing.T) {
	f := testnet.Build(t, "torus:5x5")
	for _, c := range []struct {
		name, engine string
		spoil        func(*routing.Tables)
		broken       bool
	}{
		{"a pair left out", "updn", func(t *routing.Tables) { t.Forwarding.Row(f.TopLID())[0] = routing.NoPort }, true},
		{"a pair left out of what promises nothing", "minhop", func(t *routing.Tables) { t.Forwarding.Row(f.TopLID())[0] = routing.NoPort }, true},
		{"a loop", "dfsssp", func(t *routing.Tables) { t.Lanes = routing.OneSL(f, routing.LanePerSL(1)) }, true},
		{"a loop of what promises nothing", "sssp", func(*routing.Tables) {}, false},
	} {
		e, err := engines.Named(c.engine)
		if err != nil {
			t.Fatal(err)
		}
		made := e.New
		e.New = func(o engines.Options) engines.Implementation { return spoils{made(o), c.spoil} }
		_, err = Route(t.Context(), f, Request{Custom: &e, Contract: new(routing.Honored)})
		if broken := (*EngineDefect)(nil); errors.As(err, &broken) != c.broken {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// Under a contract that an engine was not made for, a loop is a verdict.
	if _, err := Route(t.Context(), f, Request{Engine: "lash", Contract: new(routing.Any)}); !errors.As(err, new(*CreditLoop)) {
		t.Errorf("lash under any: %v", err)
	}
}

// Pairs that no cable joins are counted, and no engine's fault.
func TestDisconnected(t *testing.T) {
	whole := testnet.Build(t, "ring:6,hosts=2")
	f, err := whole.Without([]fabric.ChannelID{0, 6}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Parts()) != 2 {
		t.Fatalf("%d parts", len(f.Parts()))
	}
	for _, engine := range []string{"updn", Auto} {
		s := route(t, f, Request{Engine: engine})
		if s.Disconnected == 0 || s.Disconnected != s.Verdict.Unreachable {
			t.Errorf("%s: %d pairs apart, %d without a route", engine, s.Disconnected, s.Verdict.Unreachable)
		}
	}
}

// Lanes are planned for all adapters where they suffice, unless one is strict; the
// verdict is for those in scope, and a wider one stands beside it.
func TestScopes(t *testing.T) {
	f := testnet.Dump(t, "topograph-ndr-dgx-2025")
	for _, c := range []struct {
		r       Request
		planned routing.Scope
		wider   bool
	}{
		{Request{Engine: "updn"}, routing.Adapters, true},
		{Request{Engine: "updn", ExactScope: true}, routing.HCA, true},
		{Request{Engine: "updn", Scope: routing.Adapters}, routing.Adapters, false},
		{Request{Engine: "updn", Scope: routing.All}, routing.All, false},
	} {
		s := route(t, f, c.r)
		if s.Planned != c.planned || s.Scope != c.r.Scope || s.Verdict.Scope != c.r.Scope || (s.Wider != nil) != c.wider {
			t.Errorf("%+v: planned for %s, proven for %s, wider %v", c.r, s.Planned, s.Verdict.Scope, s.Wider != nil)
		}
	}
}

// Stages are told of in order, each with its end.
func TestStages(t *testing.T) {
	var said []string
	r := Request{Stages: func(name string) (routing.Progress, func()) {
		said = append(said, name)
		return nil, func() { said = append(said, "end of "+name) }
	}}
	f := testnet.Build(t, "torus:3x4")
	for engine, want := range map[string]string{
		"lash": "paths, end of paths, lanes, end of lanes, verify, end of verify", "nue": "paths, end of paths, verify, end of verify",
		Auto: "choose, end of choose",
	} {
		r.Engine, said = engine, nil
		route(t, f, r)
		if got := strings.Join(said, ", "); got != want {
			t.Errorf("%s: %s", engine, got)
		}
	}
}

// Tables from elsewhere are proven as if they were made here.
func TestVerify(t *testing.T) {
	f := testnet.Build(t, "torus:5x5")
	made := route(t, f, Request{Engine: "dfsssp"})
	s, err := Verify(t.Context(), made.Tables, Request{Engine: "dfsssp"})
	if err != nil || s.Contract != made.Contract || !slices.Equal(s.Verdict.Certificate.Rank, made.Verdict.Certificate.Rank) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Verify(t.Context(), made.Tables, Request{Custom: &engines.Engine{Name: "of somebody"}, Contract: new(routing.Any)}); !errors.As(err, new(*CreditLoop)) {
		t.Errorf("under any: %v", err)
	}
}

// With classes of traffic all lanes are proven together, and no two classes share one.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		network, engine string
		vls, classes    int
	}{
		{"torus:4x4", Auto, 8, 4}, {"torus:4x4", "weave-any", 8, 3}, {"torus:5x5", "updn", 8, 8}, {"slimfly:q=5", "df-d2", 8, 4},
		{"torus:4x4", "nue", 5, 5}, {"kautz:b=2,n=3,hosts=1", "weave-any", 15, 5}, {"mesh:3x3", "dor", 7, 3},
	} {
		f := testnet.Build(t, c.network)
		r, err := Route(t.Context(), f, Request{Engine: c.engine, VLs: c.vls, Classes: c.classes})
		if err != nil {
			t.Errorf("%s, %s, %d classes: %v", c.network, c.engine, c.classes, err)
			continue
		}
		if !r.Verdict.Free() || r.Contract != routing.Any || r.Verdict.VLs > c.vls || r.Tables.Lanes.Classes != c.classes {
			t.Errorf("%s, %s, %d classes: free %v under %s on %d lanes, %d classes", c.network, c.engine, c.classes, r.Verdict.Free(), r.Contract, r.Verdict.VLs, r.Tables.Lanes.Classes)
		}
		var of [routing.MaxDataVLs]int // [lane] the class that uses it, plus one
		eachHop(r.Tables, func(class int, vl uint8) {
			if of[vl] != 0 && of[vl] != class+1 {
				t.Fatalf("%s, %s: classes %d and %d share lane %d", c.network, c.engine, of[vl]-1, class, vl)
			}
			of[vl] = class + 1
		})
	}
}

// eachHop visits the lane of every hop between switches of every pair, class by class.
func eachHop(t *routing.Tables, visit func(class int, vl uint8)) {
	f := t.Fabric
	for from := range f.Endpoints() {
		for lid, to := range f.LIDs() {
			e := f.Endpoint(fabric.EndpointID(from))
			if e.Class != fabric.HostAdapter || f.Endpoint(to).Class != fabric.HostAdapter {
				continue
			}
			for class := range t.Lanes.Classes {
				sl := t.Lanes.Class(class, t.Lanes.SL(fabric.EndpointID(from), lid))
				at, in := e.Switch, f.Channel(e.Inject).ToPort
				for at != f.Endpoint(to).Switch {
					c := f.Out(at, t.Forwarding.Port(at, lid))
					ch := f.Channel(c)
					visit(class, t.Lanes.SL2VL.VL(at, in, ch.FromPort, sl))
					at, in = ch.To, ch.ToPort
				}
			}
		}
	}
}

// The judge looks at the lanes of every class: a loop in the last one alone is found.
func TestClassesAreAllJudged(t *testing.T) {
	f := testnet.Build(t, "slimfly:q=5")
	r, err := Route(t.Context(), f, Request{Engine: "df-d2", Classes: 3})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tables.Lanes.Needed != 6 {
		t.Fatalf("%d lanes needed, want 2 for each of 3 classes, so that they have a loop on one", r.Tables.Lanes.Needed)
	}
	const last, lane = 2, 4
	lanes := *r.Tables.Lanes
	lanes.SL2VL = lanes.SL2VL.PerPort(f)
	for s := range fabric.NodeID(f.Switches()) {
		for in := range uint8(f.Node(s).Ports + 1) {
			for out := range uint8(f.Node(s).Ports + 1) {
				lanes.SL2VL.Set(s, in, out, last, lane)
			}
		}
	}
	broken := *r.Tables
	broken.Lanes = &lanes
	v, err := deadlock.Verify(t.Context(), &broken, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	if v.Free() || v.Cycle[0].VL != lane {
		t.Errorf("class %d on one lane: free %v", last, v.Free())
	}
}

// What there is no room for, or what service levels cannot tell apart, is refused, with
// how many classes there is room for.
func TestClassesRefused(t *testing.T) {
	for _, c := range []struct {
		network string
		request Request
		fit     int
	}{
		{"torus:4x4", Request{Classes: 9}, 8},
		{"torus:4x4", Request{Engine: "updn", Classes: 4, SLs: 3}, 3},
		{"slimfly:q=5", Request{Engine: "df-d2", Classes: 5, VLs: 9}, 4},
	} {
		f := testnet.Build(t, c.network)
		_, err := Route(t.Context(), f, c.request)
		few := (*TooFewForClasses)(nil)
		if !errors.As(err, &few) || !routing.Refused(err) || few.Fit != c.fit {
			t.Errorf("%s, %+v: %v, want room for %d classes", c.network, c.request, err, c.fit)
			continue
		}
		c.request.Classes = c.fit
		if _, err := Route(t.Context(), f, c.request); err != nil {
			t.Errorf("%s, %+v: %v, but that is what fits", c.network, c.request, err)
		}
	}
	f := testnet.Build(t, "torus:4x4")
	rule := (*routing.Refusal)(nil)
	if _, err := Route(t.Context(), f, Request{Engine: "lash", Classes: 2}); !errors.As(err, &rule) {
		t.Errorf("lash: %v, want a refusal by rule", err)
	}
	if _, err := Route(t.Context(), f, Request{Classes: 2, Contract: &routing.Honored}); err == nil || routing.Refused(err) {
		t.Errorf("contract honored: %v, want an error that is no refusal", err)
	}
}

// With a tree the verdict is about unicast and multicast, on the first set of service levels
// for which there is one. Where there is none the loop of the shortest tree says why.
func TestWithMulticast(t *testing.T) {
	f := testnet.Build(t, "ring:7,hosts=2")
	for _, c := range []struct {
		engine string
		want   uint16 // service levels; 0: none has a tree
	}{{"weave-any", AnySL}, {"lash", 1}} {
		s := route(t, f, Request{Engine: c.engine})
		with, err := s.WithMulticast(t.Context(), AnySL, 1)
		if err != nil {
			t.Fatal(err)
		}
		if m := with.Tables.Multicast; m.SLs != c.want || with.Verdict.Multicast == nil || !with.Verdict.Free() || with.Verdict.Outside()[0] == s.Verdict.Outside()[0] {
			t.Errorf("%s: service levels %#x, want %#x; verdict %+v", c.engine, m.SLs, c.want, with.Verdict)
		}
		if s.Tables.Multicast != nil || s.Verdict.Multicast != nil {
			t.Errorf("%s: the result without a tree was changed", c.engine)
		}
	}
	no := (*NoTree)(nil)
	_, err := route(t, f, Request{Engine: "lash"}).WithMulticast(t.Context(), AnySL)
	if !errors.As(err, &no) || no.Tried == 0 || no.Loop == nil || len(no.Loop.Cycle) != 7 {
		t.Errorf("lash on all service levels: %v", err)
	}
}

// stated is a network with lanes drawn by lot: trunks run at least so many, or it is not
// stated; cables to hosts run any number.
func stated(t testing.TB, spec string, rng *rand.Rand) *fabric.Fabric {
	f := testnet.Build(t, spec)
	codes := []uint8{1, 2, 4, 8, 15, 0}
	least := rng.IntN(4)
	return testnet.WithLanes(t, f, func(c fabric.ChannelID) uint8 {
		if int(c) < f.Trunks() {
			return codes[least+rng.IntN(len(codes)-least)]
		}
		return codes[rng.IntN(len(codes))]
	})
}

// namesAbsent is the first place where maps name a lane that the cable does not run, whoever uses
// it; empty: nowhere.
func namesAbsent(t *routing.Tables) string {
	f := t.Fabric
	for c, ch := range f.Channels() {
		if f.Node(ch.From).Kind != fabric.Switch || ch.DataVLs == 0 {
			continue
		}
		for in := range uint8(f.Node(ch.From).Ports + 1) {
			for sl, vl := range t.Lanes.SL2VL.Map(ch.From, in, ch.FromPort) {
				if vl >= ch.DataVLs && vl < routing.MaxDataVLs {
					return fmt.Sprintf("%s, from port %d, SL %d: VL %d of %d", f.ChannelLabel(fabric.ChannelID(c)), in, sl, vl, ch.DataVLs)
				}
			}
		}
	}
	return ""
}

// requests is all engines, with classes of traffic, auto, and every path finder with every lane
// assigner if there is time.
func requests(thorough bool) (all []Request) {
	for _, e := range engines.All() {
		all = append(all, Request{Engine: e.Name}, Request{Engine: e.Name, Classes: 2})
	}
	all = append(all, Request{Engine: Auto, Patterns: 20})
	if thorough {
		for _, p := range engines.Finders() {
			for _, l := range engines.Assigners() {
				all = append(all, Request{Engine: p.Name + "+" + l.Name})
			}
		}
	}
	return all
}

// Whatever the lanes that cables are stated to run, every engine's tables name those only and lose
// no packet for want of one, or it refuses and names the cable that has no more.
func TestEngineStaysWithinStatedLanes(t *testing.T) {
	runs := testnet.Of(2, 1)
	if os.Getenv("WEFT_THOROUGH") != "" {
		runs = 6
	}
	rng := rand.New(rand.NewPCG(4, 2026))
	routed, folded, refused := 0, 0, 0
	for range runs {
		for _, spec := range []string{
			fmt.Sprintf("random:switches=12,links=24,hosts=2,seed=%d", rng.IntN(1000)), "torus:4x4", "mesh:3x4", "ring:7", "fattree:ports=6", "dragonfly:p=2", "kautz:b=2,n=3",
		} {
			f := stated(t, spec, rng)
			if rng.IntN(3) == 0 {
				var err error
				if f, err = f.WithLMC(1); err != nil {
					t.Fatal(err)
				}
			}
			limit := routing.LimitOf(f)
			for _, r := range requests(os.Getenv("WEFT_THOROUGH") != "") {
				for _, k := range []*routing.Contract{nil, new(routing.Honored)} {
					r.Contract, r.NoCycle = k, true
					if r.Classes > 1 && k != nil {
						continue
					}
					s, err := Route(t.Context(), f, r)
					where := fmt.Sprintf("%s, at most %d, %s, %v, %d", spec, limit.Lanes, r.Engine, k, r.Classes)
					loop, few := (*CreditLoop)(nil), (*routing.TooFewLanes)(nil)
					switch {
					case errors.As(err, &few):
						refused++
						if bound := limit.Lanes > 0 && limit.Lanes <= routing.DefaultVLs; few.Have != limit.Within(routing.DefaultVLs) || bound != (few.Where != "") || bound && !strings.Contains(err.Error(), "→") {
							t.Errorf("%s: %v", where, err)
						}
						continue
					case errors.As(err, &loop):
						s = loop.Result
					case routing.Refused(err):
						continue
					case err != nil:
						t.Fatalf("%s: %v", where, err)
					}
					routed++
					if absent := namesAbsent(s.Tables); absent != "" {
						t.Errorf("%s: %s", where, absent)
					}
					if _, uniform := s.Tables.Lanes.SL2VL.Uniform(); !uniform {
						folded++
					}
					for _, k := range []routing.Contract{routing.Any, s.Contract} {
						v, err := deadlock.Verify(t.Context(), s.Tables, deadlock.Options{Contract: k, Scope: routing.All, NoCycle: true})
						if err != nil || len(v.Absent) > 0 || v.Dropped > 0 {
							t.Errorf("%s: %v, %d absent, %d dropped", where, err, len(v.Absent), v.Dropped)
						}
					}
				}
			}
		}
	}
	t.Logf("%d routed, %d of them with maps by port, %d refused", routed, folded, refused)
	if routed < 200*runs || folded == 0 || refused == 0 {
		t.Errorf("%d routed, %d of them with maps by port, %d refused: too few of some kind", routed, folded, refused)
	}
}

// More lanes than a cable runs are refused by its name, fewer are taken; where nothing is stated
// there is no limit, and of cables to hosts none.
func TestMoreLanesThanStated(t *testing.T) {
	f := testnet.Build(t, "torus:3x3")
	four := testnet.WithLanes(t, f, func(c fabric.ChannelID) uint8 {
		switch {
		case int(c) >= f.Trunks():
			return 1
		case c == 5 || f.Channel(c).Reverse == 5:
			return 4
		}
		return 8
	})
	all := testnet.WithLanes(t, f, func(fabric.ChannelID) uint8 { return 2 })
	_, err := Route(t.Context(), four, Request{Engine: "updn", VLs: 5})
	rule := (*routing.Refusal)(nil)
	c := min(5, f.Channel(5).Reverse)
	want := fmt.Sprintf("5 data lanes are asked for, and the cable %s runs 4", f.ChannelLabel(c))
	if !errors.As(err, &rule) || rule.Node != f.Channel(c).From || rule.Port != f.Channel(c).FromPort || rule.Why != want {
		t.Errorf("5 lanes of 4: %v, want %q", err, want)
	}
	_, err = Route(t.Context(), all, Request{VLs: 8})
	if want := "runs 2, as do all 18 between switches"; !errors.As(err, &rule) || !strings.HasSuffix(rule.Why, want) {
		t.Errorf("8 lanes of 2: %v, want %q", err, want)
	}
	if _, err = Route(t.Context(), four, Request{Engine: "updn", VLs: 16}); err == nil || routing.Refused(err) {
		t.Errorf("16 lanes: %v", err)
	}
	for _, c := range []struct {
		f    *fabric.Fabric
		vls  int
		uses int
	}{{four, 0, 4}, {four, 3, 3}, {four, 4, 4}, {all, 0, 2}, {f, 0, 8}, {f, 12, 12}} {
		s, err := Route(t.Context(), c.f, Request{Engine: "dfsssp", Contract: new(routing.Directed), VLs: c.vls})
		if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) && few.Have == c.uses {
			continue
		}
		if err != nil || s.Verdict.VLs > c.uses {
			t.Errorf("%d lanes: %v, %d used, want at most %d", c.vls, err, s.Verdict.VLs, c.uses)
		}
	}
}

// What the page of the library shows programmers is the example that runs here.
func TestLibraryPageShowsTheExample(t *testing.T) {
	var texts [2]string
	for i, name := range []string{"docs/library.md", "example_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	_, code, _ := strings.Cut(texts[1], "func Example() {\n")
	code, _, found := strings.Cut(code, "\t// Output:")
	code = strings.TrimPrefix(strings.ReplaceAll(code, "\n\t", "\n"), "\t")
	if !found || !strings.Contains(texts[0], "```go\n"+code+"```\n") {
		t.Errorf("docs/library.md does not have\n%s", code)
	}
}

// Engines refuse a network without LIDs.
func TestWithoutLIDsIsRefused(t *testing.T) {
	b := fabric.Builder{WithoutLIDs: true}
	for i := range int(fabric.MaxLID) + 1 {
		b.Node(fabric.Node{Kind: fabric.Switch, Ports: 1, Name: fmt.Sprint(i)}, fmt.Sprintf("%06d", i))
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{Auto, "minhop"} {
		if _, err := Route(t.Context(), f, Request{Engine: engine}); !routing.Refused(err) || !strings.Contains(err.Error(), "49152 endpoints, and InfiniBand has 49151 LIDs") {
			t.Errorf("%s: %v", engine, err)
		}
	}
}
