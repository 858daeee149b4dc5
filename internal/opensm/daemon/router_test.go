package daemon

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// router is what stands for weft.Route.
type router func(context.Context, *fabric.Fabric, weft.Request) (*weft.Result, error)

// fake is an engine that does what it is told.
type fake func(ctx context.Context, f *fabric.Fabric) (*routing.Tables, error)

func (do fake) route(ctx context.Context, f *fabric.Fabric, q weft.Request) (*weft.Result, error) {
	t, err := do(ctx, f)
	if err != nil {
		return nil, err
	}
	q.Custom = &engines.Engine{Name: "fake"}
	return weft.Verify(ctx, t, q)
}

// instead lets the daemon route by other means than its configuration says.
func (r *running) instead(route router) {
	r.Server.mu.Lock()
	defer r.Server.mu.Unlock()
	s := *r.Server.settings
	s.route = route
	r.Server.settings = &s
}

func honest(t *testing.T, ctx context.Context, f *fabric.Fabric, name string, lanes int) (*routing.Tables, error) {
	e, err := engines.Named(name)
	if err != nil {
		t.Error(err)
	}
	return e.Route(ctx, f, engines.Options{}, routing.Budget{VLs: lanes, Scope: routing.Adapters}, nil)
}

// Whatever an engine does, the daemon hands over nothing that is not proven, and
// lives on.
func TestEnginesThatBreak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(t *testing.T) fake
		want string
	}{
		"panics": {func(*testing.T) fake {
			return func(context.Context, *fabric.Fabric) (*routing.Tables, error) { panic("out of ideas") }
		}, "out of ideas"},
		"leaves a pair out": {func(t *testing.T) fake {
			return func(ctx context.Context, f *fabric.Fabric) (*routing.Tables, error) {
				tables, err := honest(t, ctx, f, "updn", 1)
				tables.Forwarding.Row(f.TopLID())[0] = routing.NoPort
				return tables, err
			}
		}, "without a route"},
		"turns in circles": {func(t *testing.T) fake {
			return func(ctx context.Context, f *fabric.Fabric) (*routing.Tables, error) {
				tables, err := honest(t, ctx, f, "updn", 1)
				c := f.Channel(0)
				lid := f.TopLID()
				tables.Forwarding.Row(lid)[c.From], tables.Forwarding.Row(lid)[c.To] = c.FromPort, c.ToPort
				return tables, err
			}
		}, "without a route"},
		"more lanes than there are": {func(t *testing.T) fake {
			return func(ctx context.Context, f *fabric.Fabric) (*routing.Tables, error) {
				return honest(t, ctx, f, "dfsssp", 15)
			}
		}, "lanes of 2"},
		"withholds an address": {func(t *testing.T) fake { // of a switch, which the proof is not about
			return func(ctx context.Context, f *fabric.Fabric) (*routing.Tables, error) {
				tables, err := honest(t, ctx, f, "nue", 2)
				tables.Lanes.SLRow(f.Endpoint(0).LID)[1] = routing.NoSL
				return tables, err
			}
		}, "OpenSM cannot withhold"},
		"another fabric": {func(t *testing.T) fake {
			return func(ctx context.Context, f *fabric.Fabric) (*routing.Tables, error) {
				other, err := request(t, "ring:n=4", 1).Fabric()
				if err != nil {
					return nil, err
				}
				tables, err := honest(t, ctx, other, "updn", 1)
				return &routing.Tables{Fabric: f, Forwarding: tables.Forwarding, Lanes: tables.Lanes}, err
			}
		}, "the fabric has"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, Config{Contract: "directed", VLs: 2})
			r.instead(c.do(t).route)
			a := r.ask(request(t, "torus:4x4,hosts=2", 1))
			if !strings.Contains(a.Refusal, c.want) {
				t.Errorf("%q, want %q; engine %q", a.Refusal, c.want, a.Engine)
			}
			r.instead(nil) // no engine at all
			q := request(t, "torus:4x4,hosts=2", 2)
			q.QoS = false
			if a := r.ask(q); !strings.Contains(a.Refusal, "internal error") {
				t.Errorf("%q", a.Refusal)
			}
			r.until(func(s result.Status) bool { return s.Refused == 2 })
		})
	}
}

// The daemon routes as the command does, and any program: with the same seed.
func TestRoutesAsEverybody(t *testing.T) {
	q := request(t, "random:switches=20,links=50,hosts=2,seed=5", 1)
	f, err := q.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"weave", "weave-any", weft.Auto} {
		s, err := Config{Socket: "/s", Engine: Names{engine}, Contract: "honored"}.check()
		if err != nil {
			t.Fatal(err)
		}
		p := prove(t.Context(), f, s, 8, func(*proven) {})
		want, err := weft.Route(t.Context(), f, weft.Request{Engine: engine, Contract: new(routing.Honored), Patient: true})
		if err != nil || p.refusal != "" {
			t.Fatalf("%s: %v, %s", engine, err, p.refusal)
		}
		for lid := range f.LIDs() {
			if !bytes.Equal(p.tables.Forwarding.Row(lid), want.Tables.Forwarding.Row(lid)) {
				t.Fatalf("%s: other paths to LID %d", engine, lid)
			}
		}
	}
}

// A daemon that shall end does not wait for an engine that does not.
func TestEndsInTime(t *testing.T) {
	t.Parallel()
	r := start(t, Config{})
	began := make(chan struct{})
	r.instead(fake(func(ctx context.Context, _ *fabric.Fabric) (*routing.Tables, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}).route)
	answers := make(chan *wire.Answer, 1)
	go func() {
		a, err := wire.Ask(context.Background(), r.config.Socket, request(t, "ring:n=4", 1))
		if err != nil {
			t.Error(err)
		}
		answers <- a
	}()
	<-began
	begin := time.Now()
	r.end()
	if d := time.Since(begin); d > 3*grace+busy {
		t.Errorf("it took %v", d)
	}
	if a := <-answers; a == nil || !strings.Contains(a.Refusal, "canceled") {
		t.Errorf("%+v", a)
	}
}

// Work that nobody waits for any more makes room for another fabric.
func TestNewFabricGoesFirst(t *testing.T) {
	t.Parallel()
	r := start(t, Config{})
	r.instead(fake(func(ctx context.Context, f *fabric.Fabric) (*routing.Tables, error) {
		if f.Switches() == 4 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return honest(t, ctx, f, "updn", 1)
	}).route)
	q := request(t, "ring:n=4", 1)
	q.Deadline = 50 * time.Millisecond
	if a := r.ask(q); !strings.Contains(a.Refusal, "no time left") {
		t.Errorf("%q", a.Refusal)
	}
	if a := r.ask(request(t, "ring:n=5", 2)); a.Refusal != "" {
		t.Errorf("%q", a.Refusal)
	}
	r.instead(updn(t).route)
	if a := r.ask(request(t, "ring:n=4", 3)); a.Refusal != "" {
		t.Errorf("what was cancelled is not begun again: %q", a.Refusal)
	}
}

// Work that was cut off at its limit is begun again when it is asked for again.
func TestLimit(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Limit: 50 * time.Millisecond})
	r.instead(fake(func(ctx context.Context, _ *fabric.Fabric) (*routing.Tables, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}).route)
	q := request(t, "ring:n=4", 1)
	if a := r.ask(q); a.Refusal == "" {
		t.Error("an engine without end has tables")
	}
	r.instead(updn(t).route)
	for end := time.Now().Add(busy); ; { // a busy machine may take longer than the limit
		a := r.ask(q)
		if a.Refusal == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it is not begun again, or always too late: %q", a.Refusal)
		}
	}
}

func updn(t *testing.T) fake {
	return func(ctx context.Context, f *fabric.Fabric) (*routing.Tables, error) {
		return honest(t, ctx, f, "updn", 1)
	}
}
