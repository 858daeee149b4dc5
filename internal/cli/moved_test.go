package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/testnet"
)

// movedCounts is what TestMoved saw.
type movedCounts struct{ changes, plans, nothing, steps, findings, refused, restored int }

// Hosts, LIDs, adapters and switches that move, with a cable, a switch or a host that goes or comes
// back at the same time: weft repair plans steps that are safe by a judge that reads only the
// files, and counts what that counts; or it says what is in the way.
func TestMoved(t *testing.T) {
	seed, each := uint64(1), 2
	if os.Getenv("WEFT_THOROUGH") != "" {
		each = 25
	}
	if text := os.Getenv("WEFT_SEED"); text != "" {
		fmt.Sscan(text, &seed)
	}
	var all movedCounts
	first := 0
	for i, n := range []struct {
		spec, engines string
		lmc           uint8 // of all hosts, to begin with
	}{
		{"ring:12,hosts=2", "updn,dfsssp,weave", 0},
		{"torus:4x4,hosts=2", "weave-any,lash,torus-2qos,df-dn", 0},
		{"mesh:2x4,hosts=3", "dfsssp-online,dor,nue", 0},
		{"fattree:ports=10", "balance,ftree", 0},
		{"xgft:m=4x4,w=2x4,hosts=2", "dnup,minhop,dmodc", 0},
		{"dragonfly:p=2", "weave-any,dfsssp", 0},
		{"random:switches=16,links=32,hosts=2,seed=3", "weave,updn", 0},
		{"torus:3x3x3,hosts=1", "lash,weave-any", 0},
		{"torus:3x3,hosts=3", "weave-any,dfsssp", 1},
		{"xgft:m=3x3,w=2x3,hosts=2", "updn,balance", 2},
	} {
		for k, engine := range strings.Split(n.engines, ",") {
			t.Run(n.spec+"/"+engine, func(t *testing.T) {
				if k > 0 || i%3 > 0 {
					testnet.OnlyWhole(t)
				}
				all.engine(t, n.spec, n.lmc, engine, seed, first, each)
			})
			first += each
		}
	}
	// Hosts whose links have to stay down for a step, whose certificate was made without them; and for
	// one that would have a loop with them, and so has none
	t.Run("waiting", func(t *testing.T) { all.engine(t, "torus:3x3x3,hosts=1", 0, "lash", 9, 475, 1) })
	t.Run("early", func(t *testing.T) { testnet.OnlyWhole(t); all.engine(t, "torus:4x4,hosts=2", 0, "weave-any", 7, 95, 4) })
	t.Logf("seed %d: %+v", seed, all)
	if all.plans*5 < all.changes*9 || all.steps < all.changes*2 {
		t.Errorf("too few plans to say anything: %+v", all)
	}
}

// engine tries some changes of a network under an engine, the first of them of the kind first.
func (all *movedCounts) engine(t *testing.T, spec string, lmc uint8, engine string, seed uint64, first, each int) {
	dir := t.TempDir()
	whole, err := testnet.Build(t, spec).WithLMC(lmc)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(len(spec)*100+len(engine))))
	then := drawingOf(whole, rng)
	for _, h := range then.some(fabric.Adapter)[:len(then.some(fabric.Adapter))/6] { // so that there are free ports
		then.nodes[h].gone = true
	}
	then.lose()
	then.did = nil
	before, tables := filepath.Join(dir, "before"), filepath.Join(dir, "tables")
	writeNet(t, before, then.build(t))
	if code, out := weftRun(t, "route", before, "--engine", engine, "--out", tables); code != exit.OK {
		t.Skip(out)
	}
	d, was, from := then, before, tables
	for i := range each {
		if i%4 == 0 { // the others go on from where the last change has led
			d, was, from = then, before, tables
		}
		d = d.copy(rand.New(rand.NewPCG(seed, uint64(first+i))))
		d.change((first + i) % changeKinds) // each kind in turn
		if d.rng.IntN(3) == 0 {
			d.change(d.rng.IntN(changeKinds))
		}
		if i%2 == 1 {
			d.lose()
		}
		if d.rng.IntN(2) == 0 {
			d.comeBack(d.rng.IntN(2) == 0)
		}
		name := func(what string) string { return filepath.Join(dir, fmt.Sprintf("%s-%d", what, i)) }
		now := name("now")
		writeNet(t, now, d.build(t))
		all.changes++
		what := fmt.Sprintf("%s by %s, seed %d, change %d: %s", spec, engine, seed, i, strings.Join(d.did, "; "))
		all.plan(t, what, now, from, name("alone"))
		last := all.plan(t, what+", --before", now, from, name("plan"), "--before", was)
		if last == "" {
			d, was, from = then, before, tables
			continue
		}
		if back := all.plan(t, what+", --restore", was, last, name("back"), "--before", now, "--restore", from); back != "" {
			all.restored++
			if text := unlike(readNet(t, was), readTwin(t, from), readTwin(t, back)); text != "" {
				t.Errorf("%s:\nthe way back ends with other entries: %s", what, text)
			}
		}
		was, from = now, last
	}
}

// plan has one change planned, and judges the plan. It returns the folder of the last tables.
func (all *movedCounts) plan(t *testing.T, what, now, tables, out string, more ...string) (last string) {
	code, text := weftRun(t, append([]string{"repair", now, "--tables", tables, "--steps", out, "--within-parts", "--json"}, more...)...)
	switch code {
	case exit.OK:
	case exit.Found:
		all.findings++
		t.Logf("%s\nis refused: %s", what, text)
		return ""
	case exit.BadInput:
		all.refused++
		t.Logf("%s\nis refused: %s", what, text)
		return ""
	default:
		t.Errorf("%s:\nexit code %d: %s", what, code, text)
		return ""
	}
	all.plans++
	var s struct {
		Contract string
		Kept     struct {
			Pairs int64
			Now   int64 `json:"pairs_cut_now"`
			After int64 `json:"pairs_cut_after"`
			Steps []struct {
				Folder string
				Cut    int64 `json:"pairs_cut_after"`
			}
			Anew    []struct{ GUID string } `json:"ask_anew"`
			Waiting []string                // hosts whose links are down
			Waits   int                     `json:"waiting_steps"` // until so many are confirmed
		}
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	f := readNet(t, now)
	j := newTwinJudge(f, s.Contract)
	at := readTwin(t, tables)
	if len(more) > 0 { // a switch that is new or back has no entries
		was := readNet(t, more[1])
		maps.DeleteFunc(at.ports, func(k twinEntry, _ uint8) bool { return was.NodeByGUID(k.at) == fabric.None })
	}
	cut, pairs := j.cut(at)
	if cut != s.Kept.Now || pairs != s.Kept.Pairs {
		t.Errorf("%s:\n%d of %d pairs are cut now, the plan says %d of %d", what, cut, pairs, s.Kept.Now, s.Kept.Pairs)
	}
	if len(s.Kept.Steps) == 0 {
		all.nothing++
	}
	for i, step := range s.Kept.Steps {
		all.steps++
		next := readTwin(t, filepath.Join(out, step.Folder))
		if i == 0 {
			for _, e := range s.Kept.Anew {
				at.forget(e.GUID)
			}
			// Of ports and sources that these tables do not know, what the plan takes for granted
			complete(at, next)
		}
		up := j.without(nil)
		if i < s.Kept.Waits {
			up = j.without(s.Kept.Waiting)
		}
		if loop := up.loop(at, next); loop != nil {
			t.Errorf("%s:\na mixture of step %d can close a loop of %d lanes", what, i+1, len(loop))
		}
		if cut, _ = up.cut(next); cut != step.Cut {
			t.Errorf("%s:\n%d pairs are cut after step %d, the plan says %d", what, cut, i+1, step.Cut)
		}
		at, tables = next, filepath.Join(out, step.Folder)
	}
	if cut != s.Kept.After {
		t.Errorf("%s:\n%d pairs are cut at the end, the plan says %d", what, cut, s.Kept.After)
	}
	return tables
}

// unlike names an entry for a LID of a network in which tables differ, if there is one.
func unlike(f *fabric.Fabric, w, o *twinTables) string {
	for lid := range f.LIDs() {
		for s := range f.Switches() {
			k := twinEntry{f.Node(fabric.NodeID(s)).GUID, lid}
			p, ok := w.ports[k]
			if q, too := o.ports[k]; p != q || ok != too {
				return fmt.Sprintf("at %s for LID %d: %d (%v), and %d (%v)", k.at, lid, p, ok, q, too)
			}
		}
	}
	return ""
}

// forget takes the service levels from a node that it had.
func (w *twinTables) forget(node string) {
	var guid fabric.GUID
	fmt.Sscanf(node, "0x%x", &guid)
	maps.DeleteFunc(w.sls, func(k twinPair, _ uint8) bool { return k.from == guid })
}

// complete gives tables the service levels and maps that they do not state, of others.
func complete(w, from *twinTables) {
	for k, m := range from.maps {
		if _, ok := w.maps[k]; !ok {
			w.maps[k] = m
		}
	}
	for k, sl := range from.sls {
		if _, ok := w.sls[k]; !ok {
			w.sls[k] = sl
		}
	}
}

func weftRun(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	if code != exit.OK {
		return code, stderr.String()
	}
	return code, stdout.String()
}

func writeNet(t *testing.T, name string, f *fabric.Fabric) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := ibnet.Write(file, f); err != nil {
		t.Fatal(err)
	}
}

func readNet(t *testing.T, name string) *fabric.Fabric {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := ibnet.Read(file, name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
