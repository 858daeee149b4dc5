package ethernet

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/drawn"
	"github.com/weft-fabric/weft/internal/ethernet/ecmp"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// networkFlags is what commands can be told about a lossless Ethernet network.
type networkFlags struct {
	vrf        string
	partial    bool
	priorities []uint
	routes, as string
}

// addTo declares the flags.
func (o *networkFlags) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.vrf, "vrf", "", "VRF whose routes count (default \"default\")")
	f.BoolVar(&o.partial, "partial", false, "go on where dumps are missing or disagree, and say what is not covered")
	f.UintSliceVar(&o.priorities, "lossless-priorities", nil, "priorities with PFC, where no configuration says so (default 3)")
	f.Lookup("lossless-priorities").DefValue = "" // help says it
	f.StringVar(&o.routes, "routes", "", "compute routes, in place of reading them: bgp, ecmp (all shortest paths) or updown")
	f.StringVar(&o.as, "as", "", "AS numbers of --routes bgp: per-switch, per-leaf (RFC 7938) or spines-alike (default those in the dumps, or per-switch)")
}

// lossless is the priorities of --lossless-priorities, checked.
func (o *networkFlags) lossless() ([]uint8, error) {
	var list []uint8
	for _, p := range o.priorities {
		list = append(list, uint8(min(p, 255)))
	}
	if len(list) > 0 {
		if err := folder.CheckLossless(list); err != nil {
			return nil, exit.Usage("--lossless-priorities: %w", err)
		}
	}
	return list, nil
}

// networkInput is a network as commands have read it, with what else they know about it.
type networkInput struct {
	*ethernet.Network
	plan   *bgp.Plan  // of its routes; nil: they are as read
	ownAS  []uint8    // [DeviceID] how often paths that a device takes may have its own AS; nil: never
	confs  []*frrConf // of a folder
	routes string     // where routes and AS numbers come from
	again  string     // name and flags, for commands about the same network

	hosts  []int          // [DeviceID] adapters behind it; nil: not known
	nics   [][]nic        // [DeviceID] the same adapters, where they have names and addresses; nil: not known
	fabric *fabric.Fabric // that the network was computed of; nil: none
}

// outside is what no verdict about lossless Ethernet covers.
var outside = []string{"multicast and flooding", "bridging from switch to switch, EVPN", "hosts that pause for ever", "link-level pause without priorities"}

// notCovered is what the verdicts about the network do not cover.
func (in *networkInput) notCovered() []string { return slices.Concat(in.Gaps, outside) }

// covered is what is added to the good verdicts about a network that was not read whole.
func (in *networkInput) covered() string {
	if len(in.Gaps) > 0 {
		return ", as far as is covered"
	}
	return ""
}

// twice is the number of priorities that commands let rules have if nobody says how many: one more for each that is lossless now.
func (in *networkInput) twice() int {
	return min(2*len(in.Priorities.Lossless()), ethernet.MaxPriorities-1)
}

// text is the flags as they were given, with a blank before each.
func (o *networkFlags) text() string {
	var b strings.Builder
	for _, f := range [...]struct{ flag, value string }{
		{"vrf", o.vrf}, {"routes", o.routes}, {"as", o.as}, {"lossless-priorities", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.priorities), " ", ","), "[]")},
	} {
		if f.value != "" {
			b.WriteString(" --" + f.flag + " " + f.value)
		}
	}
	if o.partial {
		b.WriteString(" --partial")
	}
	return b.String()
}

// read reads the network, and computes its routes if that is asked for.
func (o *networkFlags) read(c *console.Console, name string) (*networkInput, error) {
	lossless, err := o.lossless()
	if err != nil {
		return nil, err
	}
	if folder.IsFolder(name) {
		n, err := folder.Read(c.Context, name, folder.Options{VRF: o.vrf, Partial: o.partial, Lossless: lossless, NoRoutes: o.routes != ""})
		if err != nil {
			return nil, err
		}
		in := &networkInput{Network: n, routes: "as read", again: name + o.text()}
		if err := in.readConfs(c.Context, name, o.vrf); err != nil || o.routes == "" {
			return in, err
		}
		n.Classes = bgp.HostClasses(n)
		return in, o.compute(in)
	}
	if o.routes == "" {
		return nil, exit.Usage("%s has no routes; --routes bgp, ecmp or updown computes them", name)
	}
	var d *drawing
	switch {
	case flags.IsContainerlab(name):
		d, err = ofDrawing(c, name, drawn.Containerlab)
	case flags.IsNS3(name):
		d, err = ofDrawing(c, name, drawn.NS3)
	default:
		d, err = ofFabric(c, name)
	}
	if err != nil {
		return nil, err
	}
	if len(lossless) == 0 {
		lossless = []uint8{3}
	}
	n := &ethernet.Network{Cabling: d.cabling, Classes: bgp.Subnets(d.cabling, d.hosts), Priorities: ethernet.Uniform(d.cabling, lossless), Notes: d.notes}
	n.Speeds, n.HostSpeeds = d.speeds, d.hostSpeeds
	in := &networkInput{Network: n, again: name + o.text(), hosts: d.hosts, fabric: d.fabric}
	return in, o.compute(in)
}

// compute makes in.plan, and the next hops of in.Classes by it.
func (o *networkFlags) compute(in *networkInput) error {
	if err := o.planFor(in); err != nil {
		return err
	}
	in.plan.Fill(in.Classes)
	return nil
}

// planFor makes in.plan by the flags, or by the AS numbers in the dumps, and says in in.routes which it was.
func (o *networkFlags) planFor(in *networkInput) error {
	protocol := bgp.BGP
	var err error
	if o.routes != "" {
		if protocol, err = bgp.ParseProtocol(o.routes); err != nil {
			return exit.Usage("--routes: %w", err)
		}
	}
	leaves := bgp.Leaves(in.Classes)
	in.routes = "computed: " + protocol.String()
	as := in.AS
	switch {
	case protocol != bgp.BGP:
		if o.as != "" {
			return exit.Usage("--as is for --routes bgp")
		}
	case o.as != "" || as == nil:
		scheme := bgp.PerSwitch
		if o.as != "" {
			if scheme, err = bgp.ParseScheme(o.as); err != nil {
				return exit.Usage("--as: %w", err)
			}
		}
		as = bgp.Numbers(in.Cabling, leaves, scheme)
		in.routes += ", AS numbers " + scheme.String()
	default:
		in.routes += ", AS numbers as read"
		if i := slices.Index(as, 0); i >= 0 {
			return fmt.Errorf("the AS number of %s is not known: give NAME.frr.conf, bgp_asn in NAME.config_db.json, or --as", in.Names[i])
		}
	}
	if in.plan, err = bgp.NewPlan(in.Cabling, leaves, protocol, as); err == nil {
		in.plan.OwnAS = in.ownAS
	}
	return err
}

// drawing is a network without routes.
type drawing struct {
	cabling            *ethernet.Cabling
	hosts              []int    // [DeviceID] interfaces of hosts behind it
	speeds, hostSpeeds []uint32 // as in ethernet.Network
	fabric             *fabric.Fabric
	notes              []string
}

// newDrawing is devices with the cables between them and the speeds of these, Mb/s, if they are known. behind is the device of each
// interface of a host, and hostSpeeds its speed.
func newDrawing(devices []string, cables []ethernet.Cable, speeds []uint32, behind []string, hostSpeeds []uint32) (*drawing, error) {
	cabling, err := ethernet.NewCabling(devices, cables)
	if err != nil {
		return nil, err
	}
	d := &drawing{cabling: cabling, hosts: make([]int, len(devices))}
	if speeds != nil {
		d.speeds = make([]uint32, len(cabling.Links))
		for i, c := range cables {
			l := cabling.LinkAt(cabling.Device(c.A.Device), c.A.Interface)
			d.speeds[l], d.speeds[cabling.Reverse[l]] = speeds[i], speeds[i]
		}
	}
	of := make([][]uint32, len(devices)) // [DeviceID] speeds of interfaces of hosts
	for i, device := range behind {
		at := cabling.Device(device)
		if d.hosts[at]++; hostSpeeds != nil {
			of[at] = append(of[at], hostSpeeds[i])
		}
	}
	if hostSpeeds != nil {
		d.hostSpeeds = make([]uint32, len(devices))
		for at, list := range of {
			d.hostSpeeds[at] = ecmp.MostSpeed(list)
		}
	}
	return d, nil
}

// ofDrawing reads a network that somebody drew, and counts the hosts of each device.
func ofDrawing(c *console.Console, name string, read func(io.Reader, string) (*drawn.Topology, error)) (*drawing, error) {
	t, err := console.ReadFile(c, name, read)
	if err != nil {
		return nil, err
	}
	d, err := newDrawing(t.Devices, t.Cables, t.Speeds, t.Hosts, t.HostSpeeds)
	if err != nil {
		return nil, err
	}
	d.notes = t.Notes
	return d, nil
}

// judgeable refuses a network in which there is nothing to judge.
func (in *networkInput) judgeable() error {
	if why := in.nothing(ethernet.HostScope); why != "" {
		return exit.Finding("%s: %s", result.NothingToJudge, why)
	}
	return nil
}

// nothing says why there is nothing to judge in a network: a proof about no packet that waits for
// another is no proof. It is empty where there is something.
func (in *networkInput) nothing(s ethernet.Scope) string {
	switch {
	case in.Cables() == 0:
		return "no cable joins two devices"
	case len(in.Senders(s)) == 0:
		return "no subnet with hosts is known; --endpoints all judges the traffic of the devices themselves"
	case len(in.Priorities.Lossless()) == 0:
		return "no packet is lossless on any cable: PORT_QOS_MAP has no port at a cable with pfc_enable and maps that lead packets to it"
	case s == ethernet.HostScope && len(bgp.Leaves(in.Classes)) == 1:
		return "all hosts are behind " + in.Names[bgp.Leaves(in.Classes)[0]]
	}
	return ""
}

// ofFabric is a computed network, or any fabric that weft reads, as Ethernet: its switches and the
// cables between them, and how many hosts each has.
func ofFabric(c *console.Console, name string) (*drawing, error) {
	f, err := input.Fabric(c, name)
	var beyond interface {
		WithoutLIDs() (*fabric.Fabric, error)
	}
	if errors.As(err, &beyond) {
		if f, err = beyond.WithoutLIDs(); err != nil {
			return nil, exit.Usage("%w", err)
		}
	}
	if err != nil {
		return nil, err
	}
	var names []string
	var cables []ethernet.Cable
	var speeds, hostSpeeds []uint32
	end := func(s fabric.NodeID, port uint8) ethernet.End {
		return ethernet.End{Device: f.Label(s), Interface: portName(port)}
	}
	for s := range fabric.NodeID(f.Switches()) {
		names = append(names, f.Label(s))
		for t, last := f.TrunksFrom(s); t < last; t++ {
			if ch := f.Channel(t); t < f.Reverses()[t] {
				cables = append(cables, ethernet.Cable{A: end(ch.From, ch.FromPort), B: end(ch.To, ch.ToPort)})
				speeds = append(speeds, uint32(ch.Rate.Mbps()))
			}
		}
	}
	var behind []string
	for i := range f.Endpoints() {
		if e := f.Endpoint(fabric.EndpointID(i)); e.Class == fabric.HostAdapter && e.Switch != fabric.None {
			behind, hostSpeeds = append(behind, f.Label(e.Switch)), append(hostSpeeds, uint32(f.Channel(e.Inject).Rate.Mbps()))
		}
	}
	d, err := newDrawing(names, cables, speeds, behind, hostSpeeds)
	if err != nil {
		return nil, err
	}
	d.fabric = f
	return d, nil
}

// portName is the interface of a port of a computed network.
func portName(port uint8) string { return fmt.Sprintf("port%d", port) }

// text names the network and counts what it consists of.
func (in *networkInput) text(name string) string {
	return fmt.Sprintf("%s: %s, %s, %s with hosts", name, words.Plural(len(in.Names), "device"), words.Plural(in.Cables(), "cable"), words.Counted(in.HostPrefixes(), "prefix", "prefixes"))
}

// factNetwork says what was read, and which routes it has.
func (in *networkInput) factNetwork(p *console.Page, name string) {
	p.Fact("network", "%s", in.text(name))
	if in.plan != nil {
		p.Fact("routing", "%s", in.routes)
	}
	if len(in.Notes) > 0 {
		p.Fact("read", "%s", strings.Join(in.Notes, "\n"))
	}
	if len(in.Gaps) > 0 {
		p.Fact("not covered", "%s", strings.Join(in.Gaps, "\n"))
	}
}
