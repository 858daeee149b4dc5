package ethernet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/frr"
	"github.com/weft-fabric/weft/internal/testnet"
)

const daemons = "/usr/lib/frr/"

// clos is a network of routers: leaves have a subnet with hosts.
type clos struct {
	name   string
	leaves []string
	others []string
	cables [][2]string
	scheme bgp.Scheme
	sonic  bool // their BGP is configured as SONiC does it
}

func twoLevels(spines, leaves int, s bgp.Scheme) clos {
	c := clos{name: fmt.Sprintf("%d spines, %d leaves, AS %s", spines, leaves, s), scheme: s}
	for i := range spines {
		c.others = append(c.others, fmt.Sprintf("sp%d", i))
	}
	for i := range leaves {
		c.leaves = append(c.leaves, fmt.Sprintf("lf%d", i))
		for _, spine := range c.others {
			c.cables = append(c.cables, [2]string{c.leaves[i], spine})
		}
	}
	return c
}

// threeLevels is two pods of two leaves and two devices between, below two tops for each of these.
func threeLevels(s bgp.Scheme) clos {
	c := clos{name: fmt.Sprintf("three levels, AS %s", s), scheme: s}
	for pod := range 2 {
		for i := range 2 {
			c.leaves = append(c.leaves, fmt.Sprintf("lf%d%d", pod, i))
			c.others = append(c.others, fmt.Sprintf("md%d%d", pod, i), fmt.Sprintf("tp%d%d", pod, i))
			for j := range 2 {
				c.cables = append(c.cables, [2]string{fmt.Sprintf("lf%d%d", pod, i), fmt.Sprintf("md%d%d", pod, j)}, [2]string{fmt.Sprintf("md%d%d", pod, i), fmt.Sprintf("tp%d%d", i, j)})
			}
		}
	}
	return c
}

// lab is a clos that runs.
type lab struct {
	t   *testing.T
	c   clos
	tag string // before the names of namespaces
	dir string
	as  map[string]uint32

	pins []pin // that the routers were told
}

func sh(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "-euc", command).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// requireFRR skips the test where routers cannot be run.
func requireFRR(t *testing.T) {
	t.Helper()
	testnet.OnlyWhole(t)
	switch _, err := os.Stat(daemons + "bgpd"); {
	case os.Getuid() != 0:
		t.Skip("FRR's routers need root, for network namespaces")
	case err != nil:
		t.Skip("no FRR: apt-get install frr")
	}
	if out, err := exec.CommandContext(t.Context(), "ip", "netns", "list").CombinedOutput(); err != nil {
		t.Skipf("no network namespaces: %v %s", err, out)
	}
	name := fmt.Sprintf("weft-%d", os.Getpid())
	if out, err := exec.CommandContext(t.Context(), "ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Skipf("no network namespaces: %v %s", err, out)
	}
	sh(t, "ip netns del "+name)
}

// labs is how many were started: tests of routers run side by side, since these mostly wait for each other.
var labs atomic.Int32

func start(t *testing.T, c clos) *lab {
	t.Helper()
	dir, err := os.MkdirTemp("", "weft-frr-")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, c: c, tag: fmt.Sprintf("w%d.%d", os.Getpid(), labs.Add(1)), dir: dir, as: map[string]uint32{}}
	t.Cleanup(l.stop)
	all := slices.Concat(c.leaves, c.others)
	cabling := l.cabling()
	var leaves []ethernet.DeviceID
	for _, name := range c.leaves {
		leaves = append(leaves, cabling.Device(name))
	}
	for d, as := range bgp.Numbers(cabling, leaves, c.scheme) {
		l.as[cabling.Names[d]] = as
	}
	var script strings.Builder
	for _, d := range all {
		fmt.Fprintf(&script, "ip netns add %[1]s%[2]s; ip -n %[1]s%[2]s link set lo up; ip netns exec %[1]s%[2]s sh -c 'for f in ip_forward conf/all/rp_filter conf/default/rp_filter; do v=0; [ $f = ip_forward ] && v=1; echo $v >/proc/sys/net/ipv4/$f || true; done'\n", l.tag, d)
	}
	neighbors := map[string][]string{}
	for i, cable := range c.cables {
		a, b := cable[0], cable[1]
		fmt.Fprintf(&script, "ip link add %s-%s netns %s%s type veth peer name %s-%s netns %s%s\n", a, b, l.tag, a, b, a, l.tag, b)
		for end, d := range [2][2]string{{a, b}, {b, a}} {
			fmt.Fprintf(&script, "ip -n %[1]s%[2]s addr add 10.255.%[4]d.%[5]d/31 dev %[2]s-%[3]s; ip -n %[1]s%[2]s link set %[2]s-%[3]s up\n", l.tag, d[0], d[1], i, end)
			neighbors[d[0]] = append(neighbors[d[0]], fmt.Sprintf("10.255.%d.%d", i, 1-end))
		}
	}
	for i, d := range c.leaves {
		fmt.Fprintf(&script, "ip -n %s%s addr add 10.1.%d.1/24 dev lo\n", l.tag, d, i)
	}
	for i, d := range all {
		at := filepath.Join(dir, d)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		conf := fmt.Sprintf("hostname %s\nrouter bgp %d\n bgp router-id 9.9.9.%d\n no bgp ebgp-requires-policy\n bgp bestpath as-path multipath-relax\n timers bgp 1 3\n", d, l.as[d], i+1)
		for _, n := range neighbors[d] {
			conf += " neighbor " + n + " remote-as external\n"
		}
		if c.sonic {
			conf = stockSONiC + conf + l.asSONiC(i, neighbors[d])
		} else {
			conf += " address-family ipv4 unicast\n  redistribute connected\n  maximum-paths 64\n"
		}
		if err := os.WriteFile(filepath.Join(at, "frr.conf"), []byte(conf), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"zebra", "bgpd"} {
			fmt.Fprintf(&script, "ip netns exec %[1]s%[2]s %[3]s%[4]s -d -i %[5]s/%[4]s.pid -z %[5]s/zserv.api --vty_socket %[5]s -f %[5]s/frr.conf -u frr -g frr 2>/dev/null\n", l.tag, d, daemons, p, at)
		}
	}
	sh(t, "chmod 755 "+dir+"; chown frr:frr "+dir+"/*; "+script.String())
	return l
}

// stockSONiC is the route maps that every SONiC has, whose list of what is let in is empty.
const stockSONiC = `bgp community-list standard allow_list_default_community permit no-export
bgp community-list standard allow_list_default_community permit 5060:12345
route-map ALLOW_LIST_DEPLOYMENT_ID_0_V4 permit 65535
 set community 5060:12345 additive
route-map FROM_BGP_PEER_V4 permit 10
 call ALLOW_LIST_DEPLOYMENT_ID_0_V4
 on-match next
route-map FROM_BGP_PEER_V4 permit 11
 match community allow_list_default_community
route-map FROM_BGP_PEER_V4 permit 100
route-map TO_BGP_PEER_V4 permit 100
 call CHECK_IDF_ISOLATION
route-map CHECK_IDF_ISOLATION permit 10
`

// asSONiC is the rest of a router's BGP as SONiC has it: neighbors are of a group, which has the route maps.
func (l *lab) asSONiC(i int, neighbors []string) string {
	conf := " no bgp default ipv4-unicast\n neighbor PEER_V4 peer-group\n address-family ipv4 unicast\n  maximum-paths 64\n" +
		"  neighbor PEER_V4 soft-reconfiguration inbound\n  neighbor PEER_V4 route-map FROM_BGP_PEER_V4 in\n  neighbor PEER_V4 route-map TO_BGP_PEER_V4 out\n"
	if i < len(l.c.leaves) {
		conf += fmt.Sprintf("  neighbor PEER_V4 allowas-in 1\n  network 10.1.%d.0/24\n", i)
	}
	for _, n := range neighbors {
		conf += "  neighbor " + n + " peer-group PEER_V4\n  neighbor " + n + " activate\n"
	}
	return conf
}

// stop ends the routers by their process numbers, and takes the namespaces away.
func (l *lab) stop() {
	for _, d := range slices.Concat(l.c.leaves, l.c.others) {
		for _, p := range []string{"bgpd", "zebra"} {
			if text, err := os.ReadFile(filepath.Join(l.dir, d, p+".pid")); err == nil {
				if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
					_ = syscall.Kill(pid, syscall.SIGTERM)
				}
			}
		}
	}
	time.Sleep(time.Second)
	for _, d := range slices.Concat(l.c.leaves, l.c.others) {
		_ = exec.Command("ip", "netns", "del", l.tag+d).Run() //nolint:noctx // the test's context has ended
	}
	_ = os.RemoveAll(l.dir)
}

// cabling is the network as it is cabled.
func (l *lab) cabling() *ethernet.Cabling {
	var cables []ethernet.Cable
	for _, c := range l.c.cables {
		cables = append(cables, ethernet.Cable{A: ethernet.End{Device: c[0], Interface: c[0] + "-" + c[1]}, B: ethernet.End{Device: c[1], Interface: c[1] + "-" + c[0]}})
	}
	cabling, err := ethernet.NewCabling(slices.Concat(l.c.leaves, l.c.others), cables)
	if err != nil {
		l.t.Fatal(err)
	}
	return cabling
}

// set takes cables down or up.
func (l *lab) set(cables [][2]string, state string) {
	var script strings.Builder
	for _, c := range cables {
		fmt.Fprintf(&script, "ip -n %s%s link set %s-%s %s\n", l.tag, c[0], c[0], c[1], state)
	}
	sh(l.t, script.String())
}

// zebra asks a router's zebra as vtysh does, which takes a tenth of a second each time to read its own commands: a command that
// ends with a zero byte, answered by text, three zero bytes and a status.
func (l *lab) zebra(device, command string) ([]byte, error) {
	c, err := net.Dial("unix", filepath.Join(l.dir, device, "zebra.vty"))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	if _, err := c.Write([]byte(command + "\x00")); err != nil {
		return nil, err
	}
	var text []byte
	for part := make([]byte, 1<<16); ; {
		n, err := c.Read(part)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", device, command, err)
		}
		text = append(text, part[:n]...)
		if end := len(text) - 4; end >= 0 && bytes.Equal(text[end:end+3], []byte{0, 0, 0}) {
			if text[end+3] != 0 {
				return nil, fmt.Errorf("%s: %s: status %d", device, command, text[end+3])
			}
			return text[:end], nil
		}
	}
}

// read reads what the routers say; why is what keeps it from being compared.
func (l *lab) read() (n *ethernet.Network, why string) {
	dump := filepath.Join(l.dir, "dump")
	if err := os.MkdirAll(dump, 0o700); err != nil {
		l.t.Fatal(err)
	}
	for _, d := range slices.Concat(l.c.leaves, l.c.others) {
		for _, what := range [][2]string{{"ip route", "route"}, {"interface", "interface"}} {
			text, err := l.zebra(d, "show "+what[0]+" json")
			if err != nil {
				return nil, err.Error()
			}
			if err := os.WriteFile(filepath.Join(dump, d+"."+what[1]+".json"), text, 0o600); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	// What zebra selects is compared, also where this machine's kernel refuses to install it.
	n, err := folder.Read(l.t.Context(), dump, folder.Options{Partial: true})
	if err != nil {
		return nil, err.Error()
	}
	for _, gap := range n.Gaps {
		if !strings.Contains(gap, "could not be installed") {
			return nil, gap
		}
	}
	return n, ""
}

// differ says where the routers go another way than is computed; empty: nowhere.
func (l *lab) differ() string {
	n, why := l.read()
	if why != "" {
		return why
	}
	classes := bgp.HostClasses(n)
	if len(classes) != len(l.c.leaves) {
		return fmt.Sprintf("%d of %d subnets", len(classes), len(l.c.leaves))
	}
	as := make([]uint32, len(n.Names))
	for d, name := range n.Names {
		as[d] = l.as[name]
	}
	plan, err := bgp.NewPlan(n.Cabling, bgp.Leaves(n.Classes), bgp.BGP, as)
	if err != nil {
		return err.Error()
	}
	plan.Fill(classes)
	if len(l.pins) > 0 {
		return l.pinsDiffer(n)
	}
	for i := range classes {
		for j := range n.Classes {
			if !slices.Contains(n.Classes[j].Prefixes, classes[i].Prefix()) {
				continue
			}
			for link := range ethernet.LinkID(len(n.Links)) {
				if n.Has(n.Classes[j].Next, link) != n.Has(classes[i].Next, link) {
					return fmt.Sprintf("%s to %s: FRR says %v of the next hop by it", n.End(link), classes[i].Prefix(), n.Has(n.Classes[j].Next, link))
				}
			}
		}
	}
	return ""
}

// sameAsText asks the routers for their routes as JSON and as text, and fails where these are not read alike.
func (l *lab) sameAsText() {
	l.t.Helper()
	for _, d := range slices.Concat(l.c.leaves, l.c.others) {
		var read [2][]frr.Route
		for i, form := range []string{" json", ""} {
			text := sh(l.t, fmt.Sprintf("vtysh --vty_socket %s/%s -c 'show ip route%s' 2>/dev/null", l.dir, d, form))
			routes, err := frr.ReadRoutes(strings.NewReader(text), d, "default", map[string]bool{})
			if err != nil {
				l.t.Fatalf("%v\n%s", err, text)
			}
			for j := range routes {
				routes[j].Line = 0
			}
			read[i] = routes
		}
		same := func(a, b frr.Route) bool {
			return a.Prefix == b.Prefix && a.Protocol == b.Protocol && a.Unknown == b.Unknown && slices.Equal(a.Hops, b.Hops)
		}
		if len(read[0]) == 0 || !slices.EqualFunc(read[0], read[1], same) {
			l.t.Errorf("%s: as JSON %+v\nas text %+v", d, read[0], read[1])
		}
	}
}

// pause is between two questions to the routers.
const pause = 300 * time.Millisecond

// settle waits until the routers go the ways that are computed, for so many times in a row that
// they have come to rest.
func (l *lab) settle(what string) {
	l.t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for agreed := 0; agreed < 2; {
		switch why := l.differ(); {
		case why == "":
			agreed++
		case time.Now().After(deadline):
			l.t.Fatalf("%s, %s: FRR goes other ways than are computed: %s", l.c.name, what, why)
		default:
			agreed = 0
		}
		time.Sleep(pause)
	}
}

// What is computed as BGP's routes is what FRR's routers have in force, with links down that are
// drawn at random.
func TestComputedRoutesAreFRRs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts routers")
	}
	requireFRR(t)
	t.Parallel()
	networks, sets := []clos{twoLevels(2, 3, bgp.PerSwitch)}, 1
	if os.Getenv("WEFT_THOROUGH") != "" {
		sets = 9
		networks = []clos{twoLevels(2, 4, bgp.PerSwitch), twoLevels(2, 4, bgp.SpinesAlike), twoLevels(4, 8, bgp.PerSwitch), twoLevels(4, 8, bgp.SpinesAlike), threeLevels(bgp.PerSwitch), threeLevels(bgp.PerLeaf)}
	}
	r := rand.New(rand.NewPCG(17, 65001))
	for _, c := range networks {
		t.Run(c.name, func(t *testing.T) {
			l := start(t, c)
			l.settle("nothing down")
			l.sameAsText()
			for range sets {
				var down [][2]string
				for _, i := range r.Perm(len(c.cables))[:1+r.IntN(max(2, len(c.cables)/4))] {
					down = append(down, c.cables[i])
				}
				l.set(down, "down")
				l.settle(fmt.Sprintf("%v down", down))
				l.set(down, "up")
				l.settle("all up again")
			}
		})
	}
}
