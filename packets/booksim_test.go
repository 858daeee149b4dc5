package packets

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// bookSim is the hardware of the reference runs of BookSim2: 16-flit packets,
// buffers of 128 flits, three cycles in a router, one on a link and for a credit.
func bookSim() Config {
	c := unit(16, 128)
	c.Forward, c.Cable, c.Credit, c.Gap = 3, 1, 1, 1
	return c
}

// butterfly is the k-ary n-fly of BookSim2: a source and a sink of each node at
// either end, cables used in one direction only.
func butterfly(t testing.TB, k, n int) (tables *routing.Tables, nodes int) {
	t.Helper()
	var b fabric.Builder
	rows := power(k, n-1)
	switches := make([]fabric.Ref, n*rows)
	for i := range switches {
		switches[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Kind: fabric.Switch, Ports: 2 * k}, "")
	}
	nodes = rows * k
	for end := range 2 { // sources, then sinks
		for i := range nodes {
			host := b.Node(fabric.Node{GUID: fabric.GUID(1000 + end*nodes + i), Kind: fabric.Adapter, Ports: 1}, "")
			b.Cable(host, 1, switches[end*(n-1)*rows+i/k], uint8(1+end*k+i%k), fabric.Rate{})
		}
	}
	for stage := range n - 1 {
		digit := power(k, n-2-stage)
		for row := range rows {
			for port := range k {
				to := row + (port-row/digit%k)*digit
				b.Cable(switches[stage*rows+row], uint8(1+k+port), switches[(stage+1)*rows+to], uint8(1+row/digit%k), fabric.Rate{})
			}
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	paths := routing.NewForwarding(f)
	hosts := routing.HCA.Endpoints(f)
	for d := range nodes {
		row := paths.Row(f.Endpoint(hosts[nodes+d]).LID)
		for s := range row {
			row[s] = uint8(1 + k + d/power(k, n-1-s/rows)%k)
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: paths, Lanes: routing.OneSL(f, routing.LanePerSL(1))}, nodes
}

func power(k, n int) int {
	p := 1
	for range n {
		p *= k
	}
	return p
}

// datelines is dimension order on a torus with two lanes as BookSim2 has them: a
// packet rides lane 0 of a ring while the dateline is ahead of it, else lane 1. Bit
// d of the service level says that the path crosses the dateline of dimension d.
func datelines(t testing.TB, torus string, k int) *routing.Tables {
	t.Helper()
	f := testnet.Build(t, torus)
	tables := tablesOf(t, f, "dor", 1)
	at := func(s fabric.NodeID) [2]int { return [2]int{int(s) / k, int(s) % k} }
	m := routing.LanePerSL(1).PerPort(f)
	lanes := routing.NewLanes(f, m)
	for s := range fabric.NodeID(f.Switches()) {
		for c, end := f.TrunksFrom(s); c < end; c++ {
			ch := f.Channel(c)
			a, b := at(ch.From), at(ch.To)
			d := 0
			if a[1] != b[1] {
				d = 1
			}
			up := (a[d]+1)%k == b[d]
			ahead := up && a[d] >= k/2 || !up && a[d] < k/2
			for sl := range uint8(4) {
				vl := uint8(1)
				if sl>>d&1 == 1 && ahead {
					vl = 0
				}
				for in := range uint8(f.Node(s).Ports + 1) {
					m.Set(s, in, ch.FromPort, sl, vl)
				}
			}
		}
	}
	for lid, e := range f.LIDs() {
		for from, row := fabric.NodeID(0), lanes.SLRow(lid); int(from) < f.Switches(); from++ {
			for s := from; s != f.Endpoint(e).Switch; {
				ch := f.Channel(f.Out(s, tables.Forwarding.Port(s, lid)))
				a, b := at(ch.From), at(ch.To)
				for d := range 2 {
					if a[d]-b[d] == k-1 || b[d]-a[d] == k-1 {
						row[from] |= 1 << d
					}
				}
				s = ch.To
			}
		}
	}
	tables.Lanes = lanes
	return tables
}

// referenceRun is a line of booksim-ib.csv.
type referenceRun struct {
	config, traffic, status    string
	offered, latency, accepted float64
	hops, cycles, runtime      float64
}

func referenceRuns(t testing.TB) []referenceRun {
	t.Helper()
	file, err := os.Open(filepath.Join(testnet.Corpus(t), "reference", "booksim-ib.csv"))
	if err != nil {
		t.Skip(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list []referenceRun
	for _, r := range records[1:] {
		number := func(i int) float64 {
			v, err := strconv.ParseFloat(r[i], 64)
			if err != nil && r[i] != "" {
				t.Fatal(err)
			}
			return v
		}
		list = append(list, referenceRun{r[0], r[1], r[3], number(2), number(5), number(8), number(10), number(11), number(12)})
	}
	return list
}

// bookSimNetworks is the reference networks, with what a node's rank sends to.
func bookSimNetwork(t testing.TB, config string) (n *Network, nodes int, sink int) {
	t.Helper()
	var tables *routing.Tables
	nodes = 64
	switch config {
	case "ib_fly_k4n3_vc1_p16":
		tables, nodes = butterfly(t, 4, 3)
		sink = nodes
	case "ib_mesh8x8_dor_vc1_p16":
		tables = tablesOf(t, testnet.Build(t, "mesh:8x8"), "dor", 1)
	case "ib_torus8x8_dor_vc2_p16":
		tables = datelines(t, "torus:8x8", 8)
	case "ib_ring8_dor_vc2_p16":
		tables, nodes = datelines(t, "torus:8", 8), 8
	}
	n, err := New(tables, bookSim())
	if err != nil {
		t.Fatal(err)
	}
	return n, nodes, sink
}

// bookSimPattern is a pattern among nodes whose sinks have ranks of their own.
func bookSimPattern(name string, nodes, sink int) pattern {
	var p pattern
	send := func(from, to int) { p = append(p, traffic.Pair{From: int32(from), To: int32(sink + to)}) }
	for i := range nodes {
		switch name {
		case "uniform", "others":
			for j := range nodes {
				if sink > 0 || j != i {
					send(i, j)
				}
			}
		case "bitcomp":
			send(i, nodes-1-i)
		case "transpose":
			send(i, i%8*8+i/8)
		case "tornado":
			send(i, (i/8+3)%8*8+(i%8+3)%8)
		}
	}
	return p
}

// saturationOf is the most that BookSim2 accepts of the traffic of a run.
func saturationOf(runs []referenceRun, ref referenceRun) float64 {
	most := 0.0
	for _, r := range runs {
		if r.config == ref.config && r.traffic == ref.traffic {
			most = max(most, r.accepted)
		}
	}
	return most
}

// sweep is the most that the runs of a pattern accept.
type sweep struct{ theirs, ours float64 }

// Latencies and saturation are those of BookSim2. What its csv calls accepted is a
// mean over all nodes; those of a transpose that send to themselves add what they
// are offered. With WEFT_THOROUGH every load of the reference is run, for longer.
func TestBookSim(t *testing.T) {
	testnet.OnlyWhole(t)
	thorough := os.Getenv("WEFT_THOROUGH") != ""
	w, most := Window{Length: 16_000, WarmUp: 8000, Exactly: true}, 0.5
	if thorough {
		w, most = Window{Length: 100_000, WarmUp: 25_000, Exactly: true}, 1
	}
	peak := map[string]map[string]*sweep{}
	constant := 0.0
	runs := referenceRuns(t)
	for _, ref := range runs {
		if ref.offered > most {
			continue
		}
		n, nodes, sink := bookSimNetwork(t, ref.config)
		l := Injection{Offered: ref.offered, Pattern: bookSimPattern(ref.traffic, nodes, sink), Placement: routing.HCA.Endpoints(n.Fabric), Seed: 1}
		r := measured(t, n, l, w)
		accepted := r.Accepted
		if ref.traffic == "transpose" {
			accepted = (56*accepted + 8*ref.offered) / 64
		}
		if ref.offered == 0.05 {
			constant = ref.latency - r.Mean
		}
		if peak[ref.config] == nil {
			peak[ref.config] = map[string]*sweep{}
		}
		p := peak[ref.config][ref.traffic]
		if p == nil {
			p = &sweep{}
			peak[ref.config][ref.traffic] = p
		}
		p.theirs, p.ours = max(p.theirs, ref.accepted), max(p.ours, accepted)
		t.Logf("| %s %s | %.2f | %s %.3f %.1f | %s %.3f %.1f | %+.1f %% |", ref.config, ref.traffic, ref.offered, ref.status, ref.accepted, ref.latency,
			r.Status, accepted, r.Mean, 100*((r.Mean+constant)/ref.latency-1))
		if off := (r.Mean+constant)/ref.latency - 1; ref.offered <= saturationOf(runs, ref)/2 && math.Abs(off) > 0.15 {
			t.Errorf("%s %s at %.2f: latency %.1f + %.1f, BookSim2 %.1f", ref.config, ref.traffic, ref.offered, r.Mean, constant, ref.latency)
		}
	}
	for config, patterns := range peak {
		for a, x := range patterns {
			t.Logf("| %s %s | saturation | BookSim2 %.3f | weft %.3f |", config, a, x.theirs, x.ours)
			if math.Abs(x.ours/x.theirs-1) > 0.1 {
				t.Errorf("%s %s saturates at %.3f, in BookSim2 at %.3f", config, a, x.ours, x.theirs)
			}
			for b, y := range patterns {
				if x.theirs > 1.1*y.theirs && x.ours <= y.ours {
					t.Errorf("%s: %s and %s are in another order", config, a, b)
				}
			}
		}
	}
}
