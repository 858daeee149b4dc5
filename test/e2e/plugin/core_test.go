package plugin_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// asan makes the C code watch its memory, and its arithmetic.
const asan = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"

// core runs the plugin's code without OpenSM and returns what it prints, line by
// line.
func core(t testing.TB, flags, mode string, q *wire.Request, answers []byte, args ...string) []string {
	t.Helper()
	program := filepath.Join(live.Plugin(t, "weft-core", flags), "weft-core")
	dir := t.TempDir()
	request, file := filepath.Join(dir, "request"), filepath.Join(dir, "answers")
	var b bytes.Buffer
	if err := q.Write(&b); err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{request: b.Bytes(), file: answers} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, append([]string{mode, request, file}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("weft-core %s: %v\n%s", mode, err, out[max(0, len(out)-3000):])
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// answerTo is the message with an engine's tables.
func answerTo(t testing.TB, q *wire.Request, engine string, contract routing.Contract) []byte {
	t.Helper()
	tables, proof, err := routed(q, engine, contract)
	if err != nil {
		t.Skip(err)
	}
	var b bytes.Buffer
	if err := wire.WriteTables(&b, q, engine, tables, proof); err != nil {
		t.Skip(err)
	}
	return b.Bytes()
}

// TestNothingUnproven spoils answers in every way there is and holds the plugin's
// verdict, in C, against the judge's, in Go: whatever the plugin lets pass must be
// complete and free of deadlock.
func TestNothingUnproven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec, engine string
		contract     routing.Contract
		groups       uint16 // service levels of multicast groups, as bits; 0: without a tree
	}{
		{"ring:5,hosts=2", "dfsssp", routing.Honored, 0},
		{"ring:5,hosts=2", "df-dn", routing.Honored, 0},
		{"ring:4,hosts=1", "updn", routing.Any, 0},
		{"torus:3x3,hosts=1", "torus-2qos", routing.Honored, 0},
		{"dragonfly:p=2", "df-dn", routing.Honored, 0},
		{"karytree:k=3,n=2", "nue", routing.Honored, 0},
		{"ring:5,hosts=2", "dfsssp", routing.Honored, 1},
		{"torus:3x3,hosts=1", "df-dn", routing.Honored, 5},
		{"karytree:k=3,n=2", "weave-any", routing.Any, 1<<routing.SLs - 1},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s/%#x", c.spec, c.engine, c.contract, c.groups), func(t *testing.T) {
			t.Parallel()
			q := wire.Of(testnet.Build(t, c.spec), 77)
			whole := answerWith(t, q, c.engine, c.contract, c.groups)
			tries := testnet.Of(2000, 500)
			chance := rand.New(rand.NewPCG(3, uint64(len(whole))))
			spoilt := make([][]byte, tries)
			for i := range spoilt {
				spoilt[i] = whole
				if i > 0 {
					spoilt[i] = spoil(t, q, whole, chance)
				}
			}
			count, f := map[string]int{}, read(t, q)
			for i, verdict := range core(t, asan, "prove", q, bytes.Join(spoilt, nil)) {
				word, _, _ := strings.Cut(verdict, ":")
				why := sound(t, q, f, spoilt[i])
				if word == "proven" && why != "" {
					t.Fatalf("answer %d passes the plugin: %s", i, why)
				}
				if word != "proven" && why == "" {
					word += " in spite of the judge"
				}
				count[word]++
			}
			t.Log(count)
			if count["proven"] < tries/50 || count["unproven"] < tries/8 || count["malformed"] == 0 {
				t.Errorf("%v of %d answers: the trial is one-sided", count, tries)
			}
		})
	}
}

// answerHead is the bytes of an answer before its tables.
const answerHead = 16 + 96

// parts is where the tables of an answer begin: out-ports, service levels, maps,
// pairs, ranks, tree, end.
func parts(t testing.TB, q *wire.Request, whole []byte) [7]int {
	t.Helper()
	a, err := wire.ReadAnswer(bytes.NewReader(whole), q)
	if err != nil {
		t.Fatal(err)
	}
	p := [7]int{answerHead}
	for i, n := range []int{len(a.OutPorts), len(a.SLs), len(a.Maps) * routing.SLs, 2 * len(a.Pairs), 4 * len(a.Ranks), len(a.Tree)} {
		p[i+1] = p[i] + n
	}
	if p[6] != len(whole) {
		t.Fatalf("the answer has %d bytes, its parts %d", len(whole), p[6])
	}
	return p
}

// spoil is a copy of an answer with one to three changes.
func spoil(t testing.TB, q *wire.Request, whole []byte, chance *rand.Rand) []byte {
	b := bytes.Clone(whole)
	p := parts(t, q, whole)
	for range 1 + chance.IntN(3) {
		part := chance.IntN(7)
		if part == 6 || p[part+1] == p[part] { // the figures before the tables
			b[16+chance.IntN(answerHead-16)] = byte(chance.IntN(20))
			continue
		}
		at := p[part] + chance.IntN(p[part+1]-p[part])
		switch part {
		case 0, 5:
			b[at] = byte(chance.IntN(8))
		case 1, 2:
			b[at] = byte(chance.IntN(17))
		default:
			b[at] ^= byte(chance.IntN(256))
		}
		if chance.IntN(20) == 0 {
			b[at] = byte(chance.IntN(256))
		}
		if chance.IntN(20) == 0 {
			b[at] = 255
		}
	}
	if chance.IntN(50) == 0 { // too short or too long, with a header that says so
		b = append(b, make([]byte, 9)...)[:len(b)-8+chance.IntN(17)]
		b[8], b[9], b[10] = byte(len(b)-16), byte((len(b)-16)>>8), byte((len(b)-16)>>16)
	}
	return b
}

// read is the fabric of a request.
func read(t testing.TB, q *wire.Request) *fabric.Fabric {
	t.Helper()
	f, err := q.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sound says what the judge has against an answer to a request for a fabric.
func sound(t testing.TB, q *wire.Request, f *fabric.Fabric, message []byte) string {
	t.Helper()
	a, err := wire.ReadAnswer(bytes.NewReader(message), q)
	if err != nil {
		return err.Error()
	}
	tables, proof := tablesOf(f, q, a)
	if why := lost(tables); why != "" {
		return why
	}
	if why := addTree(tables, a); why != "" {
		return why
	}
	contracts := []routing.Contract{routing.Honored}
	if a.Directed {
		contracts[0] = routing.Directed
	}
	for sl := range uint8(routing.SLs) {
		if a.Contract>>sl&1 != 0 {
			contracts = append(contracts, routing.Single(sl))
		}
	}
	for _, proof.Contract = range contracts {
		v, err := deadlock.CheckCertificate(t.Context(), tables, proof, nil)
		if err != nil {
			return err.Error()
		}
		if !v.Complete() {
			return fmt.Sprintf("%d unreachable, %d dropped, %d circles", v.Unreachable, v.Dropped, v.Loops)
		}
		if v.LaneMask>>q.Lanes() != 0 {
			return fmt.Sprintf("lanes %b, there are %d", v.LaneMask, q.Lanes())
		}
	}
	return ""
}

// lost says which switch with adapters does not reach which LID, those of
// switches included.
func lost(tables *routing.Tables) string {
	f := tables.Fabric
	for lid, owner := range f.LIDs() {
		home := f.Endpoint(owner)
		for s := range fabric.NodeID(f.Switches()) {
			if len(f.Attached(s)) < 2 { // port 0 and nothing else
				continue
			}
			at, steps := s, 0
			for ; steps <= f.Switches(); steps++ {
				out := tables.Forwarding.Port(at, lid)
				if at == home.Switch && (out == 0 && home.Deliver == fabric.None || home.Deliver != fabric.None && f.Out(at, out) == home.Deliver) {
					break
				}
				c := f.Out(at, out)
				if c == fabric.None || int(c) >= f.Trunks() {
					return fmt.Sprintf("from switch %d LID %d is lost at switch %d", s, lid, at)
				}
				at = f.Channel(c).To
			}
			if steps > f.Switches() {
				return fmt.Sprintf("from switch %d packets to LID %d circle", s, lid)
			}
		}
	}
	return ""
}

// tablesOf is the tables and the proof of an answer to a request whose switches
// are in the order of the fabric.
func tablesOf(f *fabric.Fabric, q *wire.Request, a *wire.Answer) (*routing.Tables, *deadlock.Certificate) {
	fw := routing.NewForwarding(f)
	maps := routing.UniformSL2VL(a.Maps[0])
	if a.Pairs != nil {
		maps = maps.PerPort(f)
	}
	l := routing.NewLanes(f, maps)
	// The judge counts the lanes of maps that no packet looks up too.
	proof := &deadlock.Certificate{Scope: a.Scope, Lanes: routing.MaxDataVLs, Rank: make([]int32, f.Trunks()*routing.MaxDataVLs)}
	for i := range proof.Rank {
		proof.Rank[i] = deadlock.Unused
	}
	port, pair := 0, 0
	for s := range fabric.NodeID(f.Switches()) {
		for lid := range f.LIDs() {
			fw.Row(lid)[s] = a.OutPorts[int(s)*a.LIDs+int(lid)]
			l.SLRow(lid)[s] = a.SLs[int(s)*a.LIDs+int(lid)]
		}
		ports := f.Node(s).Ports + 1
		for p := range ports {
			if c := f.Out(s, uint8(p)); c != fabric.None && int(c) < f.Trunks() {
				for lane, rank := range a.Ranks[(port+p)*a.Lanes:][:a.Lanes] {
					proof.Rank[int(c)*proof.Lanes+lane] = max(rank, deadlock.Unused) // the plugin takes anything negative for none
				}
			}
			for out := range ports {
				if a.Pairs == nil {
					continue
				}
				for sl := range uint8(routing.SLs) {
					maps.Set(s, uint8(p), uint8(out), sl, a.Maps[a.Pairs[pair+p*ports+out]][sl])
				}
			}
		}
		port, pair = port+ports, pair+ports*ports
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, proof
}

// TestOtherSwitches has tables meet fabrics that are not the one they are for.
func TestOtherSwitches(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:5,hosts=2")
	q := wire.Of(f, 1)
	whole := answerTo(t, q, "df-dn", routing.Honored)
	host := f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 1))
	gone, err := f.Without(nil, []fabric.NodeID{host.Node})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := f.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	swapped := wire.Of(f, 2) // two hosts of different switches change places
	a, b := swapped.Nodes[host.Node].Has, swapped.Nodes[f.Endpoint(fabric.EndpointID(f.Switches())).Node].Has
	a[0].LID, b[0].LID = b[0].LID, a[0].LID
	renamed := wire.Of(f, 2)
	renamed.Nodes[0].GUID--
	larger := wire.Of(f, 2)
	larger.Nodes[host.Node].Has[0].LID += 50
	fewer := wire.Of(f, 2)
	fewer.MaxVLs = 1
	for name, c := range map[string]struct {
		later *wire.Request
		want  string
	}{
		"the same":        {wire.Of(f, 2), "proven"},
		"a host less":     {wire.Of(gone, 2), "proven"},
		"a cable less":    {wire.Of(cut, 2), "has no cable"},
		"hosts swapped":   {swapped, "was on switch"},
		"another switch":  {renamed, "for other switches"},
		"another address": {larger, "they end at LID"},
		"fewer lanes":     {fewer, "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			if out := verdictLater(t, "keep", q, whole, c.later); !strings.Contains(out, c.want) || c.want == "proven" && out != c.want {
				t.Errorf("%q, want %q", out, c.want)
			}
		})
	}
}

// verdictLater is the plugin's verdict on an answer, or what is left of it, for the fabric of a later request.
func verdictLater(t *testing.T, mode string, q *wire.Request, answer []byte, later *wire.Request) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "later")
	var m bytes.Buffer
	if err := later.Write(&m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, m.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return core(t, asan, mode, q, answer, path)[0]
}

// TestLanesUnknown has a fabric whose links do not say how many lanes they have: OpenSM
// takes one, and so does the plugin.
func TestLanesUnknown(t *testing.T) {
	t.Parallel()
	q := wire.Of(testnet.Build(t, "ring:5,hosts=2"), 1)
	one, several := answerTo(t, q, "updn", routing.Honored), answerTo(t, q, "df-dn", routing.Honored)
	for i := range q.Nodes {
		for p := range q.Nodes[i].Has {
			q.Nodes[i].Has[p].VLs = 0
		}
	}
	if out := core(t, asan, "prove", q, one); out[0] != "proven" {
		t.Errorf("on one lane: %q", out)
	}
	if out := core(t, asan, "prove", q, several); !strings.Contains(out[0], "does not exist") {
		t.Errorf("on several lanes: %q", out)
	}
}

// TestHangsUp has a daemon hang up while the plugin is still sending a fabric
// larger than what a socket buffers.
func TestHangsUp(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "opensm.sock")
	l := listen(t, socket)
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = c.Read(make([]byte, 1)) // what it says does not matter
			c.Close()
		}
	}()
	q := wire.Of(testnet.Build(t, "dragonfly:p=6"), 1)
	if out := core(t, "", "ask", q, nil, socket); !strings.Contains(out[0], "hung up while it was sent the fabric: Broken pipe") {
		t.Errorf("%q", out)
	}
}
