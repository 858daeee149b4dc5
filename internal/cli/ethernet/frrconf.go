package ethernet

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/ethernet/pins"
	"github.com/weft-fabric/weft/internal/reading"
)

// frrFile is what a configuration of FRR is called, and sonicFile one of SONiC.
var frrFile, sonicFile = named("frr"), named("config_db", "minigraph")

// What a configuration of FRR says that matters for computed routes and for pins.
var (
	filterLine = regexp.MustCompile(`^\s*neighbor (\S+) (route-map|prefix-list|filter-list|distribute-list) (\S+) (in|out)\s*$`)
	limitLine  = regexp.MustCompile(`^\s*neighbor (\S+) maximum-prefix (\d+)`)
	peerGroup  = regexp.MustCompile(`^\s*neighbor (\S+) (?:interface )?peer-group (\S+)\s*$`)
	session    = regexp.MustCompile(`^\s*neighbor (\S+) (?:remote-as|interface|peer-group|activate)\b`)
	listening  = regexp.MustCompile(`^\s*bgp listen range (\S+) peer-group (\S+)`)
	routerOf   = regexp.MustCompile(`^router bgp (\S+)(?:\s.*?\bvrf (\S+))?`)
	familyLine = regexp.MustCompile(`^\s*address-family (.*\S)\s*$`)
	ownAS      = regexp.MustCompile(`^\s*neighbor (\S+) allowas-in(?: (\d+))?\s*$`)
	unsaid     = regexp.MustCompile(`^\s*no neighbor (\S+) send-community\b`)
	summary    = regexp.MustCompile(`^\s*aggregate-address (\S+) .*summary-only\b`)
	mapLine    = regexp.MustCompile(`^route-map (\S+) (permit|deny) (\d+)`)
	ofPins     = regexp.MustCompile(`^bgp community-list (?:standard )?(\S+) (?:seq \d+ )?permit ` + pins.Mark + `\s*$`)
)

// confining is the communities with which routes are not announced further, as FRR calls them.
var confining = []string{"no-export", "no-advertise", "local-AS", "no-peer"}

// place is something that a configuration says, and where.
type place struct {
	line int    // 0: it does not say it
	of   string // the name of a map or list, a number, or whatever else the line gives
}

// mapEntry is an entry of a route map.
type mapEntry struct {
	line     int
	permit   bool
	matches  int    // how many conditions routes have to meet
	list     string // one of them: a list of communities
	replaces bool   // the communities of routes
	confines bool   // gives routes a community with which neighbors keep them to themselves
	call     string // another map, which has to permit routes too
	goesOn   bool   // routes that it permits come to the next entry
	jumps    bool   // or to another one
}

// frrConf is a configuration of FRR, as far as computed routes and pins have to do with it.
type frrConf struct {
	file     string
	of       ethernet.DeviceID
	hasBGP   bool              // it has the BGP of the VRF
	sessions map[string]bool   // neighbors and peer groups that it names
	groups   map[string]string // by neighbor: its peer group
	filters  map[string]place  // by neighbor or group, kind and direction, with blanks between
	limits   map[string]place  // by neighbor or group: how many prefixes it may announce
	own      map[string]place  // by neighbor or group: how often routes that are taken may have the router's own AS number
	silent   map[string]int    // by neighbor or group that is sent no communities: the line
	listen   place             // a range of addresses whose neighbors it waits for
	listens  string            // the peer group of these
	summary  place             // a prefix that is announced in place of those in it
	maps     map[string][]mapEntry
	ofPins   map[string]bool // lists of communities that all pins meet
}

// readFRRConf reads the text of a configuration, of BGP the instance of one VRF.
func readFRRConf(file, text, vrf string) *frrConf {
	c := &frrConf{
		file: file, sessions: map[string]bool{}, groups: map[string]string{}, filters: map[string]place{},
		limits: map[string]place{}, own: map[string]place{}, silent: map[string]int{}, maps: map[string][]mapEntry{}, ofPins: map[string]bool{},
	}
	in, ipv4 := true, true // the line is in the BGP of the VRF, or before any; and about IPv4
	var entry *mapEntry    // of the route map that the line is in
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if m := ofPins.FindStringSubmatch(line); m != nil {
			c.ofPins[m[1]] = true
		}
		if m := mapLine.FindStringSubmatch(line); m != nil {
			c.maps[m[1]] = append(c.maps[m[1]], mapEntry{line: i + 1, permit: m[2] == "permit"})
			entry = &c.maps[m[1]][len(c.maps[m[1]])-1]
		}
		if m := routerOf.FindStringSubmatch(line); m != nil {
			in, ipv4 = cmp.Or(m[2], "default") == cmp.Or(vrf, "default"), true
			c.hasBGP = c.hasBGP || in
			entry = nil
		} else if line != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "!") {
			in = false
		}
		if entry != nil {
			entry.take(line)
		}
		if in {
			if m := familyLine.FindStringSubmatch(line); m != nil {
				ipv4 = m[1] == "ipv4" || m[1] == "ipv4 unicast"
			} else if strings.TrimSpace(line) == "exit-address-family" {
				ipv4 = true
			}
			c.take(i+1, line, ipv4)
		}
	}
	return c
}

// take takes a line of an entry of a route map.
func (e *mapEntry) take(line string) {
	words := strings.Fields(line)
	switch {
	case strings.TrimSpace(line) == "continue" || len(words) == 2 && words[0] == "on-match" && words[1] == "next":
		e.goesOn = true
	case len(words) < 2:
	case words[0] == "continue" || words[0] == "on-match":
		e.jumps = true
	case words[0] == "match":
		e.matches++
		if words[1] == "community" && len(words) == 3 {
			e.list = words[2]
		}
	case words[0] == "call":
		e.call = words[1]
	case words[0] == "set" && (words[1] == "comm-list" || words[1] == "community" && words[len(words)-1] != "additive"):
		e.replaces = true
	case words[0] == "set" && words[1] == "community":
		e.confines = slices.ContainsFunc(words[2:], func(w string) bool { return slices.Contains(confining, w) })
	}
}

// take takes a line of the BGP.
func (c *frrConf) take(number int, line string, ipv4 bool) {
	if m := peerGroup.FindStringSubmatch(line); m != nil {
		c.groups[m[1]] = m[2]
	}
	if m := session.FindStringSubmatch(line); m != nil {
		c.sessions[m[1]] = true
	}
	if m := listening.FindStringSubmatch(line); m != nil {
		c.listen, c.listens = place{number, m[1]}, m[2]
	}
	if !ipv4 {
		return
	}
	if m := filterLine.FindStringSubmatch(line); m != nil {
		c.filters[m[1]+" "+m[2]+" "+m[4]] = place{number, m[3]}
	}
	if m := limitLine.FindStringSubmatch(line); m != nil {
		c.limits[m[1]] = place{number, m[2]}
	}
	if m := ownAS.FindStringSubmatch(line); m != nil {
		c.own[m[1]] = place{number, cmp.Or(m[2], "3")}
	}
	if m := unsaid.FindStringSubmatch(line); m != nil {
		c.silent[m[1]] = number
	}
	if m := summary.FindStringSubmatch(line); m != nil {
		c.summary = place{number, m[1]}
	}
}

func (c *frrConf) errorf(line int, msg string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", reading.Printable(c.file), line, fmt.Sprintf(msg, args...))
}

// filter is a filter of a neighbor, or else of its peer group.
func (c *frrConf) filter(neighbor, kind, direction string) (f place, ofGroup bool) {
	if f, own := c.filters[neighbor+" "+kind+" "+direction]; own {
		return f, false
	}
	return c.filters[c.group(neighbor)+" "+kind+" "+direction], true
}

// group is the peer group of a neighbor.
func (c *frrConf) group(neighbor string) string {
	if !c.sessions[neighbor] {
		return c.listens
	}
	return c.groups[neighbor]
}

// letsPass is an error unless the route map f lets pins pass with their communities; what says what the map is for. Where matches decide
// that nobody can tell here, it is an error too.
func (c *frrConf) letsPass(f place, what string) error {
	return c.letsPassBy(f, what, 0)
}

// mostCalls is how deep FRR follows calls of route maps.
const mostCalls = 10

// letsPassBy is letsPass for a map that others call, so deep.
func (c *frrConf) letsPassBy(f place, what string, depth int) error {
	const byHand = "pins may be among them: give it an entry before that permits community " + pins.Mark
	if depth > mostCalls {
		return c.errorf(f.line, "the route map %s %s calls others more than %d deep, and FRR denies the routes there", reading.Printable(f.of), what, mostCalls)
	}
	for _, e := range c.maps[f.of] {
		switch {
		case e.permit && e.replaces:
			return c.errorf(e.line, "the route map %s %s replaces communities, which pins are told by: set them with additive", reading.Printable(f.of), what)
		case e.permit && e.confines:
			return c.errorf(e.line, "the route map %s %s gives routes a community with which they are not announced further, and %s", reading.Printable(f.of), what, byHand)
		case e.permit && e.jumps:
			return c.errorf(e.line, "the route map %s %s goes on at another entry, which weft does not follow, and %s", reading.Printable(f.of), what, byHand)
		case !e.permit:
			return c.errorf(e.line, "the route map %s %s denies routes, and %s", reading.Printable(f.of), what, byHand)
		}
		if e.call != "" {
			if err := c.letsPassBy(place{e.line, e.call}, "that "+f.of+" calls "+what, depth+1); err != nil {
				return err
			}
		}
		if (e.matches == 0 || e.matches == 1 && c.ofPins[e.list]) && !e.goesOn {
			return nil
		}
	}
	return c.errorf(f.line, "the route map %s %s denies what none of its entries permits, and %s", reading.Printable(f.of), what, byHand)
}

// before is the route map by which a router announces to a neighbor where there are no pins. Where pins are in force already, it is the map
// that theirs calls.
func (c *frrConf) before(neighbor string) (f place, ofGroup bool) {
	f, ofGroup = c.filter(neighbor, "route-map", "out")
	if !strings.HasPrefix(f.of, "WEFT-") {
		return f, ofGroup
	}
	called := ""
	for _, e := range c.maps[f.of] {
		called = cmp.Or(called, e.call)
	}
	group := c.filters[c.group(neighbor)+" route-map out"]
	return place{f.line, called}, called == group.of
}

// neighbors says what a router calls its neighbor at the other end of a link: by the address there, or by the interface where
// BGP is unnumbered. It refuses routers whose configurations, as far as the folder has them, say something that pins
// would break, or that would break pins.
func (j *pinJob) neighbors() (func(ethernet.LinkID) pins.Neighbor, error) {
	t := j.t
	byInterface, announced := map[ethernet.LinkID]bool{}, map[ethernet.LinkID]pins.Neighbor{}
	call := func(l ethernet.LinkID) string {
		if back := t.Reverse[l]; !byInterface[l] && t.Addresses != nil && t.Addresses[back].IsValid() {
			return t.Addresses[back].String()
		}
		return t.Links[l].FromInterface
	}
	neighbor := func(l ethernet.LinkID) pins.Neighbor {
		n := announced[l]
		n.Name = call(l)
		return n
	}
	for _, c := range t.confs {
		d := c.of
		if !c.hasBGP || t.plan.Level(d) < 0 {
			continue // no router that pins have to do with, or its BGP is configured elsewhere
		}
		if c.summary.line > 0 {
			return nil, c.errorf(c.summary.line, "%s announces %s in place of all routes in it (summary-only), pins among them: take that word away, or leave pins", t.Names[d], reading.Printable(c.summary.of))
		}
		for l, end := t.LinksFrom(d); l < end; l++ {
			if face := t.Links[l].FromInterface; !c.sessions[call(l)] && c.sessions[face] {
				byInterface[l] = true
			}
			up := t.plan.Level(t.Links[l].To) > t.plan.Level(d)
			if !up && t.plan.Level(t.Links[l].To) < 0 {
				continue
			}
			var err error
			if announced[l], err = j.checkSession(c, d, l, call(l), up); err != nil {
				return nil, err
			}
		}
	}
	return neighbor, nil
}

// unread is the routers of the folder called name without a configuration of their BGP: of these it is not known by which route maps they
// announce, and how often they take their own AS number.
func (j *pinJob) unread(name string) []string {
	all := []string{}
	if !folder.IsFolder(name) {
		return all
	}
	for d, device := range j.t.Names {
		d := ethernet.DeviceID(d)
		if j.t.plan.Level(d) >= 0 && !slices.ContainsFunc(j.t.confs, func(c *frrConf) bool { return c.of == d && c.hasBGP }) {
			all = append(all, device)
		}
	}
	return all
}

// checkSession is what the configuration c of router d says of the neighbor at the other end of link l, which is above it or below (up). It is
// an error if that would break pins, or pins would break it.
func (j *pinJob) checkSession(c *frrConf, d ethernet.DeviceID, l ethernet.LinkID, neighbor string, up bool) (n pins.Neighbor, err error) {
	t := j.t
	own := t.Names[d]
	for _, direction := range [...]string{"in", "out"} {
		for _, kind := range [...]string{"prefix-list", "filter-list", "distribute-list"} {
			if f, _ := c.filter(neighbor, kind, direction); f.line > 0 {
				return n, c.errorf(f.line, "%s filters its routes with %s (%s %s %s), and pins may be among what does not pass: say it by a route map that permits community %s first", own, neighbor, kind, reading.Printable(f.of), direction, pins.Mark)
			}
		}
	}
	if f, _ := c.filter(neighbor, "route-map", "in"); f.line > 0 {
		if err := c.letsPass(f, "for what "+own+" hears from "+neighbor); err != nil {
			return n, err
		}
	}
	f, ofGroup := c.before(neighbor)
	if f.of != "" {
		if err := c.letsPass(f, "for what "+own+" announces to "+neighbor); err != nil {
			return n, err
		}
		n.Map, n.OfGroup = f.of, ofGroup
	}
	for _, who := range [...]string{neighbor, c.group(neighbor)} {
		if line, ok := c.silent[who]; ok && who != "" {
			return n, c.errorf(line, "%s sends %s no communities, which pins are told by: take that line away first", own, neighbor)
		}
		if own, ok := c.own[who]; ok && who != "" && t.plan.Level(d) > 0 {
			return n, c.errorf(own.line, "%s takes routes from %s that have its own AS number (allowas-in): what a device beside it withdraws comes back by a leaf while BGP converges, which can close a credit loop; take that line away, or leave pins", t.Names[d], neighbor)
		}
		if limit, ok := c.limits[who]; ok && who != "" {
			if most, _ := strconv.Atoi(limit.of); most < j.announces(t.Links[l].To, !up) {
				return n, c.errorf(limit.line, "%s ends its session with %s at %s prefixes, and with pins there are up to %d: raise the limit first", own, neighbor, limit.of, j.announces(t.Links[l].To, !up))
			}
		}
	}
	switch {
	case !up || c.sessions[neighbor]:
		return n, nil
	case c.listen.line > 0:
		return n, c.errorf(c.listen.line, "%s waits for its neighbors (%s) and has no name for the one on %s: name it by neighbor, with its route map, or leave pins", own, reading.Printable(c.listen.of), t.Links[l].FromInterface)
	default:
		return n, fmt.Errorf("%s: BGP of %s has no neighbor %s, which is at the other end of %s: give the configuration that it runs, or take the file away if it is of other sessions", reading.Printable(c.file), own, neighbor, t.Links[l].FromInterface)
	}
}

// announces is how many prefixes a device announces with pins at most: upwards all of the network and the pins through it, downwards
// all pins too.
func (j *pinJob) announces(d ethernet.DeviceID, upwards bool) int {
	count := 0
	for i := range j.t.Classes {
		count += len(j.t.Classes[i].Prefixes)
	}
	for _, p := range j.pins {
		passes := p.At == d
		for _, up := range p.Up {
			passes = passes || up == d
		}
		if passes || !upwards {
			count++
		}
	}
	return count
}

// readConfs reads the configurations of FRR that a folder has into in.confs, and fills in in.ownAS: the most that a device
// allows any neighbor.
func (in *networkInput) readConfs(ctx context.Context, name, vrf string) error {
	return eachFile(ctx, name, frrFile, func(r io.Reader, file, device, _ string) error {
		d := in.Device(device)
		if d == ethernet.None {
			return nil
		}
		text, err := reading.ReadUTF8(r, file, reading.MaxSettings)
		if err != nil {
			return err
		}
		c := readFRRConf(file, string(text), vrf)
		c.of = d
		in.confs = append(in.confs, c)
		for _, own := range c.own {
			times, err := strconv.ParseUint(own.of, 10, 8)
			if err != nil || times > 10 {
				return format.Errorf(file, own.line, "allowas-in %s is not a number up to 10", own.of)
			}
			if in.ownAS == nil {
				in.ownAS = make([]uint8, len(in.Names))
			}
			in.ownAS[d] = max(in.ownAS[d], uint8(times))
		}
		return nil
	})
}
