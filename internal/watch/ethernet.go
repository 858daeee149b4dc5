package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/child"
	"github.com/weft-fabric/weft/internal/configfile"
	"github.com/weft-fabric/weft/internal/ethernet/between"
	"github.com/weft-fabric/weft/internal/ethernet/pauses"
	"github.com/weft-fabric/weft/internal/ethernet/shape"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// EthernetSettings is what a reader has to know to read a lossless Ethernet network.
type EthernetSettings struct {
	VRF      string
	Lossless []uint8 // where no configuration says so
	Pins     string  // file with the pins that the routers should have; empty: none
}

// EthernetReader reads a folder of a lossless Ethernet network. What is missing is a gap of the network, not an error.
type EthernetReader func(folder string, s EthernetSettings) (*EthernetSnapshot, error)

// EthernetSnapshot is what a reader made of a folder.
type EthernetSnapshot struct {
	Network  *ethernet.Network
	Pins     []EthernetPin
	Counters map[string][]pauses.Counter // by device
	Silent   []string                    // devices that did not answer the collector
	At       time.Time                   // of the look that read them
}

// EthernetPin is a route to one adapter that routers should have.
type EthernetPin struct {
	Prefix netip.Prefix
	Way    []string // the leaf, and the devices above it
}

// What zero settings mean.
const (
	DefaultSilent    = 15 * time.Minute
	DefaultPauseRate = 1000
	DefaultCollect   = 10 * time.Minute // the time that collect may take, where no timeout is set
)

// checkEthernet checks the settings of a lossless Ethernet network, fills in what they leave out, and sets lossless.
func (s *settings) checkEthernet() error {
	if s.Ethernet == "" {
		if s.Collect != "" || s.VRF != "" || len(s.Lossless) > 0 || s.Silent != 0 || s.Pins != "" || s.PauseRate != 0 {
			return errors.New("collect, vrf, lossless_priorities, silent, pins and pause_rate go with ethernet, the folder of a lossless Ethernet network")
		}
		return nil
	}
	if s.Engine != "" || s.Conf != "" || s.Log != "" || s.Expect != "" || s.Contract != "" || s.Endpoints != "" && s.Endpoints != routing.HCA.String() || s.Multicast != "" && s.Multicast != "0" || s.Fabric != "" {
		return errors.New("ethernet: fabric, engine, conf, log, expect, contract, endpoints and multicast_sl are about InfiniBand")
	}
	s.Silent, s.PauseRate = cmp.Or(s.Silent, DefaultSilent), cmp.Or(s.PauseRate, DefaultPauseRate)
	if s.PauseRate < 1 {
		return fmt.Errorf("pause_rate %d: it is pauses a second, 1 and more", s.PauseRate)
	}
	for _, text := range s.Lossless {
		p, err := strconv.ParseUint(text, 10, 8)
		if err != nil || p >= ethernet.MaxPriorities || slices.Contains(s.lossless, uint8(p)) {
			return fmt.Errorf("lossless_priorities: %q; priorities are 0 to %d, each once", text, ethernet.MaxPriorities-1)
		}
		s.lossless = append(s.lossless, uint8(p))
	}
	return errors.Join(configfile.Absolute("ethernet", s.Ethernet), configfile.NotNegative("silent", s.Silent), absoluteOrNone("pins", s.Pins))
}

// absoluteOrNone is an error for a path that is neither empty nor absolute.
func absoluteOrNone(key, path string) error {
	if path == "" {
		return nil
	}
	return configfile.Absolute(key, path)
}

// ethernetFile is the names of files that a folder of a lossless Ethernet network has.
var ethernetFile = regexp.MustCompile(`^[^.][^/]*\.(?:json|conf|txt|xml|ya?ml)` + reading.EndingsPattern)

// ethernetStamps is the stamps of the files in the folder with what devices say, by name, and in the folders in it.
func (s source) ethernetStamps() ([]stamp, error) {
	var all []stamp
	var walk func(dir string, deeper bool) error
	walk = func(dir string, deeper bool) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := os.Stat(path)
			switch {
			case errors.Is(err, os.ErrNotExist): // it went away just now
			case err != nil:
				return err
			case info.IsDir() && deeper && !strings.HasPrefix(e.Name(), "."):
				if err := walk(path, false); err != nil {
					return err
				}
			case info.Mode().IsRegular() && ethernetFile.MatchString(e.Name()):
				if info.Size() > mostBytes {
					return fmt.Errorf("%s has more than %d bytes", path, int64(mostBytes))
				}
				all = append(all, stamp{path: path, size: info.Size(), mtime: info.ModTime()})
			}
		}
		return nil
	}
	return all, walk(s.Ethernet, true)
}

// lookFileName is what a file is called in a look: its name in the folder, of Ethernet with the folder in it.
func (s source) lookFileName(path string) string {
	if s.Ethernet != "" {
		if name, err := filepath.Rel(s.Ethernet, path); err == nil {
			return name
		}
	}
	return filepath.Base(path)
}

// localName reports whether a name may be that of a file in a look of Ethernet: one that leads to no other folder than
// the look's own or one directly in it.
func localName(name string) bool {
	return filepath.IsLocal(name) && strings.Count(filepath.ToSlash(name), "/") <= 1 && ethernetFile.MatchString(filepath.Base(name))
}

// collect runs Collect, the program that writes the folder anew, if one is set, and returns why it failed, or nothing.
// Devices that it could not ask are known by the age of their files (silent).
func (r *running) collect(ctx context.Context) string {
	args := strings.Fields(r.Collect)
	if len(args) == 0 {
		return ""
	}
	limit := r.settings.Timeout
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p := child.Command(ctx, args[0], args[1:]...) // whoever writes the settings says what runs
	said := tail{most: 4 << 10}
	p.Stderr = &said
	switch err := p.Run(); {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Sprintf("%s did not end within %v", args[0], limit)
	case err != nil:
		return fmt.Sprintf("%s: %v%s", args[0], err, said.last())
	}
	return ""
}

// silent is the devices that were not heard from for longer than Silent, by the newest of their files.
func (s source) silent(stamps []stamp, now time.Time) []string {
	newest := map[string]time.Time{}
	for _, at := range stamps {
		name := s.lookFileName(at.path)
		device, _, _ := strings.Cut(name, string(filepath.Separator))
		if device == name {
			if m := deviceFile.FindStringSubmatch(name); m != nil {
				device = m[1]
			} else {
				continue
			}
		}
		if at.mtime.After(newest[device]) {
			newest[device] = at.mtime
		}
	}
	var all []string
	for device, at := range newest {
		if now.Sub(at) > s.Silent {
			all = append(all, device)
		}
	}
	slices.SortFunc(all, words.Natural)
	return all
}

// deviceFile is names as leaf1.route.json of files that are not in a folder of their device, with the device.
var deviceFile = regexp.MustCompile(`^(.+)\.[^.]+\.(?:json|conf|txt|xml)` + reading.EndingsPattern)

// seeEthernet is see for a lossless Ethernet network: it fills in l, which is new, and keeps it. dir is an empty folder
// for copies of the files.
func (r *running) seeEthernet(ctx context.Context, begin time.Time, l *result.WatchLook, dir string) (*result.WatchLook, error) {
	lap := laps(begin)
	e := &result.LookEthernet{VRF: r.VRF, Lossless: list.Of(r.lossless, func(p uint8) int { return int(p) }), CollectError: r.collect(ctx)}
	l.Ethernet = e
	stamps, err := (source{r.settings}).ethernetStamps()
	if err != nil {
		return nil, err
	}
	e.Silent = append([]string{}, (source{r.settings}).silent(stamps, r.clock.Now())...)
	l.Against = fmt.Sprintf("vrf %q, lossless %v, silent %v, collect %q", r.VRF, r.lossless, e.Silent, e.CollectError)
	if info, err := os.Stat(r.Pins); r.Pins != "" && err == nil {
		l.Against += fmt.Sprintf(", pins of %s, %d bytes", info.ModTime().UTC().Format(time.RFC3339Nano), info.Size())
	}
	same := r.before != nil && r.before.Ethernet != nil && l.Against == r.last.Against && !r.madeAgain
	known := r.stamps
	if !same {
		known = nil
	}
	g, err := source{r.settings}.gather(ctx, known, dir)
	r.stamps, r.triedStamps = nil, g.stamps
	if err != nil {
		return nil, err
	}
	l.Seconds.Gather = lap() - g.waited.Seconds()
	byCounts := func(a result.Alarm) bool { return countsRise(a.Kind) } // such an alarm ends where counters stand still, without other files
	if g.files == nil || same && slices.Equal(g.files, r.last.Files) && !slices.ContainsFunc(r.last.Alarms, byCounts) {
		r.stamps = g.stamps
		return nil, nil
	}
	l.Files = g.files
	now, err := r.readEthernet(dir)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), dir, r.Ethernet))
	}
	now.At = begin
	for i, gap := range now.Network.Gaps {
		now.Network.Gaps[i] = strings.ReplaceAll(gap, dir, r.Ethernet)
	}
	if len(now.Silent) > 0 { // that is why the collector failed
		e.CollectError = ""
		e.Silent = append(e.Silent, now.Silent...)
		slices.SortFunc(e.Silent, words.Natural)
		e.Silent = slices.Compact(e.Silent)
	}
	l.Seconds.Read = lap()
	if err := judgeEthernet(ctx, l, now); err != nil {
		return nil, err
	}
	l.Seconds.Judge = lap()
	d := r.assessEthernet(l, now)
	l.Seconds.Compare = lap()
	l.Seconds.Total = time.Since(begin).Seconds() - g.waited.Seconds()
	r.metrics.showPauses(now)
	if same && d != nil && d.Same() && sameAlarms(l.Alarms, r.last.Alarms) && l.Verdict == r.last.Verdict { // only ages and counters are others
		r.before, r.stamps = &Snapshot{Ethernet: now}, g.stamps
		return nil, nil
	}
	if err := r.store.put(l, dir, r.Keep); err != nil {
		return l, &stateError{r.State, err}
	}
	r.before, r.last, r.stamps, r.madeAgain = &Snapshot{Ethernet: now}, l, g.stamps, false
	r.pages.ShowNetwork(now.Network, l.At)
	return l, nil
}

// sameAlarms reports whether two looks have the same alarms; of sentences with counts the counts may differ.
func sameAlarms(a, b []result.Alarm) bool {
	return slices.EqualFunc(a, b, func(a, b result.Alarm) bool { return a.Kind == b.Kind && (a.What == b.What || countsRise(a.Kind)) })
}

// countsRise reports whether the sentence of an alarm has counts that rise from look to look.
func countsRise(k string) bool { return k == PauseStorm || k == WatchdogDrops }

// readEthernet is Watcher.ReadEthernet; a panic in it is an error, since it must not end the watch.
func (r *running) readEthernet(dir string) (s *EthernetSnapshot, err error) {
	defer recovered(&err)
	return r.ReadEthernet(dir, EthernetSettings{VRF: r.VRF, Lossless: r.lossless, Pins: r.Pins})
}

// judgeEthernet fills in what a look says about the network as it is now, without the one before: the verdict, and
// what is odd about cables and pins.
func judgeEthernet(ctx context.Context, l *result.WatchLook, now *EthernetSnapshot) error {
	n, e := now.Network, l.Ethernet
	v, err := judge.Verify(ctx, n, judge.Options{})
	if err != nil {
		return err
	}
	l.Switches, l.Cables, l.Endpoints, l.Contract, l.Covers = len(n.Names), n.Cables(), v.Scope.String(), "every choice of ECMP", "unicast"
	l.Verdict, l.Lanes, l.Pairs, l.CutOff, l.Circles = outputs.WordOf(v), len(v.Lanes), v.Pairs, v.Unreachable, int64(v.Circles)
	l.Cycle, l.Degraded, l.Hot = []result.LookStep{}, []result.LookDegraded{}, []result.LookHot{}
	e.Cycle, e.Prefixes, e.Gaps, e.Pins = outputs.EthernetSteps(n, v.Cycle), n.HostPrefixes(), append([]string{}, n.Gaps...), len(now.Pins)
	if e.Nothing = nothing(n); e.Nothing != "" {
		l.Verdict = result.NothingToJudge
	}
	for i := range n.Classes {
		if c := &n.Classes[i]; c.Hosts {
			hops := 0
			for k := range ethernet.LinkID(len(n.Links)) {
				if n.Has(c.Next, k) {
					hops++
				}
			}
			e.NextHops += hops * len(c.Prefixes)
		}
	}
	e.Narrow, e.OneWay, e.Slow = []string{}, []string{}, []string{}
	for _, odd := range shape.Of(n).Odd {
		switch odd.Kind {
		case "narrow-group":
			e.Narrow = append(e.Narrow, odd.Text)
		case "slow-cable", "speed-differs":
			e.Slow = append(e.Slow, odd.Text)
		case "one-way-lossless":
			e.OneWay = append(e.OneWay, odd.Text)
		}
	}
	e.Fallbacks = append([]string{}, fellBack(n, now.Pins)...)
	return nil
}

// nothing is why there is nothing to judge in a network; empty: there is something.
func nothing(n *ethernet.Network) string {
	leaves := map[ethernet.DeviceID]bool{}
	senders := n.Senders(ethernet.HostScope)
	for i := range senders {
		for _, d := range senders[i].At {
			leaves[d] = true
		}
	}
	switch {
	case n.Cables() == 0:
		return "no cable joins two devices"
	case len(senders) == 0:
		return "no subnet with hosts is known"
	case len(n.Priorities.Lossless()) == 0:
		return "no packet is lossless on any cable"
	case len(leaves) == 1:
		return "all hosts are behind " + n.Names[senders[0].At[0]]
	}
	return ""
}

// fellBack is the prefixes of the pins that the routers do not have on the whole way down to the leaf: their packets
// take the routes of the subnet.
func fellBack(n *ethernet.Network, pins []EthernetPin) (all []string) {
	class := map[netip.Prefix]int{} // index in n.Classes
	for i := range n.Classes {
		for _, p := range n.Classes[i].Prefixes {
			class[p] = i
		}
	}
	for _, pin := range pins {
		i, there := class[pin.Prefix]
		for k := 1; there && k < len(pin.Way); k++ {
			at, below := n.Device(pin.Way[k]), n.Device(pin.Way[k-1])
			down := false
			if at != ethernet.None {
				n.Each(n.Words(n.Classes[i].Next, at), at, func(l ethernet.LinkID) { down = down || n.Links[l].To == below })
			}
			there = down
		}
		if !there {
			all = append(all, pin.Prefix.String())
		}
	}
	return all
}

// assessEthernet is assess for lossless Ethernet: it fills in what changed since the look before, the paused ports and the
// alarms, and returns the difference; nil: there is no look before.
func (r *running) assessEthernet(l *result.WatchLook, now *EthernetSnapshot) *between.Difference {
	e := l.Ethernet
	l.Missing = events.Miss(nil, nil, nil, l.At)
	if r.last != nil {
		l.Missing = events.Miss(r.last.Missing, nil, nil, l.At)
	}
	var d *between.Difference
	var known *EthernetSnapshot
	if r.before != nil && r.before.Ethernet != nil {
		before := r.before.Ethernet
		d = between.Differ(before.Network, now.Network)
		e.Changed = changesOf(d, hostsOf(before.Network), withoutRoutes(now.Network))
		r.gone, r.came = elements(d.DevicesGone, d.CablesGone), elements(d.DevicesNew, d.CablesNew)
		l.Missing = events.Miss(l.Missing, r.gone, r.came, l.At)
		known = before
	}
	e.Paused = pausedPorts(known, now)
	l.Alarms = append([]result.Alarm{}, r.ethernetAlarms(l)...)
	carrySince(l, r.last, r.status.Alarms)
	return d
}

// elements is devices and cables as events name them.
func elements(devices []string, cables []ethernet.Cable) (all []result.Element) {
	for _, name := range devices {
		all = append(all, result.Element{Kind: "switch", Name: name})
	}
	for _, c := range cables {
		all = append(all, result.Element{Kind: "cable", Name: between.CableText(c)})
	}
	return all
}

// hostsOf says of each prefix of a network whether hosts are in it.
func hostsOf(n *ethernet.Network) map[string]bool {
	all := map[string]bool{}
	for i := range n.Classes {
		for _, p := range n.Classes[i].Prefixes {
			all[p.String()] = n.Classes[i].Hosts
		}
	}
	return all
}

// entry is what a device has for a prefix.
type entry struct {
	device string
	prefix netip.Prefix
}

// withoutRoutes says of each device whether a network has no route of it at all: then its dump is missing, and a gap
// tells of it.
func withoutRoutes(n *ethernet.Network) map[string]bool {
	all := map[string]bool{}
	for d, name := range n.Names {
		d := ethernet.DeviceID(d)
		all[name] = !slices.ContainsFunc(n.Classes, func(c ethernet.Class) bool {
			return c.Leaves(d) || slices.ContainsFunc(n.Words(c.Next, d), func(word uint64) bool { return word != 0 })
		})
	}
	return all
}

// changesOf is a difference in words. hosts says which prefixes had hosts at the look before, and loses those that are
// gone; unread says which devices are without routes now.
func changesOf(d *between.Difference, hosts, unread map[string]bool) *result.LookEthernetChanges {
	c := &result.LookEthernetChanges{
		DevicesGone: d.DevicesGone, DevicesNew: d.DevicesNew, CablesGone: list.Of(d.CablesGone, between.CableText), CablesNew: list.Of(d.CablesNew, between.CableText),
		PrefixesGone: list.Of(d.PrefixesGone, netip.Prefix.String), Entries: d.Entries, Lost: []string{}, Lossless: []string{},
		Recabled: list.Of(d.Recabled, func(r between.Recabled) string {
			return r.At.String() + " leads to " + r.After.String() + ", was " + r.Before.String()
		}),
	}
	for _, p := range d.PrefixesGone {
		delete(hosts, p.String())
	}
	gone := map[ethernet.End]bool{} // ends of cables
	for _, cable := range d.CablesGone {
		gone[cable.A], gone[cable.B] = true, true
	}
	changed := map[entry]bool{}
	for i := range d.Routes {
		for _, p := range d.Routes[i].Prefixes {
			changed[entry{device: d.Routes[i].Device, prefix: p}] = true
		}
	}
	for i := range d.Routes {
		route := &d.Routes[i]
		if unread[route.Device] {
			continue
		}
		for _, hop := range route.Before {
			if slices.Contains(route.After, hop) || gone[ethernet.End{Device: route.Device, Interface: hop.Interface}] {
				continue
			}
			var prefixes []string
			for _, p := range route.Prefixes { // a neighbor that goes another way itself is a reason not to use it
				if text := p.String(); hosts[text] && !changed[entry{device: hop.Device, prefix: p}] {
					prefixes = append(prefixes, text)
				}
			}
			if len(prefixes) > 0 {
				c.Lost = append(c.Lost, fmt.Sprintf("%s does not send to %s by %s any more", route.Device, words.FirstOf(prefixes), hop.Device))
			}
		}
	}
	for _, lane := range d.Lossless {
		c.Lossless = append(c.Lossless, fmt.Sprintf("from %s to %s lossless are %s, were %s", lane.From, lane.To, prioritiesText(lane.After), prioritiesText(lane.Before)))
	}
	return c
}

// asChanges is the changes as metrics count them: only the lengths of its lists mean something. Sets of next hops are not in it.
func asChanges(c *result.LookEthernetChanges) *result.LookChanges {
	return &result.LookChanges{
		Gone:     result.LookParts{Switches: make([]result.Node, len(c.DevicesGone)), Cables: make([]result.CableEnds, len(c.CablesGone))},
		New:      result.LookParts{Switches: make([]result.Node, len(c.DevicesNew)), Cables: make([]result.CableEnds, len(c.CablesNew))},
		Recabled: make([]result.Node, len(c.Recabled)),
	}
}

// prioritiesText is the priorities in a set, which has them as bits.
func prioritiesText(set uint16) string {
	var names []string
	for p := range 16 {
		if set>>p&1 == 1 {
			names = append(names, strconv.Itoa(p))
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// mostPaused is how many paused ports a look names.
const mostPaused = 20

// pausedPorts is what ports counted of pauses since before, the look before, or nil: then only storms that go on are
// known. Ports in a storm come first, then those that dropped most, then the most paused.
func pausedPorts(before, now *EthernetSnapshot) []result.PausedPort {
	n := now.Network
	paused := make(pauses.Paused, len(n.Links)*pauses.Priorities) // [link × pauses.Priorities + priority] pauses received
	seconds := 0.
	if before != nil {
		seconds = now.At.Sub(before.At).Seconds()
	}
	links := linksOfMembers(n)
	all := []result.PausedPort{}
	for _, name := range slices.SortedFunc(keysOf(now.Counters), words.Natural) {
		var had []pauses.Counter
		known := false
		if before != nil {
			had, known = before.Counters[name]
		}
		for _, c := range pauses.Since(now.Counters[name], had) {
			if !known { // since when it counts is not known
				c = pauses.Counter{Interface: c.Interface, Priority: c.Priority, InStorm: c.InStorm}
			}
			if c.Received+c.Sent+c.Storms+c.Dropped == 0 && !c.InStorm {
				continue
			}
			p := result.PausedPort{Device: name, Interface: c.Interface, Priority: c.Priority, Received: c.Received, Sent: c.Sent, Storms: c.Storms, Dropped: c.Dropped, InStorm: c.InStorm, Way: []string{}}
			if seconds > 0 {
				p.PerSecond = float64(c.Received) / seconds
			}
			if l := linkOf(n, links, name, c.Interface); l != ethernet.None {
				paused[int(l)*pauses.Priorities+int(c.Priority)] += c.Received
			}
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b result.PausedPort) int {
		switch {
		case a.InStorm != b.InStorm && a.InStorm:
			return -1
		case a.InStorm != b.InStorm:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Dropped, a.Dropped), cmp.Compare(b.Received, a.Received))
	})
	all = all[:min(len(all), mostPaused)]
	for i := range all {
		p := &all[i]
		l := linkOf(n, links, p.Device, p.Interface)
		if l == ethernet.None {
			continue
		}
		p.Prefixes, _ = pauses.Over(n, l)
		var way []ethernet.LinkID
		way, p.Circle = pauses.Follow(n, paused, l, p.Priority)
		p.Way = list.Of(way, func(l ethernet.LinkID) string { return n.Names[n.Links[l].To] })
	}
	return all
}

// linksOfMembers is the links of port channels by the ports that are members of these: those have the counters.
func linksOfMembers(n *ethernet.Network) map[ethernet.End]ethernet.LinkID {
	all := map[ethernet.End]ethernet.LinkID{}
	for l, members := range n.Members {
		for _, port := range members {
			all[ethernet.End{Device: n.Names[n.Links[l].From], Interface: port}] = ethernet.LinkID(l)
		}
	}
	return all
}

// linkOf is the link that leaves a port of a device, or the port channel that it is a member of (linksOfMembers); None
// where none does.
func linkOf(n *ethernet.Network, members map[ethernet.End]ethernet.LinkID, device, port string) ethernet.LinkID {
	d := n.Device(device)
	if d == ethernet.None {
		return ethernet.None
	}
	if l := n.LinkAt(d, port); l != ethernet.None {
		return l
	}
	if l, known := members[ethernet.End{Device: device, Interface: port}]; known {
		return l
	}
	return ethernet.None
}

// keysOf yields the keys of a map.
func keysOf(m map[string][]pauses.Counter) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// ethernetAlarms is what is wrong at a look of lossless Ethernet; carrySince adds since when.
func (r *running) ethernetAlarms(l *result.WatchLook) (all []result.Alarm) {
	e := l.Ethernet
	add := func(found bool, kind string, do, what string, args ...any) {
		if found {
			all = append(all, result.Alarm{Kind: kind, What: fmt.Sprintf(what, args...), Do: do})
		}
	}
	if l.Verdict == result.CreditLoop {
		s := e.Cycle[0]
		add(true, CreditLoop, "weft verify shows it, and weft priorities computes rules that break it", "pauses can wait for each other in a circle of %d links, of which one is from %s, %s to %s, priority %d", len(e.Cycle), s.From, s.FromInterface, s.To, s.Priority)
	}
	add(l.CutOff > 0, CutOff, "weft verify names them; look at the BGP sessions of devices without a route", "%s of %s prefixes with hosts have no sure route", words.Plural(int(l.CutOff), "pair"), words.Thousands(l.Pairs))
	add(l.Circles > 0, ForwardingLoop, "if it stays when BGP has converged, weft verify shows it", "packets to %s can circle for ever", words.Counted(l.Circles, "prefix", "prefixes"))
	if c := e.Changed; c != nil {
		add(len(c.Lost) > 0, NextHopsGone, "look at the BGP session over the cable, at its filters and at what the neighbor announces", "next hops are gone though their cables are there: %s", firstSentences(c.Lost))
		add(len(c.Recabled) > 0, Recabled, "see whether the cables were meant to be moved", "%s elsewhere than before: %s", words.Counted(len(c.Recabled), "interface leads", "interfaces lead"), firstSentences(c.Recabled))
	}
	add(len(e.Narrow) > 0, NarrowGroup, "look for the session or the cable that the device lacks", "%s", firstSentences(e.Narrow))
	add(len(e.Slow) > 0, DegradedLink, "reseat or replace the cable, or set both ends to one speed", "%s", firstSentences(e.Slow))
	changed := ""
	if c := e.Changed; c != nil && len(c.Lossless) > 0 {
		changed = "; since the look before: " + firstSentences(c.Lossless)
	}
	add(len(e.OneWay) > 0, LosslessDiffers, "give both ends of the cable the same pfc_enable and maps", "%s%s", firstSentences(e.OneWay), changed)
	add(len(e.Fallbacks) > 0, PinFallback, "see what is down on their way; BGP takes them back when it is up again", "%s of %s not in force, and packets take the routes of the subnet: %s",
		words.Counted(len(e.Fallbacks), "pin is", "pins are"), words.Thousands(e.Pins), words.FirstOf(e.Fallbacks))
	add(len(e.Silent)+len(e.CollectError) > 0, SilentDevice, "see whether the device can be reached, and that the collector works", "%s", silentText(e, r.Silent))
	storms := slices.DeleteFunc(slices.Clone(e.Paused), func(p result.PausedPort) bool { return p.PerSecond < float64(r.PauseRate) })
	if len(storms) > 0 {
		add(true, PauseStorm, "look at the host or the circle at the end of the way", "%s", stormText(&storms[0], len(storms)))
	}
	dropped := slices.DeleteFunc(slices.Clone(e.Paused), func(p result.PausedPort) bool { return p.Dropped+p.Storms == 0 && !p.InStorm })
	if len(dropped) > 0 {
		p := &dropped[0]
		add(true, WatchdogDrops, "find who pauses: the way of the pauses, or weft verify for a circle", "%s%s%s", watchdogText(p), comesBy(p), others(len(dropped)))
	}
	add(e.Nothing != "", Unproven, "see that the folder has every device, and its lossless priorities", "there is nothing to judge: %s", e.Nothing)
	add(e.Nothing == "" && len(e.Gaps) > 0, Unproven, "weft verify --partial tells all", "the verdict does not cover: %s", firstSentences(e.Gaps))
	return all
}

// firstSentences is the first three of some sentences, and how many more there are.
func firstSentences(all []string) string {
	const most = 3
	if len(all) <= most {
		return strings.Join(all, "; ")
	}
	return strings.Join(all[:most], "; ") + "; and " + words.Thousands(len(all)-most) + " more"
}

// silentText is the sentence about devices that were not heard from and a collector that failed.
func silentText(e *result.LookEthernet, limit time.Duration) string {
	var parts []string
	if len(e.Silent) > 0 {
		parts = append(parts, fmt.Sprintf("not heard from, or for more than %v: %s", limit, words.FirstOf(e.Silent)))
	}
	if e.CollectError != "" {
		parts = append(parts, "the collector failed: "+e.CollectError)
	}
	return strings.Join(parts, "; ")
}

// stormText is the sentence about the port that is paused most, of so many.
func stormText(p *result.PausedPort, ports int) string {
	return fmt.Sprintf("%s, %s was paused %s a second in priority %d, and packets to %s go by it%s%s", p.Device, p.Interface, words.Thousands(int64(p.PerSecond)), p.Priority,
		words.Counted(p.Prefixes, "prefix", "prefixes"), comesBy(p), others(ports))
}

// watchdogText is the sentence about what the watchdog of a port saw.
func watchdogText(p *result.PausedPort) string {
	if p.Dropped+p.Storms == 0 {
		return fmt.Sprintf("the watchdog of %s, %s sees a storm of priority %d, which goes on", p.Device, p.Interface, p.Priority)
	}
	text := fmt.Sprintf("the watchdog of %s, %s dropped %s of priority %d after %s", p.Device, p.Interface, words.Counted(p.Dropped, "packet", "packets"), p.Priority, words.Counted(p.Storms, "storm", "storms"))
	if p.InStorm {
		text += ", and one goes on"
	}
	return text
}

// comesBy is the way of pauses in words.
func comesBy(p *result.PausedPort) string {
	switch {
	case len(p.Way) == 0:
		return ""
	case p.Circle:
		return "; the pauses go round in a circle: " + strings.Join(p.Way, ", ")
	}
	return "; the pauses come from " + p.Way[len(p.Way)-1] + " by " + strings.Join(append([]string{p.Device}, p.Way...), " ← ")
}

// others is the end of a sentence about the first of so many ports.
func others(ports int) string {
	if ports == 1 {
		return ""
	}
	return "; and " + words.Counted(ports-1, "more port", "more ports")
}
