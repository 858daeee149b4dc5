package weft

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
		if broken := (*EngineDefect)(nil); errors.As(err, &broken) != c.broken || !strings.Contains(err.Error(), "weft: ") {
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
