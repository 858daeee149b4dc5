package ethernet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/frr"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
)

// maxAddresses is how many addresses of an adapter are pinned: beyond the number of ways more make no difference.
const maxAddresses = 64

// nic is a network adapter by name.
type nic struct {
	name, rail string
	ips        []netip.Addr
	leaf       ethernet.DeviceID
	class      int // of its subnet, which is behind leaf alone
}

// nics finds the adapters and gives them to the network: those of a list, or of what the folder says of neighbors. A network
// that was computed with some keeps these.
func (j *pinJob) nics(in *networkInput, name string) (err error) {
	switch {
	case j.o.nicList != "":
		j.list, err = listedNICs(j.Console, j.o.nicList, in, j.o.addresses)
	case in.hosts != nil:
		return nil
	case folder.IsFolder(name):
		j.list, err = j.neighborNICs(in, name)
		if err == nil && len(j.list) == 0 {
			return exit.Usage("%s does not tell its adapters: give --nic-list FILE, with a line name,ip,leaf and one for each adapter, or DEVICE.neigh.json (ip -j neigh show) of leaves", name)
		}
	default:
		return exit.Usage("%s does not tell its adapters: give --nic-list FILE, with a line name,ip,leaf and one for each adapter", name)
	}
	if err != nil {
		return err
	}
	in.have(j.list)
	return nil
}

// have gives the network these adapters, in place of those that it has or is taken to have. Its fabric has to be made anew.
func (in *networkInput) have(list []nic) {
	in.hosts, in.fabric, in.nics = make([]int, len(in.Names)), nil, make([][]nic, len(in.Names))
	for _, n := range list {
		in.hosts[n.leaf]++
		in.nics[n.leaf] = append(in.nics[n.leaf], n)
	}
}

// listedNICs is the adapters of a file.
func listedNICs(c *console.Console, name string, in *networkInput, addresses int) ([]nic, error) {
	return console.ReadFile(c, name, func(r io.Reader, file string) ([]nic, error) { return readNICs(r, file, in, addresses) })
}

// subnet is the class of the longest prefix behind a leaf that an address is in. It refuses a subnet that is behind another
// device too.
func (in *networkInput) subnet(ip netip.Addr, leaf ethernet.DeviceID) (class int, err error) {
	class, bits := -1, -1
	for i := range in.Classes {
		c := &in.Classes[i]
		if !c.Hosts || !c.Leaves(leaf) {
			continue
		}
		for _, p := range c.Prefixes {
			if p.Contains(ip) && p.Bits() > bits && p.Bits() > 0 {
				class, bits = i, p.Bits()
			}
		}
	}
	switch {
	case class < 0:
		return 0, fmt.Errorf("%s is in no subnet of %s", ip, in.Names[leaf])
	case len(in.Classes[class].At) > 1:
		other := in.Classes[class].At[0]
		if other == leaf {
			other = in.Classes[class].At[1]
		}
		return 0, fmt.Errorf("the subnet of %s is behind %s and %s: a pin is for a subnet behind one device, since hosts with two cables (MLAG, EVPN multihoming) may be reached by either: leave these to ECMP, with --nic-list FILE (name,ip,leaf) of the adapters behind one device only", ip, in.Names[leaf], in.Names[other])
	}
	return class, nil
}

// readNICs reads a file of name,ip,leaf and maybe rail, whose first line may have these words. With several addresses, lines
// that differ in the address only are of one adapter. The adapters come by leaf, those of one leaf as in the file.
func readNICs(r io.Reader, file string, in *networkInput, addresses int) ([]nic, error) {
	table := reading.NewCSV(r, file)
	leaves := bgp.Leaves(in.Classes)
	var list []nic
	seen := map[netip.Addr]bool{}
	known := map[string]int{} // [name, rail and leaf] the latest adapter that has them, in list
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
			return nil, table.Errorf("a line has name,ip,leaf and maybe rail")
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
		n := nic{name: reading.Printable(strings.TrimSpace(row[0])), ips: []netip.Addr{ip}, leaf: leaf}
		if n.class, err = in.subnet(ip, leaf); err != nil {
			return nil, table.Errorf("%s", err.Error())
		}
		if len(row) > 3 {
			n.rail = reading.Printable(strings.TrimSpace(row[3]))
		}
		key := fmt.Sprintf("%s\x00%s\x00%d", n.name, n.rail, leaf)
		if i, again := known[key]; again && addresses > 1 && len(list[i].ips) < addresses {
			list[i].ips = append(list[i].ips, ip)
			continue
		}
		known[key] = len(list)
		list = append(list, n)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no adapter", file)
	}
	for _, n := range list {
		if len(n.ips) < addresses {
			return nil, fmt.Errorf("%s: %s has %s, and --addresses asks for %d: a line for each, with the same name, leaf and rail", file, n.name, words.Counted(len(n.ips), "address", "addresses"), addresses)
		}
	}
	slices.SortStableFunc(list, func(a, b nic) int { return int(a.leaf) - int(b.leaf) })
	return list, nil
}

// neighborNICs finds adapters in what leaves say of their neighbors: addresses of subnets with hosts, those of one MAC address
// together.
func (j *pinJob) neighborNICs(in *networkInput, name string) ([]nic, error) {
	var list []nic
	few := 0 // adapters with too few addresses
	owner := map[netip.Addr]ethernet.DeviceID{}
	all, err := j.neighborsOf(name)
	if err != nil {
		return nil, err
	}
	for _, leaf := range bgp.Leaves(in.Classes) {
		heard := all[in.Names[leaf]]
		byMAC := map[string]*nic{}
		var order []string
		for _, h := range heard {
			if !h.IP.Is4() || in.LinkAt(leaf, h.Interface) != ethernet.None {
				continue
			}
			class, err := in.subnet(h.IP, leaf)
			if err != nil && strings.HasSuffix(err.Error(), "in no subnet of "+in.Names[leaf]) {
				continue // of a management network, say
			}
			if err != nil {
				return nil, err
			}
			if other, twice := owner[h.IP]; twice && other != leaf {
				return nil, fmt.Errorf("%s is a neighbor of %s and of %s: give --nic-list FILE", h.IP, in.Names[other], in.Names[leaf])
			}
			owner[h.IP] = leaf
			key := fmt.Sprintf("%s %d", h.MAC, class)
			if byMAC[key] == nil {
				byMAC[key] = &nic{leaf: leaf, class: class}
				order = append(order, key)
			}
			byMAC[key].ips = append(byMAC[key].ips, h.IP)
		}
		for _, key := range order {
			n := byMAC[key]
			slices.SortFunc(n.ips, netip.Addr.Compare)
			n.ips = slices.Compact(n.ips)
			if len(n.ips) < j.o.addresses {
				few++
				continue
			}
			n.ips = n.ips[:j.o.addresses]
			n.name = n.ips[0].String()
			list = append(list, *n)
		}
	}
	if few > 0 {
		return nil, exit.Finding("%s with fewer than %d addresses among the neighbors: give --nic-list FILE, or fewer --addresses", words.Plural(few, "adapter"), j.o.addresses)
	}
	slices.SortStableFunc(list, func(a, b nic) int { return cmp.Or(int(a.leaf)-int(b.leaf), a.ips[0].Compare(b.ips[0])) })
	return list, nil
}

// neighborFile is what a dump of neighbors is called.
var neighborFile = named("neigh")

// neighborsOf is what the devices of a folder say of their neighbors, by device.
func (j *pinJob) neighborsOf(name string) (map[string][]frr.Neighbor, error) {
	all := map[string][]frr.Neighbor{}
	err := eachFile(j.Context, name, neighborFile, func(r io.Reader, file, device, _ string) (err error) {
		all[device], err = frr.ReadNeighbors(r, file)
		return err
	})
	return all, err
}

// descriptions is the adapters of each device, [DeviceID], as a fabric names them: host, and number of the adapter by its
// rail, or by the order of the host's.
func descriptions(nics [][]nic) [][]string {
	var rails []string
	for _, list := range nics {
		for _, n := range list {
			if n.rail != "" {
				rails = append(rails, n.rail)
			}
		}
	}
	slices.SortFunc(rails, words.Natural)
	rails = slices.Compact(rails)
	count := map[string]int{} // [host] adapters so far
	all := make([][]string, len(nics))
	for d, list := range nics {
		for _, n := range list {
			k := count[n.name]
			if i := slices.Index(rails, n.rail); n.rail != "" && i >= 0 {
				k = i
			}
			count[n.name]++
			all[d] = append(all[d], fmt.Sprintf("%s mlx5_%d", n.name, k))
		}
	}
	return all
}
