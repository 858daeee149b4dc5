package hop_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/hop"
	"github.com/weft-fabric/weft/internal/engine/paths/layered"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// held walks every path between hosts and holds its lanes against the definition: 0, 1, 2,
// and service level 0 where there are no three hops. It says how many have three.
func held(f *fabric.Fabric, fw *routing.Forwarding, l *routing.Lanes) (long int, err error) {
	for _, from := range routing.HCA.Endpoints(f) {
		for lid, to := range f.LIDs() {
			if f.Endpoint(to).Class != fabric.HostAdapter || to == from {
				continue
			}
			sl, hops := l.SL(from, lid), uint8(0)
			at, in := f.Endpoint(from).Switch, uint8(0)
			for ; at != f.Endpoint(to).Switch && fw.Port(at, lid) != routing.NoPort; hops++ {
				out := fw.Port(at, lid)
				if in == 0 {
					in = f.Channel(f.Endpoint(from).Inject).ToPort
				}
				if vl := l.SL2VL.VL(at, in, out, sl); vl != hops {
					return 0, fmt.Errorf("hop %d from endpoint %d to LID %d is on lane %d, service level %d", hops, from, lid, vl, sl)
				}
				c := f.Channel(f.Out(at, out))
				at, in = c.To, c.ToPort
			}
			if hops == 3 {
				long++
			}
			if sl > 15 || (sl == 0) != (hops < 3) {
				return 0, fmt.Errorf("%d hops from endpoint %d to LID %d on service level %d", hops, from, lid, sl)
			}
		}
	}
	return long, nil
}

func TestColorsTellHopsApart(t *testing.T) {
	for spec, finder := range map[string]routing.PathFinder{
		"slimfly:q=5,hosts=1": layered.Finder{}, "polarfly:q=4,hosts=1": layered.Finder{}, "hyperx:4x3,hosts=1": layered.Finder{},
		"hyperx:3x3x3,hosts=1": sssp.Finder{}, "dragonfly:p=2": minhop.Finder{}, "jellyfish:switches=24,degree=5,seed=1": sssp.Finder{},
	} {
		f, err := testnet.Build(t, spec).WithLMC(2)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 1)) // every one of these networks is left with paths
		for range 3 {
			fw := paths(t, f, finder)
			far := farthest(f, fw, routing.HCA)
			_, l, err := judge(f, fw, hop.Color{}, routing.Directed, routing.Budget{VLs: 8})
			switch {
			case far > 3:
				if no := (*routing.Refusal)(nil); !errors.As(err, &no) || !strings.Contains(err.Error(), "hops from switch to switch") {
					t.Errorf("%s takes %d hops: %v", spec, far, err)
				}
			case err != nil:
				t.Errorf("%s: %v", spec, err)
			default:
				if long, err := held(f, fw, l); err != nil || long == 0 || l.Needed != 3 {
					t.Errorf("%s: %d lanes for %d paths of three hops: %v", spec, l.Needed, long, err)
				}
				few := (*routing.TooFewLanes)(nil)
				if _, err := (hop.Color{}).Lanes(context.Background(), f, fw, routing.Budget{VLs: 2}, nil); !errors.As(err, &few) || few.Need != 3 {
					t.Errorf("%s on two lanes: %v", spec, err)
				}
			}
			f = damage(t, f, rng)
		}
	}
}

// Short paths take any service level, so they are safe under every contract.
func TestColorOfShortPaths(t *testing.T) {
	for spec, lanes := range map[string]int{"polarfly:q=4": 2, "hyperx:4,hosts=2": 1, "mesh:1,hosts=3": 1} {
		f := testnet.Build(t, spec)
		_, l, err := judge(f, paths(t, f, sssp.Finder{}), hop.Color{}, routing.Any, routing.Budget{VLs: 8})
		if err != nil || l.Needed != lanes {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// Seventeen switches, any two of which follow each other in the middle of a path, need
// seventeen colors: a complete graph of them, with another switch on each, from which every
// path has three hops.
func TestTooManyColors(t *testing.T) {
	for _, n := range []int{15, 17} {
		var b fabric.Builder
		inner := make([]fabric.Ref, n)
		for i := range inner {
			inner[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: n, Name: fmt.Sprintf("in-%d", i)}, "")
			for k := range i {
				b.Cable(inner[i], uint8(k+1), inner[k], uint8(i), fabric.Rate{})
			}
		}
		for i := range inner {
			outer := b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Ports: 2, Name: fmt.Sprintf("out-%d", i)}, "")
			b.Cable(outer, 1, inner[i], uint8(n), fabric.Rate{})
			b.Cable(outer, 2, b.Node(fabric.Node{GUID: fabric.GUID(200 + i), Kind: fabric.Adapter, Ports: 1}, ""), 1, fabric.Rate{})
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		_, l, err := judge(f, paths(t, f, sssp.Finder{}), hop.Color{}, routing.Directed, routing.Budget{VLs: 8})
		no := (*routing.Refusal)(nil)
		if n <= 15 && (err != nil || l.TopLevel() != n) || n > 15 && (!errors.As(err, &no) || !strings.Contains(err.Error(), "fifteen colors")) {
			t.Errorf("%d switches: %v", n, err)
		}
	}
}
