package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
)

// This file checks the configurations of pins that weft route writes by what routers make of them: networks are drawn, their
// folders written as FRR and SONiC have them, and what comes out is read back by a parser of its own and given to a
// BGP of its own, which know nothing of how weft writes and computes.

// pinRouter is a router as it was drawn.
type pinRouter struct {
	name   string
	tier   int
	as     int
	subnet string // behind a leaf, 10.x.y
	nics   []string
	ports  []*pinPort
}

// pinPort is one end of a session over a cable, or over several that are a port channel.
type pinPort struct {
	at, peer *pinRouter
	other    *pinPort
	face     string   // interface, or port channel
	members  []string // of a port channel
	address  string
	call     string // what the router calls the neighbor
	down     bool
}

// pinNetwork is a drawn network with the dialect of its folder.
type pinNetwork struct {
	routers    []*pinRouter
	vrf        string
	sonic      bool
	channels   bool
	unnumbered bool
	csv        bool // adapters come as a list
	folders    bool
	groups     bool // sessions are of a peer group
	policy     bool // neighbors have a route map, or their group has
	packed     bool
	addresses  int
}

func drawPins(r *rand.Rand) *pinNetwork {
	n := &pinNetwork{sonic: r.IntN(3) == 0, csv: r.IntN(2) == 0, addresses: 1 + r.IntN(2)}
	n.folders, n.packed, n.groups = r.IntN(2) == 0, r.IntN(4) == 0, r.IntN(3) == 0
	n.policy = !n.sonic && r.IntN(2) == 0
	n.unnumbered = !n.sonic && r.IntN(3) == 0
	n.channels = n.sonic && r.IntN(2) == 0
	if !n.sonic && r.IntN(3) == 0 {
		n.vrf = []string{"Vrf-roce", "blue"}[r.IntN(2)]
	}
	names := [][4]string{{"leaf%02d", "spine%02d", "top%d", ""}, {"TOR-%d.dc1", "agg-%d.dc1", "core-%d.dc1", ""}, {"r%03d", "q%03d", "p%03d", ""}, {"z%d-a", "a%d-z", "m%d", ""}}[r.IntN(4)]
	count := [3]int{}
	add := func(tier, as int) *pinRouter {
		x := &pinRouter{name: fmt.Sprintf(names[tier], count[tier]), tier: tier, as: as}
		count[tier]++
		n.routers = append(n.routers, x)
		return x
	}
	link, ports := 0, map[*pinRouter]int{}
	cable := func(a, b *pinRouter) {
		var ends [2]*pinPort
		for i, x := range [2]*pinRouter{a, b} {
			p := &pinPort{at: x, peer: [2]*pinRouter{b, a}[i], address: fmt.Sprintf("10.255.%d.%d", link/64, link%64*2+i)}
			next := func() string {
				ports[x]++
				if n.sonic {
					return fmt.Sprintf("Ethernet%d", ports[x]*4)
				}
				return fmt.Sprintf("swp%d", ports[x])
			}
			p.face = next()
			if n.channels {
				p.members = []string{p.face, next()}
				p.face = fmt.Sprintf("PortChannel%d", 100+ports[x])
			}
			ends[i] = p
			x.ports = append(x.ports, p)
		}
		for i, p := range ends {
			p.other = ends[1-i]
			p.call = p.other.address
			if n.unnumbered {
				p.call = p.face
			}
		}
		link++
	}
	several := func(a, b *pinRouter) {
		for range 1 + r.IntN(8)/7 {
			cable(a, b)
		}
	}
	leafAS := 65100
	leaf := func() *pinRouter {
		leafAS++
		x := add(0, leafAS)
		x.subnet = fmt.Sprintf("10.%d.%d", 1+r.IntN(3), count[0])
		for i := range 1 + r.IntN(3) {
			for k := range n.addresses {
				x.nics = append(x.nics, fmt.Sprintf("%s.%d", x.subnet, 10+i*10+k))
			}
		}
		return x
	}
	if r.IntN(2) == 0 {
		var spines []*pinRouter
		for range 2 + r.IntN(3) {
			spines = append(spines, add(1, 65000))
		}
		for i := range 2 + r.IntN(4) {
			l := leaf()
			without := -1
			if i > 0 && r.IntN(3) == 0 { // a cable is missing
				without = r.IntN(len(spines))
			}
			for i, s := range spines {
				if i != without {
					several(l, s)
				}
			}
		}
	} else {
		planes, tops := 2, 1+r.IntN(2)
		var above [][]*pinRouter
		for range planes {
			var list []*pinRouter
			for range tops {
				list = append(list, add(2, 65000))
			}
			above = append(above, list)
		}
		for pod := range 2 + r.IntN(2) {
			var mids []*pinRouter
			for plane := range planes {
				m := add(1, 65001+pod)
				for _, t := range above[plane] {
					several(m, t)
				}
				mids = append(mids, m)
			}
			for range 1 + r.IntN(3) {
				l := leaf()
				for _, m := range mids {
					several(l, m)
				}
			}
		}
	}
	r.Shuffle(len(n.routers), func(i, j int) { n.routers[i], n.routers[j] = n.routers[j], n.routers[i] })
	return n
}

// device is whose file has a name.
func (n *pinNetwork) device(file string) string {
	for _, x := range n.routers {
		if strings.HasPrefix(file, x.name+".") {
			return x.name
		}
	}
	return ""
}

// write writes the folder of a network, and what weft is asked.
func (n *pinNetwork) write(t *testing.T, dir string) (args []string) {
	t.Helper()
	put := func(name, text string) {
		file := filepath.Join(dir, "net", name)
		if n.folders { // one for each device
			device := n.device(name)
			file = filepath.Join(dir, "net", device, strings.TrimPrefix(name, device+"."))
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if n.packed {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			file, text = file+".gz", b.String()
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	asJSON := func(v any) string {
		text, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	type object = map[string]any
	list := "name,ip,leaf\n"
	for _, x := range n.routers {
		var neighbors []object
		for i, ip := range x.nics {
			list += fmt.Sprintf("%s-h%d,%s,%s\n", x.name, i/n.addresses, ip, x.name)
			face := "hosts0"
			if n.sonic {
				face = "Vlan100"
			}
			neighbors = append(neighbors, object{"dst": ip, "dev": face, "lladdr": fmt.Sprintf("02:00:00:%02x:%02x:00", len(x.name), i/n.addresses), "state": []string{"REACHABLE"}})
		}
		if len(neighbors) > 0 && !n.csv {
			put(x.name+".neigh.json", asJSON(neighbors))
		}
		if n.sonic {
			db := object{"DEVICE_METADATA": object{"localhost": object{"hostname": x.name, "bgp_asn": strconv.Itoa(x.as), "type": "LeafRouter"}}}
			interfaces, channels, members, ports, neighbor := object{}, object{}, object{}, object{}, object{}
			for _, p := range x.ports {
				of := interfaces
				if p.members != nil {
					of = channels
					for i, m := range p.members {
						members[p.face+"|"+m] = object{}
						neighbor[m] = object{"name": p.peer.name, "port": p.other.members[i]}
						ports[m] = object{"speed": "100000", "admin_status": "up"}
					}
				} else {
					neighbor[p.face] = object{"name": p.peer.name, "port": p.other.face}
					ports[p.face] = object{"speed": "100000", "admin_status": "up"}
				}
				of[p.face] = object{}
				of[p.face+"|"+p.address+"/31"] = object{}
			}
			db["INTERFACE"], db["PORTCHANNEL_INTERFACE"], db["PORTCHANNEL_MEMBER"], db["PORT"], db["DEVICE_NEIGHBOR"] = interfaces, channels, members, ports, neighbor
			if x.subnet != "" {
				db["VLAN_INTERFACE"] = object{"Vlan100": object{}, "Vlan100|" + x.subnet + ".1/24": object{}}
			}
			put(x.name+".config_db.json", asJSON(db))
			continue
		}
		vrf := n.vrf
		if vrf == "" {
			vrf = "default"
		}
		face := func(address string) object {
			o := object{"administrativeStatus": "up", "operationalStatus": "up", "vrfName": vrf, "speed": 100000, "type": "Ethernet"}
			if address != "" {
				o["ipAddresses"] = []object{{"address": address}}
			}
			return o
		}
		interfaces := object{}
		conf := fmt.Sprintf("frr version 8.4\nhostname %s\n!\nrouter bgp %d", x.name, x.as)
		if n.vrf != "" {
			conf += " vrf " + n.vrf
			interfaces["eth0"] = object{"administrativeStatus": "up", "operationalStatus": "up", "vrfName": "default", "type": "Ethernet", "ipAddresses": []object{{"address": "192.168.0.9/24"}}}
		}
		conf += "\n no bgp ebgp-requires-policy\n bgp bestpath as-path multipath-relax\n"
		var heard []object
		remote := "remote-as external"
		if n.groups {
			conf += " neighbor FABRIC peer-group\n neighbor FABRIC remote-as external\n"
			remote = "peer-group FABRIC"
		}
		for _, p := range x.ports {
			if n.unnumbered {
				interfaces[p.face] = face("")
				conf += fmt.Sprintf(" neighbor %s interface %s\n", p.face, remote)
				heard = append(heard, object{p.face: object{"via": "LLDP", "chassis": object{p.peer.name: object{"mgmt-ip": "192.168.0.1"}}, "port": object{"id": object{"type": "ifname", "value": p.other.face}}}})
			} else {
				interfaces[p.face] = face(p.address + "/31")
				conf += fmt.Sprintf(" neighbor %s %s\n", p.call, remote)
			}
		}
		conf += " !\n address-family ipv4 unicast\n  redistribute connected\n  maximum-paths 64\n"
		if n.policy {
			for _, call := range slices.Sorted(maps.Keys(n.mapped(x))) {
				conf += fmt.Sprintf("  neighbor %s route-map ALL in\n  neighbor %[1]s route-map %s out\n", call, policyMap)
			}
		}
		conf += " exit-address-family\nexit\n"
		if n.policy {
			conf += "!\nroute-map ALL permit 10\nexit\n!\nroute-map " + policyMap + " permit 10\nexit\n"
		}
		if x.subnet != "" {
			interfaces["hosts0"] = face(x.subnet + ".1/24")
		}
		put(x.name+".interface.json", asJSON(interfaces))
		put(x.name+".frr.conf", conf)
		if heard != nil {
			put(x.name+".lldp.json", asJSON(object{"lldp": object{"interface": heard}}))
		}
	}
	args = []string{"route", filepath.Join(dir, "net"), "--routes", "bgp", "--pin", "--out", filepath.Join(dir, "pins"), "--addresses", strconv.Itoa(n.addresses)}
	if n.sonic { // the BGP of routers with SONiC alone is not read
		args = append(args, "--partial")
	}
	if n.vrf != "" {
		args = append(args, "--vrf", n.vrf)
	}
	if n.csv {
		file := filepath.Join(dir, "nics.csv")
		if err := os.WriteFile(file, []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--nic-list", file)
	}
	return args
}

// policyMap is the route map that routers announce by before there are pins.
const policyMap = "TO_PEERS"

// mapped is the names that a router's configuration has route maps for: of its peer group, or of each neighbor.
func (n *pinNetwork) mapped(x *pinRouter) map[string]bool {
	if n.groups {
		return map[string]bool{"FABRIC": true}
	}
	all := map[string]bool{}
	for _, p := range x.ports {
		all[p.call] = true
	}
	return all
}

// pinConfig is what a router has been told about pins.
type pinConfig struct {
	communities map[string][]string // [list]
	paths       map[string]string   // [list] a pattern of the AS path
	maps        map[string][]*pinEntry
	out         map[string]string // [neighbor] route map
	networks    map[string]string // [prefix] route map
	router      string
	unchecked   bool
}

type pinEntry struct {
	order          int
	permit         bool
	community, set string
	path           string
	call           string
}

func newPinConfig() *pinConfig {
	return &pinConfig{communities: map[string][]string{}, paths: map[string]string{}, maps: map[string][]*pinEntry{}, out: map[string]string{}, networks: map[string]string{}}
}

// tell gives a router a file of commands, as vtysh would.
func (c *pinConfig) tell(text string) error {
	var entry *pinEntry
	router, family := false, false
	for i, line := range strings.Split(text, "\n") {
		w := strings.Fields(line)
		if len(w) == 0 || w[0] == "!" {
			continue
		}
		no := w[0] == "no"
		if no {
			w = w[1:]
		}
		known := true
		at := func(k int) string {
			if k < len(w) {
				return w[k]
			}
			known = false
			return ""
		}
		switch {
		case entry == nil && !router && at(0) == "bgp" && at(1) == "community-list" && at(2) == "standard":
			name := at(3)
			if no {
				if c.communities[name] == nil {
					return fmt.Errorf("line %d: %s: there is no such list", i+1, line)
				}
				delete(c.communities, name)
			} else if known = at(4) == "permit"; known {
				c.communities[name] = append(c.communities[name], strings.Join(w[5:], " "))
			}
		case entry == nil && !router && at(0) == "bgp" && at(1) == "as-path" && at(2) == "access-list":
			if name := at(3); no {
				delete(c.paths, name)
			} else if known = at(4) == "permit"; known {
				c.paths[name] = at(5)
			}
		case entry == nil && !router && at(0) == "route-map":
			name := at(1)
			if no {
				for who, m := range c.out {
					if m == name {
						return fmt.Errorf("line %d: %s is taken away while %s has it", i+1, name, who)
					}
				}
				delete(c.maps, name)
				continue
			}
			order, err := strconv.Atoi(at(3))
			if err != nil || at(2) != "permit" && at(2) != "deny" {
				return fmt.Errorf("line %d: %s", i+1, line)
			}
			entry = &pinEntry{order: order, permit: at(2) == "permit"}
			c.maps[name] = append(slices.DeleteFunc(c.maps[name], func(e *pinEntry) bool { return e.order == order }), entry)
			slices.SortFunc(c.maps[name], func(a, b *pinEntry) int { return a.order - b.order })
		case entry != nil && at(0) == "match" && at(1) == "community":
			entry.community = at(2)
		case entry != nil && at(0) == "match" && at(1) == "as-path":
			entry.path = at(2)
		case entry != nil && at(0) == "call":
			entry.call = at(1)
		case entry != nil && at(0) == "set" && at(1) == "community":
			entry.set = strings.Join(w[2:], " ")
		case at(0) == "exit-address-family" && family:
			family = false
		case at(0) == "exit" && (entry != nil || router && !family):
			entry, router = nil, false
		case entry == nil && !router && at(0) == "router" && at(1) == "bgp":
			router, c.router = true, strings.Join(w[2:], " ")
		case router && !family && at(0) == "bgp" && at(1) == "network" && at(2) == "import-check":
			c.unchecked = no
		case router && at(0) == "address-family":
			family = true
			known = at(1) == "ipv4" && at(2) == "unicast"
		case family && at(0) == "neighbor" && at(2) == "route-map" && at(4) == "out":
			if no {
				if c.out[at(1)] != at(3) {
					return fmt.Errorf("line %d: %s: it is %q", i+1, line, c.out[at(1)])
				}
				delete(c.out, at(1))
			} else {
				c.out[at(1)] = at(3)
			}
		case family && at(0) == "network":
			if no {
				if _, there := c.networks[at(1)]; !there {
					return fmt.Errorf("line %d: %s: it is not there", i+1, line)
				}
				delete(c.networks, at(1))
			} else if known = at(2) == "route-map"; known {
				c.networks[at(1)] = at(3)
			}
		default:
			known = false
		}
		if !known {
			return fmt.Errorf("line %d: %q is no command here", i+1, line)
		}
	}
	return nil
}

// through is a route behind a route map; false if it is not let through.
func (c *pinConfig) through(name string, r pinRoute) (pinRoute, bool) {
	for _, e := range c.maps[name] {
		if e.community != "" && !slices.ContainsFunc(c.communities[e.community], func(all string) bool {
			for _, one := range strings.Fields(all) {
				if !slices.Contains(r.communities, one) {
					return false
				}
			}
			return true
		}) {
			continue
		}
		if e.path != "" && (c.paths[e.path] != "^$" || len(r.path) > 0) {
			continue
		}
		if e.set != "" {
			r.communities = strings.Fields(e.set)
		}
		if e.permit && e.call != "" {
			return c.through(e.call, r)
		}
		return r, e.permit
	}
	return r, false
}

// pinRoute is a route as it is announced.
type pinRoute struct {
	path        []int
	communities []string
}

// pinRoutes is where routers send packets to a prefix: nothing where they know no route, themselves where it is theirs.
func (n *pinNetwork) pinRoutes(configs map[*pinRouter]*pinConfig, prefix string) map[*pinRouter][]*pinPort {
	heard := map[*pinPort]*pinRoute{} // by the port at the receiver
	best := func(x *pinRouter) (own *pinRoute, ports []*pinPort) {
		if x.subnet != "" && prefix == x.subnet+".0/24" {
			return &pinRoute{}, nil
		}
		if m, announced := configs[x].networks[prefix]; announced && configs[x].unchecked {
			if r, ok := configs[x].through(m, pinRoute{}); ok {
				return &r, nil
			}
		}
		for _, p := range x.ports {
			r := heard[p]
			switch {
			case r == nil:
			case own == nil || len(r.path) < len(own.path):
				own, ports = r, []*pinPort{p}
			case len(r.path) == len(own.path):
				ports = append(ports, p)
			}
		}
		return own, ports
	}
	for settled := false; !settled; {
		settled = true
		for _, x := range n.routers {
			own, _ := best(x)
			for _, p := range x.ports {
				var sent *pinRoute
				if own != nil && !p.down {
					r := pinRoute{slices.Clone(own.path), own.communities}
					ok := true
					if m, filtered := configs[x].out[p.call]; filtered {
						r, ok = configs[x].through(m, r)
					}
					r.path = append([]int{x.as}, r.path...)
					if ok && !slices.Contains(r.path, p.peer.as) {
						sent = &r
					}
				}
				if before := heard[p.other]; fmt.Sprint(before == nil, before) != fmt.Sprint(sent == nil, sent) {
					heard[p.other], settled = sent, false
				}
			}
		}
	}
	all := map[*pinRouter][]*pinPort{}
	for _, x := range n.routers {
		if own, ports := best(x); own != nil {
			all[x] = ports
		}
	}
	return all
}

// arrive follows packets from a router by every choice, of the longest prefix known at each: the routers that they pass, and
// false if some do not arrive.
func arrivePins(from, to *pinRouter, tables ...map[*pinRouter][]*pinPort) (passed []*pinRouter, ok bool) {
	state := map[*pinRouter]int{}
	var visit func(x *pinRouter) bool
	visit = func(x *pinRouter) bool {
		if x == to {
			return true
		}
		if state[x] == 1 {
			return false // round and round
		}
		if state[x] == 2 {
			return true
		}
		state[x] = 1
		passed = append(passed, x)
		for _, t := range tables {
			if ports, knows := t[x]; knows {
				for _, p := range ports {
					if !visit(p.peer) {
						return false
					}
				}
				state[x] = 2
				return len(ports) > 0
			}
		}
		return false
	}
	return passed, visit(from)
}

// What routers make of the configurations is what pins.csv says: each address comes down by the devices named there, from all
// leaves that have a way to them, and others never hear of it; with any cable dead packets arrive wherever they did
// without pins; taken back nothing is left.
func TestPinsReadBack(t *testing.T) {
	seed, networks := uint64(20261126), testnet.Of(12, 6)
	if s, err := strconv.ParseUint(os.Getenv("WEFT_SEED"), 10, 64); err == nil {
		seed = s
	}
	if os.Getenv("WEFT_THOROUGH") != "" {
		networks = 600
	}
	kinds := map[string]int{}
	for i := range networks {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		n := drawPins(r)
		dir := t.TempDir()
		args := n.write(t, dir)
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Errorf("network %d, %+v: exit code %d\n%s%s", i, *n, code, out.String(), errs.String())
			continue
		}
		if why := n.readBack(filepath.Join(dir, "pins")); why != nil {
			t.Errorf("network %d (sonic %v, channels %v, unnumbered %v, VRF %q, %d addresses): %v", i, n.sonic, n.channels, n.unnumbered, n.vrf, n.addresses, why)
		}
		kinds[fmt.Sprintf("sonic %v, channels %v, unnumbered %v, VRF %v", n.sonic, n.channels, n.unnumbered, n.vrf != "")]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%s: %d networks", kind, kinds[kind])
	}
}

func (n *pinNetwork) readBack(dir string) error {
	configs := map[*pinRouter]*pinConfig{}
	named := map[string]*pinRouter{}
	before := map[*pinRouter]map[string]string{} // the route maps of neighbors without pins
	for _, x := range n.routers {
		named[x.name], configs[x] = x, newPinConfig()
		before[x] = map[string]string{}
		if n.policy {
			configs[x].maps[policyMap] = []*pinEntry{{order: 10, permit: true}}
		}
		if n.policy && !n.groups {
			for call := range n.mapped(x) {
				before[x][call] = policyMap
			}
		}
		maps.Copy(configs[x].out, before[x])
		text, err := os.ReadFile(filepath.Join(dir, x.name+".pins.conf"))
		if err != nil {
			continue
		}
		if err := configs[x].tell(string(text)); err != nil {
			return fmt.Errorf("%s.pins.conf: %w", x.name, err)
		}
		if want := strings.TrimSpace(strconv.Itoa(x.as) + map[bool]string{true: " vrf " + n.vrf}[n.vrf != ""]); configs[x].router != want {
			return fmt.Errorf("%s.pins.conf is for router bgp %q, and it is %q", x.name, configs[x].router, want)
		}
		for call, m := range configs[x].out {
			called := slices.ContainsFunc(configs[x].maps[m], func(e *pinEntry) bool { return e.call == policyMap })
			if n.policy && m != policyMap && !called {
				return fmt.Errorf("%s.pins.conf: %s no longer passes %s", x.name, call, policyMap)
			}
			if !slices.ContainsFunc(x.ports, func(p *pinPort) bool { return p.call == call }) {
				return fmt.Errorf("%s.pins.conf: there is no neighbor %s", x.name, call)
			}
		}
		_, err = os.Stat(filepath.Join(dir, x.name+".sonic.json"))
		if (err == nil) != n.sonic {
			return fmt.Errorf("%s: a file for SONiC: %v", x.name, err == nil)
		}
	}
	file, err := os.Open(filepath.Join(dir, "pins.csv"))
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return err
	}
	pinned := map[string][]string{} // by address: leaf, and those above
	for _, row := range rows[1:] {
		pinned[strings.TrimSuffix(row[1], "/32")] = row[2:]
	}
	// Single cables, of which some are looked at: the first of each router.
	var cables []*pinPort
	for _, x := range n.routers {
		cables = append(cables, x.ports[0])
	}
	total := 0
	for _, leaf := range n.routers {
		for _, ip := range leaf.nics {
			total++
			way := pinned[ip]
			if len(way) == 0 || way[0] != leaf.name {
				return fmt.Errorf("%s of %s is pinned at %v", ip, leaf.name, way)
			}
			if err := n.readPin(configs, leaf, ip, named[way[1]], named[way[2]], cables); err != nil {
				return fmt.Errorf("%s by %v: %w", ip, way, err)
			}
		}
	}
	if total != len(pinned) {
		return fmt.Errorf("%d pins of %d addresses", len(pinned), total)
	}
	for x, c := range configs {
		text, err := os.ReadFile(filepath.Join(dir, x.name+".unpin.conf"))
		if err != nil {
			if !maps.Equal(c.out, before[x]) {
				return err
			}
			continue
		}
		if err := c.tell(string(text)); err != nil {
			return fmt.Errorf("%s.unpin.conf: %w", x.name, err)
		}
		delete(c.maps, policyMap)
		if !maps.Equal(c.out, before[x]) {
			return fmt.Errorf("%s.unpin.conf leaves the route maps %v, and they were %v", x.name, c.out, before[x])
		}
		if len(c.networks)+len(c.maps)+len(c.communities)+len(c.paths) > 0 {
			return fmt.Errorf("%s.unpin.conf leaves %+v", x.name, *c)
		}
	}
	return nil
}

func (n *pinNetwork) readPin(configs map[*pinRouter]*pinConfig, leaf *pinRouter, ip string, up, top *pinRouter, cables []*pinPort) error {
	prefix, subnet := ip+"/32", leaf.subnet+".0/24"
	pin, under := n.pinRoutes(configs, prefix), n.pinRoutes(configs, subnet)
	if up == nil {
		return fmt.Errorf("there is nothing above")
	}
	for _, x := range n.routers {
		_, knows := pin[x]
		switch {
		case x == leaf:
			if !knows {
				return fmt.Errorf("%s does not announce it", x.name)
			}
		case x.tier > 0 && x.tier == up.tier && x != up && slices.ContainsFunc(x.ports, func(p *pinPort) bool { return p.peer == leaf }) && knows:
			return fmt.Errorf("%s hears of it too", x.name)
		case top != nil && x.tier == top.tier && x != top && knows:
			return fmt.Errorf("%s hears of it too", x.name)
		case x.tier == 0 && slices.ContainsFunc(x.ports, func(p *pinPort) bool { return p.peer == up }) && !knows:
			return fmt.Errorf("%s is below %s and does not hear of it", x.name, up.name)
		}
		if x == leaf || x.tier > 0 {
			continue
		}
		passed, ok := arrivePins(x, leaf, pin, under)
		if _, could := arrivePins(x, leaf, under); ok != could {
			return fmt.Errorf("from %s it arrives: %v, and to the subnet: %v", x.name, ok, could)
		}
		if knows {
			tops := 0
			for _, y := range passed {
				if slices.ContainsFunc(y.ports, func(p *pinPort) bool { return p.peer == leaf }) && y != up {
					return fmt.Errorf("from %s it comes down by %s", x.name, y.name)
				}
				if y.tier == 2 {
					tops++
					if y != top {
						return fmt.Errorf("from %s it passes %s", x.name, y.name)
					}
				}
			}
			if !slices.Contains(passed, up) {
				return fmt.Errorf("from %s it does not come by %s", x.name, up.name)
			}
		}
	}
	for _, dead := range cables {
		dead.down, dead.other.down = true, true
		pin, under := n.pinRoutes(configs, prefix), n.pinRoutes(configs, subnet)
		for _, x := range n.routers {
			if x == leaf || x.tier > 0 {
				continue
			}
			_, with := arrivePins(x, leaf, pin, under)
			if _, without := arrivePins(x, leaf, under); with != without {
				return fmt.Errorf("without the cable of %s and %s, from %s it arrives: %v, and to the subnet: %v", dead.at.name, dead.peer.name, x.name, with, without)
			}
		}
		dead.down, dead.other.down = false, false
	}
	return nil
}
