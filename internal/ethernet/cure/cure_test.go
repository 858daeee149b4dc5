package cure

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/dependencies"
	"github.com/weft-fabric/weft/internal/ethernet/failures"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// FRR's Clos with two links down has a loop; two priorities are enough.
func TestTwoLinksDown(t *testing.T) {
	n, err := folder.Read(t.Context(), "../../../examples/ethernet/clos-two-links-down", folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compute(context.Background(), n, Options{Lossless: 2, Start: []uint8{3}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := judge.Verify(context.Background(), c.Network, judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Free() || c.Needed != 2 || c.Lossy != 0 || len(v.Lanes) != 2 || fmt.Sprint(c.Ladders) != "[[3 4]]" {
		t.Fatalf("%+v, %d needed, %d lossy, ladders %v", v, c.Needed, c.Lossy, c.Ladders)
	}
	one, err := Compute(context.Background(), n, Options{Lossless: 1, Start: []uint8{3}})
	if err != nil {
		t.Fatal(err)
	}
	if v, err = judge.Verify(context.Background(), one.Network, judge.Options{}); err != nil || !v.Free() || one.Lossy == 0 {
		t.Fatalf("with one priority: %+v, %d turns lossy, %v", v, one.Lossy, err)
	}
	if _, err := Compute(context.Background(), n, Options{Lossless: 0, Start: []uint8{3}}); err == nil {
		t.Fatal("no priority at all is accepted")
	}
}

// wrap makes devices send packets of some classes through a tunnel to where another one leaves.
func wrap(r *rand.Rand, n *ethernet.Network) {
	same := []uint64{1, 2}[:len(n.Priorities.Marks)]
	n.TunnelMaps = [][]uint64{same}
	into := r.IntN(len(n.Classes))
	for i := range n.Classes {
		if i != into {
			n.Classes[i].Tunnels = []ethernet.Tunnel{{Device: n.Classes[i].At[0], Into: into}}
		}
	}
}

// SONiC's dual ToR gets along with the priorities that its maps use: packets go from 3 to 2 and from 4
// to 6.
func TestDualToR(t *testing.T) {
	n, err := folder.Read(t.Context(), "../../../examples/ethernet/dual-tor", folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Lossless: 4, Start: []uint8{3, 4}}
	c, err := Compute(context.Background(), n, o)
	if err != nil {
		t.Fatal(err)
	}
	v, err := judge.Verify(context.Background(), c.Network, judge.Options{})
	if err != nil || !v.Free() || c.Needed != 4 || c.Lossy > 0 || fmt.Sprint(c.Ladders) != "[[3 2] [4 6]]" {
		t.Fatalf("%v, %+v, %d needed, ladders %v", err, v, c.Needed, c.Ladders)
	}
	if _, err := c.Sonic(0); err == nil {
		t.Error("rules for tunnels are written as maps of ports")
	}
	if _, err := Compute(context.Background(), n, Options{Lossless: 4, Start: []uint8{3, 4}, Bounces: 1}); err == nil {
		t.Error("bounces are served in networks with tunnels")
	}
}

// Routes that are computed in place of those that were read lead into the same tunnels.
func TestComputedTunnels(t *testing.T) {
	for name, free := range map[string]bool{"dual-tor": false, "dual-tor-remapped": true} {
		n, err := folder.Read(t.Context(), "../../../examples/ethernet/"+name, folder.Options{NoRoutes: true})
		if err != nil {
			t.Fatal(err)
		}
		n.Classes = bgp.HostClasses(n)
		plan, err := bgp.NewPlan(n.Cabling, bgp.Leaves(n.Classes), bgp.ECMP, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan.Fill(n.Classes)
		v, err := judge.Verify(context.Background(), n, judge.Options{})
		if err != nil || v.Free() != free || !v.Complete() {
			t.Errorf("%s: %v, %+v", name, err, v)
		}
		r, err := failures.Run(context.Background(), plan, n, failures.Options{})
		if err != nil || r.Before == free || (r.Loops == 0) != free || r.Cuts > 0 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}

// random is a network with any cables, two or three levels of it sensible, and BGP's routes.
func random(t *testing.T, r *rand.Rand) (*bgp.Plan, *ethernet.Network) {
	t.Helper()
	c := testcables.Random(t, r, 3+r.IntN(6))
	hosts := make([]int, len(c.Names))
	for d := range hosts {
		hosts[d] = r.IntN(2)
	}
	hosts[0] = 1
	n := &ethernet.Network{Cabling: c, Classes: bgp.Subnets(c, hosts), Priorities: ethernet.Uniform(c, []uint8{3})}
	leaves := bgp.Leaves(n.Classes)
	plan, err := bgp.NewPlan(c, leaves, bgp.BGP, bgp.Numbers(c, leaves, bgp.PerSwitch))
	if err != nil {
		t.Fatal(err)
	}
	plan.Fill(n.Classes)
	return plan, n
}

// Rules are safe on any network, after every failure and with packets astray, whatever the
// number of priorities; and with as many as needed no packet is lossy.
func TestSafe(t *testing.T) {
	loops, raised := 0, 0
	for i := range 1500 {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		plan, n := random(t, r)
		o := Options{Lossless: 1 + r.IntN(4), Start: []uint8{3}, Bounces: i % 3}
		if o.Bounces == 0 {
			if len(n.Classes) > 1 && i%2 == 0 {
				wrap(r, n)
			}
			o.After = failures.After(context.Background(), plan, n, failures.Links)
		}
		if r.IntN(4) == 0 {
			o.Start, o.Lossless = []uint8{3, 4}, 2*o.Lossless
		}
		if o.Lossless > 7 {
			o.Lossless = 6
		}
		before := judgeOf(t, n, o)
		c, err := Compute(context.Background(), n, o)
		if err != nil {
			t.Fatal(err)
		}
		if !judgeOf(t, c.Network, o) {
			t.Fatalf("network %d: a loop with the rules", i)
		}
		if (c.Lossy > 0) != (c.Needed > o.Lossless/len(o.Start)*len(o.Start)) {
			t.Fatalf("network %d: %d needed of %d, %d turns lossy", i, c.Needed, o.Lossless, c.Lossy)
		}
		if !before {
			loops++
		}
		if c.Turns > 0 {
			raised++
		}
		expands(t, c)
	}
	if loops < 50 || raised < 50 {
		t.Fatalf("%d networks with loops, %d with rules: this tests little", loops, raised)
	}
}

// judgeOf reports whether a network is safe over all paths of the options.
func judgeOf(t *testing.T, n *ethernet.Network, o Options) bool {
	t.Helper()
	u := dependencies.NewUnion(n, ethernet.HostScope)
	for class := range n.Classes {
		u.Add(class, n.Classes[class].Next)
		if o.Bounces > 0 {
			u.AddAstray(class, o.Bounces)
		}
	}
	if o.After != nil {
		if err := o.After(u.Add); err != nil {
			t.Fatal(err)
		}
	}
	free, _ := u.Free()
	return free
}

// expands checks that the compressed rules say what the network's rules do.
func expands(t *testing.T, c *Cure) {
	t.Helper()
	n := c.Network
	type turn struct {
		in, out  ethernet.LinkID
		priority int8
	}
	said := map[turn]int8{}
	for _, r := range c.Rules {
		for _, in := range r.In {
			for _, out := range r.Out {
				said[turn{in, out, int8(r.Priority)}] = r.Becomes
			}
		}
	}
	for in := range ethernet.LinkID(len(n.Links)) {
		for out, end := n.LinksFrom(n.Links[in].To); out < end; out++ {
			for mark := range uint8(len(n.Priorities.Marks)) {
				lane := n.Priorities.Of(mark, in)
				becomes, ok := said[turn{in, out, lane}]
				is := n.Priorities.Of(n.Priorities.Rules.Becomes(in, out, mark), out)
				if ok && becomes != is && out != n.Reverse[in] || !ok && lane != is {
					t.Fatalf("%s to %s, lane %d: the rules say %d, and it is %d", n.End(in), n.End(out), lane, becomes, is)
				}
			}
		}
	}
}

// SONiC's maps do what the rules say, or say that they cannot: on any network, by the judge; and
// read back from the files, on FRR's Clos.
func TestSonic(t *testing.T) {
	fit := 0
	for i := range 600 {
		r := rand.New(rand.NewPCG(6, uint64(i)))
		plan, n := random(t, r)
		o := Options{Lossless: 1 + r.IntN(3), Start: []uint8{3}, After: failures.After(context.Background(), plan, n, failures.Links)}
		c, err := Compute(context.Background(), n, o)
		if err != nil {
			t.Fatal(err)
		}
		maps, err := all(c)
		if err != nil {
			continue
		}
		mapped := Mapped(c, maps)
		if c.Turns > 0 {
			fit++
		}
		if !judgeOf(t, mapped, o) {
			t.Fatalf("network %d: a loop with the maps", i)
		}
		lossy := uint8(len(mapped.Priorities.Marks) - 1)
		for out := range ethernet.LinkID(len(n.Links)) {
			for in := range ethernet.LinkID(len(n.Links)) {
				for mark := range lossy {
					if n.Links[in].To != n.Links[out].From || in == n.Reverse[out] {
						continue
					}
					if a, b := mapped.Priorities.Rules.Becomes(in, out, mark), c.Network.Priorities.Rules.Becomes(in, out, mark); a != b {
						t.Fatalf("network %d, %s to %s: mark %d becomes %d by the maps, %d by the rules", i, n.End(in), n.End(out), mark, a, b)
					}
				}
			}
		}
	}
	if fit < 50 {
		t.Fatalf("maps for %d networks only", fit)
	}
}

func all(c *Cure) ([]*Maps, error) {
	var maps []*Maps
	for d := range ethernet.DeviceID(len(c.Network.Names)) {
		m, err := c.Sonic(d)
		if err != nil {
			return nil, err
		}
		maps = append(maps, m)
	}
	return maps, nil
}

// The files that are written are read as any folder is, and judged safe.
func TestReadBack(t *testing.T) {
	const from = "../../../examples/ethernet/clos-two-links-down"
	n, err := folder.Read(t.Context(), from, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compute(context.Background(), n, Options{Lossless: 2, Start: []uint8{3}})
	if err != nil {
		t.Fatal(err)
	}
	maps, err := all(c)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for d, m := range maps {
		f, err := os.Create(filepath.Join(dir, n.Names[d]+".config_db.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Write(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	back, err := folder.Read(t.Context(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := judge.Verify(context.Background(), back, judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Free() || fmt.Sprint(v.Lanes) != "[3 4]" || !v.Complete() {
		t.Fatalf("%+v %v", v, back.Notes)
	}
}
