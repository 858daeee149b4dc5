package plugin_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Where the flags of an answer stand, and the one that says that nobody uses the
// service level of the opposite direction.
const (
	flags    = 16 + 30
	directed = 2
)

// dateLines routes a ring of five switches by shortest paths in two layers, with a
// date line of its own for each direction: a path that crosses its own has SL 1. Each
// layer of each direction has no loop, and so the tables hold if each side keeps to
// its own path record. A path that crosses no line is another way back than forth
// though: with answers on SL 0, SL 0 goes all the way round.
func dateLines(t testing.TB, q *wire.Request) (*routing.Tables, *deadlock.Certificate) {
	t.Helper()
	f := read(t, q)
	const size = 5
	ports := map[[2]int]uint8{} // by switch and neighbour
	for c := range f.Trunks() {
		ch := f.Channel(fabric.ChannelID(c))
		ports[[2]int{int(ch.From), int(ch.To)}] = ch.FromPort
	}
	r := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.NewLanes(f, routing.LanePerSL(2))}
	for lid, e := range f.LIDs() {
		to := f.Endpoint(e)
		for s := range size {
			clockwise := (int(to.Switch) - s + size) % size
			switch {
			case clockwise == 0 && to.Deliver == fabric.None:
				r.Forwarding.Row(lid)[s] = 0
			case clockwise == 0:
				r.Forwarding.Row(lid)[s] = f.Channel(to.Deliver).FromPort
			case clockwise <= size/2:
				r.Forwarding.Row(lid)[s] = ports[[2]int{s, (s + 1) % size}]
				if int(to.Switch) < s { // from 4 to 0
					r.Lanes.SLRow(lid)[s] = 1
				}
			default:
				r.Forwarding.Row(lid)[s] = ports[[2]int{s, (s + size - 1) % size}]
				if (int(to.Switch)+3)%size > (s+3)%size { // from 2 to 1
					r.Lanes.SLRow(lid)[s] = 1
				}
			}
		}
	}
	v, err := deadlock.Verify(t.Context(), r, deadlock.Options{Contract: routing.Directed, Scope: routing.Adapters})
	if err != nil || !v.Free() || !v.Complete() {
		t.Fatalf("%v, free %v", err, v.Free())
	}
	for i, rank := range v.Certificate.Rank { // none is missing
		if rank == deadlock.Unused {
			v.Certificate.Rank[i] = int32(i)
		}
	}
	return r, v.Certificate
}

// TestWayBack has an answer whose tables are proven only if each side keeps to its
// own path record, and that says that they are proven for more.
func TestWayBack(t *testing.T) {
	t.Parallel()
	q := wire.Of(testnet.Build(t, "ring:5,hosts=2"), 1)
	tables, proof := dateLines(t, q)
	var m bytes.Buffer
	if err := wire.WriteTables(&m, q, "two date lines", tables, proof); err != nil {
		t.Fatal(err)
	}
	b := m.Bytes()
	if a, err := wire.ReadAnswer(bytes.NewReader(b), q); err != nil || !a.Directed {
		t.Fatalf("%v, directed %v", err, a.Directed)
	}
	if out := core(t, asan, "prove", q, b); out[0] != "proven" {
		t.Errorf("directed: %q", out)
	}
	b[flags] &^= directed
	if why := sound(t, q, read(t, q), b); !strings.Contains(why, "the certificate does not hold") {
		t.Errorf("the judge has %q", why)
	}
	if out := core(t, asan, "prove", q, b); !strings.Contains(out[0], "a credit loop is not ruled out") {
		t.Errorf("honored: %q", out)
	}
	b[flags], b[flags-2] = directed, 1 // any client may use SL 0
	if out := core(t, asan, "prove", q, b); !strings.Contains(out[0], "a contract of service levels 0x0001 and flags 2, which there is not") {
		t.Errorf("a contract that contradicts itself: %q", out)
	}
}

// TestWhoAnswers has one of two adapters on a switch answer on a service level that
// the switch drops when it comes from one of them: it matters from which.
func TestWhoAnswers(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "dragonfly:p=2")
	q := wire.Of(f, 1)
	whole := answerTo(t, q, "df-dn", routing.Honored)
	tables, _, err := routed(q, "df-dn", routing.Honored)
	if err != nil {
		t.Fatal(err)
	}
	one, other, far := neighbours(t, tables)
	const fresh = 14 // a service level that nobody has
	whole = twinned(t, q, tables, whole, one, far, fresh)
	if out := core(t, asan, "prove", q, whole); out[0] != "proven" {
		t.Fatal(out)
	}
	first := tables.Forwarding.Port(one.Switch, far.LID)
	for _, c := range []struct {
		from *fabric.Endpoint
		want string
	}{{one, "is dropped"}, {other, "proven"}} {
		in := f.Channel(c.from.Inject).ToPort
		b := remapped(t, q, whole, c.from.Switch, in, first, func(m []byte) { m[fresh] = 15 })
		if why := sound(t, q, read(t, q), b); (why == "") != (c.want == "proven") {
			t.Errorf("from port %d: the judge has %q", in, why)
		}
		if out := core(t, asan, "prove", q, b); !strings.Contains(out[0], c.want) || c.want == "proven" && out[0] != c.want {
			t.Errorf("from port %d: %q, want %q", in, out, c.want)
		}
	}
}

// TestWhoAnswersOnWhich has two adapters on a switch answer on a service level each. One of
// the two levels is fine from every adapter, the other is dropped from who answers on it:
// that the first is fine says nothing about the second, whether or not the switches tell
// the levels apart elsewhere.
func TestWhoAnswersOnWhich(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "dragonfly:p=2")
	q := wire.Of(f, 1)
	whole := answerTo(t, q, "df-dn", routing.Honored)
	tables, _, err := routed(q, "df-dn", routing.Honored)
	if err != nil {
		t.Fatal(err)
	}
	one, other, far := neighbours(t, tables)
	const fine, dropped = 13, 14 // which nobody has
	whole = twinned(t, q, tables, whole, one, far, fine)
	whole = twinned(t, q, tables, whole, other, far, dropped)
	out, in := tables.Forwarding.Port(one.Switch, far.LID), f.Channel(other.Inject).ToPort
	if out != tables.Forwarding.Port(other.Switch, far.LID) {
		t.Fatal("the two adapters send by different ports")
	}
	for name, b := range map[string][]byte{
		"alike":      remapped(t, q, whole, one.Switch, in, out, func(m []byte) { m[fine], m[dropped] = 15, 15 }),
		"told apart": remapped(t, q, remapped(t, q, whole, one.Switch, out, out, func(m []byte) { m[fine] = 15 }), one.Switch, in, out, func(m []byte) { m[dropped] = 15 }),
	} {
		if why := sound(t, q, read(t, q), b); why == "" {
			t.Errorf("%s: the judge has nothing against it", name)
		}
		if got := core(t, asan, "prove", q, b); !strings.Contains(got[0], "is dropped") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := core(t, asan, "prove", q, whole); got[0] != "proven" {
		t.Errorf("nothing dropped: %q", got)
	}
}

// neighbours is the first two host adapters of a switch, and the endpoint that lies
// farthest from the first.
func neighbours(t testing.TB, tables *routing.Tables) (one, other, far *fabric.Endpoint) {
	t.Helper()
	f := tables.Fabric
	one = f.Endpoint(fabric.EndpointID(f.Switches()))
	other = f.Endpoint(f.Attached(one.Switch)[2])
	if other.LID == one.LID || other.Class != fabric.HostAdapter {
		t.Fatal("there is no second adapter where there should be")
	}
	return one, other, longest(tables, one)
}

// twinned is an answer in which a fresh service level is treated like the one from far
// to one, and far may send to one on it.
func twinned(t testing.TB, q *wire.Request, tables *routing.Tables, whole []byte, one, far *fabric.Endpoint, fresh int) []byte {
	t.Helper()
	b := bytes.Clone(whole)
	twin := int(tables.Lanes.SL(fabric.EndpointID(far.Switch), one.LID))
	p, lids := parts(t, q, b), int(tables.Fabric.TopLID())+1
	b[16+32+fresh] = b[16+32+twin]
	for m := p[2]; m < p[3]; m += routing.SLs {
		b[m+fresh] = b[m+twin]
	}
	b[p[1]+int(far.Switch)*lids+int(one.LID)] = byte(fresh)
	return b
}

// remapped is an answer with one more map, a changed copy of the one for a pair of
// ports, for that pair.
func remapped(t testing.TB, q *wire.Request, whole []byte, at fabric.NodeID, in, out uint8, change func(m []byte)) []byte {
	t.Helper()
	p := parts(t, q, whole)
	pair := 0
	for s := range at {
		pair += (q.Nodes[s].Ports + 1) * (q.Nodes[s].Ports + 1)
	}
	pair += int(in)*(q.Nodes[at].Ports+1) + int(out)
	maps := (p[3] - p[2]) / routing.SLs
	was := int(binary.LittleEndian.Uint16(whole[p[3]+2*pair:]))
	m := bytes.Clone(whole[p[2]+was*routing.SLs:][:routing.SLs])
	change(m)
	b := bytes.Clone(whole[:p[3]])
	b = append(b, m...)
	b = append(b, whole[p[3]:]...)
	binary.LittleEndian.PutUint16(b[16+24:], uint16(maps+1))
	binary.LittleEndian.PutUint16(b[p[3]+routing.SLs+2*pair:], uint16(maps))
	binary.LittleEndian.PutUint64(b[8:], uint64(len(b)-16))
	return b
}
