package plugin_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// spoilable is answers that TestEveryByte spoils. Between them every rule of the proof is
// what stands between some changed byte and a wrong table.
var spoilable = []struct {
	name, spec, engine string
	contract           routing.Contract
	lmc                uint8
	groups             uint16 // service levels of multicast groups, as bits; 0: without a tree
	request            func(q *wire.Request)
	answer             func(t testing.TB, q *wire.Request, whole []byte) []byte
}{
	{name: "one layer", spec: "ring:3,hosts=1", engine: "dfsssp", contract: routing.Honored},
	{name: "maps of pairs", spec: "ring:4,hosts=1", engine: "df-dn", contract: routing.Directed},
	{name: "all service levels", spec: "mesh:1x3,hosts=2", engine: "updn", contract: routing.Any},
	{name: "lanes for service levels that nobody uses", spec: "ring:3,hosts=1", engine: "updn", contract: routing.Single(2)},
	{name: "two layers, and who answers counts", spec: "ring:5,hosts=2", engine: "dfsssp", contract: routing.Honored},
	{name: "a switch drops what one of its adapters may answer", spec: "ring:4,hosts=2", engine: "df-dn", contract: routing.Honored, answer: dropOne},
	{name: "switches without hosts", spec: "karytree:k=2,n=2", engine: "updn", contract: routing.Honored, answer: inScope(routing.All)},
	{name: "several addresses", spec: "ring:3,hosts=1", engine: "updn", contract: routing.Honored, lmc: 1, answer: inScope(routing.HCA)},
	{name: "an aggregation node", spec: "ring:3,hosts=2", engine: "updn", contract: routing.Honored, answer: inScope(routing.HCA), request: func(q *wire.Request) {
		n := &q.Nodes[len(q.Nodes)-1]
		n.VendorID, n.DeviceID = fabric.AggregationVendor, fabric.AggregationDevice
	}},
	{name: "a host with a second port", spec: "ring:3,hosts=1", engine: "updn", contract: routing.Honored, answer: inScope(routing.HCA), request: func(q *wire.Request) {
		q.Nodes[len(q.Nodes)-1].Ports = 2
	}},
	{name: "adapters drop what nobody sends", spec: "ring:3,hosts=1", engine: "updn", contract: routing.Honored, answer: dropUnused},
	{name: "fewer lanes than the proof", spec: "ring:4,hosts=1", engine: "dfsssp", contract: routing.Directed, answer: rankAllAlike, request: func(q *wire.Request) { q.MaxVLs = 2 }},
	{name: "a tree on one lane", spec: "ring:3,hosts=1", engine: "updn", contract: routing.Any, groups: 1<<routing.SLs - 1},
	{name: "a tree on lanes of its own turns", spec: "ring:4,hosts=1", engine: "df-dn", contract: routing.Directed, groups: 5},
	{name: "a tree beside layers", spec: "ring:5,hosts=1", engine: "dfsssp", contract: routing.Honored, groups: 1},
	{name: "QoS off", spec: "ring:3,hosts=1", engine: "updn", contract: routing.Honored, request: func(q *wire.Request) { q.QoS = false }},
}

// The places of figures in an answer.
const (
	atScope    = 16 + 27
	atAdapters = 16 + 32
)

// inScope is an answer proven for other endpoints.
func inScope(s routing.Scope) func(testing.TB, *wire.Request, []byte) []byte {
	return func(_ testing.TB, _ *wire.Request, whole []byte) []byte {
		whole[atScope] = byte(s)
		return whole
	}
}

// dropUnused has adapters drop the service levels that no path has.
func dropUnused(t testing.TB, q *wire.Request, whole []byte) []byte {
	a, err := wire.ReadAnswer(bytes.NewReader(whole), q)
	if err != nil {
		t.Fatal(err)
	}
	for sl := range byte(routing.SLs) {
		if !slices.Contains(a.SLs, sl) {
			whole[atAdapters+int(sl)] = routing.MaxDataVLs // which is no lane for data: dropped
		}
	}
	return whole
}

// dropOne has a switch drop a service level that comes from one of its adapters, which
// is not asked on it; the other is.
func dropOne(t testing.TB, q *wire.Request, whole []byte) []byte {
	tables, _, err := routed(q, "df-dn", routing.Honored)
	if err != nil {
		t.Fatal(err)
	}
	one, other, far := neighbours(t, tables)
	const fresh = 14
	b := twinned(t, q, tables, whole, one, far, fresh)
	in := tables.Fabric.Channel(other.Inject).ToPort
	return remapped(t, q, b, one.Switch, in, tables.Forwarding.Port(one.Switch, far.LID), func(m []byte) { m[fresh] = 15 })
}

// rankAllAlike proves for more lanes than there are, the last with the ranks of the one before.
func rankAllAlike(t testing.TB, q *wire.Request, _ []byte) []byte {
	tables, proof, err := routed(q, "dfsssp", routing.Directed)
	if err != nil {
		t.Fatal(err)
	}
	wide := *proof
	wide.Lanes, wide.Rank = 4, nil
	for at := 0; at < len(proof.Rank); at += proof.Lanes {
		for lane := range wide.Lanes {
			wide.Rank = append(wide.Rank, proof.Rank[at+min(lane, proof.Lanes-1)])
		}
	}
	var b bytes.Buffer
	if err := wire.WriteTables(&b, q, "dfsssp", tables, &wide); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEveryByte changes every byte of an answer to each value that lies at a limit, in a sample
// to five of them, one at a time. The plugin, in C, refuses what the daemon's reader or the judge, in Go,
// refuse, and takes what both take.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	for _, c := range spoilable {
		t.Run(fmt.Sprintf("%s/%s/%s/%s", c.spec, c.engine, c.contract, c.name), func(t *testing.T) {
			t.Parallel()
			f, err := testnet.Build(t, c.spec).WithLMC(c.lmc)
			if err != nil {
				t.Fatal(err)
			}
			q := wire.Of(f, 77)
			if c.request != nil {
				c.request(q)
			}
			whole := answerWith(t, q, c.engine, c.contract, c.groups)
			if c.answer != nil {
				whole = c.answer(t, q, whole)
			}
			names := parts(t, q, whole)
			var answers [][]byte
			var what []string
			add := func(b []byte, msg string, args ...any) {
				answers, what = append(answers, b), append(what, fmt.Sprintf(msg, args...))
			}
			add(whole, "as it is")
			for i := 16; i < len(whole); i++ {
				if i >= 64 && i < 96 { // the engine's name
					continue
				}
				old := whole[i]
				values := []byte{0, 7, 16, 255, old + 1}
				if testnet.Whole() {
					values = append(values, 1, 2, 15, old-1, old^1)
				}
				if os.Getenv("WEFT_THOROUGH") != "" {
					values = append(values, 3, 4, 5, 8, 14, 17, 127, 128, 254)
				}
				slices.Sort(values)
				for _, v := range slices.Compact(values) {
					if v == old {
						continue
					}
					b := bytes.Clone(whole)
					b[i] = v
					part := 0
					for part < len(names)-1 && i >= names[part+1] {
						part++
					}
					add(b, "byte %d (part %d) %d in place of %d", i-16, part, v, old)
				}
			}
			verdicts := core(t, "", "prove", q, bytes.Join(answers, nil))
			if len(verdicts) != len(answers) {
				t.Fatalf("%d verdicts on %d answers", len(verdicts), len(answers))
			}
			wrong := 0
			f = read(t, q)
			for i, verdict := range verdicts {
				word, _, _ := strings.Cut(verdict, ":")
				why := sound(t, q, f, answers[i])
				if why == "" && noLevel(t, q, answers[i]) {
					why = "a LID not to be used, which no answer can say"
				}
				if why == "" && unwritten(t, q, answers[i]) {
					why = "lanes, and QoS is off"
				}
				if (why == "") != (word == "proven") {
					if wrong++; wrong < 10 {
						t.Errorf("%s: the plugin says %q, the judge %q", what[i], verdict, why)
					}
				}
			}
			t.Logf("%d answers, %d wrong", len(answers), wrong)
		})
	}
}

// unwritten reports whether an answer has lanes that OpenSM would not write.
func unwritten(t *testing.T, q *wire.Request, message []byte) bool {
	t.Helper()
	a, err := wire.ReadAnswer(bytes.NewReader(message), q)
	if err != nil {
		t.Fatal(err)
	}
	return !q.QoS && slices.ContainsFunc(a.Maps, func(m [routing.SLs]uint8) bool { return m != [routing.SLs]uint8{} })
}

// noLevel reports whether an answer leaves out a service level.
func noLevel(t *testing.T, q *wire.Request, message []byte) bool {
	t.Helper()
	a, err := wire.ReadAnswer(bytes.NewReader(message), q)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Max(a.SLs) >= routing.SLs
}

// TestMostLanes is a proof over as many lanes as there are.
func TestMostLanes(t *testing.T) {
	q := wire.Of(testnet.Build(t, "ring:4,hosts=1"), 77)
	tables, proof, err := routed(q, "dfsssp", routing.Directed)
	if err != nil {
		t.Fatal(err)
	}
	for _, lanes := range []int{proof.Lanes, routing.MaxDataVLs} {
		wide := *proof
		wide.Lanes, wide.Rank = lanes, nil
		for trunk := range len(proof.Rank) / proof.Lanes {
			for lane := range lanes {
				rank := int32(deadlock.Unused)
				if lane < proof.Lanes {
					rank = proof.Rank[trunk*proof.Lanes+lane]
				}
				wide.Rank = append(wide.Rank, rank)
			}
		}
		var b bytes.Buffer
		if err := wire.WriteTables(&b, q, "dfsssp", tables, &wide); err != nil {
			t.Fatal(err)
		}
		if got := core(t, "", "prove", q, b.Bytes()); got[0] != "proven" {
			t.Errorf("with %d lanes: %s", lanes, got[0])
		}
	}
}
