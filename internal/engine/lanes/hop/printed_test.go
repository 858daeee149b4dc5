package hop

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// HOTI 2016, figure 5: the highlighted path from H1 to H2 makes turns at S3, S4 and S6,
// whose entries are 2, 1, 0 and 1, 1, 0 and 0, 0, 3 for the service levels 0, 1 and 2, 0
// being unset. Its lanes must be 1, 2, 3: service level 0 has a 2 at S3, service level 1 a
// 1 at S4, and service level 2 can be made to rise: the second table of the figure.
func TestFigure5(t *testing.T) {
	const s3, s4, s6 = 0, 1, 2
	tab := table{turns: 3, lane: [][]uint8{{s3: 2, s4: 1, s6: 0}, {s3: 1, s4: 1, s6: 0}, {s3: 0, s4: 0, s6: 3}}}
	tab.wanted = []entry{{s3, 1}, {s4, 2}, {s6, 3}}
	sl, ok := tab.setInFirst()
	want := [][]uint8{{2, 1, 0}, {1, 1, 0}, {1, 2, 3}}
	if diff := cmp.Diff(want, tab.lane); diff != "" || sl != 2 || !ok {
		t.Errorf("service level %d, %t: %s", sl, ok, diff)
	}
	// The other direction of the same trunks, say, begins a service level of its own, and
	// what can never rise takes none and leaves no trace.
	tab.wanted = []entry{{s6, 1}, {s4, 2}, {s3, 3}}
	if sl, ok := tab.setInFirst(); sl != 3 || !ok {
		t.Errorf("service level %d, %t; want the fourth", sl, ok)
	}
	want = append(want, []uint8{3, 2, 1})
	tab.wanted = []entry{{s4, 1}, {s4, 2}}
	if _, ok := tab.setInFirst(); ok {
		t.Error("one entry has two lanes")
	}
	if diff := cmp.Diff(want, tab.lane[:4]); diff != "" {
		t.Error(diff)
	}
	for sl, lane := range tab.lane[4:] {
		if diff := cmp.Diff(make([]uint8, 3), lane); diff != "" {
			t.Errorf("service level %d: %s", sl+4, diff)
		}
	}
}

// twin is figure 6, word for word but for the misprints: V as a map that has no entry
// where none is set.
func twin(f *fabric.Fabric, fw *routing.Forwarding) (s map[[2]int]uint8, ok bool) {
	type key struct {
		in, out fabric.ChannelID
		sl      uint8
	}
	v := map[key]int{}
	s = map[[2]int]uint8{}
	var hosts []*fabric.Endpoint
	for sw := range fabric.NodeID(f.Switches()) { // the order of N: by switch
		for _, id := range f.Attached(sw) {
			if e := f.Endpoint(id); e.Class == fabric.HostAdapter {
				hosts = append(hosts, e)
			}
		}
	}
	for _, from := range hosts {
		for _, to := range hosts {
			if from == to {
				continue
			}
			var way []fabric.ChannelID
			for at := from.Switch; at != to.Switch; at = f.Channel(way[len(way)-1]).To {
				way = append(way, f.Out(at, fw.Port(at, to.LID)))
			}
			found := false
			for sl := uint8(0); sl < 16 && !found; sl++ {
				found = true
				for j := 1; j < len(way); j++ {
					vl, set := v[key{way[j-1], way[j], sl}]
					found = found && (!set || vl == j)
				}
				if found {
					for j := 1; j < len(way); j++ {
						v[key{way[j-1], way[j], sl}] = j
					}
					s[[2]int{int(from.Switch), int(to.LID)}] = sl
				}
			}
			if !found {
				return nil, false
			}
		}
	}
	return s, true
}

// Printed gives every pair the service level of figure 6, and the judge agrees that the
// tables are free of deadlock, under either contract.
func TestPrintedIsFigure6(t *testing.T) {
	refused := 0
	for _, spec := range []string{
		"dragonfly:p=2", "deimos", "kautz:b=2,n=3,hosts=2", "torus:4x4,hosts=2", "torus:6x6,hosts=1", "ring:9", "hypercube:4,hosts=2",
		"random:switches=24,links=40,hosts=2,seed=3", "karytree:k=3,n=3", "mesh:12", "torus:8x8,hosts=1",
	} {
		f := testnet.Build(t, spec)
		for name, finder := range map[string]routing.PathFinder{"minhop": minhop.Finder{}, "sssp": sssp.Finder{}} {
			fw, err := finder.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			l, err := Printed{}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 15, Contract: routing.Directed}, nil)
			want, ok := twin(f, fw)
			if no := (*routing.Refusal)(nil); errors.As(err, &no) && !ok {
				refused++
				continue
			}
			if err != nil || !ok {
				t.Fatalf("%s, %s: %v; figure 6 finds service levels: %t", spec, name, err, ok)
			}
			for pair, sl := range want {
				if got := l.SLRow(fabric.LID(pair[1]))[pair[0]]; got != sl {
					t.Fatalf("%s, %s: from switch %d to LID %d service level %d, figure 6 says %d", spec, name, pair[0], pair[1], got, sl)
				}
			}
			for _, c := range []routing.Contract{routing.Directed, routing.Honored} {
				l, err := Printed{}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 15, Contract: c}, nil)
				if routing.Refused(err) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{Contract: c})
				if err != nil || !v.Free() || v.VLs != l.Needed {
					t.Errorf("%s, %s, contract %s: %+v, %v; %d lanes said to be needed", spec, name, c, v, err, l.Needed)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused: no test of the sixteenth service level")
	}
}
