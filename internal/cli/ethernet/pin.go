package ethernet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/failures"
	"github.com/weft-fabric/weft/internal/ethernet/pins"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

type pinFlags struct {
	networkFlags
	pin       bool
	nicList   string
	addresses int
	pins      string
}

// Route is weft route, the command c of InfiniBand, which of lossless Ethernet writes pins.
func Route(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &pinFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"engine", "traffic", "out", "force", "json", "seed"},
		flags: func(f *pflag.FlagSet) {
			o.networkFlags.addTo(f)
			f.BoolVar(&o.pin, "pin", false, "one way to each network adapter, announced by BGP, as configurations of FRR")
			f.StringVar(&o.nicList, "nic-list", "", "with --pin: the adapters, a file of name,ip,leaf and, if they are on some, rail (default: what the folder says of neighbors)")
			f.IntVar(&o.addresses, "addresses", 1, "with --pin: addresses of each adapter, each with a way of its own")
			f.StringVar(&o.pins, "pins", "", "with --pin: pins in force, the pins.csv of an earlier run: those of adapters that --traffic does not name stay")
		},
		long: `Of lossless Ethernet, --pin writes one way to each adapter; see docs/ethernet.md.`,
		run: func(cmd *cobra.Command, name string) error {
			if !o.pin {
				return exit.Usage("%s is a lossless Ethernet network, whose routes stay as they are: weft priorities %[1]s computes rules for its priorities, and --pin here one way to each adapter", name)
			}
			return runPin(a, cmd, name, o)
		},
	})
}

// pinJob is one run of weft route --pin: read sets the network, find the adapters, choose the pins; judge proves them, and
// write writes them. All of these fill in the summary s.
type pinJob struct {
	*console.Console
	o        *pinFlags
	t        *trafficNetwork
	list     []nic                    // adapters that were listed or found in a folder; nil: as the network was computed with
	adapters []adapter                // in the order of their endpoints
	pins     []bgp.Pin                // of each adapter, one for each address
	as       []uint32                 // of the routers, as read; nil: not known
	before   map[netip.Prefix]bgp.Pin // those in force (--pins); nil: not known
	traffic  string                   // --traffic; empty: not known
	seed     uint64
	s        result.Pins
}

// runPin is weft route --pin. Where it finds a credit loop it writes nothing, and answers with what it found.
func runPin(a *console.Console, cmd *cobra.Command, name string, o *pinFlags) error {
	ctx := cmd.Context()
	j := &pinJob{Console: a, o: o, s: result.Pins{Network: name, Engine: "auto", Pins: []result.Pin{}, Tried: []result.TriedPins{}, Traffic: []result.EthernetTraffic{}, Advice: []string{}, Addresses: o.addresses}}
	var asJSON, force bool
	var engine string
	if err := errorOf(get(cmd.Flags().GetBool, "json", &asJSON), get(cmd.Flags().GetBool, "force", &force), get(cmd.Flags().GetUint64, "seed", &j.seed),
		get(cmd.Flags().GetString, "out", &j.s.Out), get(cmd.Flags().GetString, "engine", &engine), get(cmd.Flags().GetString, "traffic", &j.traffic)); err != nil {
		return err
	}
	if o.addresses < 1 || o.addresses > maxAddresses {
		return exit.Usage("--addresses %d: it is 1 to %d", o.addresses, maxAddresses)
	}
	if j.s.Out != "" {
		if err := output.MayWrite(j.s.Out, force); err != nil {
			return err
		}
	}
	if err := j.read(name); err != nil {
		return err
	}
	j.s.NotRead = j.unread(name)
	if j.s.Out != "" && len(j.s.NotRead) > 0 && !o.partial {
		return fmt.Errorf("%s: not read is %s; --partial writes configurations without, and without --out this says what would be", name, j.unreadText())
	}
	if err := j.find(); err != nil {
		return err
	}
	if err := j.choose(ctx, engine); err != nil {
		return err
	}
	if err := j.judge(ctx); err != nil {
		return err
	}
	found := j.s.Verdict != result.DeadlockFree || j.s.Loops > 0
	if j.s.Out != "" && !found {
		if err := output.WriteFolder(j.s.Out, force, func(d *output.Folder) error { return j.write(ctx, d, name) }); err != nil {
			return err
		}
	} else {
		j.s.Out = ""
	}
	return a.Answer(asJSON, &j.s, func() error { return a.Show(j.screen()) }, found)
}

// read reads the network, its adapters and the pins in force. Pins are announced by BGP, so the routes have to be computed:
// if the folder has routes that were read, computed ones take their place.
func (j *pinJob) read(name string) error {
	in, err := j.o.read(j.Console, name)
	if err != nil {
		return err
	}
	j.as = in.AS
	if j.as == nil && j.s.Out != "" && folder.IsFolder(name) {
		return fmt.Errorf("%s: no router says its AS number, which configurations name: give DEVICE.frr.conf or bgp_asn in DEVICE.config_db.json; without --out this says what would be", name)
	}
	if in.plan == nil {
		v := &verifyFlags{networkFlags: j.o.networkFlags}
		if j.s.Differ, err = v.computeInstead(in); err != nil {
			return err
		}
	}
	if in.plan.Protocol != bgp.BGP {
		return exit.Usage("pins are announced by BGP: --routes bgp")
	}
	if err := j.nics(in, name); err != nil {
		return err
	}
	if in.nics == nil { // a computed network, which has no addresses
		if err := in.widen(j.o.addresses); err != nil {
			return err
		}
	}
	t := &trafficFlags{networkFlags: j.o.networkFlags}
	if j.t, err = t.lay(in, name); err != nil || j.o.pins == "" {
		return err
	}
	list, err := console.ReadFile(j.Console, j.o.pins, func(r io.Reader, file string) ([]bgp.Pin, error) { return readPins(r, file, in) })
	j.before = map[netip.Prefix]bgp.Pin{}
	for _, p := range list {
		j.before[p.Prefix] = p
	}
	return err
}

// label is the name of an adapter's host.
func (t *trafficNetwork) label(e fabric.EndpointID) string {
	return t.f.Label(t.f.Endpoint(e).Node)
}

// widen gives every class of a computed network a subnet of its own in 10.0.0.0/8, with room for so many addresses of each
// adapter; where 256 addresses do, all stays.
func (in *networkInput) widen(addresses int) error {
	most := slices.Max(in.hosts)*addresses + 2 // and the first and the last, which are no host's
	size := uint32(256)
	for int(size) < most {
		size *= 2
	}
	if size == 256 {
		return nil
	}
	if uint64(size)*uint64(len(in.Classes)) > 1<<24 {
		return exit.Usage("--addresses %d: the adapters of %d devices do not have so many in 10.0.0.0/8", addresses, len(in.Classes))
	}
	in.Classes = slices.Clone(in.Classes)
	for i := range in.Classes {
		var ip [4]byte
		binary.BigEndian.PutUint32(ip[:], 10<<24|uint32(i)*size)
		in.Classes[i].Prefixes = []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4(ip), 33-bits.Len32(size))}
	}
	return nil
}

// addressIn is the i-th address of a subnet that was computed.
func addressIn(p netip.Prefix, i int) (netip.Addr, error) {
	ip := p.Addr().As4()
	binary.BigEndian.PutUint32(ip[:], binary.BigEndian.Uint32(ip[:])+uint32(i)+1)
	if a := netip.AddrFrom4(ip); p.Contains(a.Next()) {
		return a, nil
	}
	return p.Addr(), fmt.Errorf("%s has not enough addresses for %d adapters", p, i+1)
}

// judge gives a copy of the network the pins, and judges it, and what it holds while BGP converges after every failure
// of a cable. It also counts the pins in the tables of each tier.
func (j *pinJob) judge(ctx context.Context) error {
	t := j.t
	classes, err := j.t.withPins(j.pins)
	if err != nil {
		return err
	}
	n := *t.Network
	n.Classes = classes
	v, err := judge.Verify(ctx, &n, judge.Options{})
	if err != nil {
		return err
	}
	var spent float64
	stage := j.Stage("failures", &spent)
	r, err := failures.Run(ctx, t.plan, &n, failures.Options{Kind: failures.Links, Converging: true, Progress: stage.Progress()})
	stage.Done()
	if err != nil {
		return err
	}
	j.s.Verdict, j.s.Failures, j.s.Loops, j.s.Cuts = outputs.WordOf(v), r.Tried, r.Loops, r.Cuts
	j.s.Routes, j.s.Assumed, j.s.NotCovered = t.routes, append([]string{}, t.Notes...), append([]string{}, t.Gaps...)
	entries := make([]int, len(t.Names)) // [DeviceID] pins that its table has
	down := make([]bool, len(n.Links))
	known, computer := n.NewRow(), bgp.NewComputer(t.plan)
	for i := len(t.Classes); i < len(classes); i++ { // the classes that pins added
		computer.Known(i, down, known)
		for d := range entries {
			if slices.ContainsFunc(n.Words(known, ethernet.DeviceID(d)), func(word uint64) bool { return word != 0 }) {
				entries[d] += len(classes[i].Prefixes)
			}
		}
	}
	for d, most := range entries {
		if level := int(t.plan.Level(ethernet.DeviceID(d))); level >= 0 {
			for level >= len(j.s.Entries) {
				j.s.Entries = append(j.s.Entries, 0)
			}
			j.s.Entries[level] = max(j.s.Entries[level], most)
		}
	}
	return nil
}

// write writes the configurations of the routers and what says how to apply them.
func (j *pinJob) write(ctx context.Context, d *output.Folder, name string) error {
	neighbor, err := j.neighbors()
	if err != nil {
		return err
	}
	if j.as != nil && !slices.Equal(j.as, j.t.plan.AS) {
		return exit.Usage("--as numbers are not those of the routers, and configurations name theirs: without --out this says what would be, without --as what is")
	}
	configs, err := pins.Configs(j.t.Network, j.t.plan.AS, j.o.vrf, j.t.plan.Level, j.pins, neighbor)
	if err != nil {
		return err
	}
	text := func(name, text string) files.File {
		return files.File{Name: name, Write: func(w io.Writer) error { _, err := io.WriteString(w, text); return err }}
	}
	all := []files.File{text(output.PinsText, j.readme()), {Name: output.PinsTable, Write: j.writeCSV}}
	for _, c := range configs {
		j.s.Lines = max(j.s.Lines, strings.Count(c.Apply, "\n"))
		head := "! Pins of " + c.Device + ", by weft.\n"
		if slices.Contains(j.s.NotRead, c.Device) {
			head += "! Its configuration was not read: see README.md before this is applied.\n"
		}
		all = append(all, text(c.Device+output.PinsOfDevice, head+c.Apply), text(c.Device+output.UnpinOfDevice, "! Takes the pins of "+c.Device+" back.\n"+c.Undo))
	}
	if sonic, err := j.sonic(name); err != nil {
		return err
	} else if sonic != nil {
		for _, c := range configs {
			if sonic[c.Device] {
				all = append(all, text(c.Device+output.PinsOfSonic, "{\"DEVICE_METADATA\": {\"localhost\": {\"docker_routing_config_mode\": \"split\"}}}\n"))
			}
		}
	}
	return d.Write(ctx, append(all, output.JSONFile(j.Console, output.Summary, &j.s))...)
}

// sonic is the devices of a folder that run SONiC, which have a configuration of it there; nil: none.
func (j *pinJob) sonic(name string) (map[string]bool, error) {
	if !folder.IsFolder(name) {
		return nil, nil
	}
	var list map[string]bool
	err := eachFile(j.Context, name, sonicFile, func(_ io.Reader, _, device, _ string) error {
		if list == nil {
			list = map[string]bool{}
		}
		list[device] = true
		return nil
	})
	return list, err
}

// writeCSV writes the pins with their ways, as eachPin and readPins read them.
func (j *pinJob) writeCSV(w io.Writer) error {
	rows := [][]string{{"name", "prefix", "leaf", "up", "up2"}}
	for _, p := range j.s.Pins {
		row := append([]string{p.Name, p.Prefix, p.Leaf}, p.Up...)
		for len(row) < 5 {
			row = append(row, "")
		}
		rows = append(rows, row)
	}
	return reading.NewCSVWriter(w).WriteAll(rows)
}

// eachPin reads what writeCSV wrote: the prefix of each pin, and the names of its leaf and of the devices above, of which
// the last may be empty.
func eachPin(r io.Reader, file string, use func(table *reading.CSV, prefix netip.Prefix, way []string) error) error {
	table := reading.NewCSV(r, file)
	for first := true; ; first = false {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(row) < 4 {
			return table.Errorf("a line has name,prefix,leaf,up and, with three tiers, up2")
		}
		if first && row[1] == "prefix" {
			continue
		}
		prefix, err := netip.ParsePrefix(row[1])
		if err != nil {
			return table.Errorf("%q is not a prefix such as 10.1.0.11/32", row[1])
		}
		if err := use(table, prefix, row[2:min(len(row), 5)]); err != nil {
			return err
		}
	}
}

// readPins is the pins of a file, in a network that has their devices and subnets. Each goes into the first subnet with its
// address that is behind its leaf alone.
func readPins(r io.Reader, file string, in *networkInput) ([]bgp.Pin, error) {
	var list []bgp.Pin
	err := eachPin(r, file, func(table *reading.CSV, prefix netip.Prefix, way []string) error {
		pin := bgp.Pin{Prefix: prefix}
		for i, name := range way {
			d := in.Device(name)
			switch {
			case i > 1 && name == "":
				continue
			case d == ethernet.None:
				return table.Errorf("there is no device %s", reading.Printable(name))
			case i == 0:
				pin.At = d
			default:
				pin.Up = append(pin.Up, d)
			}
		}
		pin.Under = slices.IndexFunc(in.Classes, func(c ethernet.Class) bool {
			return len(c.At) == 1 && c.At[0] == pin.At && slices.ContainsFunc(c.Prefixes, func(p netip.Prefix) bool { return p.Contains(pin.Prefix.Addr()) })
		})
		if pin.Under < 0 {
			return table.Errorf("%s is in no subnet that is behind %s alone", pin.Prefix, in.Names[pin.At])
		}
		list = append(list, pin)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no pin", file)
	}
	return list, nil
}

// pinned gives a network with computed routes the pins of a file, in a copy that takes its place; its text of the routes says
// so.
func (in *networkInput) pinned(a *console.Console, file string) error {
	list, err := console.ReadFile(a, file, func(r io.Reader, name string) ([]bgp.Pin, error) { return readPins(r, name, in) })
	if err != nil {
		return err
	}
	n := *in.Network
	if n.Classes, err = in.plan.SetPins(in.Classes, list); err != nil {
		return exit.Finding("%s", err.Error())
	}
	in.Network = &n
	in.routes += ", with " + words.Plural(len(list), "pin")
	return nil
}

// unreadText says what is not known of routers without a configuration, and what to do; empty: there are none.
func (j *pinJob) unreadText() string {
	if len(j.s.NotRead) == 0 {
		return ""
	}
	return fmt.Sprintf("the BGP configuration of %s: route maps by which they announce (SONiC has TO_BGP_PEER_V4) are replaced by those of pins and not called, and allowas-in, filters and limits that pins need to know of are not; give DEVICE.frr.conf (vtysh -c 'show running-config') of each before pins are applied", words.FirstOf(j.s.NotRead))
}

func (j *pinJob) readme() string {
	unread := ""
	if text := j.unreadText(); text != "" {
		unread = "\n**Not read, so not to be applied yet:** " + text + ",\nand write the pins again. All of them: " + strings.Join(j.s.NotRead, ", ") + ".\n"
	}
	changed := ""
	if j.before != nil {
		changed = "\nOf the pins in force before, " + words.Plural(j.s.Changed, "pin") + " changed"
		if j.s.Changed > 0 {
			changed += ": it is enough to apply the files of " + strings.Join(j.s.Leaves, ", ") + "\nand, for addresses that are no longer pinned, to take the old files back first"
		}
		changed += ".\n"
	}
	return fmt.Sprintf(`# Pins: one way to each adapter

%s of %s, by %s. The leaf of each adapter announces its address (/32) with communities
that say which device above it hears of it; no other does. Longest prefix wins. When anything on the way dies, BGP
withdraws the pin, and packets take the routes of the subnet, as without pins.
%s%s
Apply, on each router with a file, in any order, under traffic:

    vtysh -f DEVICE.pins.conf && vtysh -c 'write memory'

Or put the file at the end of frr.conf and have FRR find the difference:

    cat DEVICE.pins.conf >> /etc/frr/frr.conf && /usr/lib/frr/frr-reload.py --reload /etc/frr/frr.conf

SONiC writes BGP's configuration itself, unless docker_routing_config_mode (DEVICE_METADATA) is split: DEVICE.sonic.json
sets it, and keeps what bgpcfgd wrote so far only if it was saved before. Once:

    vtysh -c 'write memory' && sonic-cfggen -j DEVICE.sonic.json --write-to-db && config save -y
    docker cp DEVICE.pins.conf bgp:/tmp/ && docker exec bgp vtysh -f /tmp/DEVICE.pins.conf && vtysh -c 'write memory'

Take back:

    vtysh -f DEVICE.unpin.conf && vtysh -c 'write memory'

It leaves "no bgp network import-check" in the configuration of leaves, without which an address that is not in
the routing table is not announced; "bgp network import-check" brings it back.

Communities: %s marks a pin; 64999:N is device N above leaves, 64998:N above those. Spines need no
change where there are two tiers. pins.csv has the ways. A pin takes an entry in the table of every leaf and of each
device that it comes down by; summary.json has how many that are by tier.
`, words.Plural(len(j.pins), "pin"), j.s.Network, j.s.Engine, unread, changed, pins.Mark)
}

func (j *pinJob) screen() *console.Page {
	p := j.NewPage()
	s := &j.s
	j.t.factNetwork(p, s.Network)
	if len(s.Differ) > 0 {
		p.Fact("differ", "computed routes are not those that were read at %s: what follows is about those computed", strings.Join(s.Differ, ", "))
	}
	text := fmt.Sprintf("%s of %s by %s", words.Plural(len(s.Pins), "pin"), words.Plural(s.Adapters, "adapter"), s.Engine)
	if s.Roots > 0 {
		text += fmt.Sprintf("; ways to %s come down by several devices, and are pinned to one of them", words.Plural(s.Roots, "adapter"))
	}
	if j.before != nil {
		text += fmt.Sprintf("; %s not those in force, on %s", words.Plural(s.Changed, "pin"), words.Counted(len(s.Leaves), "leaf", "leaves"))
	}
	p.Fact("pins", "%s", text)
	if text := j.unreadText(); text != "" {
		p.Fact("not read", "%s", text)
	}
	for _, t := range s.Tried {
		if t.Refused != "" {
			p.Fact("refused", "%s: %s", t.Engine, t.Refused)
		}
	}
	for _, f := range s.Traffic {
		var parts []string
		for i := range f.Ways {
			parts = append(parts, wayText(&f.Ways[i])+" "+timeText(&f.Ways[i]))
		}
		p.Fact("time", "%s: %s; no ways are quicker than %.2f", f.Name, strings.Join(parts, "; "), f.Ways[0].Bound)
	}
	if len(s.Advice) > 0 {
		p.Fact("advice", "%s", strings.Join(s.Advice, "\n"))
	}
	p.Judged(s.Verdict == result.DeadlockFree && s.Loops == 0, "%s (endpoints hosts); a credit loop in %d of %s mixtures while BGP converges after a cable died; %d cut a pair of prefixes", s.Verdict, s.Loops, words.Thousands(s.Failures), s.Cuts)
	p.Fact("outside", "of any proof: %s", strings.Join(outside, ", "))
	for level, most := range s.Entries {
		p.Fact(fmt.Sprintf("tier %d", level), "%s at most in a device's table", words.Plural(most, "pin"))
	}
	switch {
	case s.Out != "":
		p.Fact("files", "%s: README.md says how to apply them", s.Out)
	case s.Verdict == result.DeadlockFree && s.Loops == 0:
		p.Fact("next", "--out DIR writes the routers' configurations; weft compare says for which traffic pins are good")
	}
	return p
}
