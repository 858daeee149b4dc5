package deploy

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/routing"
)

// The files, by name.
const (
	LFTs     = "lfts.dump"          // forwarding tables
	Conf     = "opensm.conf"        // the options that go with them
	Policy   = "qos-policy.conf"    // service levels by destination; only where there is more than SL 0
	Roots    = "root-guids"         // node GUIDs of switches
	Computes = "compute-guids"      // port GUIDs
	IOs      = "io-guids"           // port GUIDs; only where there are any
	Order    = "guid-routing-order" // port GUIDs
)

// Names is every file that Files may give.
var Names = []string{LFTs, Conf, Policy, Roots, Computes, IOs, Order}

// Options is the contents of the files other than the routing.
type Options struct {
	Dir      string              // folder of the files on the manager's host; an absolute path
	GUIDs    lft.GUIDs           // the port GUIDs that the manager will see
	VLs      int                 // data lanes that the ports offer, at least the Plan's
	Contract routing.Contract    // under which the tables are proven, for the comment
	Engine   string              // for the comment
	Roots    []fabric.NodeID     // for root_guid_file; empty: chosen, see Tops
	IO       []fabric.EndpointID // for io_guid_file, besides aggregation nodes and routers
}

// Files is what to write for a plan: the policy only where a destination has another service
// level than 0, the I/O nodes only where there are any.
func (p *Plan) Files(o Options) ([]files.File, error) {
	if !path.IsAbs(o.Dir) || strings.ContainsAny(o.Dir, " \t\n\"'") {
		return nil, fmt.Errorf("folder %q: opensm.conf takes an absolute path without blanks and quotes", o.Dir)
	}
	if p.VLs > o.VLs {
		return nil, fmt.Errorf("the tables need %d lanes, the ports offer %d", p.VLs, o.VLs)
	}
	f := p.Tables.Fabric
	if len(o.Roots) == 0 {
		o.Roots = Tops(f)
	}
	computes, ios := p.roles(o.IO)
	all := []files.File{
		{Name: LFTs, Write: func(w io.Writer) error { return lft.Write(w, f, p.Tables.Forwarding, o.GUIDs) }},
		{Name: Conf, Write: text(p.conf(&o, len(ios) > 0))},
		{Name: Roots, Write: text(nodeGUIDs(f, o.Roots))},
		{Name: Computes, Write: text(o.portGUIDs(f, computes))},
		{Name: Order, Write: text(o.portGUIDs(f, p.order))},
	}
	if p.needsPolicy() {
		all = append(all, files.File{Name: Policy, Write: func(w io.Writer) error { return p.policy(w, &o) }})
	}
	if len(ios) > 0 {
		all = append(all, files.File{Name: IOs, Write: text(o.portGUIDs(f, ios))})
	}
	return all, nil
}

// needsPolicy reports whether any destination has another service level than 0.
func (p *Plan) needsPolicy() bool { return p.levels[0] == 0 || len(p.Levels()) > 1 }

// text writes a text as a file.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// roles divides adapter and router ports into compute nodes and I/O nodes: the latter are those in serve, aggregation
// nodes and routers.
func (p *Plan) roles(serve []fabric.EndpointID) (computes, ios []fabric.EndpointID) {
	f := p.Tables.Fabric
	io := make([]bool, len(f.Endpoints()))
	for _, e := range serve {
		io[e] = true
	}
	for _, e := range p.order {
		if io[e] || f.Endpoint(e).Class != fabric.HostAdapter {
			ios = append(ios, e)
		} else {
			computes = append(computes, e)
		}
	}
	return computes, ios
}

// conf is the fragment of opensm.conf.
func (p *Plan) conf(o *Options, io bool) string {
	var b strings.Builder
	option := func(key, format string, args ...any) { fmt.Fprintf(&b, "%s %s\n", key, fmt.Sprintf(format, args...)) }
	file := func(key, name string) { option(key, "%s", path.Join(o.Dir, name)) }
	fmt.Fprintf(&b, "# Tables of %s, proven free of deadlock under contract %s.\n", o.Engine, o.Contract)
	b.WriteString("# Replace the lines of the same options in opensm.conf by these.\n\n")
	b.WriteString("# no_fallback: keep the tables there are rather than take ones that nobody proved.\n")
	for _, line := range p.Lines(path.Join(o.Dir, LFTs)) {
		fmt.Fprintln(&b, line)
	}
	b.WriteString("\n# For OpenSM's own engines, should you go back to one.\n")
	file("root_guid_file", Roots)
	file("cn_guid_file", Computes)
	if io {
		file("io_guid_file", IOs)
	}
	file("guid_routing_order_file", Order)
	switch {
	case p.needsPolicy():
		b.WriteString("\n# Service levels and lanes. With QoS off nothing below takes effect, and the\n# proof does not hold.\n")
		option("qos", "TRUE")
		file("qos_policy_file", Policy)
	case p.Classes > 1:
		fmt.Fprintf(&b, "\n# %d classes of traffic with lanes of their own, which senders choose by the service\n# level. With QoS off all share one lane, which is free of deadlock too.\n", p.Classes)
		option("qos", "TRUE")
	default:
		b.WriteString("\n# Everything has SL 0 and one lane is enough: QoS may be on or off.\n")
		return b.String()
	}
	option("max_op_vls", "%d", OpVLs(o.VLs))
	lanes := make([]string, len(p.Lane))
	for sl, vl := range p.Lane {
		lanes[sl] = fmt.Sprint(vl)
	}
	for _, port := range [...]string{"qos", "qos_ca", "qos_rtr", "qos_sw0", "qos_swe"} {
		option(port+"_max_vls", "%d", o.VLs)
		option(port+"_sl2vl", "%s", strings.Join(lanes, ","))
	}
	return b.String()
}

// Lines is the options that make OpenSM read the forwarding tables from a file, and
// keep its present tables if it cannot. Tables without service levels need no others.
func (p *Plan) Lines(lfts string) []string {
	lines := []string{"routing_engine file,no_fallback", "lfts_file " + lfts, "use_ucast_cache FALSE"}
	return append(lines, LMC(p.Tables.Fabric)...)
}

// LMC is the option for ports with several addresses; nothing if every port has one.
func LMC(f *fabric.Fabric) []string {
	width, lmc := f.Addresses(), 0
	for ; 1<<lmc < width; lmc++ {
	}
	if lmc == 0 {
		return nil
	}
	return []string{fmt.Sprintf("lmc %d", lmc)}
}

// OpVLs is the code of the smallest PortInfo:OperationalVLs that has this many
// data lanes, as max_op_vls takes it: 1, 2, 4, 8 or 15 lanes.
func OpVLs(lanes int) int {
	for code, n := range [...]int{1, 2, 4, 8} {
		if lanes <= n {
			return code + 1
		}
	}
	return 5
}

// guid is the GUID of a port as the manager will see it.
func (o *Options) guid(f *fabric.Fabric, e fabric.EndpointID) fabric.GUID {
	ep := f.Endpoint(e)
	if o.GUIDs == lft.NodePlusPort {
		return f.Node(ep.Node).GUID + fabric.GUID(ep.Port)
	}
	return ep.PortGUID
}

// portGUIDs is a file with the GUIDs of ports, one a line.
func (o *Options) portGUIDs(f *fabric.Fabric, ports []fabric.EndpointID) string {
	var b strings.Builder
	for _, e := range ports {
		fmt.Fprintln(&b, o.guid(f, e))
	}
	return b.String()
}

// nodeGUIDs is a file with the GUIDs of nodes, one a line.
func nodeGUIDs(f *fabric.Fabric, nodes []fabric.NodeID) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintln(&b, f.Node(n).GUID)
	}
	return b.String()
}

// policy writes the QoS policy: a group of ports, a level and a rule for every
// service level except 0, which is the default.
func (p *Plan) policy(w io.Writer, o *Options) error {
	const perLine = 4
	f := p.Tables.Fabric
	out := bufio.NewWriter(w)
	endpoints, levels := p.Scope.Endpoints(f), p.Levels()
	if levels[0] == 0 {
		levels = levels[1:]
	}
	out.WriteString("# Service levels by destination. Generated; edit nothing here.\n\nport-groups\n")
	for _, sl := range levels {
		fmt.Fprintf(out, "    port-group\n        name: weft-sl%d\n", sl)
		n := 0
		for _, e := range endpoints {
			if p.SL[e] != sl {
				continue
			}
			separator := ", "
			if n%perLine == 0 {
				separator = "\n        port-guid: "
				if n == 0 {
					separator = separator[1:]
				}
			}
			fmt.Fprintf(out, "%s%s", separator, o.guid(f, e))
			n++
		}
		out.WriteString("\n    end-port-group\n")
	}
	out.WriteString("end-port-groups\n\nqos-levels\n    qos-level\n        name: DEFAULT\n        sl: 0\n    end-qos-level\n")
	for _, sl := range levels {
		fmt.Fprintf(out, "    qos-level\n        name: weft-sl%d\n        sl: %d\n    end-qos-level\n", sl, sl)
	}
	out.WriteString("end-qos-levels\n\nqos-match-rules\n")
	for _, sl := range levels {
		fmt.Fprintf(out, "    qos-match-rule\n        destination: weft-sl%d\n        qos-level-name: weft-sl%d\n    end-qos-match-rule\n", sl, sl)
	}
	out.WriteString("end-qos-match-rules\n")
	return out.Flush()
}
