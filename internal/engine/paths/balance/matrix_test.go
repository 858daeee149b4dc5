package balance_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// rings is a skewed matrix: jobs on hosts drawn at random, each sending along a ring, some
// ten times as much as others.
func rings(f *fabric.Fabric, seed uint64) (all []balance.Demand) {
	hosts := routing.HCA.Endpoints(f)
	r := rand.New(rand.NewPCG(seed, 1))
	r.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	size := max(3, len(hosts)/12)
	for i := 0; i+size <= len(hosts); i += size {
		bytes := []int64{1000, 1000, 300, 100}[i/size%4]
		for k := range size {
			all = append(all, balance.Demand{From: hosts[i+k], To: hosts[i+(k+1)%size], Bytes: bytes})
		}
	}
	return all
}

// times measures paths by package congestion.
func times(t *testing.T, f *fabric.Fabric, fw *routing.Forwarding, demands []balance.Demand) *congestion.Times {
	t.Helper()
	o := congestion.Options{Placement: routing.HCA.Endpoints(f)}
	rank := func(e fabric.EndpointID) int32 { return int32(slices.Index(o.Placement, e)) }
	var pairs []traffic.Pair
	for _, d := range demands {
		pairs = append(pairs, traffic.Pair{From: rank(d.From), To: rank(d.To), Bytes: d.Bytes})
	}
	o.Pattern = traffic.Pairs("rings", len(o.Placement), pairs)
	c, err := congestion.TimesOf(t.Context(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}, o)
	if err != nil || c.Lost > 0 {
		t.Fatalf("%v, %d pairs without a route", err, c.Lost)
	}
	return c
}

// Paths for a matrix carry it in clearly less time than those for random pairs, which keep
// most of what they have; paths stay shortest; what the note says is what congestion finds.
func TestMatrix(t *testing.T) {
	for _, spec := range testnet.First([]string{"random:switches=20,links=60,hosts=5,seed=5", "dragonfly:p=4,g=9", "karytree:k=6,n=3", "xgft:m=8x6,w=4x6,hosts=6"}, 2) {
		t.Run(spec, func(t *testing.T) {
			f := testnet.Build(t, spec)
			demands := rings(f, 3)
			begin := []balance.Beginning{{Name: "sssp", Paths: sssp.Finder{}}}
			plain := paths(t, f, balance.Finder{Aim: balance.Bisection})
			fw := paths(t, f, balance.Finder{Demands: demands, Begin: begin})
			before, after := times(t, f, plain, demands), times(t, f, fw, demands)
			if balance.WorthOfTraffic(after.Time, after.Mean) < 1.15*balance.WorthOfTraffic(before.Time, before.Mean) || after.Time > before.Time || after.Mean > before.Mean {
				t.Errorf("the fullest channel takes %.2f, in the mean %.3f; with paths for random pairs %.2f, %.3f", after.Time, after.Mean, before.Time, before.Mean)
			}
			if was, is := lambda(t, f, plain, 100), lambda(t, f, fw, 100); is < .85*was {
				t.Errorf("random pairs get %.3f, without the matrix %.3f", is, was)
			}
			t.Logf("%.2f → %.2f, mean %.3f → %.3f", before.Time, after.Time, before.Mean, after.Mean)
			note := fw.Notes[len(fw.Notes)-1]
			if want := "takes " + hundredths(math.Max(1, after.Time)) + " times"; !strings.Contains(note, want) {
				t.Errorf("%s; want %q in it", note, want)
			}
			runtime.GOMAXPROCS(1)
			defer runtime.GOMAXPROCS(runtime.NumCPU())
			again := paths(t, f, balance.Finder{Demands: demands, Begin: begin})
			for lid := range f.LIDs() {
				if !slices.Equal(fw.Row(lid), again.Row(lid)) {
					t.Fatalf("LID %d: on one core other paths", lid)
				}
			}
		})
	}
}

func hundredths(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// Demands that cannot be are refused; what stays on a switch, or on a host, moves nothing.
func TestOddDemands(t *testing.T) {
	f := testnet.Build(t, "karytree:k=4,n=2")
	hosts := routing.HCA.Endpoints(f)
	for _, bad := range []balance.Demand{{From: -1, To: hosts[0], Bytes: 1}, {From: hosts[0], To: 9999, Bytes: 1}, {From: hosts[0], To: hosts[9], Bytes: 0}, {From: hosts[0], To: hosts[9], Bytes: -3}} {
		if _, err := (balance.Finder{Demands: []balance.Demand{bad}}).Paths(t.Context(), f, nil); err == nil {
			t.Errorf("%+v is no mistake", bad)
		}
	}
	plain := paths(t, f, balance.Finder{Aim: balance.Bisection})
	for _, none := range [][]balance.Demand{{}, {{From: hosts[0], To: hosts[0], Bytes: 5}}} {
		fw := paths(t, f, balance.Finder{Demands: none})
		for lid := range f.LIDs() {
			if !slices.Equal(fw.Row(lid), plain.Row(lid)) {
				t.Fatalf("%v: other paths to LID %d", none, lid)
			}
		}
	}
}

// Rings of servers on a fat tree, each host sending to one, meet nowhere: an edge coloring finds what descent does not.
func TestRingsMeetNowhere(t *testing.T) {
	for _, spec := range []string{"fattree:ports=16", "fattree:ports=8,levels=3"} {
		f := testnet.Build(t, spec)
		for seed := range uint64(3) {
			hosts := routing.HCA.Endpoints(f)
			rand.New(rand.NewPCG(seed, 2)).Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
			var demands []balance.Demand
			for i := range hosts {
				demands = append(demands, balance.Demand{From: hosts[i], To: hosts[(i+1)%len(hosts)], Bytes: 1})
			}
			if got := times(t, f, paths(t, f, balance.Finder{Demands: demands}), demands); got.Time > 1 {
				t.Errorf("%s, draw %d: the fullest channel takes %.2f", spec, seed, got.Time)
			}
		}
	}
}
