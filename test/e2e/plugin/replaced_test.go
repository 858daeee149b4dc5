package plugin_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// readdressed is hardware under OpenSM, as ibsim's console names it, some of which was replaced.
type readdressed struct {
	*interruptible
	ids   map[fabric.GUID]string // of ibsim, by the GUID that a node has now
	fresh fabric.GUID            // the next that nobody has
}

// replace gives a node other GUIDs, as if another had its place and its cables.
func (k *readdressed) replace(t *testing.T, n fabric.NodeID) {
	t.Helper()
	was := k.f.Node(n).GUID
	id := k.ids[was]
	port := 1
	if k.f.Node(n).Kind == fabric.Switch {
		port = 0
	}
	delete(k.ids, was)
	k.ids[k.fresh] = id
	k.Console(t, `Guid "%s" 0x%x`, id, uint64(k.fresh))
	k.Console(t, `Guid "%s"[%d] 0x%x`, id, port, uint64(k.fresh)+uint64(port))
	k.fresh += 0x100
}

// restarted ends OpenSM, does something, and starts it again with further settings.
func (k *readdressed) restarted(t *testing.T, further map[string]string, between func()) {
	t.Helper()
	k.quit(t)
	between()
	c := k.conf()
	maps.Copy(c, further)
	k.Manager = k.Manage(t, "", k.Dir, c, k.library)
	k.Await(t, up, soon)
}

// remembers changes which port has which LID in OpenSM's memory.
func (k *readdressed) remembers(t *testing.T, replace ...string) {
	t.Helper()
	path := filepath.Join(k.Dir, "guid2lid")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now := strings.NewReplacer(replace...).Replace(string(text))
	if now == string(text) {
		t.Fatalf("OpenSM remembers nothing of %q\n%s", replace, text)
	}
	if err := os.WriteFile(path, []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
}

// key is how OpenSM remembers a port.
func (k *readdressed) key(e fabric.EndpointID) string {
	return fmt.Sprintf("0x%016x", uint64(k.f.Endpoint(e).PortGUID))
}

// otherLID gives a host a LID that nobody has or had.
func (k *readdressed) otherLID(t *testing.T, e fabric.EndpointID) {
	t.Helper()
	ep := k.f.Endpoint(e)
	last := ep.LID + 1<<ep.LMC - 1
	lid := (k.f.TopLID() + 32) &^ 1
	k.remembers(t, fmt.Sprintf("%s 0x%04x 0x%04x", k.key(e), ep.LID, last), fmt.Sprintf("%s 0x%04x 0x%04x", k.key(e), lid, lid+last-ep.LID))
	k.baselid(t, e, lid, ep.LMC)
}

// exchangeLIDs has two hosts exchange their LIDs, in OpenSM's memory and in their ports.
func (k *readdressed) exchangeLIDs(t *testing.T, a, b fabric.EndpointID) {
	t.Helper()
	k.remembers(t, k.key(a), k.key(b), k.key(b), k.key(a))
	for _, x := range [][2]fabric.EndpointID{{a, b}, {b, a}} {
		k.baselid(t, x[0], k.f.Endpoint(x[1]).LID, k.f.Endpoint(x[1]).LMC)
	}
}

// baselid has a port forget its LID for another, as if another manager had given it that.
func (k *readdressed) baselid(t *testing.T, e fabric.EndpointID, lid fabric.LID, lmc uint8) {
	t.Helper()
	ep := k.f.Endpoint(e)
	k.Console(t, `Baselid "%s"[%d] %d %d`, k.ids[k.f.Node(ep.Node).GUID], ep.Port, lid, lmc)
}

// unchanged is what OpenSM changes back: ports have other LIDs than it gave them.
const unchanged = "Baselid changed"

// TestReplaced has adapters and switches replaced by others in their places and Baselid changed while
// OpenSM runs, and other LIDs given out and the LMC changed by a restart of it. Nothing is refused, and
// in the end everybody is reached. Every moment is proven but one: an OpenSM that begins takes no tables
// that cut pairs, and a LID whose entries lead to another switch than before closes a circle unless the
// old ones go first. The daemon's log says so.
func TestReplaced(t *testing.T) {
	t.Parallel()
	thorough := os.Getenv("WEFT_THOROUGH") != ""
	for turn, n := range []struct{ spec, engine string }{{"torus:4x4,hosts=2", "weave-any"}, {"xgft:m=4x4,w=2x4,hosts=2", "updn"}} {
		t.Run(n.spec, func(t *testing.T) {
			if turn > 0 {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			f := testnet.Build(t, n.spec)
			k := &readdressed{interrupts(t, f, "engine: "+n.engine), map[fabric.GUID]string{}, 0x00abc00000000000}
			for i := range f.Nodes() {
				k.ids[f.Node(fabric.NodeID(i)).GUID] = nodeID(f, fabric.NodeID(i))
			}
			k.f = k.between.fabric()
			hosts := func() []fabric.EndpointID { return routing.HCA.Endpoints(k.f) }
			lids := func(f *fabric.Fabric) map[fabric.GUID][2]int {
				all := map[fabric.GUID][2]int{} // LID and LMC
				for _, e := range f.Endpoints() {
					all[e.PortGUID] = [2]int{int(e.LID), int(e.LMC)}
				}
				return all
			}
			rounds := 1
			if thorough {
				rounds = 8
			}
			lmc := 0
			for i := range rounds {
				anew := func(work func()) {
					k.restarted(t, map[string]string{"lmc": fmt.Sprint(lmc)}, work)
				}
				for j, c := range []struct {
					what   string
					proven bool
					work   func()
				}{
					{"an adapter replaced", true, func() { k.replace(t, k.f.Endpoint(hosts()[3+(5*i)%20]).Node); k.Sweep(t) }},
					{"a switch replaced", true, func() { k.replace(t, fabric.NodeID((7*i+3)%k.f.Switches())); k.Sweep(t) }},
					{unchanged, true, func() {
						k.baselid(t, hosts()[4], k.f.TopLID()+9, 0)
						k.baselid(t, hosts()[9], k.f.Endpoint(hosts()[5]).LID, 0)
						k.Sweep(t)
					}},
					{"a LID that nobody had", true, func() { anew(func() { k.otherLID(t, hosts()[7+i]) }) }},
					{"LIDs exchanged on a switch", true, func() { anew(func() { k.exchangeLIDs(t, hosts()[12], neighbourOf(k.f, hosts()[12])) }) }},
					{"LIDs exchanged", false, func() { anew(func() { k.exchangeLIDs(t, hosts()[3+i%8], hosts()[20-i%8]) }) }},
					{"another LMC", false, func() { lmc = 1 - lmc; anew(func() {}) }},
				} {
					if !thorough && j%2 != turn { // each is tried on one of the two
						continue
					}
					moments, unproven := k.between.moments, len(k.between.unproven)
					before := k.f
					k.between.plan(-1)
					c.work()
					k.follow(t, restart{})
					k.f = k.between.fabric()
					k.swept(t)
					v := k.judged(t, &routing.Tables{Fabric: k.f, Lanes: routing.OneSL(k.f, nil)}, routing.Any)
					if !v.Free() || !v.Complete() {
						k.logs(t)
						t.Fatalf("%s: free %v, complete %v", c.what, v.Free(), v.Complete())
					}
					if maps.Equal(lids(before), lids(k.f)) != (c.what == unchanged) {
						k.logs(t)
						t.Errorf("%s: LIDs were %v, are %v", c.what, lids(before), lids(k.f))
					}
					if moments, unproven = k.between.moments-moments, len(k.between.unproven)-unproven; c.proven && unproven > 0 {
						k.logs(t)
						t.Errorf("%s: %d of %d moments are not proven", c.what, unproven, moments)
					}
				}
			}
			said := k.said(t)
			told := strings.Count(said, "proven_meanwhile=false")
			t.Logf("%d moments, %d of them not proven, %d said so; %d repairs, %d anew", k.between.moments, len(k.between.unproven), told, strings.Count(said, "change=repair"), strings.Count(said, "change=full"))
			if len(k.between.unproven) > told || strings.Contains(said, "internal error") || strings.Contains(said, "verdict=refused") {
				k.logs(t)
				t.Errorf("not proven: %q", k.between.unproven)
			}
		})
	}
}

// neighbourOf is another adapter on the switch of one.
func neighbourOf(f *fabric.Fabric, e fabric.EndpointID) fabric.EndpointID {
	all := f.Attached(f.Endpoint(e).Switch)
	return all[slices.IndexFunc(all, func(x fabric.EndpointID) bool { return x != e && f.Endpoint(x).Class == fabric.HostAdapter })]
}
