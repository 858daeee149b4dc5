package ethernet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"regexp"
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
	pin     bool
	nicList string
}

// Route is weft route, the command c of InfiniBand, which of lossless Ethernet writes pins.
func Route(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &pinFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"engine", "out", "force", "json", "seed"},
		flags: func(f *pflag.FlagSet) {
			o.networkFlags.addTo(f)
			f.BoolVar(&o.pin, "pin", false, "one way to each network adapter, announced by BGP, as configurations of FRR")
			f.StringVar(&o.nicList, "nic-list", "", "with --pin: the adapters, a file of name,ip,leaf")
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

// nic is a network adapter by name.
type nic struct {
	name string
	ip   netip.Addr
	leaf ethernet.DeviceID
}

// pinnedNIC is an adapter with its way.
type pinnedNIC struct {
	Name   string   `json:"name"`
	Prefix string   `json:"prefix"`
	Leaf   string   `json:"leaf"`
	Up     []string `json:"up"`
}

type pinSummary struct {
	Network  string      `json:"network"`
	Routes   string      `json:"routes"`
	Assumed  []string    `json:"assumed"`
	Gaps     []string    `json:"not_covered"`
	Differ   []string    `json:"routes_differ,omitempty"`
	Engine   string      `json:"engine"`
	Verdict  string      `json:"verdict"`
	Failures int         `json:"failures"`
	Loops    int         `json:"open_a_loop"`
	Cuts     int         `json:"cut_a_pair"`
	Several  int         `json:"several_roots"`
	Pins     []pinnedNIC `json:"pins"`
	Entries  []int       `json:"most_entries_by_tier"`
	Out      string      `json:"out,omitempty"`
}

// pinJob is pins on their way.
type pinJob struct {
	*console.Console
	o    *pinFlags
	t    *trafficNetwork
	nics []nic
	pins []bgp.Pin
	as   []uint32 // of the routers, as read; nil: not known
	s    pinSummary
}

func runPin(a *console.Console, cmd *cobra.Command, name string, o *pinFlags) error {
	ctx := cmd.Context()
	j := &pinJob{Console: a, o: o, s: pinSummary{Network: name, Engine: "ftree", Pins: []pinnedNIC{}}}
	var asJSON, force bool
	var seed uint64
	var engine string
	if err := errorOf(get(cmd.Flags().GetBool, "json", &asJSON), get(cmd.Flags().GetBool, "force", &force), get(cmd.Flags().GetUint64, "seed", &seed),
		get(cmd.Flags().GetString, "out", &j.s.Out), get(cmd.Flags().GetString, "engine", &engine)); err != nil {
		return err
	}
	if cmd.Flags().Changed("engine") {
		j.s.Engine = engine
	}
	if err := j.read(name); err != nil {
		return err
	}
	if err := j.choose(ctx, seed); err != nil {
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

// read reads the network, with routes that are computed, and its adapters.
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
	switch {
	case in.plan.Protocol != bgp.BGP:
		return exit.Usage("pins are announced by BGP: --routes bgp")
	case j.o.nicList != "":
		j.nics, err = console.ReadFile(j.Console, j.o.nicList, func(r io.Reader, file string) ([]nic, error) { return readNICs(r, file, in) })
		if err != nil {
			return err
		}
		in.hosts, in.fabric = make([]int, len(in.Names)), nil
		for _, n := range j.nics {
			in.hosts[n.leaf]++
		}
	case in.hosts == nil:
		return exit.Usage("%s does not tell its adapters: give --nic-list FILE, with a line name,ip,leaf and one for each adapter", name)
	}
	t := &trafficFlags{networkFlags: j.o.networkFlags}
	j.t, err = t.lay(in, name)
	return err
}

// readNICs reads a file of name,ip,leaf, with these words in its first line.
func readNICs(r io.Reader, file string, in *networkInput) ([]nic, error) {
	table := reading.NewCSV(r, file)
	leaves := bgp.Leaves(in.Classes)
	var list []nic
	seen := map[netip.Addr]bool{}
	for first := true; ; first = false {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if first && len(row) >= 3 && row[0] == "name" && row[1] == "ip" && row[2] == "leaf" {
			continue
		}
		if len(row) < 3 {
			return nil, table.Errorf("a line has name,ip,leaf")
		}
		ip, err := netip.ParseAddr(strings.TrimSpace(row[1]))
		if err != nil || !ip.Is4() {
			return nil, table.Errorf("%q is not an IPv4 address; pins are written for those", row[1])
		}
		leaf := in.Device(strings.TrimSpace(row[2]))
		if leaf == ethernet.None {
			return nil, table.Errorf("there is no device %s", reading.Printable(row[2]))
		}
		if !slices.Contains(leaves, leaf) {
			return nil, table.Errorf("%s has no subnet with hosts", in.Names[leaf])
		}
		if seen[ip] {
			return nil, table.Errorf("%s a second time", ip)
		}
		seen[ip] = true
		list = append(list, nic{reading.Printable(row[0]), ip, leaf})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no adapter", file)
	}
	slices.SortStableFunc(list, func(a, b nic) int { return int(a.leaf) - int(b.leaf) })
	return list, nil
}

// choose finds the way of each adapter.
func (j *pinJob) choose(ctx context.Context, seed uint64) error {
	t := j.t
	tables, refused, err := t.pins(ctx, j.s.Engine, seed)
	if err != nil {
		return err
	}
	if refused != "" {
		return exit.Finding("%s: %s", j.s.Engine, refused)
	}
	var leaves []fabric.NodeID
	at := make([]int, len(t.Names)) // adapters so far
	for _, e := range t.among() {
		leaves = append(leaves, t.f.Endpoint(e).Switch)
	}
	slices.Sort(leaves)
	leaves = slices.Compact(leaves)
	device := make([]ethernet.DeviceID, t.f.Switches())
	for s := range device {
		device[s] = t.Device(t.f.Label(fabric.NodeID(s)))
	}
	byLeaf := map[ethernet.DeviceID][]nic{}
	for _, n := range j.nics {
		byLeaf[n.leaf] = append(byLeaf[n.leaf], n)
	}
	for _, e := range t.among() {
		end := t.f.Endpoint(e)
		class := t.w.NICs[t.nics[e]].Class
		pin := bgp.Pin{At: device[end.Switch], Under: class}
		name := t.label(e)
		var ip netip.Addr
		if j.nics != nil {
			n := byLeaf[pin.At][at[pin.At]]
			name, ip = n.name, n.ip
			if !slices.ContainsFunc(t.Classes[class].Prefixes, func(p netip.Prefix) bool { return p.Contains(ip) }) {
				return fmt.Errorf("%s: %s of %s is in no subnet of %s", j.o.nicList, ip, name, t.Names[pin.At])
			}
		} else {
			var err error
			if ip, err = addressIn(t.Classes[class].Prefix(), at[pin.At]); err != nil {
				return err
			}
		}
		at[pin.At]++
		pin.Prefix = netip.PrefixFrom(ip, ip.BitLen())
		up, exact := pins.Roots(tables, end.LID, end.Switch, leaves, func(s fabric.NodeID) int32 { return t.plan.Level(device[s]) })
		if up == nil {
			return exit.Finding("no other device with hosts reaches %s by a device above %s: there is nothing to pin", name, t.Names[pin.At])
		}
		if !exact {
			j.s.Several++
		}
		named := pinnedNIC{Name: name, Prefix: pin.Prefix.String(), Leaf: t.Names[pin.At]}
		for _, s := range up {
			pin.Up = append(pin.Up, device[s])
			named.Up = append(named.Up, t.Names[device[s]])
		}
		j.pins = append(j.pins, pin)
		j.s.Pins = append(j.s.Pins, named)
	}
	return nil
}

// label is the name of an adapter's host.
func (t *trafficNetwork) label(e fabric.EndpointID) string {
	return t.f.Label(t.f.Endpoint(e).Node)
}

// addressIn is the address of the i-th adapter of a subnet that was computed.
func addressIn(p netip.Prefix, i int) (netip.Addr, error) {
	ip := p.Addr()
	for range i + 1 {
		ip = ip.Next()
	}
	if !p.Contains(ip.Next()) {
		return ip, fmt.Errorf("%s has not enough addresses for %d adapters", p, i+1)
	}
	return ip, nil
}

// judge gives the network the pins, and judges it, and what it holds while BGP converges after every failure
// of a cable.
func (j *pinJob) judge(ctx context.Context) error {
	t := j.t
	classes, err := t.plan.SetPins(t.Classes, j.pins)
	if err != nil {
		return exit.Finding("%s", strings.TrimPrefix(err.Error(), "bgp: "))
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
	j.s.Routes, j.s.Assumed, j.s.Gaps = t.routes, append([]string{}, t.Notes...), append([]string{}, t.Gaps...)
	entries := make([]int, len(t.Names))
	down := make([]bool, len(n.Links))
	known, computer := n.NewRow(), bgp.NewComputer(t.plan)
	for i := len(t.Classes); i < len(classes); i++ {
		computer.Known(i, down, known)
		for d := range entries {
			if slices.ContainsFunc(n.Words(known, ethernet.DeviceID(d)), func(word uint64) bool { return word != 0 }) {
				entries[d]++
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

// outMap matches what a configuration already does to what it announces.
var outMap = regexp.MustCompile(`(?m)^\s*neighbor (\S+) (?:route-map|prefix-list|filter-list|distribute-list) (\S+) out\s*$`)

// neighbors says what a router calls its neighbor at the other end of a link, and refuses routers that
// already filter what they announce to one that pins are filtered for.
func (j *pinJob) neighbors(ctx context.Context, name string) (func(ethernet.LinkID) string, error) {
	t := j.t
	call := func(l ethernet.LinkID) string {
		if back := t.Reverse[l]; t.Addresses != nil && t.Addresses[back].IsValid() {
			return t.Addresses[back].String()
		}
		return t.Links[l].FromInterface
	}
	if !folder.IsFolder(name) {
		return call, nil
	}
	for d, device := range t.Names {
		for _, file := range [...]string{filepath.Join(name, device+".frr.conf"), filepath.Join(name, device, "frr.conf")} {
			r, err := reading.OpenFound(ctx, file)
			if err != nil {
				continue // a router whose configuration is not in the folder
			}
			text, err := reading.ReadUTF8(r, file, reading.MaxSettings)
			r.Close()
			if err != nil {
				return nil, err
			}
			for _, m := range outMap.FindAllStringSubmatch(string(text), -1) {
				for l, end := t.LinksFrom(ethernet.DeviceID(d)); l < end; l++ {
					if call(l) == m[1] && !strings.HasPrefix(m[2], "WEFT-") {
						return nil, fmt.Errorf("%s: %s already filters what it announces to %s (%s): pins need the route map of that neighbor; join the two by hand", reading.Printable(file), device, m[1], reading.Printable(m[2]))
					}
				}
			}
		}
	}
	return call, nil
}

func (j *pinJob) write(ctx context.Context, d *output.Folder, name string) error {
	call, err := j.neighbors(ctx, name)
	if err != nil {
		return err
	}
	if j.as != nil && !slices.Equal(j.as, j.t.plan.AS) {
		return exit.Usage("--as numbers are not those of the routers, and configurations name theirs: without --out this says what would be, without --as what is")
	}
	configs, err := pins.Configs(j.t.Network, j.t.plan.AS, j.t.plan.Level, j.pins, call)
	if err != nil {
		return err
	}
	text := func(name, text string) files.File {
		return files.File{Name: name, Write: func(w io.Writer) error { _, err := io.WriteString(w, text); return err }}
	}
	all := []files.File{text(output.PinsText, j.readme()), {Name: output.PinsTable, Write: j.writeCSV}}
	for _, c := range configs {
		all = append(all, text(c.Device+output.PinsOfDevice, "! Pins of "+c.Device+", by weft.\n"+c.Apply), text(c.Device+output.UnpinOfDevice, "! Takes the pins of "+c.Device+" back.\n"+c.Undo))
	}
	return d.Write(ctx, append(all, output.JSONFile(j.Console, output.Summary, &j.s))...)
}

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

// readPins reads what writeCSV wrote.
func readPins(r io.Reader, file string, in *networkInput) ([]bgp.Pin, error) {
	table := reading.NewCSV(r, file)
	var list []bgp.Pin
	for first := true; ; first = false {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(row) < 4 {
			return nil, table.Errorf("a line has name,prefix,leaf,up and, with three tiers, up2")
		}
		if first && row[1] == "prefix" {
			continue
		}
		var pin bgp.Pin
		if pin.Prefix, err = netip.ParsePrefix(row[1]); err != nil {
			return nil, table.Errorf("%q is not a prefix such as 10.1.0.11/32", row[1])
		}
		for i, name := range row[2:min(len(row), 5)] {
			d := in.Device(name)
			switch {
			case i > 1 && name == "":
				continue
			case d == ethernet.None:
				return nil, table.Errorf("there is no device %s", reading.Printable(name))
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
			return nil, table.Errorf("%s is in no subnet that is behind %s alone", pin.Prefix, in.Names[pin.At])
		}
		list = append(list, pin)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no pin", file)
	}
	return list, nil
}

// pinned gives the network the pins of a file.
func (in *networkInput) pinned(a *console.Console, file string) error {
	list, err := console.ReadFile(a, file, func(r io.Reader, name string) ([]bgp.Pin, error) { return readPins(r, name, in) })
	if err != nil {
		return err
	}
	n := *in.Network
	if n.Classes, err = in.plan.SetPins(in.Classes, list); err != nil {
		return exit.Finding("%s", strings.TrimPrefix(err.Error(), "bgp: "))
	}
	in.Network = &n
	in.routes += ", with " + words.Plural(len(list), "pin")
	return nil
}

func (j *pinJob) readme() string {
	return fmt.Sprintf(`# Pins: one way to each adapter

%s of %s, by %s. The leaf of each adapter announces its address (/32) with communities
that say which device above it hears of it; no other does. Longest prefix wins. When anything on the way dies, BGP
withdraws the pin, and packets take the routes of the subnet, as without pins.

Apply, on each router with a file, in any order, under traffic:

    vtysh -f DEVICE.pins.conf && vtysh -c 'write memory'

Or put the file at the end of frr.conf and run frr-reload.py --reload /etc/frr/frr.conf. On SONiC this is for
docker_routing_config_mode split (DEVICE_METADATA), in the bgp container.

Take back:

    vtysh -f DEVICE.unpin.conf && vtysh -c 'write memory'

It leaves "no bgp network import-check" in the configuration of leaves, without which an address that is not in
the routing table is not announced; "bgp network import-check" brings it back.

Communities: %s marks a pin; 64999:N is device N above leaves, 64998:N above those. Spines need no
change where there are two tiers. pins.csv has the ways.
`, words.Plural(len(j.pins), "pin"), j.s.Network, j.s.Engine, pins.Mark)
}

func (j *pinJob) screen() *console.Page {
	p := j.NewPage()
	s := &j.s
	j.t.factNetwork(p, s.Network)
	if len(s.Differ) > 0 {
		p.Fact("differ", "computed routes are not those that were read at %s: what follows is about those computed", strings.Join(s.Differ, ", "))
	}
	p.Fact("pins", "%s by %s, %d of them with one root of several: others of the tables' ways are not pinned", words.Plural(len(s.Pins), "adapter"), s.Engine, s.Several)
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
