package pins

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/words"
)

// The communities of pins: all have the first; the second half of the others is the number of a device.
const (
	Mark  = "64997:1"
	tier1 = 64999 // the device above the leaf
	tier2 = 64998 // the one above that
)

// Config is what a router needs for its pins, and what takes it back, as vtysh reads it.
type Config struct {
	Device      string
	Apply, Undo string
}

// Neighbor is how a router calls its BGP neighbor at the other end of a link, and by which route map it announces to it so far.
type Neighbor struct {
	Name    string
	Map     string // which the one for pins calls; empty: none
	OfGroup bool   // Map is that of the neighbor's peer group, and comes back by itself
}

// Configs writes what leaves, and with three tiers the devices above them, need for pins; devices in the order of their numbers. as
// is by DeviceID. level is 0 for leaves, 1 for the tier above and so on. neighbor is asked about links that lead up. vrf is empty or
// default for the default VRF.
func Configs(n *ethernet.Network, as []uint32, vrf string, level func(ethernet.DeviceID) int32, pins []bgp.Pin, neighbor func(ethernet.LinkID) Neighbor) ([]Config, error) {
	number := map[ethernet.DeviceID]int{} // of devices above others, from 1
	for d := range ethernet.DeviceID(len(n.Names)) {
		if level(d) > 0 {
			number[d] = len(number) + 1
		}
	}
	if len(number) > 65535 {
		return nil, fmt.Errorf("%d devices above leaves, and communities number up to 65535", len(number))
	}
	own := map[ethernet.DeviceID][]bgp.Pin{} // by leaf
	between := map[ethernet.DeviceID]bool{}  // devices that pass pins on to one above
	for _, p := range pins {
		own[p.At] = append(own[p.At], p)
		for _, d := range p.Up[:len(p.Up)-1] {
			between[d] = true
		}
	}
	var list []Config
	for d := range ethernet.DeviceID(len(n.Names)) {
		// A leaf without pins of its own still must not pass on those of others, nor a device between.
		if level(d) < 0 || level(d) > 1 || level(d) == 1 && len(between) == 0 {
			continue
		}
		c, err := config(n, as[d], vrf, d, level, own[d], number, neighbor)
		if err != nil {
			return nil, err
		}
		if c.Apply != "" {
			list = append(list, c)
		}
	}
	return list, nil
}

// config writes the configuration of one router d, whose own pins it announces; number is of the devices that communities
// name. It is empty if the router has no links that lead up.
func config(n *ethernet.Network, as uint32, vrf string, d ethernet.DeviceID, level func(ethernet.DeviceID) int32, own []bgp.Pin, number map[ethernet.DeviceID]int, neighbor func(ethernet.LinkID) Neighbor) (Config, error) {
	var lists, routeMaps, neighbors, networks, undoBGP, undo strings.Builder
	community := tier1 // of the devices that this one announces to
	if level(d) == 1 {
		community = tier2
	}
	done := map[ethernet.DeviceID]Neighbor{}
	for l, end := n.LinksFrom(d); l < end; l++ {
		to := n.Links[l].To
		if level(to) <= level(d) {
			continue
		}
		k, peer := number[to], neighbor(l)
		if peer.Name == "" {
			return Config{}, fmt.Errorf("the BGP neighbor of %s at the other end of %s is not known", n.Names[d], n.Links[l].FromInterface)
		}
		if before, known := done[to]; known && before.Map != peer.Map {
			return Config{}, fmt.Errorf("%s announces by other route maps to %s and to %s, which are one device: give both the same", n.Names[d], before.Name, peer.Name)
		} else if !known {
			done[to] = peer
			call := ""
			if peer.Map != "" {
				call = " call " + peer.Map + "\n"
			}
			fmt.Fprintf(&lists, "bgp community-list standard WEFT-TO-%d permit %d:%d\n", k, community, k)
			fmt.Fprintf(&routeMaps, "route-map WEFT-TO-%d permit 10\n match community WEFT-TO-%[1]d\n", k)
			if level(d) == 0 {
				routeMaps.WriteString(" match as-path WEFT-OWN\n")
			}
			fmt.Fprintf(&routeMaps, "%[2]sexit\nroute-map WEFT-TO-%[1]d deny 20\n match community WEFT-PIN\nexit\nroute-map WEFT-TO-%[1]d permit 30\n%[2]sexit\n", k, call)
			fmt.Fprintf(&undo, "no route-map WEFT-TO-%d\nno bgp community-list standard WEFT-TO-%[1]d\n", k)
		}
		fmt.Fprintf(&neighbors, "  neighbor %s route-map WEFT-TO-%d out\n", peer.Name, k)
		if peer.Map != "" && !peer.OfGroup {
			fmt.Fprintf(&undoBGP, "  neighbor %s route-map %s out\n", peer.Name, peer.Map)
		} else {
			fmt.Fprintf(&undoBGP, "  no neighbor %s route-map WEFT-TO-%d out\n", peer.Name, k)
		}
	}
	if neighbors.Len() == 0 {
		return Config{}, nil
	}
	sets := map[string]string{}
	for _, p := range own {
		name, communities := "WEFT-SET", Mark
		for i, up := range p.Up {
			name += fmt.Sprintf("-%d", number[up])
			communities += fmt.Sprintf(" %d:%d", tier1-i, number[up])
		}
		sets[name] = communities
		if !p.Prefix.Addr().Is4() {
			return Config{}, fmt.Errorf("%s is IPv6, and pins are written for IPv4", p.Prefix)
		}
		fmt.Fprintf(&networks, "  network %s route-map %s\n", p.Prefix, name)
		fmt.Fprintf(&undoBGP, "  no network %s\n", p.Prefix)
	}
	for _, name := range slices.SortedFunc(maps.Keys(sets), words.Natural) {
		fmt.Fprintf(&routeMaps, "route-map %s permit 10\n set community %s\nexit\n", name, sets[name])
		fmt.Fprintf(&undo, "no route-map %s\n", name)
	}
	lists.WriteString("bgp community-list standard WEFT-PIN permit " + Mark + "\n")
	undo.WriteString("no bgp community-list standard WEFT-PIN\n")
	if level(d) == 0 {
		lists.WriteString("bgp as-path access-list WEFT-OWN permit ^$\n")
		undo.WriteString("no bgp as-path access-list WEFT-OWN\n")
	}
	check := ""
	if len(own) > 0 {
		check = " no bgp network import-check\n"
	}
	head := fmt.Sprintf("router bgp %d\n", as)
	if vrf != "" && vrf != "default" {
		head = fmt.Sprintf("router bgp %d vrf %s\n", as, vrf)
	}
	return Config{
		Device: n.Names[d],
		Apply:  lists.String() + routeMaps.String() + head + check + " address-family ipv4 unicast\n" + neighbors.String() + networks.String() + " exit-address-family\nexit\n",
		Undo:   head + " address-family ipv4 unicast\n" + undoBGP.String() + " exit-address-family\nexit\n" + undo.String(),
	}, nil
}
