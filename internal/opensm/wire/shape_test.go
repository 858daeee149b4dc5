package wire_test

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Every figure of an answer is held against the request by itself: also where the
// others are right, and where two are wrong such that the length is not.
func TestEveryFigureCounts(t *testing.T) {
	le := binary.LittleEndian
	net := testnet.Build(t, "ring:n=4,hosts=2")
	q := wire.Of(net, 9)
	whole := func(engine string) []byte {
		tables, proof := routed(t, net, engine)
		var b bytes.Buffer
		if err := wire.WriteTables(&b, q, engine, tables, proof); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	alike, byPort := whole("dfsssp"), whole("df-dn")
	const header = 16
	at := func(m []byte, offset int) []byte { return m[header+offset:] }
	resize := func(m []byte, size int) []byte {
		m = append(m, make([]byte, max(0, header+size-len(m)))...)[:header+size]
		le.PutUint64(m[8:], uint64(size))
		return m
	}
	double := func(offset, half int) func([]byte) []byte {
		return func(m []byte) []byte {
			le.PutUint32(at(m, offset), 2*le.Uint32(at(m, offset)))
			le.PutUint32(at(m, half), le.Uint32(at(m, half))/2)
			return m
		}
	}
	for name, c := range map[string]struct {
		of    []byte
		spoil func(m []byte) []byte
		want  string
	}{
		"as it is":                 {alike, func(m []byte) []byte { return m }, ""},
		"maps by port":             {byPort, func(m []byte) []byte { return m }, ""},
		"sweep":                    {alike, func(m []byte) []byte { at(m, 0)[0]++; return m }, "is for sweep 10, the question was 9"},
		"switches for LIDs":        {alike, double(8, 12), "the fabric has"},
		"LIDs for switches":        {alike, double(12, 8), "the fabric has"},
		"one LID more":             {alike, func(m []byte) []byte { at(m, 12)[0]++; return resize(m, len(m)-header+2*4) }, "the fabric has"},
		"one port more":            {alike, func(m []byte) []byte { at(m, 16)[0]++; return resize(m, len(m)-header+4*int(at(m, 26)[0])) }, "the fabric has"},
		"one pair":                 {alike, func(m []byte) []byte { at(m, 20)[0]++; return resize(m, len(m)-header+2) }, "the fabric has"},
		"one pair fewer":           {byPort, func(m []byte) []byte { at(m, 20)[0]--; return resize(m, len(m)-header-2) }, "the fabric has"},
		"no lanes":                 {alike, func(m []byte) []byte { at(m, 26)[0] = 0; return m }, "with 0 lanes"},
		"16 lanes":                 {alike, func(m []byte) []byte { at(m, 26)[0] = 16; return m }, "with 16 lanes"},
		"no such scope":            {alike, func(m []byte) []byte { at(m, 27)[0] = 3; return m }, "scope 3"},
		"no map":                   {alike, func(m []byte) []byte { at(m, 24)[0] = 0; return resize(m, len(m)-header-16) }, "0 maps"},
		"unknown flag":             {alike, func(m []byte) []byte { at(m, 30)[0] = 8; return m }, "flags 0x8"},
		"a tree that is not there": {alike, func(m []byte) []byte { at(m, 88)[0] = 1; return m }, "their figures make it"},
		"another tree, of none":    {alike, func(m []byte) []byte { at(m, 30)[0] = 20; return m }, "where there are none"},
		"reserved":                 {alike, func(m []byte) []byte { at(m, 95)[0] = 1; return m }, "flags 0x0"},
		"a step from nothing":      {alike, func(m []byte) []byte { at(m, 30)[0] = 4; return m }, "a step from tables in use, where there are none"},
		"directed, and any":        {alike, func(m []byte) []byte { at(m, 28)[0], at(m, 30)[0] = 1, 2; return m }, "a contract of service levels 0x1 and flags 0x2"},
		"no number":                {alike, func(m []byte) []byte { clear(at(m, 80)[:8]); return m }, "number 0x0"},
		"one byte short":           {alike, func(m []byte) []byte { return resize(m, len(m)-header-1) }, "their figures make it"},
		"one byte too many":        {alike, func(m []byte) []byte { return resize(m, len(m)-header+1) }, "their figures make it"},
		"cut before the body":      {alike, func(m []byte) []byte { return resize(m, 95) }, "they have 96 at least"},
		"adapters on lane 16":      {alike, func(m []byte) []byte { at(m, 32)[15] = 16; return m }, "adapters are to send on lane 16"},
		"adapters drop SL 0":       {alike, func(m []byte) []byte { at(m, 32)[0] = 15; return m }, "adapters are to drop SL 0"},
		"a map with lane 16":       {alike, func(m []byte) []byte { at(m, mapsAt(q))[3] = 16; return m }, "map 0 has lane 16"},
		"a pair beyond":            {byPort, func(m []byte) []byte { le.PutUint16(at(m, pairsAt(m, q)), le.Uint16(at(m, 24))); return m }, "pair 0 has map"},
		"the last pair beyond":     {byPort, func(m []byte) []byte { le.PutUint16(at(m, pairsAt(m, q)+2*int(le.Uint32(at(m, 20)))-2), 999); return m }, "has map 999"},
		"an out-port for LID 0": {alike, func(m []byte) []byte {
			at(m, 96)[0] = 1
			return m
		}, "LID 0, which nobody has"},
		"a service level for LID 0": {alike, func(m []byte) []byte { at(m, 96+cells(q))[0] = 1; return m }, "LID 0, which nobody has"},
		"another kind":              {alike, func(m []byte) []byte { m[6] = 1; return m }, "message of kind 1"},
		"another magic":             {alike, func(m []byte) []byte { m[0]++; return m }, "something else speaks"},
		"another version":           {alike, func(m []byte) []byte { m[4]++; return m }, "speaks version"},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := wire.ReadAnswer(bytes.NewReader(c.spoil(bytes.Clone(c.of))), q)
			if c.want == "" {
				if err != nil || a.Engine == "" || len(a.OutPorts) != cells(q) || len(a.SLs) != cells(q) {
					t.Errorf("%v, %+v", err, a)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// cells is the entries of the tables that answer a request, mapsAt where the maps begin
// behind them, pairsAt where the numbers of maps by port do.
func cells(q *wire.Request) int {
	switches, top := 0, 0
	for i := range q.Nodes {
		for _, p := range q.Nodes[i].Has {
			top = max(top, int(p.LID))
		}
		if q.Nodes[i].Kind == 0 {
			switches++
		}
	}
	return switches * (top + 1)
}

func mapsAt(q *wire.Request) int { return 96 + 2*cells(q) }

func pairsAt(m []byte, q *wire.Request) int {
	return mapsAt(q) + routing.SLs*int(binary.LittleEndian.Uint16(m[16+24:]))
}

// No byte of a request is ignored: with any bit changed it is refused, or read as what
// writes the same bytes again.
func TestNoByteOfARequestIsIgnored(t *testing.T) {
	q := wire.Of(testnet.Build(t, "ring:n=3"), 7)
	q.OpenSM, q.Deadline = "OpenSM 3.3.23", 5*time.Second
	q.Nodes[0].VendorID, q.Nodes[0].DeviceID = 0x12345678, 0xfedcba98
	q.InUse, q.Lifetime, q.Blocks = 5, time.Second, blocks(1, 2)
	write := func(q *wire.Request) []byte {
		t.Helper()
		var b bytes.Buffer
		if err := q.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	whole := write(q)
	if got, err := wire.ReadRequest(bytes.NewReader(whole)); err != nil || !bytes.Equal(write(got), whole) {
		t.Fatalf("%v, %+v", err, got)
	}
	size := func(name string) int {
		n, err := strconv.Atoi(wire.Constants[name])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	nodes := 16 + size("REQUEST_SIZE")
	inName := func(i int) bool { // what stands behind its end does not count
		i -= nodes
		return i >= 0 && i < len(q.Nodes)*size("NODE_SIZE") && i%size("NODE_SIZE") >= size("NODE_SIZE")-size("NAME_SIZE")
	}
	read := 0
	for i := 16; i < len(whole); i++ {
		if inName(i) {
			continue
		}
		for bit := range 8 {
			changed := bytes.Clone(whole)
			changed[i] ^= 1 << bit
			got, err := wire.ReadRequest(bytes.NewReader(changed))
			if err != nil {
				continue
			}
			if read++; !bytes.Equal(write(got), changed) {
				t.Fatalf("bit %d of byte %d is ignored", bit, i)
			}
		}
	}
	if read < 1000 {
		t.Errorf("only %d changed requests were read", read)
	}
}
