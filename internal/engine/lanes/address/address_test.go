package address_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/address"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

func build(t *testing.T, spec string, lmc uint8) *fabric.Fabric {
	t.Helper()
	f, err := testnet.Build(t, spec).WithLMC(lmc)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func assign(t *testing.T, f *fabric.Fabric, o address.Assigner, vls int) (*routing.Lanes, error) {
	t.Helper()
	fw, err := updown.MultiRoot{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o.Lanes(context.Background(), f, fw, routing.Budget{VLs: vls, Contract: routing.Directed}, nil)
}

// TPDS 2006, section 4.2, step 3: "If the packets are required to be delivered in
// order, ensure that T returns with a singleton layer for every source/address pair,
// otherwise let T return all layers"; section 8.1, of D-MROOTS: "The choice of layer
// was made by distributing the source/destination pairs as evenly between the layers
// as possible."
func TestLayers(t *testing.T) {
	for _, spec := range []string{"torus:5x5,hosts=3", "random:switches=20,links=40,hosts=2,seed=1", "karytree:k=3,n=2"} {
		for lmc := range uint8(4) {
			f := build(t, spec, lmc)
			layers := 1 << lmc
			for _, o := range []address.Assigner{{}, {Single: true}} {
				l, err := assign(t, f, o, 8)
				if err != nil {
					t.Fatal(err)
				}
				pairs, one := pairsByLayer(t, f, l, layers)
				if l.Needed != layers || one != (o.Single || layers == 1) {
					t.Errorf("%s, LMC %d, %+v: %d lanes, one address for each pair %v", spec, lmc, o, l.Needed, one)
				}
				// The hosts of a switch go together.
				least, most := pairs[0], pairs[0]
				for _, n := range pairs {
					least, most = min(least, n), max(most, n)
				}
				if most-least > 3 {
					t.Errorf("%s, LMC %d, %+v: pairs by layer %v", spec, lmc, o, pairs)
				}
			}
		}
	}
}

// pairsByLayer counts the pairs of hosts, and says whether each has one address
// only. It fails for a pair that has none, and for an address not on its layer.
func pairsByLayer(t *testing.T, f *fabric.Fabric, l *routing.Lanes, layers int) (pairs []int, one bool) {
	t.Helper()
	pairs, one = make([]int, layers), true
	for from := range f.Endpoints() {
		if f.Endpoint(fabric.EndpointID(from)).Class != fabric.HostAdapter {
			continue
		}
		for to := range f.Endpoints() {
			e := f.Endpoint(fabric.EndpointID(to))
			if e.Class != fabric.HostAdapter {
				continue
			}
			open := 0
			for a := range layers {
				sl := l.SL(fabric.EndpointID(from), e.LID+fabric.LID(a))
				if sl == routing.NoSL {
					continue
				}
				if int(sl) != a {
					t.Fatalf("address %d has service level %d", a, sl)
				}
				open++
				pairs[a]++
			}
			if open == 0 {
				t.Fatalf("endpoint %d has no address of %d", from, to)
			}
			one = one && open == 1
		}
	}
	return pairs, one
}

// Each address needs a lane.
func TestTooFewLanes(t *testing.T) {
	f := build(t, "ring:5", 2)
	if _, err := assign(t, f, address.Assigner{}, 4); err != nil {
		t.Error(err)
	}
	_, err := assign(t, f, address.Assigner{}, 3)
	if few := (*routing.TooFewLanes)(nil); !errors.As(err, &few) || few.Need != 4 || few.AtLeast || few.Have != 3 {
		t.Errorf("on three lanes: %v", err)
	}
}

// Under contract honored two switches use one address both ways, and the layers are about
// as full as each other.
func TestOneAddressBothWays(t *testing.T) {
	for _, spec := range []string{"torus:5x5,hosts=3", "kautz:b=3,n=3,hosts=2", "random:switches=20,links=40,hosts=2,seed=1"} {
		for lmc := range uint8(4) {
			f := build(t, spec, lmc)
			fw, err := updown.MultiRoot{}.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, scope := range []routing.Scope{routing.HCA, routing.All} {
				l, err := address.Assigner{Single: true}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 8, Scope: scope}, nil)
				if err != nil {
					t.Fatal(err)
				}
				v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{Scope: scope})
				if err != nil || !v.Free() || !v.Complete() {
					t.Errorf("%s, LMC %d, scope %s: %v, free %v, complete %v", spec, lmc, scope, err, v.Free(), v.Complete())
				}
				pairs, one := pairsByLayer(t, f, l, 1<<lmc)
				if most := slices.Max(pairs); scope == routing.HCA && (!one || most-slices.Min(pairs) > 2*9) {
					t.Errorf("%s, LMC %d: one address for each pair %v; pairs by layer %v", spec, lmc, one, pairs)
				}
			}
		}
	}
}
