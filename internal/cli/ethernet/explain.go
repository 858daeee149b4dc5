package ethernet

import (
	"cmp"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/ethernet/between"
	"github.com/weft-fabric/weft/internal/ethernet/hops"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// explainFlags is the flags of weft explain for lossless Ethernet.
type explainFlags struct {
	networkFlags
	to, from string
}

func (o *explainFlags) addTo(f *pflag.FlagSet) {
	o.networkFlags.addTo(f)
	f.StringVar(&o.to, "to", "", "address or prefix that packets are sent to")
	f.StringVar(&o.from, "from", "", "device that they enter the network at, or all that fit, as in 'leaf-*' (default all with hosts)")
}

// Explain makes of weft explain, the command c of InfiniBand, one that takes lossless Ethernet too.
func Explain(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &explainFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"json"},
		flags:   o.addTo,
		long: `Of a lossless Ethernet network --to ADDRESS says how packets get there: the prefix that
it matches, the next hops of each device with their parts of the packets, by the
weights that dumps state, how many ways there are from --from, what crosses each link,
and in which priorities that is lossless.`,
		run: func(cmd *cobra.Command, name string) error { return runExplain(a, cmd, name, o) },
	})
}

// runExplain answers weft explain --to of the network called name.
func runExplain(a *console.Console, cmd *cobra.Command, name string, o *explainFlags) error {
	asJSON, err := cmd.Flags().GetBool("json")
	if err != nil {
		return err
	}
	if o.to == "" {
		return exit.Usage("of a lossless Ethernet network weft explain says how packets get to an address: --to 10.1.2.3")
	}
	prefix, err := netip.ParsePrefix(o.to)
	if err != nil {
		addr, err := netip.ParseAddr(o.to)
		if err != nil {
			return exit.Usage("--to %q is neither an address, such as 10.1.2.3, nor a prefix, such as 10.1.2.0/24", o.to)
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	in, err := o.read(a, name)
	if err != nil {
		return err
	}
	class := between.ClassOf(in.Network, prefix)
	if class == ethernet.None {
		return exit.Finding("no device of %s has a route to %s", name, o.to)
	}
	from, err := o.senders(in, class)
	if err != nil {
		return err
	}
	s := &result.ExplainEthernet{Network: name, Routes: in.routes, Assumed: append([]string{}, in.Notes...), NotCovered: append([]string{}, in.Gaps...), To: o.to}
	follow(s, in.Network, class, prefix, from)
	return a.Answer(asJSON, s, func() error { return a.Show(explainScreen(a, in, s)) }, s.Lost > 0 || s.Circles)
}

// senders is where packets to a class enter the network: the devices of --from, or all with hosts except those where the packets leave.
func (o *explainFlags) senders(in *networkInput, class int) ([]ethernet.DeviceID, error) {
	if o.from != "" {
		found, err := devicesOf(in.Cabling, o.from)
		if err != nil {
			return nil, exit.Usage("--from: %w", err)
		}
		return found, nil
	}
	var all []ethernet.DeviceID
	for _, s := range in.Senders(ethernet.HostScope) {
		for _, d := range s.At {
			if !in.Classes[class].Leaves(d) {
				all = append(all, d)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// follow fills in s: it divides packets of a class over next hops, the same amount from each of several devices. to is the prefix that was asked
// about, which one of the class covers.
func follow(s *result.ExplainEthernet, n *ethernet.Network, class int, to netip.Prefix, from []ethernet.DeviceID) {
	c := &n.Classes[class]
	covers := func(p netip.Prefix) bool { return p.Bits() <= to.Bits() && p.Contains(to.Addr()) }
	s.Prefix = c.Prefixes[slices.IndexFunc(c.Prefixes, covers)].String()
	s.Alike = prefixTexts(slices.DeleteFunc(slices.Clone(c.Prefixes), covers))
	s.Hosts = c.Hosts
	s.At = list.Of(c.At, func(d ethernet.DeviceID) string { return n.Names[d] })
	s.From = list.Of(from, func(d ethernet.DeviceID) string { return n.Names[d] })
	s.Devices, s.Links = []result.EthernetSplit{}, []result.EthernetShare{}
	order, acyclic := downstream(n, c, from)
	s.Circles = !acyclic
	amount, ways := make([]float64, len(n.Names)), make([]*big.Int, len(n.Names)) // [DeviceID] packets that come, of 1 in all; ways on from it
	for _, d := range from {
		amount[d] += 1 / float64(len(from))
	}
	distance := hops.To(n, c)
	for i := len(order) - 1; i >= 0; i-- {
		d := order[i]
		ways[d] = big.NewInt(0)
		if c.Leaves(d) {
			ways[d].SetInt64(1)
		}
		n.Each(n.Words(c.Next, d), d, func(l ethernet.LinkID) {
			if w := ways[n.Links[l].To]; w != nil {
				ways[d].Add(ways[d], w)
			}
		})
	}
	sum := big.NewInt(0)
	for _, d := range from {
		if ways[d] != nil {
			sum.Add(sum, ways[d])
		}
	}
	if s.Ways = sum.String(); s.Circles {
		s.Ways = "" // there are as many as one likes
	}
	for _, d := range order {
		e := result.EthernetSplit{Device: n.Names[d], Hops: int(distance[d]), Share: amount[d], Delivers: c.Leaves(d), Next: []result.EthernetNextHop{}}
		for _, t := range c.Tunnels {
			if t.Device == d {
				e.Wraps = n.Classes[t.Into].Prefix().String()
			}
		}
		total := 0.
		weight := func(l ethernet.LinkID) float64 { return float64(max(c.Weights[l], 1)) }
		n.Each(n.Words(c.Next, d), d, func(l ethernet.LinkID) { total += weight(l) })
		if total == 0 && !e.Delivers && e.Wraps == "" {
			s.Lost += amount[d]
		}
		n.Each(n.Words(c.Next, d), d, func(l ethernet.LinkID) {
			part := weight(l) / total
			e.Next = append(e.Next, result.EthernetNextHop{EthernetPort: result.EthernetPort{Device: n.Names[n.Links[l].To], Interface: n.Links[l].FromInterface}, Share: part})
			if e.Delivers {
				return // hosts are behind it as well; what goes on is not known
			}
			amount[n.Links[l].To] += part * amount[d]
			s.Links = append(s.Links, result.EthernetShare{EthernetLink: outputs.EthernetLink(n, l), Share: part * amount[d], Lossless: bitsOf(between.Lossless(n, l))})
		})
		s.Devices = append(s.Devices, e)
	}
	slices.SortStableFunc(s.Links, func(a, b result.EthernetShare) int { return cmp.Compare(b.Share, a.Share) })
}

// downstream is the devices that packets of a class come to, each behind all that send it some. Where packets can circle, acyclic is
// false, and the devices on circles and behind them come last.
func downstream(n *ethernet.Network, c *ethernet.Class, from []ethernet.DeviceID) (order []ethernet.DeviceID, acyclic bool) {
	waiting := map[ethernet.DeviceID]int{} // links that lead to it from devices that are not in order yet
	reached := map[ethernet.DeviceID]bool{}
	all := slices.Clone(from)
	for _, d := range all {
		reached[d] = true
	}
	eachNext := func(d ethernet.DeviceID, visit func(ethernet.DeviceID)) {
		if !c.Leaves(d) {
			n.Each(n.Words(c.Next, d), d, func(l ethernet.LinkID) { visit(n.Links[l].To) })
		}
	}
	for i := 0; i < len(all); i++ {
		eachNext(all[i], func(to ethernet.DeviceID) {
			waiting[to]++
			if !reached[to] {
				reached[to] = true
				all = append(all, to)
			}
		})
	}
	for _, d := range all {
		if waiting[d] == 0 {
			order = append(order, d)
		}
	}
	for i := 0; i < len(order); i++ {
		eachNext(order[i], func(to ethernet.DeviceID) {
			if waiting[to]--; waiting[to] == 0 {
				order = append(order, to)
			}
		})
	}
	if len(order) == len(all) {
		return order, true
	}
	for _, d := range all {
		if !slices.Contains(order, d) {
			order = append(order, d)
		}
	}
	return order, false
}

func explainScreen(a *console.Console, in *networkInput, s *result.ExplainEthernet) *console.Page {
	p := a.NewPage()
	switch {
	case s.Circles:
		p.Judged(false, "packets to %s can circle", s.Prefix)
	case s.Lost > 0:
		p.Judged(false, "%.3g %% of the packets to %s are lost", 100*s.Lost, s.Prefix)
	default:
		p.Judged(true, "packets to %s arrive, whatever is chosen", s.Prefix)
	}
	in.factNetwork(p, s.Network)
	behind := "leave the network at "
	if s.Hosts {
		behind = "hosts are behind "
	}
	p.Fact("to", "%s, %s%s", s.Prefix, behind, words.FirstOf(s.At))
	if len(s.Alike) > 0 {
		p.Fact("", "routed alike: %s: %s", words.Counted(len(s.Alike), "prefix", "prefixes"), words.FirstOf(s.Alike))
	}
	if s.Ways != "" {
		p.Fact("from", "%s: %s ways in all", words.FirstOf(s.From), s.Ways)
	} else {
		p.Fact("from", "%s", words.FirstOf(s.From))
	}
	p.Fact("next hops", "%s", firstOf(20, splitLines(s.Devices)))
	if len(s.Links) > 0 {
		lines := list.Of(s.Links, func(l result.EthernetShare) string {
			return fmt.Sprintf("%5.2f %%  %s, %s → %s, %s: lossless: %s", 100*l.Share, l.From, l.FromInterface, l.To, l.ToInterface, prioritiesText(l.Lossless))
		})
		p.Fact("links", "%s", firstOf(maxFailures, lines))
	}
	return p
}

// splitLines says next hops, devices with the same in one line.
func splitLines(devices []result.EthernetSplit) []string {
	var keys []string
	devicesOf := map[string][]string{} // by what is said of them
	for i := range devices {
		d := &devices[i]
		var parts []string
		alike := true
		for _, w := range d.Next {
			alike = alike && w.Share == d.Next[0].Share
		}
		for _, w := range d.Next {
			text := w.Device
			if !alike {
				text += fmt.Sprintf(" %.3g %%", 100*w.Share)
			}
			parts = append(parts, text)
		}
		text := words.FirstOf(parts)
		switch {
		case d.Delivers && len(parts) == 0:
			text = "delivers"
		case d.Delivers:
			text = "delivers, or sends on to " + text
		case len(parts) == 0:
			text = "no route: packets are lost"
		case len(parts) > 1:
			text += fmt.Sprintf(" (%s)", words.Plural(len(parts), "next hop"))
		}
		if d.Wraps != "" {
			text += ", or wraps packets and sends them to " + d.Wraps
		}
		if devicesOf[text] == nil {
			keys = append(keys, text)
		}
		devicesOf[text] = append(devicesOf[text], d.Device)
	}
	return list.Of(keys, func(key string) string { return words.FirstOf(devicesOf[key]) + ": " + key })
}

// firstOf is the first lines of a list, at most so many, and how many more there are.
func firstOf(most int, lines []string) string {
	if len(lines) > most {
		lines = append(slices.Clone(lines[:most]), "and "+words.Thousands(len(lines)-most)+" more (--json has all)")
	}
	return strings.Join(lines, "\n")
}
