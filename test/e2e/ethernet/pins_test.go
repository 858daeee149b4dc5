package ethernet

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/pins"
)

// pin is an address of a leaf with the devices above that it comes down by.
type pin struct {
	prefix string
	leaf   string
	up     []string
}

// pinsOn is the pins on a network.
func (l *lab) pinsOn(n *ethernet.Network, classes []ethernet.Class) []bgp.Pin {
	var list []bgp.Pin
	for _, p := range l.pins {
		b := bgp.Pin{Prefix: netip.MustParsePrefix(p.prefix), At: n.Device(p.leaf)}
		b.Under = slices.IndexFunc(classes, func(c ethernet.Class) bool { return slices.Equal(c.At, []ethernet.DeviceID{b.At}) })
		for _, up := range p.up {
			b.Up = append(b.Up, n.Device(up))
		}
		list = append(list, b)
	}
	return list
}

// planned is the network as it is cabled, with the pins and the plan of all routes.
func (l *lab) planned() (*ethernet.Network, *bgp.Plan, []bgp.Pin) {
	l.t.Helper()
	c := l.cabling()
	n := &ethernet.Network{Cabling: c}
	var leaves []ethernet.DeviceID
	for _, name := range l.c.leaves {
		d := c.Device(name)
		leaves = append(leaves, d)
		n.Classes = append(n.Classes, ethernet.Class{Prefixes: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.1.%d.0/24", len(n.Classes)))}, At: []ethernet.DeviceID{d}, Hosts: true})
	}
	n.AS = make([]uint32, len(c.Names))
	for d, name := range c.Names {
		n.AS[d] = l.as[name]
	}
	plan, err := bgp.NewPlan(c, leaves, bgp.BGP, n.AS)
	if err != nil {
		l.t.Fatal(err)
	}
	plan.Fill(n.Classes)
	list := l.pinsOn(n, n.Classes)
	if n.Classes, err = plan.SetPins(n.Classes, list); err != nil {
		l.t.Fatal(err)
	}
	return n, plan, list
}

// pinsDiffer says where the routers go another way than is computed, for subnets and pins.
func (l *lab) pinsDiffer(read *ethernet.Network) string {
	n, plan, _ := l.planned()
	down := make([]bool, len(n.Links))
	there := make([]ethernet.LinkID, len(n.Links)) // the link as it was read
	for link := range n.Links {
		e := n.End(ethernet.LinkID(link))
		there[link] = read.LinkAt(read.Device(e.Device), e.Interface)
		down[link] = there[link] == ethernet.None
	}
	computer, row := bgp.NewComputer(plan), n.NewRow()
	for i := range n.Classes {
		computer.Class(i, n.Classes[i].At, down, row)
		for _, prefix := range n.Classes[i].Prefixes {
			found := slices.IndexFunc(read.Classes, func(c ethernet.Class) bool { return slices.Contains(c.Prefixes, prefix) })
			if found < 0 {
				if plan.Pin(i) == nil {
					return "no route to " + prefix.String()
				}
				continue // known to nobody: packets take the subnet's routes, which are compared
			}
			for link := range ethernet.LinkID(len(n.Links)) {
				if !down[link] && read.Has(read.Classes[found].Next, there[link]) != n.Has(row, link) {
					return fmt.Sprintf("%s to %s: computed is %v of the next hop by it, and FRR says otherwise", n.End(link), prefix, n.Has(row, link))
				}
			}
		}
	}
	return ""
}

// tell gives the routers the configurations of pins, or takes them back.
func (l *lab) tell(undo bool) {
	l.t.Helper()
	n, plan, list := l.planned()
	c := n.Cabling
	address := map[ethernet.End]string{} // of the other end
	for i, cable := range l.c.cables {
		for end := range 2 {
			a, b := cable[end], cable[1-end]
			address[ethernet.End{Device: a, Interface: a + "-" + b}] = fmt.Sprintf("10.255.%d.%d", i, 1-end)
		}
	}
	configs, err := pins.Configs(n, n.AS, "", plan.Level, list, func(link ethernet.LinkID) pins.Neighbor { return pins.Neighbor{Name: address[c.End(link)]} })
	if err != nil {
		l.t.Fatal(err)
	}
	for _, config := range configs {
		text := config.Apply
		if undo {
			text = config.Undo
		}
		file := filepath.Join(l.dir, config.Device, "pins.conf")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			l.t.Fatal(err)
		}
		sh(l.t, fmt.Sprintf("vtysh --vty_socket %s/%s -f %s", l.dir, config.Device, file))
	}
}

// What pins are computed to do, with every single link down, is what FRR's routers do that were told by
// the configurations that weft writes; and taken back they leave nothing.
func TestPinsAreFRRs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts routers")
	}
	requireFRR(t)
	t.Parallel()
	networks := []clos{twoLevels(2, 3, bgp.SpinesAlike)}
	if os.Getenv("WEFT_THOROUGH") != "" {
		networks = []clos{twoLevels(2, 4, bgp.SpinesAlike), twoLevels(4, 4, bgp.SpinesAlike), threeLevels(bgp.PerLeaf)}
	}
	for _, c := range networks {
		t.Run(c.name, func(t *testing.T) {
			l := start(t, c)
			l.settle("before pins")
			for i, leaf := range c.leaves {
				for k := range 2 {
					p := pin{prefix: fmt.Sprintf("10.1.%d.%d/32", i, 11+k), leaf: leaf}
					above := l.above(leaf)
					p.up = append(p.up, above[(i+k)%len(above)])
					if tops := l.above(p.up[0]); len(tops) > 0 {
						p.up = append(p.up, tops[k%len(tops)])
					}
					l.pins = append(l.pins, p)
				}
			}
			l.tell(false)
			l.inForce()
			l.settle("pinned")
			cables := c.cables
			if os.Getenv("WEFT_THOROUGH") == "" {
				cables = cables[:1]
			}
			for _, cable := range cables {
				l.set([][2]string{cable}, "down")
				l.settle(fmt.Sprintf("pinned, %v down", cable))
				l.set([][2]string{cable}, "up")
			}
			l.settle("pinned, all up again")
			l.failover(l.pins[len(l.pins)-1])
			l.tell(true)
			l.pins = nil
			l.settle("taken back")
		})
	}
}

// weft runs the command, and returns what it prints and its exit code.
func (l *lab) weft(args ...string) (string, int) {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	out, err := cmd.CombinedOutput()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		l.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// vtysh has a router say or do something.
func (l *lab) vtysh(device string, commands ...string) string {
	l.t.Helper()
	line := "vtysh --vty_socket " + l.dir + "/" + device
	for _, c := range commands {
		line += " -c '" + c + "'"
	}
	return sh(l.t, line+" 2>/dev/null")
}

// Pins of routers with SONiC's own route maps are announced through these, which weft reads in what the routers say of themselves: FRR
// goes the ways that weft computes, and the map that takes a router out of traffic takes its pins too.
func TestPinsThroughSONiCsRouteMaps(t *testing.T) {
	if testing.Short() {
		t.Skip("starts routers")
	}
	requireFRR(t)
	t.Parallel()
	c := twoLevels(2, 3, bgp.SpinesAlike)
	if os.Getenv("WEFT_THOROUGH") != "" {
		c = threeLevels(bgp.PerLeaf)
	}
	c.sonic = true
	l := start(t, c)
	l.settle("before pins")
	dump := filepath.Join(l.dir, "dump")
	configurations := func() {
		for _, d := range slices.Concat(c.leaves, c.others) {
			if err := os.WriteFile(filepath.Join(dump, d+".frr.conf"), []byte(l.vtysh(d, "show running-config")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	configurations()
	list := "name,ip,leaf\n"
	for i, leaf := range c.leaves {
		for k := range 2 {
			list += fmt.Sprintf("nic%d-%d,10.1.%d.%d,%s\n", i, k, i, 11+k, leaf)
		}
	}
	nics, to := filepath.Join(l.dir, "nics.csv"), filepath.Join(l.dir, "pins")
	if err := os.WriteFile(nics, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := l.weft("route", dump, "--pin", "--nic-list", nics, "--out", to); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	text, err := os.ReadFile(filepath.Join(to, "pins.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(text))[1:] {
		f := strings.Split(line, ",")
		l.pins = append(l.pins, pin{prefix: f[1], leaf: f[2], up: slices.DeleteFunc(f[3:], func(s string) bool { return s == "" })})
	}
	if len(l.pins) != 2*len(c.leaves) {
		t.Fatalf("pins.csv:\n%s", text)
	}
	tell := func(kind string) {
		for _, d := range slices.Concat(c.leaves, c.others) {
			file := filepath.Join(to, d+"."+kind+".conf")
			if text, err := os.ReadFile(file); err == nil {
				if kind == "pins" && !strings.Contains(string(text), "\n call TO_BGP_PEER_V4\n") {
					t.Errorf("%s calls no map of SONiC's:\n%s", file, text)
				}
				sh(t, fmt.Sprintf("vtysh --vty_socket %s/%s -f %s", l.dir, d, file))
			}
		}
	}
	tell("pins")
	l.inForce()
	l.settle("pinned")
	l.set(c.cables[:1], "down")
	l.settle(fmt.Sprintf("pinned, %v down", c.cables[0]))
	l.set(c.cables[:1], "up")
	l.settle("pinned, all up again")

	// Out of traffic, as SONiC's TSA does it: nobody hears of what is behind the leaf, and no pins are made for it.
	out, last := c.leaves[0], c.leaves[len(c.leaves)-1]
	l.vtysh(out, "configure terminal", "route-map TO_BGP_PEER_V4 deny 3")
	for deadline := time.Now().Add(time.Minute); strings.Contains(l.vtysh(last, "show ip route"), " 10.1.0."); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s still has routes to %s:\n%s", last, out, l.vtysh(last, "show ip route"))
		}
	}
	configurations()
	if text, code := l.weft("route", dump, "--pin", "--nic-list", nics, "--out", to+"2"); code != 3 || !strings.Contains(text, out+".frr.conf:") || !strings.Contains(text, "denies routes") {
		t.Errorf("exit code %d\n%s", code, text)
	}
	l.vtysh(out, "configure terminal", "no route-map TO_BGP_PEER_V4 deny 3")
	l.settle("back in traffic")
	tell("unpin")
	l.pins = nil
	l.settle("taken back")
}

// above is the devices above another: names begin with the tier.
func (l *lab) above(device string) []string {
	order := map[string]int{"lf": 0, "md": 1, "sp": 1, "tp": 2}
	var list []string
	for _, c := range l.c.cables {
		for end := range 2 {
			if c[end] == device && order[c[1-end][:2]] > order[device[:2]] {
				list = append(list, c[1-end])
			}
		}
	}
	return list
}

// inForce waits until there are routes to all pins: until then they agree with what is computed, by the subnets' routes.
func (l *lab) inForce() {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(pause) {
		n, why := l.read()
		if why == "" && told(n, l.pins) {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("%s: pins are not in force: %s", l.c.name, why)
		}
	}
}

// told reports whether the routers have routes to all pins.
func told(n *ethernet.Network, pins []pin) bool {
	for _, p := range pins {
		if !slices.ContainsFunc(n.Classes, func(c ethernet.Class) bool { return slices.Contains(c.Prefixes, netip.MustParsePrefix(p.prefix)) }) {
			return false
		}
	}
	return true
}
