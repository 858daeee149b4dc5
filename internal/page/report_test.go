package page

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// tablesFor routes a fabric and has the tables judged.
func tablesFor(t testing.TB, f *fabric.Fabric, engine string) *Given {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(context.Background(), f, engines.Options{Seed: 1}, routing.Budget{Contract: e.Contract}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: e.Contract, Lost: -1})
	if err != nil {
		t.Fatal(err)
	}
	return &Given{Name: engine, Source: engine, Tables: tables, Verdict: v, Available: 8}
}

// reportOf is a report of a network routed by some engines.
func reportOf(t testing.TB, f *fabric.Fabric, with ...string) *result.Report {
	t.Helper()
	n := NewNetwork("test", f)
	for _, engine := range with {
		if err := Add(context.Background(), n, tablesFor(t, f, engine), Options{Seed: 1, Precision: 0.02}); err != nil {
			t.Fatal(err)
		}
	}
	return &result.Report{Title: "test", Made: "weft test", Networks: []*result.ReportNetwork{n}, Results: []*result.ReportResult{}}
}

func write(t testing.TB, d *result.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A page holds the whole of its data.
func TestPackedDataComesBack(t *testing.T) {
	d := reportOf(t, testnet.Build(t, "torus:4x4,hosts=2"), "minhop", "weave", "lash")
	packed, err := pack(d)
	if err != nil {
		t.Fatal(err)
	}
	back, err := unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, back, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// The same fabric gives the same page, on any number of cores.
func TestPagesAreDeterministic(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2")
	once := write(t, reportOf(t, f, "weave", "minhop"))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again := write(t, reportOf(t, f, "weave", "minhop")); once != again {
		t.Error("two pages of one fabric differ")
	}
}

// Names of nodes stay text, whatever they are.
func TestNamesStayText(t *testing.T) {
	var b fabric.Builder
	evil := `</script><script>alert(1)</script>"'&<img src=x onerror=alert(2)>` + "\u2028🦊"
	var refs []fabric.Ref
	for i := range 3 {
		refs = append(refs, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Kind: fabric.Switch, Ports: 4, Name: evil}, ""))
	}
	for i := range 3 {
		h := b.Node(fabric.Node{GUID: fabric.GUID(i + 11), Kind: fabric.Adapter, Ports: 1, Name: evil}, "")
		b.Cable(refs[i], 3, h, 1, fabric.Rate{})
		b.Cable(refs[i], 1, refs[(i+1)%3], 2, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	d := reportOf(t, f, "minhop")
	d.Title = evil
	page := write(t, d)
	for _, bad := range []string{"alert(1)</", "<img", "alert(2)>"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %s as markup", bad)
		}
	}
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d scripts, want the data and the program", n)
	}
}

// What the page says of loads and pairs adds up.
func TestCountsAddUp(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	for _, engine := range []string{"minhop", "weave", "lash", "updn"} {
		d := reportOf(t, f, engine)
		s := d.Networks[0].Tables[0]
		hops, pairs, byLevel, routes, byLane := int64(0), int64(0), int64(0), int64(0), int64(0)
		for h, n := range s.Hops.Pairs {
			hops, pairs = hops+int64(h)*n, pairs+n
		}
		for _, l := range s.Levels {
			byLevel += l.Pairs
		}
		for c := range s.Load.There {
			routes += int64(s.Load.There[c]) + int64(s.Load.Back[c])
		}
		for _, l := range s.Lanes {
			byLane += l.Hops
		}
		if pairs != s.Pairs || byLevel != s.Pairs || hops != routes || hops != byLane {
			t.Errorf("%s: %d pairs: %d by hops, %d by service level; %d hops: %d over cables, %d over lanes", engine, s.Pairs, pairs, byLevel, hops, routes, byLane)
		}
	}
}

// follow walks the entries of a page as its program does, from an endpoint to a LID,
// and returns the switches and lanes.
func follow(d *result.Report, src, dest int) (path []int32, lanes []byte, ok bool) {
	n := d.Networks[0]
	e := n.Tables[0].Paths
	at, in := n.Ports.Switch[src], n.Ports.At[src]
	sl := byte(0)
	if e.Levels != nil {
		sl = e.Levels[dest*e.Rows+int(e.Row[src])]
	}
	for range e.Switches + 1 {
		port := int32(e.Ports[dest*e.Switches+int(at)])
		next, nextIn := int32(-1), int32(0)
		for c := range n.Cables.Trunks {
			switch {
			case n.Cables.A[c] == at && n.Cables.APort[c] == port:
				next, nextIn = n.Cables.B[c], n.Cables.BPort[c]
			case n.Cables.B[c] == at && n.Cables.BPort[c] == port:
				next, nextIn = n.Cables.A[c], n.Cables.APort[c]
			}
		}
		path = append(path, at)
		if next < 0 {
			return path, lanes, true
		}
		lanes = append(lanes, laneAt(e, at, in, port, sl))
		at, in = next, nextIn
	}
	return path, lanes, false
}

// laneAt is the lane by the maps of a page.
func laneAt(e *result.ReportEntries, s, in, out int32, sl byte) byte {
	if e.Same != nil {
		return byte(e.Same[sl])
	}
	class := e.InClass[e.InFirst[s]+in]
	outs := e.Outs[s+1] - e.Outs[s]
	for k := range outs {
		if e.OutPort[e.Outs[s]+k] == out {
			return e.Maps[e.MapFirst[s]+(class*outs+k)*int32(len(e.SLs))+int32(sl)]
		}
	}
	return 255
}

// Paths and lanes on the page are those of the tables, hop by hop.
func TestPathsAreThoseOfTheTables(t *testing.T) {
	f := testnet.Build(t, "torus:5x4,hosts=2")
	for _, engine := range []string{"weave", "lash", "dfsssp", "torus-2qos", "updn"} {
		g := tablesFor(t, f, engine)
		d := reportOf(t, f, engine)
		e := d.Networks[0].Tables[0].Paths
		for src := range d.Networks[0].Ports.Node {
			for dest, lid := range e.LIDs {
				id := fabric.EndpointID(src + f.Switches())
				if f.Owner(fabric.LID(lid)) == id {
					continue
				}
				path, lanes, ok := follow(d, src, dest)
				if !ok {
					t.Fatalf("%s: the path from %d to LID %d does not end", engine, src, lid)
				}
				at, in := f.Endpoint(id).Switch, f.LastPort(f.Endpoint(id))
				sl := g.Tables.Lanes.SL(id, fabric.LID(lid))
				for i, s := range path {
					if fabric.NodeID(s) != at {
						t.Fatalf("%s: hop %d from %d to LID %d is at %d, want %d", engine, i, src, lid, s, at)
					}
					out := g.Tables.Forwarding.Port(at, fabric.LID(lid))
					if i == len(lanes) {
						break
					}
					if vl := g.Tables.Lanes.SL2VL.VL(at, in, out, sl); vl != lanes[i] {
						t.Fatalf("%s: hop %d from %d to LID %d is on VL %d, want %d", engine, i, src, lid, lanes[i], vl)
					}
					ch := f.Channel(f.Out(at, out))
					at, in = ch.To, ch.ToPort
				}
			}
		}
	}
}
