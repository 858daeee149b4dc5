package traffic_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/traffic"
)

// Within each job every rank sends to every other once, and to nobody else; a phase has each rank once at most.
func TestJobShifts(t *testing.T) {
	for _, c := range [][2]int{{16, 8}, {17, 3}, {24, 1}, {10, 4}, {1023, 8}} {
		n, jobs := c[0], c[1]
		p, err := traffic.Parse(fmt.Sprintf("job-shifts:jobs=%d", jobs))
		if err != nil {
			t.Fatal(err)
		}
		phases, err := p.Phases(n)
		if err != nil {
			t.Fatal(err)
		}
		job := make([]int, n) // [rank]
		for i := range job {
			for job[i] = 0; (job[i]+1)*n/jobs <= i; job[i]++ {
			}
		}
		seen := map[[2]int32]bool{}
		for k := range phases {
			sends, gets := map[int32]bool{}, map[int32]bool{}
			for _, pair := range p.Append(nil, n, k, nil) {
				key := [2]int32{pair.From, pair.To}
				if pair.From == pair.To || job[pair.From] != job[pair.To] || seen[key] || sends[pair.From] || gets[pair.To] {
					t.Fatalf("%d ranks, %d jobs, phase %d: %v", n, jobs, k, pair)
				}
				seen[key], sends[pair.From], gets[pair.To] = true, true, true
			}
		}
		want := 0
		for i := range n {
			for j := range n {
				if i != j && job[i] == job[j] {
					want++
				}
			}
		}
		if len(seen) != want {
			t.Errorf("%d ranks, %d jobs: %d pairs, not %d", n, jobs, len(seen), want)
		}
	}
	few, err := traffic.Parse("job-shifts:jobs=2,phases=3")
	if err != nil {
		t.Fatal(err)
	}
	if phases, err := few.Phases(17); phases != 3 || err != nil {
		t.Errorf("three phases of two jobs are %d, %v", phases, err)
	}
	for k, by := range []int32{1, 3, 6} { // of eight
		if pair := few.Append(nil, 17, k, nil)[0]; pair != (traffic.Pair{From: 0, To: by}) {
			t.Errorf("phase %d of three: %v, not by %d", k, pair, by)
		}
	}
	if p, err := traffic.Parse("job-shifts:jobs=9"); err != nil {
		t.Error(err)
	} else if _, err := p.Phases(17); err == nil {
		t.Error("nine jobs on 17 ranks")
	}
}

// Jobs are on all endpoints, each in order of switch and port, and others with another seed.
func TestPlacedJobs(t *testing.T) {
	f := testnet.Build(t, "fattree:ports=8")
	var all []fabric.EndpointID
	for e := range f.Endpoints() {
		if f.Endpoint(fabric.EndpointID(e)).Class == fabric.HostAdapter {
			all = append(all, fabric.EndpointID(e))
		}
	}
	var first traffic.Placement
	for seed := range uint64(2) {
		p, err := traffic.Place("jobs:3", f, all, seed)
		if err != nil {
			t.Fatal(err)
		}
		sorted := slices.Sorted(slices.Values(p))
		if !slices.Equal(sorted, slices.Sorted(slices.Values(all))) {
			t.Errorf("%d endpoints of %d", len(p), len(all))
		}
		at := func(a, b fabric.EndpointID) int {
			x, y := f.Endpoint(a), f.Endpoint(b)
			return cmp.Or(cmp.Compare(x.Switch, y.Switch), cmp.Compare(f.LastPort(x), f.LastPort(y)))
		}
		for j := range 3 {
			if job := p[len(p)*j/3 : len(p)*(j+1)/3]; !slices.IsSortedFunc(job, at) {
				t.Errorf("job %d is not in order", j)
			}
		}
		if seed == 1 && slices.Equal(p, first) {
			t.Error("the seed does not matter")
		}
		first = p
	}
	for _, bad := range []string{"jobs", "jobs:0", "jobs:x", "jobs:1000"} {
		if _, err := traffic.Place(bad, f, all, 0); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
