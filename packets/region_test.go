package packets

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// arrival is a packet that arrived, and when.
type arrival struct {
	packet packet
	at     Time
}

// watched is a run of a load, in regions, and all that arrived.
func watched(t testnet.TB, n *Network, regions, many int, l Injection, length Time) (*Result, []arrival) {
	t.Helper()
	own := *n
	own.split(regions)
	s := newSim(&own)
	s.many = many
	lists := make([][]arrival, len(s.regions))
	for i, r := range s.regions {
		r.observe = func(p *packet) {
			a := arrival{*p, r.wheel.now}
			a.packet.next = 0   // which memory it is in does not matter, nor when a flow that
			a.packet.number = 0 // has nothing under way for a moment begins to count anew
			lists[i] = append(lists[i], a)
		}
	}
	s.begin(l.Seed, l.Run)
	g, err := own.prepare(&l, s.sending.random)
	if err != nil {
		t.Fatal(err)
	}
	s.generate(g)
	s.measureFrom()
	stop, err := s.batchesOf(context.Background(), length, 6, func() bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.audit(); err != nil {
		t.Fatal(err)
	}
	r := s.result(0)
	r.Status = stop
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.packet.dst, b.packet.dst))
	})
	return r, all
}

// A network in several regions does the same as in one, packet by packet and to the
// picosecond, whatever the hardware, the routing and the traffic; and stops in the same
// deadlock, found at the same time.
func TestRegionsChangeNothing(t *testing.T) {
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	rapid.Check(t, func(t *rapid.T) {
		n, _ := anyNetwork(t, anyConfig(t))
		l := Injection{
			Offered: float64(rapid.IntRange(1, 20).Draw(t, "load")) / 20, Placement: routing.HCA.Endpoints(n.Fabric), Seed: rapid.Uint64().Draw(t, "seed"),
			Regular: rapid.Bool().Draw(t, "regular"), Burst: rapid.IntRange(1, 3).Draw(t, "burst"), Bytes: int64(rapid.IntRange(1, 3*n.Config.MTU).Draw(t, "bytes")),
		}
		length := Time(rapid.IntRange(5, 20).Draw(t, "packets")) * serial(n.Config.wire(int64(n.Config.MTU)), n.slowest())
		want, arrived := watched(t, n, 1, 0, l, length)
		for _, regions := range []int{2, 4} {
			runtime.GOMAXPROCS(rapid.IntRange(1, 4).Draw(t, "cores"))
			got, list := watched(t, n, regions, rapid.SampledFrom([]int{0, 40, manyEvents}).Draw(t, "many"), l, length)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("%d regions (-one +several):\n%s", regions, diff)
			}
			if !slices.Equal(arrived, list) {
				t.Fatalf("%d regions: other packets arrive, or at other times", regions)
			}
		}
	})
}

// A deadlock is the same, too: the same buffers with the same packets, closed and found
// at the same time.
func TestRegionsStopAlike(t *testing.T) {
	for _, spec := range []string{"ring:5", "torus:3x5", "ring:7,hosts=2"} {
		c := unit(2, 4)
		c.Lottery = true
		n := routed(t, spec, "minhop", 1, c)
		stopped := 0
		for seed := range uint64(10) {
			l := Injection{Offered: 0.9, Placement: routing.HCA.Endpoints(n.Fabric), Seed: seed}
			want, arrived := watched(t, n, 1, 0, l, 500)
			if want.Deadlock != nil {
				stopped++
			}
			for _, regions := range []int{2, 4} {
				got, list := watched(t, n, regions, 0, l, 500)
				if diff := gocmp.Diff(want, got); diff != "" || !slices.Equal(arrived, list) {
					t.Fatalf("%s, seed %d, %d regions (-one +several):\n%s", spec, seed, regions, diff)
				}
			}
		}
		if stopped < 5 {
			t.Errorf("%s: only %d of 10 runs stopped", spec, stopped)
		}
	}
}

// The same for messages that are sent once.
func TestRegionsCompleteAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, _ := anyNetwork(t, anyConfig(t))
		phases := [][]Message{randomMessages(t, n)}
		var results []*Result
		for _, regions := range []int{1, 3} {
			own := *n
			own.split(regions)
			r, err := own.Complete(context.Background(), phases, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		if diff := gocmp.Diff(results[0], results[1]); diff != "" {
			t.Fatalf("3 regions (-one +several):\n%s", diff)
		}
	})
}

// Every switch is in a region, regions are about as large, and a large network has
// several without being told.
func TestSplit(t *testing.T) {
	n := routed(t, "karytree:k=12,n=3", "updn", 1, mustPreset(t, "ib-hdr"))
	if n.regions != 1 {
		t.Errorf("%d channels in %d regions", n.channels, n.regions)
	}
	for _, count := range []int{1, 2, 7, 1000} {
		n.split(count)
		sizes := make([]int, n.regions)
		for s := range n.regionOf {
			sizes[n.regionOf[s]]++
		}
		if want := min(count, mostRegions, len(n.regionOf)); n.regions > want || n.regions < (want+1)/2 || slices.Contains(sizes, 0) {
			t.Errorf("%d regions, %d asked for: %v", n.regions, count, sizes)
		}
	}
}
