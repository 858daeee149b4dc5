package weft_test

import (
	"errors"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// With classes of traffic all lanes are proven together, and no two classes share one.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		network, engine string
		vls, classes    int
	}{
		{"torus:4x4", weft.Auto, 8, 4}, {"torus:4x4", "weave-any", 8, 3}, {"torus:5x5", "updn", 8, 8}, {"slimfly:q=5", "df-d2", 8, 4},
		{"torus:4x4", "nue", 5, 5}, {"kautz:b=2,n=3,hosts=1", "weave-any", 15, 5}, {"mesh:3x3", "dor", 7, 3},
	} {
		f := testnet.Build(t, c.network)
		r, err := weft.Route(t.Context(), f, weft.Request{Engine: c.engine, VLs: c.vls, Classes: c.classes})
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
	r, err := weft.Route(t.Context(), f, weft.Request{Engine: "df-d2", Classes: 3})
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
		request weft.Request
		fit     int
	}{
		{"torus:4x4", weft.Request{Classes: 9}, 8},
		{"torus:4x4", weft.Request{Engine: "updn", Classes: 4, SLs: 3}, 3},
		{"slimfly:q=5", weft.Request{Engine: "df-d2", Classes: 5, VLs: 9}, 4},
	} {
		f := testnet.Build(t, c.network)
		_, err := weft.Route(t.Context(), f, c.request)
		few := (*weft.TooFewForClasses)(nil)
		if !errors.As(err, &few) || !routing.Refused(err) || few.Fit != c.fit {
			t.Errorf("%s, %+v: %v, want room for %d classes", c.network, c.request, err, c.fit)
			continue
		}
		c.request.Classes = c.fit
		if _, err := weft.Route(t.Context(), f, c.request); err != nil {
			t.Errorf("%s, %+v: %v, but that is what fits", c.network, c.request, err)
		}
	}
	f := testnet.Build(t, "torus:4x4")
	rule := (*routing.Refusal)(nil)
	if _, err := weft.Route(t.Context(), f, weft.Request{Engine: "lash", Classes: 2}); !errors.As(err, &rule) {
		t.Errorf("lash: %v, want a refusal by rule", err)
	}
	if _, err := weft.Route(t.Context(), f, weft.Request{Classes: 2, Contract: &routing.Honored}); err == nil || routing.Refused(err) {
		t.Errorf("contract honored: %v, want an error that is no refusal", err)
	}
}
