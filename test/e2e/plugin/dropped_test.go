package plugin_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestDropped has a switch drop what an adapter sends, on the way out, on the way
// through and where it arrives: at each the plugin must notice.
func TestDropped(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "dragonfly:p=2")
	q := wire.Of(f, 1)
	whole := answerTo(t, q, "df-dn", routing.Honored)
	if out := core(t, asan, "prove", q, whole); out[0] != "proven" {
		t.Fatal(out)
	}
	tables, _, err := routed(q, "df-dn", routing.Honored)
	if err != nil {
		t.Fatal(err)
	}
	from := f.Endpoint(fabric.EndpointID(f.Switches())) // the first adapter
	neighbour := f.Attached(from.Switch)[2]
	far := longest(tables, from)
	s, in := from.Switch, f.Channel(from.Inject).ToPort
	first := tables.Forwarding.Port(s, far.LID)
	trunk := f.Channel(f.Out(s, first))
	next := tables.Forwarding.Port(trunk.To, far.LID)
	for name, c := range map[string]struct {
		at      fabric.NodeID
		in, out uint8
		want    string
	}{
		"to a neighbour":  {s, in, f.Channel(f.Endpoint(neighbour).Deliver).FromPort, "is dropped"},
		"to a trunk":      {s, in, first, "is dropped"},
		"on the way":      {trunk.To, trunk.ToPort, next, "is dropped"},
		"where it is due": {far.Switch, lastTrunk(tables, from, far.LID), f.Channel(far.Deliver).FromPort, "is dropped"},
	} {
		t.Run(name, func(t *testing.T) {
			if out := core(t, asan, "prove", q, remapped(t, q, whole, c.at, c.in, c.out, func(m []byte) { copy(m, bytes.Repeat([]byte{15}, routing.SLs)) })); !strings.Contains(out[0], c.want) {
				t.Errorf("%q, want %q", out, c.want)
			}
		})
	}
}

// TestAdapters has adapters drop what they are to send, by a map of their own that
// no path between switches goes through.
func TestAdapters(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "dragonfly:p=2")
	q := wire.Of(f, 1)
	for _, c := range []struct {
		engine   string
		contract routing.Contract
		drop     []int // service levels
		want     string
	}{
		{"df-dn", routing.Honored, []int{15}, "proven"}, // which nobody uses
		{"df-dn", routing.Honored, []int{0}, "adapters are to drop SL 0, which is in use"},
		{"df-dn", routing.Honored, []int{1}, "adapters are to drop SL 1, which is in use"},
		{"updn", routing.Single(3), []int{3}, "adapters are to drop SL 3, which is in use"},
		{"updn", routing.Single(3), []int{0}, "proven"},
		{"updn", routing.Any, []int{15}, "adapters are to drop SL 15, which is in use"},
	} {
		b := answerTo(t, q, c.engine, c.contract)
		for _, sl := range c.drop {
			b[16+32+sl] = 15
		}
		out := core(t, asan, "prove", q, b)
		if !strings.HasSuffix(out[0], c.want) {
			t.Errorf("%s under %s, SLs %v dropped: %q, want %q", c.engine, c.contract, c.drop, out, c.want)
		}
		if _, err := wire.ReadAnswer(bytes.NewReader(b), q); (err == nil) != (c.want == "proven") || err != nil && !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s under %s, SLs %v dropped: %v, want %q", c.engine, c.contract, c.drop, err, c.want)
		}
	}
}

// TestNobodysLID has answers tell where to send a LID that nobody has: a host that
// comes up with it later would get paths, and no service level for them.
func TestNobodysLID(t *testing.T) {
	t.Parallel()
	whole := testnet.Build(t, "torus:3x3,hosts=1")
	gone := whole.Endpoint(fabric.EndpointID(whole.Switches())) // its LID is not the highest
	f, err := whole.Without(nil, []fabric.NodeID{gone.Node})
	if err != nil {
		t.Fatal(err)
	}
	now, later := wire.Of(f, 1), wire.Of(whole, 2)
	good, more := answerTo(t, now, "dfsssp", routing.Honored), answerTo(t, later, "dfsssp", routing.Honored)
	p, lids := parts(t, now, good), int(f.TopLID())+1
	if later := parts(t, later, more); later[0] != p[0] || later[1] != p[1] {
		t.Fatal("the two answers are of other shapes")
	}
	for part, name := range []string{"out-ports", "service levels"} {
		b := bytes.Clone(good)
		for s := range f.Switches() {
			at := p[part] + s*lids + int(gone.LID)
			b[at] = more[at]
		}
		if out := core(t, asan, "prove", now, b); !strings.Contains(out[0], "which nobody has") {
			t.Errorf("%s: %q", name, out)
		}
		if _, err := wire.ReadAnswer(bytes.NewReader(b), now); err == nil || !strings.Contains(err.Error(), "which nobody has") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out := verdictLater(t, "keep", now, good, later); !strings.Contains(out, "is new since") {
		t.Errorf("kept for a host that is new: %q", out)
	}
}

// TestCircle has two switches send a LID to each other.
func TestCircle(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:5,hosts=2")
	q := wire.Of(f, 1)
	whole := answerTo(t, q, "df-dn", routing.Honored)
	trunk := f.Channel(0)
	lids := int(f.TopLID()) + 1
	far := f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 1))
	if far.Switch == trunk.From || far.Switch == trunk.To {
		t.Fatal("the last adapter is too near")
	}
	out := parts(t, q, whole)[0]
	whole[out+int(trunk.From)*lids+int(far.LID)] = trunk.FromPort
	whole[out+int(trunk.To)*lids+int(far.LID)] = trunk.ToPort
	if out := core(t, asan, "prove", q, whole); !strings.Contains(out[0], "packets circle for ever") {
		t.Errorf("%q", out)
	}
}

// longest is an adapter that is two trunks or more away.
func longest(tables *routing.Tables, from *fabric.Endpoint) *fabric.Endpoint {
	f := tables.Fabric
	for i := range f.Endpoints() {
		to := f.Endpoint(fabric.EndpointID(i))
		if to.Class != fabric.HostAdapter || to.Switch == from.Switch {
			continue
		}
		if next := f.Channel(f.Out(from.Switch, tables.Forwarding.Port(from.Switch, to.LID))).To; next != to.Switch {
			return to
		}
	}
	return nil
}

// lastTrunk is the port by which packets to a LID come to its switch.
func lastTrunk(tables *routing.Tables, from *fabric.Endpoint, lid fabric.LID) uint8 {
	f := tables.Fabric
	s, in := from.Switch, uint8(0)
	for s != f.Endpoint(f.Owner(lid)).Switch {
		c := f.Channel(f.Out(s, tables.Forwarding.Port(s, lid)))
		s, in = c.To, c.ToPort
	}
	return in
}
