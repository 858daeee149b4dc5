package wire_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// routed is tables with their proof.
func routed(t testing.TB, f *fabric.Fabric, engine string) (*routing.Tables, *deadlock.Certificate) {
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	ctx, budget := context.Background(), routing.Budget{VLs: routing.DefaultVLs, Scope: routing.Adapters}
	tables, err := e.Route(ctx, f, engines.Options{}, budget, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(ctx, tables, deadlock.Options{Scope: routing.Adapters, Contract: e.Contract})
	if err != nil || !v.Free() {
		t.Fatalf("free %v, %v", v.Free(), err)
	}
	return tables, v.Certificate
}

var specs = []string{"ring:n=5", "dragonfly:p=2", "torus:3x3", "karytree:k=3,n=2"}

// A request comes back as it was sent, and holds the fabric it was made of.
func TestRequest(t *testing.T) {
	for _, spec := range specs {
		for lmc := range uint8(3) {
			f, err := testnet.Build(t, spec).WithLMC(lmc)
			if err != nil {
				t.Fatal(err)
			}
			f = testnet.WithLanes(t, f, func(c fabric.ChannelID) uint8 { // as Of has it
				if int(c) < f.Trunks() {
					return routing.DefaultVLs
				}
				return 0
			})
			q := wire.Of(f, 7)
			q.OpenSM, q.Deadline, q.QoS = "OpenSM 3.3.23", 1500*time.Millisecond, lmc > 0
			q.Improves, q.Again = lmc != 1, lmc == 2
			if lmc > 0 {
				q.InUse, q.Lifetime = 0xfedcba9876543210, 1073741*time.Microsecond
				q.Blocks = []wire.Block{{Switch: 0, Number: 1, Ports: bytes.Repeat([]byte{7}, 64)}, {Switch: 2, Ports: bytes.Repeat([]byte{255}, 64)}}
			}
			got := throughWire(t, q)
			if d := cmp.Diff(q, got); d != "" {
				t.Fatal(d)
			}
			g, err := got.Fabric()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(f.Nodes(), g.Nodes()) + cmp.Diff(f.Channels(), g.Channels()) + cmp.Diff(f.Endpoints(), g.Endpoints()); d != "" {
				t.Fatal(d)
			}
		}
	}
}

func throughWire(t testing.TB, q *wire.Request) *wire.Request {
	var b bytes.Buffer
	if err := q.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := wire.ReadRequest(&b)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The order of nodes in the request is the order of rows in the answer, and every
// figure of the tables arrives where it belongs.
func TestTables(t *testing.T) {
	for _, spec := range specs {
		for _, engine := range []string{"dfsssp", "df-dn", "updn", "nue"} {
			t.Run(spec+"/"+engine, func(t *testing.T) {
				f := testnet.Build(t, spec)
				tables, proof := routed(t, f, engine)
				q := backwards(wire.Of(f, 9))
				var b bytes.Buffer
				if err := wire.WriteTables(&b, q, engine, tables, proof); err != nil {
					t.Fatal(err)
				}
				a, err := wire.ReadAnswer(&b, q)
				if err != nil {
					t.Fatal(err)
				}
				if a.Refusal != "" || a.Engine != engine || a.Scope != proof.Scope || a.Lanes != proof.Lanes || a.Directed != (proof.Contract == routing.Directed) {
					t.Fatalf("answer %q from %q, scope %v, %d lanes", a.Refusal, a.Engine, a.Scope, a.Lanes)
				}
				sameTables(t, q, a, tables, proof)
			})
		}
	}
}

// backwards is the request with its nodes in the opposite order.
func backwards(q *wire.Request) *wire.Request {
	n := len(q.Nodes)
	r := *q
	r.Nodes = make([]wire.Node, n)
	for i := range q.Nodes {
		node := q.Nodes[n-1-i]
		node.Has = append([]wire.Port(nil), node.Has...)
		for j := range node.Has {
			if node.Has[j].Peer >= 0 {
				node.Has[j].Peer = n - 1 - node.Has[j].Peer
			}
		}
		r.Nodes[i] = node
	}
	return &r
}

func sameTables(t *testing.T, q *wire.Request, a *wire.Answer, tables *routing.Tables, proof *deadlock.Certificate) {
	f, l := tables.Fabric, tables.Lanes
	row, port, pair := 0, 0, 0
	for i := range q.Nodes {
		if q.Nodes[i].Kind != fabric.Switch {
			continue
		}
		s := f.NodeByGUID(q.Nodes[i].GUID)
		for lid := range f.LIDs() {
			if out, sl := a.OutPorts[row*a.LIDs+int(lid)], a.SLs[row*a.LIDs+int(lid)]; out != tables.Forwarding.Port(s, lid) ||
				!strings.HasPrefix(proof.Contract.String(), "single") && sl != l.SL(fabric.EndpointID(s), lid) {
				t.Fatalf("switch %d, LID %d: port %d, SL %d", s, lid, out, sl)
			}
		}
		ports := q.Nodes[i].Ports + 1
		for p := range ports {
			c := f.Out(s, uint8(p))
			for lane := range a.Lanes {
				want := int32(deadlock.Unused)
				if c != fabric.None && int(c) < f.Trunks() {
					want = proof.Rank[int(c)*proof.Lanes+lane]
				}
				if got := a.Ranks[(port+p)*a.Lanes+lane]; got != want {
					t.Fatalf("switch %d, port %d, lane %d: rank %d, want %d", s, p, lane, got, want)
				}
			}
			for out := range ports {
				m := 0
				if a.Pairs != nil {
					m = int(a.Pairs[pair+p*ports+out])
				}
				for sl := range uint8(routing.SLs) {
					if got, want := a.Maps[m][sl], l.SL2VL.VL(s, uint8(p), uint8(out), sl); got != want {
						t.Fatalf("switch %d, ports %d to %d, SL %d: lane %d, want %d", s, p, out, sl, got, want)
					}
				}
			}
		}
		row, port, pair = row+1, port+ports, pair+ports*ports
	}
}

func TestRefusal(t *testing.T) {
	q := wire.Of(testnet.Build(t, "ring:n=3"), 4)
	for reason, want := range map[string]string{"too few lanes": "too few lanes", "": "no reason given", strings.Repeat("x", 5000): strings.Repeat("x", 4096)} {
		var b bytes.Buffer
		if err := wire.WriteRefusal(&b, q.Sweep, reason); err != nil {
			t.Fatal(err)
		}
		a, err := wire.ReadAnswer(&b, q)
		if err != nil || a.Refusal != want {
			t.Errorf("%d letters: %v", len(reason), err)
		}
	}
	var b bytes.Buffer
	if err := wire.WriteRefusal(&b, 5, "late"); err != nil {
		t.Fatal(err)
	}
	if _, err := wire.ReadAnswer(&b, q); err == nil || !strings.Contains(err.Error(), "sweep 5") {
		t.Errorf("an answer to another sweep: %v", err)
	}
}

// single:N is answered with N, whatever the lane assigner handed out.
func TestSingleSL(t *testing.T) {
	f := testnet.Build(t, "karytree:k=3,n=2")
	tables, _ := routed(t, f, "updn")
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: routing.Single(3)})
	if err != nil {
		t.Fatal(err)
	}
	q := wire.Of(f, 1)
	var b bytes.Buffer
	if err := wire.WriteTables(&b, q, "updn", tables, v.Certificate); err != nil {
		t.Fatal(err)
	}
	a, err := wire.ReadAnswer(&b, q)
	if err != nil {
		t.Fatal(err)
	}
	if a.Contract != 1<<3 {
		t.Errorf("contract %#x", a.Contract)
	}
	for lid := range f.LIDs() {
		if a.SLs[lid] != 3 {
			t.Fatalf("LID %d has SL %d", lid, a.SLs[lid])
		}
	}
}

// What the format cannot say is an error, not a weaker answer, and nothing of it is
// sent.
func TestInexpressible(t *testing.T) {
	f := testnet.Build(t, "ring:n=3")
	tables, proof := routed(t, f, "dfsssp")
	other := testnet.Build(t, "ring:n=4")
	forbidden := routing.NewLanes(f, tables.Lanes.SL2VL)
	forbidden.SLRow(1)[2] = routing.NoSL
	row := make([]int32, len(f.Endpoints()))
	for i := range row {
		row[i] = int32(i)
	}
	for name, c := range map[string]struct {
		q    *wire.Request
		l    *routing.Lanes
		want string
	}{
		"a forbidden address":       {wire.Of(f, 1), forbidden, "cannot withhold"},
		"a row for every endpoint":  {wire.Of(f, 1), routing.NewLanesByRow(f, tables.Lanes.SL2VL, row, len(row)), "differ between senders"},
		"a fabric of more switches": {wire.Of(other, 1), tables.Lanes, "know no switch"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			err := wire.WriteTables(&b, c.q, "x", &routing.Tables{Fabric: f, Forwarding: tables.Forwarding, Lanes: c.l}, proof)
			if err == nil || !strings.Contains(err.Error(), c.want) || b.Len() != 0 {
				t.Errorf("%v, want %q; %d bytes sent", err, c.want, b.Len())
			}
		})
	}
}

// The lanes that count are those of the weakest cable between switches.
func TestLanes(t *testing.T) {
	q := wire.Of(testnet.Build(t, "ring:n=3"), 1)
	trunk, host := -1, -1
	for i, p := range q.Nodes[0].Has {
		if p.Peer < 0 {
			continue
		}
		if q.Nodes[p.Peer].Kind == fabric.Switch {
			trunk = i
		} else {
			host = i
		}
	}
	q.Nodes[0].Has[host].VLs = 2
	if q.Lanes() != 8 {
		t.Errorf("%d lanes, the cable to a host does not count", q.Lanes())
	}
	q.MaxVLs = 15
	q.Nodes[0].Has[trunk].VLs = 4
	if q.Lanes() != 4 {
		t.Errorf("%d lanes of 4", q.Lanes())
	}
	q.Nodes[0].Has[trunk].VLs = 0
	if q.Lanes() != 1 {
		t.Errorf("%d lanes of an unknown number", q.Lanes())
	}
	q = wire.Of(testnet.Build(t, "ring:n=3"), 1)
	if q.MaxVLs = 2; q.Lanes() != 2 {
		t.Errorf("%d lanes of 2 allowed", q.Lanes())
	}
	if q.QoS = false; q.Lanes() != 1 {
		t.Errorf("%d lanes without QoS", q.Lanes())
	}
}

func TestBadRequests(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(q *wire.Request)
		want  string
	}{
		"two ends disagree": {func(q *wire.Request) { q.Nodes[0].Has[1].PeerPort++ }, "says otherwise"},
		"no port 0":         {func(q *wire.Request) { q.Nodes[0].Has = q.Nodes[0].Has[1:] }, "no port 0"},
		"twice a port":      {func(q *wire.Request) { q.Nodes[0].Has[1].Number = q.Nodes[0].Has[2].Number }, "malformed port"},
		"port beyond":       {func(q *wire.Request) { q.Nodes[0].Ports = 1 }, "malformed port"},
		"a trunk with LID":  {func(q *wire.Request) { q.Nodes[0].Has[1].LID = 5 }, "malformed port"},
		"no node there":     {func(q *wire.Request) { q.Nodes[0].Has[1].Peer = 99 }, "malformed port"},
		"no GUID":           {func(q *wire.Request) { q.Nodes[0].GUID = 0 }, "malformed"},
		"no lanes":          {func(q *wire.Request) { q.MaxVLs = 0 }, "0 lanes"},
		"blocks of nothing": {func(q *wire.Request) { q.Blocks = blocks(0, 0) }, "with 1 blocks beside tables 0x0"},
		"no such switch":    {func(q *wire.Request) { q.InUse, q.Blocks = 1, blocks(3, 0) }, "block 0 of switch 3 of 3"},
		"no such block":     {func(q *wire.Request) { q.InUse, q.Blocks = 1, blocks(0, 768) }, "block 768 of switch 0"},
		"twice a block":     {func(q *wire.Request) { q.InUse, q.Blocks = 1, append(blocks(1, 2), blocks(1, 2)...) }, "block 2 of switch 1"},
		"LID 0":             {func(q *wire.Request) { q.Nodes[0].Has[0].LID = 0 }, "LID 0"},
		"LID of another":    {func(q *wire.Request) { q.Nodes[0].Has[0].LID = q.Nodes[1].Has[0].LID }, "not its own"},
		"multicast LID":     {func(q *wire.Request) { q.Nodes[0].Has[0].LID = 0xC001 }, "not valid"},
		"twice a GUID":      {func(q *wire.Request) { q.Nodes[0].GUID = q.Nodes[1].GUID }, "two nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			q := wire.Of(testnet.Build(t, "ring:n=3"), 1)
			c.spoil(q)
			var b bytes.Buffer
			if err := q.Write(&b); err != nil {
				t.Fatal(err)
			}
			got, err := wire.ReadRequest(&b)
			if err == nil {
				_, err = got.Fabric()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// blocks is one block record.
func blocks(row, number int) []wire.Block {
	return []wire.Block{{Switch: row, Number: number, Ports: make([]uint8, 64)}}
}

// A step says so, with how many follow, to who has tables in use; tables have a number of
// their own, the same whenever they are written.
func TestStep(t *testing.T) {
	f := testnet.Build(t, "ring:n=5")
	tables, proof := routed(t, f, "updn")
	others, _ := routed(t, f, "nue")
	if n := wire.Number(tables); n == 0 || n == wire.Number(others) {
		t.Errorf("numbers %x and %x", n, wire.Number(others))
	}
	for _, c := range []struct {
		inUse       uint64
		improves    bool
		more        int
		step, soFar bool
	}{
		{0, true, 2, false, true}, {7, true, 2, true, true}, {7, true, 0, true, false}, {7, false, 3, true, false},
	} {
		q := wire.Of(f, 1)
		q.InUse, q.Improves = c.inUse, c.improves
		var b bytes.Buffer
		if err := wire.WriteStep(&b, q, "updn", tables, proof, wire.Step{More: c.more}); err != nil {
			t.Fatal(err)
		}
		a, err := wire.ReadAnswer(&b, q)
		if err != nil || a.Step != c.step || a.SoFar != c.soFar || a.More != c.more || a.Number != wire.Number(tables) {
			t.Errorf("%+v: %v, step %v, so far %v, %d more, number %x", c, err, a.Step, a.SoFar, a.More, a.Number)
		}
	}
}

// Of any beginning of a message there is an error, and of one that is too long.
func TestCutShort(t *testing.T) {
	f := testnet.Build(t, "ring:n=3")
	q := wire.Of(f, 1)
	tables, proof := routed(t, f, "dfsssp")
	var request, answer bytes.Buffer
	if err := q.Write(&request); err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteTables(&answer, q, "dfsssp", tables, proof); err != nil {
		t.Fatal(err)
	}
	for n := range request.Len() {
		if _, err := wire.ReadRequest(bytes.NewReader(request.Bytes()[:n])); err == nil {
			t.Fatalf("a request of %d bytes is whole", n)
		}
	}
	for n := range answer.Len() {
		if _, err := wire.ReadAnswer(bytes.NewReader(answer.Bytes()[:n]), q); err == nil {
			t.Fatalf("an answer of %d bytes is whole", n)
		}
	}
	long := answer.Bytes()
	long[8]++
	if _, err := wire.ReadAnswer(bytes.NewReader(append(long, 0)), q); err == nil {
		t.Error("an answer with a byte too many passes")
	}
}

func TestAsk(t *testing.T) {
	f := testnet.Build(t, "ring:n=3")
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if q, err := wire.ReadRequest(c); err == nil && q.Sweep < 3 {
				_ = wire.WriteRefusal(c, q.Sweep, "not today") // the client will say what it got
				c.Close()
			}
		}
	}()
	a, err := wire.Ask(t.Context(), socket, wire.Of(f, 2))
	if err != nil || a.Refusal != "not today" {
		t.Errorf("%+v, %v", a, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := wire.Ask(ctx, socket, wire.Of(f, 3)); err == nil {
		t.Error("no answer is an answer")
	}
	if _, err := wire.Ask(t.Context(), socket+"x", wire.Of(f, 2)); err == nil {
		t.Error("no daemon answers")
	}
}

// wire.h says what the code says, as read from the messages themselves.
func TestHeaderFile(t *testing.T) {
	text, err := os.ReadFile("../../../plugin/wire.h")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^#define WIRE_(\w+) (\S+)`).FindAllSubmatch(text, -1) {
		got[string(m[1])] = string(m[2])
	}
	if d := cmp.Diff(wire.Constants, got); d != "" {
		t.Error(d)
	}
}
