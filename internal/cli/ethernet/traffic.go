package ethernet

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/ecmp"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// trafficFlags is what commands can be told about traffic on a lossless Ethernet network.
type trafficFlags struct {
	networkFlags
	qps       []uint
	polarized bool
	nics      int
	nicList   string
}

func (o *trafficFlags) addTo(f *pflag.FlagSet) {
	o.networkFlags.addTo(f)
	f.UintSliceVar(&o.qps, "qps", nil, "queue pairs between two adapters, which devices hash each for itself, with commas between (default 1,4,16)")
	f.Lookup("qps").DefValue = "" // help says it
	f.BoolVar(&o.polarized, "polarized", false, "all devices hash with one seed, as switches come from their makers")
	f.IntVar(&o.nics, "nics", 0, "adapters behind each device with hosts, where the network does not tell them (default: as many as its cables to others carry at the speed of its hosts, or as it has cables)")
}

// addNamedTo declares them for commands that take traffic by the names of adapters.
func (o *trafficFlags) addNamedTo(f *pflag.FlagSet) {
	o.addTo(f)
	f.StringVar(&o.nicList, "nic-list", "", "the adapters of a lossless Ethernet network by name: a file of name,ip,leaf and maybe rail")
}

// maxQueuePairs is how many queue pairs two adapters can have: more make no difference, and take time.
const maxQueuePairs = 1 << 16

// check refuses what the flags must not be, and sets --qps if it is not given.
func (o *trafficFlags) check() error {
	if len(o.qps) == 0 {
		o.qps = []uint{1, 4, 16}
	}
	for _, n := range o.qps {
		if n < 1 || n > maxQueuePairs {
			return exit.Usage("--qps %d: it is 1 to %d", n, maxQueuePairs)
		}
	}
	if o.nics < 0 || o.nics > 1<<12 {
		return exit.Usage("--nics %d: it is 0 to %d", o.nics, 1<<12)
	}
	return nil
}

// trafficNetwork is a network with its adapters, once as ECMP sees it and once as a fabric,
// whose endpoints patterns and jobs are laid on.
type trafficNetwork struct {
	*networkInput
	f    *fabric.Fabric
	w    *ecmp.Network
	nics []int32 // [EndpointID] the adapter, as an index into w.NICs; -1: none
}

// readTraffic reads a network and finds its adapters.
func (o *trafficFlags) readTraffic(c *console.Console, name string) (*trafficNetwork, error) {
	in, err := o.read(c, name)
	if err != nil {
		return nil, err
	}
	if o.nicList != "" {
		list, err := listedNICs(c, o.nicList, in, 1)
		if err != nil {
			return nil, err
		}
		in.have(list)
	}
	return o.lay(in, name)
}

// lay finds the adapters of a network: those that in has, else as many as flags or the cables say, which it enters in in. Only
// those behind devices with hosts' prefixes count; it is a finding that there are fewer than two. name is for errors.
func (o *trafficFlags) lay(in *networkInput, name string) (t *trafficNetwork, err error) {
	t = &trafficNetwork{networkInput: in, f: in.fabric}
	if in.hosts == nil {
		in.hosts = o.adapters(in)
	} else if o.nics > 0 {
		return nil, exit.Usage("--nics is for networks that do not tell their adapters, and %s does", name)
	}
	classes := t.classes()
	total := 0
	for d, n := range in.hosts {
		if len(classes[d]) > 0 {
			total += n
		}
	}
	if total < 2 {
		return nil, exit.Finding("%s has %s behind its devices, and traffic needs two", name, words.Plural(total, "adapter"))
	}
	if t.f == nil {
		if t.f, err = in.asFabric(); err != nil {
			return nil, err
		}
	}
	var nics []ecmp.NIC
	speed := func(d ethernet.DeviceID) uint32 {
		if in.HostSpeeds == nil {
			return 0
		}
		return in.HostSpeeds[d]
	}
	at := make([]int, len(in.Names)) // [DeviceID] adapters so far
	t.nics = make([]int32, len(t.f.Endpoints()))
	for i := range t.f.Endpoints() {
		t.nics[i] = -1
		e := t.f.Endpoint(fabric.EndpointID(i))
		if e.Class != fabric.HostAdapter || e.Switch == fabric.None {
			continue
		}
		d := in.Device(t.f.Label(e.Switch))
		if len(classes[d]) == 0 {
			continue
		}
		class := classes[d][at[d]%len(classes[d])] // in turn, where nothing says of which it is
		if in.nics != nil {
			class = in.nics[d][at[d]].class
		}
		t.nics[i] = int32(len(nics))
		nics = append(nics, ecmp.NIC{Device: d, Class: class, Speed: speed(d)})
		at[d]++
	}
	t.w, err = ecmp.New(in.Network, nics)
	return t, err
}

// adapters is how many adapters each device with hosts is taken to have, [DeviceID]; a note in in says how they were counted.
func (o *trafficFlags) adapters(in *networkInput) []int {
	n := make([]int, len(in.Names))
	byCables, bySpeed := false, false // whether any device was counted so
	for _, d := range bgp.Leaves(in.Classes) {
		if n[d] = o.nics; o.nics > 0 {
			continue
		}
		first, end := in.LinksFrom(d)
		n[d] = max(int(end-first), 1)
		if most := in.carries(d); most > 0 {
			n[d] = max(min(most, fabric.MaxPorts-int(end-first)), 1) // no more than a switch has ports
			bySpeed = true
		} else {
			byCables = true
		}
	}
	if byCables {
		where := "each device with hosts"
		if bySpeed {
			where = "devices with hosts whose speeds are not known"
		}
		in.Notes = append(in.Notes, "assumed: behind "+where+" are as many adapters as it has cables to other devices (--nics)")
	}
	if bySpeed {
		in.Notes = append(in.Notes, "assumed: behind devices with hosts are as many adapters, each as fast as most interfaces to hosts there, as their cables to other devices carry (--nics)")
	}
	return n
}

// carries is how many adapters a device's cables to other devices carry at their full speed; 0: not known.
func (in *networkInput) carries(d ethernet.DeviceID) int {
	if in.Speeds == nil || in.HostSpeeds == nil || in.HostSpeeds[d] == 0 {
		return 0
	}
	sum := uint64(0)
	for l, end := in.LinksFrom(d); l < end; l++ {
		if in.Speeds[l] == 0 {
			return 0
		}
		sum += uint64(in.Speeds[l])
	}
	return max(int(sum/uint64(in.HostSpeeds[d])), 1)
}

// classes is the classes with hosts of each device, [DeviceID]: those of IPv4 where there are any, and
// not the way out of the network.
func (t *trafficNetwork) classes() [][]int {
	list := make([][]int, len(t.Names))
	for _, four := range []bool{true, false} { // IPv4, then IPv6 for those without
		found := make([][]int, len(t.Names))
		for i := range t.Classes {
			c := &t.Classes[i]
			p := slices.IndexFunc(c.Prefixes, func(p netip.Prefix) bool { return p.Bits() > 0 && p.Addr().Is4() == four })
			if !c.Hosts || p < 0 {
				continue
			}
			for _, d := range c.At {
				found[d] = append(found[d], i)
			}
		}
		for d := range list {
			if len(list[d]) == 0 {
				list[d] = found[d]
			}
		}
	}
	return list
}

// asFabric is the network as a fabric: devices are switches, and adapters have the names of a list, else are named by their
// device. Ports are numbered as the links of the device, from 1, then its adapters.
func (in *networkInput) asFabric() (*fabric.Fabric, error) {
	b := fabric.Builder{WithoutLIDs: true}
	refs := make([]fabric.Ref, len(in.Names))
	for d, name := range in.Names {
		first, end := in.LinksFrom(ethernet.DeviceID(d))
		ports := int(end-first) + in.hosts[d]
		if ports > fabric.MaxPorts {
			return nil, fmt.Errorf("%s has %d cables and adapters; traffic is simulated on devices with up to %d", name, ports, fabric.MaxPorts)
		}
		refs[d] = b.Node(fabric.Node{Kind: fabric.Switch, Ports: ports, Name: name}, fmt.Sprintf("switch %08d", d))
	}
	port := func(l ethernet.LinkID) uint8 {
		first, _ := in.LinksFrom(in.Links[l].From)
		return uint8(l - first + 1)
	}
	rate := fabric.Rate{} // not known: ecmp has the speeds
	named := descriptions(in.nics)
	for l := range ethernet.LinkID(len(in.Links)) {
		if back := in.Reverse[l]; l < back {
			b.Cable(refs[in.Links[l].From], port(l), refs[in.Links[l].To], port(back), rate)
		}
	}
	for d, n := range in.hosts {
		first, end := in.LinksFrom(ethernet.DeviceID(d))
		for i := range n {
			name := fmt.Sprintf("%s-nic%d mlx5_0", in.Names[d], i)
			if in.nics != nil {
				name = named[d][i]
			}
			host := b.Node(fabric.Node{Kind: fabric.Adapter, Ports: 1, Name: name}, fmt.Sprintf("adapter %08d %08d", d, i))
			b.Cable(refs[d], uint8(int(end-first)+i+1), host, 1, rate)
		}
	}
	return b.Build()
}

// among is the endpoints that are adapters.
func (t *trafficNetwork) among() []fabric.EndpointID {
	var list []fabric.EndpointID
	for e, nic := range t.nics {
		if nic >= 0 {
			list = append(list, fabric.EndpointID(e))
		}
	}
	return list
}

// on is the adapter that each rank of a placement is on, [rank].
func (t *trafficNetwork) on(p traffic.Placement) ([]int32, error) {
	list := make([]int32, len(p))
	for i, e := range p {
		if list[i] = t.nics[e]; list[i] < 0 {
			return nil, fmt.Errorf("%s is behind a device without routes to it", t.f.Label(t.f.Endpoint(e).Node))
		}
	}
	return list, nil
}

// wayText is a way in words.
func wayText(w *result.EthernetWay) string {
	switch w.Way {
	case "hashed":
		return "ECMP, " + words.Plural(w.QueuePairs, "queue pair")
	case "polarized":
		return "ECMP, one seed, " + words.Plural(w.QueuePairs, "queue pair")
	case "pinned":
		if w.QueuePairs > 1 {
			return fmt.Sprintf("pins by %s, %d addresses", w.Engine, w.QueuePairs)
		}
		return "pins by " + w.Engine
	}
	return "spraying"
}

// trafficJob is traffic with what it is run with.
type trafficJob struct {
	pattern   traffic.Pattern
	placement traffic.Placement
	seed      uint64
	runs      int
	precision float64
}

// hashedWays is how traffic fares in each way without pins: hashed with each number of queue pairs that flags say, with
// --polarized also by one seed, and last sprayed; first is the loads of the first way.
func (t *trafficNetwork) hashedWays(ctx context.Context, o *trafficFlags, j *trafficJob, progress func(done, total int)) (list []result.EthernetWay, first *ecmp.Result, err error) {
	on, err := t.on(j.placement)
	if err != nil {
		return nil, nil, err
	}
	run := func(way string, qps int, options ecmp.Options) error {
		options.Pattern, options.Placement, options.Seed, options.Runs, options.Precision = j.pattern, on, j.seed, j.runs, j.precision
		options.QueuePairs, options.Progress = max(qps, 1), progress
		r, err := ecmp.Simulate(ctx, t.w, options)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			first = r
		}
		list = append(list, wayOf(way, qps, r))
		return nil
	}
	for _, qps := range o.qps {
		if err := run("hashed", int(qps), ecmp.Options{}); err != nil {
			return nil, nil, err
		}
		if o.polarized {
			if err := run("polarized", int(qps), ecmp.Options{Polarized: true}); err != nil {
				return nil, nil, err
			}
		}
	}
	err = run("sprayed", 0, ecmp.Options{Spray: true})
	return list, first, err
}

// pins routes the network by an engine, which gives every adapter one way from everywhere. It returns the tables, whether or
// not they have a credit loop, or why the engine refuses.
func (t *trafficNetwork) pins(ctx context.Context, engine string, seed uint64, demands []engines.Demand) (*routing.Tables, string, error) {
	r, err := routed.LoopOrResult(weft.Route(ctx, t.f, weft.Request{Engine: engine, VLs: routing.MaxDataVLs, Options: engines.Options{Seed: seed, Demands: demands}}))
	if routing.Refused(err) {
		return nil, err.Error(), nil
	}
	if err != nil {
		return nil, "", err
	}
	return r.Tables, "", nil
}

// pinned is how traffic fares on the ways of an engine's tables, those of pins with one address each.
func (t *trafficNetwork) pinned(ctx context.Context, engine string, tables *routing.Tables, j *trafficJob) (result.EthernetWay, error) {
	on, err := t.on(j.placement)
	if err != nil {
		return result.EthernetWay{}, err
	}
	ends := make([]*fabric.Endpoint, len(t.w.NICs))
	for e, nic := range t.nics {
		if nic >= 0 {
			ends[nic] = t.f.Endpoint(fabric.EndpointID(e))
		}
	}
	links, devices := t.linksOfTrunks(), t.f.Switches()
	// follow appends the links from one adapter to another; false: they do not lead there.
	follow := func(ways []ethernet.LinkID, from, to int32) ([]ethernet.LinkID, bool) {
		s, end := ends[from].Switch, ends[to]
		for range devices { // else it is in a circle
			if s == end.Switch {
				return ways, true
			}
			trunk := t.f.Trunk(s, tables.Forwarding.Port(s, end.LID))
			if trunk == fabric.None {
				break
			}
			ways = append(ways, links[trunk])
			s = t.f.Channel(trunk).To
		}
		return ways, false
	}
	r, err := ecmp.Simulate(ctx, t.w, ecmp.Options{Pattern: j.pattern, Placement: on, QueuePairs: 1, Seed: j.seed, Runs: j.runs, Precision: j.precision, Fixed: follow})
	if err != nil {
		return result.EthernetWay{}, err
	}
	w := wayOf("pinned", 0, r)
	w.Engine = engine
	return w, nil
}

// linksOfTrunks is the link that each trunk of the fabric is, [ChannelID].
func (t *trafficNetwork) linksOfTrunks() []ethernet.LinkID {
	var list []ethernet.LinkID
	for s := range fabric.NodeID(t.f.Switches()) {
		d := t.Device(t.f.Label(s))
		first, _ := t.LinksFrom(d)
		for trunk, end := t.f.TrunksFrom(s); trunk < end; trunk++ {
			l := first + ethernet.LinkID(t.f.Channel(trunk).FromPort) - 1 // as asFabric numbers ports
			if t.fabric != nil {
				l = t.LinkAt(d, portName(t.f.Channel(trunk).FromPort))
			}
			list = append(list, l)
		}
	}
	return list
}

// wayOf is what a simulation found of one way.
func wayOf(way string, qps int, r *ecmp.Result) result.EthernetWay {
	return result.EthernetWay{Way: way, QueuePairs: qps, Time: r.Time, StdErr: r.StdErr, Worst: r.Worst, Bound: r.Bound, Runs: r.Runs, Phases: r.Phases, Flows: r.Flows, Local: r.Local, Lost: r.Lost}
}

// figures says what the figures of a table are, in words that follow others.
func (t *trafficNetwork) figures() string {
	if t.w.Alike {
		return "links are taken to be alike"
	}
	return "links and adapters count by their speeds, 1 being the time of the fastest"
}

// timeText is a time with its error, where there is one.
func timeText(w *result.EthernetWay) string {
	switch {
	case w.Refused != "":
		return "–"
	case w.Flows == w.Lost:
		return "no route"
	case w.StdErr > 0:
		return fmt.Sprintf("%.2f ± %.2f", w.Time, w.StdErr)
	}
	return strconv.FormatFloat(w.Time, 'f', 2, 64)
}

// advice compares pins with what goes without, the quickest of hashing and spraying: they serve some traffic and harm other. of
// is what the traffic is called. It says nothing of pins that are no slower.
func advice(ways []result.EthernetWay, of string) []string {
	var hashed, sprayed *result.EthernetWay
	for i := range ways {
		switch w := &ways[i]; {
		case w.Way == "sprayed":
			sprayed = w
		case w.Way == "hashed" && (hashed == nil || w.Time < hashed.Time):
			hashed = w
		}
	}
	const noise = 1.02 // less slower than this is alike
	lines := []string{}
	for i := range ways {
		switch w := &ways[i]; {
		case w.Way != "pinned" || w.Time == 0:
		case w.Time > hashed.Time*noise:
			lines = append(lines, fmt.Sprintf("%s: do not pin by %s, which takes %.2f: %s take %.2f", of, w.Engine, w.Time, wayText(hashed), hashed.Time))
		case w.Time > sprayed.Time*noise:
			lines = append(lines, fmt.Sprintf("%s: switches that spray need no pins: %.2f, and pins by %s take %.2f", of, sprayed.Time, w.Engine, w.Time))
		}
	}
	return lines
}
