package plugin_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// freeze stops the daemon as a debugger or a disk that hangs does; thaw lets it go on.
func (k *served) freeze(t *testing.T) { k.signal(t, syscall.SIGSTOP) }
func (k *served) thaw(t *testing.T)   { k.signal(t, syscall.SIGCONT) }

func (k *served) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := k.weft.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// recordOf asks for the path record of a pair of LIDs, once, from the host beside OpenSM's;
// -1: the SA says that there is none. It returns how long the answer took.
func (k *served) recordOf(t *testing.T, slid, dlid fabric.LID) (sl int, took time.Duration) {
	t.Helper()
	beside := k.f.Endpoint(k.f.Attached(k.f.Endpoint(routing.HCA.Endpoints(k.f)[0]).Switch)[2])
	began := time.Now()
	text, err := k.Query(t, nodeID(k.f, beside.Node), "saquery", "-t", "50000", "-p", "--src-to-dst", fmt.Sprintf("%d:%d", slid, dlid))
	took = time.Since(began)
	if err != nil && !strings.Contains(text, "No path records found") {
		t.Errorf("from LID %d to %d: %v: %s", slid, dlid, err, text)
	}
	return recordSL(t, text), took
}

// TestHungDaemon has the daemon hang while the fabric changes. The SA answers every question for
// a path record within two seconds: with the service level that the tables in use have where they
// lead from the one to the other, with none at once where they do not. Once the daemon goes on
// everybody is reached.
func TestHungDaemon(t *testing.T) {
	t.Parallel()
	const spec = "torus:4x4,hosts=2"
	questions := testnet.Of(40, 12)
	f := testnet.Build(t, spec)
	hosts := routing.HCA.Endpoints(f)
	far := f.Endpoint(hosts[21])
	elsewhere := f.Endpoint(hosts[11])
	less := func(cables []fabric.ChannelID, nodes ...fabric.NodeID) *fabric.Fabric {
		g, err := f.Without(cables, nodes)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	end := func(do string, c fabric.ChannelID) string {
		ch := f.Channel(c)
		return fmt.Sprintf(`%s "%s"[%d]`, do, nodeID(f, ch.From), ch.FromPort)
	}
	hostsMoved, moveHosts := exchanged(t, f, far.Deliver, elsewhere.Deliver)
	cablesMoved, moveCables := exchanged(t, f, 20, 33)
	for name, c := range map[string]struct {
		before, commands []string
		known, now       *fabric.Fabric // for which the tables in use are, nil: the whole; and of which hosts are asked about
		cut              bool           // some pairs
	}{
		"nothing changes":                     {now: f},
		"a cable in use breaks":               {commands: []string{end("Unlink", 20)}, now: less([]fabric.ChannelID{20}), cut: true},
		"a host leaves":                       {commands: []string{end("Unlink", far.Deliver)}, now: less(nil, far.Node)},
		"a host is new":                       {before: []string{end("Unlink", far.Deliver)}, commands: []string{end("ReLink", far.Deliver)}, known: less(nil, far.Node), now: f, cut: true},
		"a host leaves, and two cables break": {commands: []string{end("Unlink", elsewhere.Deliver), end("Unlink", 20), end("Unlink", 33)}, now: less([]fabric.ChannelID{20, 33}, elsewhere.Node), cut: true},
		"two hosts exchange their places":     {commands: moveHosts, now: hostsMoved, cut: true},
		"two cables exchange their ends":      {commands: moveCables, now: cablesMoved, cut: true},
		"a switch leaves":                     {commands: []string{fmt.Sprintf(`Unlink "%s"`, nodeID(f, 9))}, now: less(nil, without(f, 9)...), cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := started(t, f, "0x0e", "weft.deadline=20,weft.wait=1", "engine: dfsssp", "contract: honored")
			if c.before != nil {
				k.change(t, c.before...)
			}
			known := c.known
			if known == nil {
				known = f
			}
			k.tables(t)
			on, sweeps := k.inForce(t, known, c.now), k.status(t).Sweeps
			usual := time.Duration(0) // for what is asked while the daemon goes on
			for range 5 {
				_, took := k.recordOf(t, f.Endpoint(routing.HCA.Endpoints(f)[0]).LID, f.Endpoint(routing.HCA.Endpoints(f)[3]).LID)
				usual = max(usual, took)
			}
			k.freeze(t)
			k.Fresh(t)
			for _, command := range c.commands {
				k.Console(t, "%s", command)
			}
			k.Sweep(t)
			worst, asked, after, refused := time.Duration(0), 0, 0, 0
			all := routing.HCA.Endpoints(c.now)
			quiet, chance := k.logSize(t), rand.New(rand.NewPCG(3, 3))
			// On a busy machine few are asked in a second.
			for end := time.Now().Add(soon); (after < questions || c.cut && refused == 0) && time.Now().Before(end); asked++ {
				from, to := all[chance.IntN(len(all))], all[chance.IntN(len(all))]
				if from == to {
					continue
				}
				swept := strings.Contains(k.logFrom(t, quiet), "no answer in ") // before, OpenSM may not know of the change
				if swept {
					after++
				}
				slid, dlid := c.now.Endpoint(from).LID, c.now.Endpoint(to).LID
				sl, took := k.recordOf(t, slid, dlid)
				worst = max(worst, took)
				if sl == -1 {
					refused++
				}
				if want := levelOf(known, on, from, dlid); swept && sl != want {
					t.Errorf("from LID %d to %d: SL %d, want %d", slid, dlid, sl, want)
				}
			}
			t.Logf("%d questions, %d of them without a path; the longest took %.2f s", asked, refused, worst.Seconds())
			if worst > 2*time.Second+10*usual {
				t.Errorf("a path record took %v, before the daemon hung %v", worst, usual)
			}
			if after < questions {
				t.Errorf("%d questions after the sweep", after)
			}
			if c.cut != (refused > 0) {
				t.Errorf("%d of %d questions were answered with no path", refused, asked)
			}
			k.Fresh(t)
			k.thaw(t)
			k.rest(t, sweeps)
			k.resweep(t)
			k.rest(t, 0)
			k.safe(t, k.inForce(t, c.now, c.now))
		})
	}
}

// without is a switch with its hosts.
func without(f *fabric.Fabric, s fabric.NodeID) []fabric.NodeID {
	away := []fabric.NodeID{s}
	for _, e := range f.Attached(s) {
		if f.Endpoint(e).Class != fabric.SwitchPort {
			away = append(away, f.Endpoint(e).Node)
		}
	}
	return away
}

// logSize and logFrom read OpenSM's log, of which nothing counts as read.
func (k *served) logSize(t *testing.T) int { return len(k.logFrom(t, 0)) }

func (k *served) logFrom(t *testing.T, at int) string {
	t.Helper()
	text, err := os.ReadFile(k.Log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[at:])
}

// inForce is the tables of the daemon's state folder, for a fabric that is known, on another.
func (k *served) inForce(t *testing.T, known, now *fabric.Fabric) *routing.Tables {
	t.Helper()
	const name = "paths.psl"
	lanes, err := psl.Read(open(t, filepath.Join(k.state, "last-good", name)), name, known, routing.LanePerSL(routing.MaxDataVLs), nil)
	if err != nil {
		t.Fatal(err)
	}
	on, err := transition.On(now, &routing.Tables{Fabric: known, Forwarding: k.forwarding(t, known), Lanes: lanes}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// levelOf is the service level that tables have for a path; -1: they do not lead there. A sender
// that they do not know has that of its switch. No path goes over a cable that leads elsewhere than
// in the fabric that was known.
func levelOf(known *fabric.Fabric, on *routing.Tables, from fabric.EndpointID, dlid fabric.LID) int {
	f := on.Fabric
	to, s := f.Endpoint(f.Owner(dlid)), f.Endpoint(from).Switch
	for range f.Switches() {
		c := f.Out(s, on.Forwarding.Port(s, dlid))
		if c == fabric.None || !led(known, f, c) {
			return -1
		}
		if f.Channel(c).To == to.Node {
			return int(on.Lanes.SL(fabric.EndpointID(f.Endpoint(from).Switch), dlid))
		}
		if s = f.Channel(c).To; int(s) >= f.Switches() {
			return -1
		}
	}
	return -1
}

// led reports whether a channel of a fabric led to the same switch, or from one to a host, in an earlier one.
func led(then, now *fabric.Fabric, c fabric.ChannelID) bool {
	ch := now.Channel(c)
	was := then.Out(then.NodeByGUID(now.Node(ch.From).GUID), ch.FromPort)
	if was == fabric.None {
		return false
	}
	to := then.Channel(was)
	return then.Node(to.To).GUID == now.Node(ch.To).GUID && to.ToPort == ch.ToPort
}
