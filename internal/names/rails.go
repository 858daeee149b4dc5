package names

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/internal/words"
)

// Rail is the adapter ports with the same position in their hosts, such as all mlx5_0.
// HCA-1 and mlx5_0 are the same position: some drivers count from one, others from
// zero.
type Rail struct {
	Adapters []string // their names in the hosts, such as HCA-1 and mlx5_0; empty: they have no names
	Port     uint8    // of the adapter
	Hosts    int      // number of hosts that have it
}

// String is the names of the adapters, and the port if it is not the first.
func (r *Rail) String() string {
	text := strings.Join(r.Adapters, ", ")
	if r.Port > 1 {
		text += fmt.Sprintf(" port %d", r.Port)
	}
	return strings.TrimSpace(text)
}

// Rails is the rails of the fabric by the numbers in the names of the adapters.
// Adapters whose description names no host are on none.
func (x *Index) Rails() []Rail { return x.rails }

// slot is the position of an adapter port in its host.
type slot struct {
	number int    // of the adapter, from 0; None: its name has no usable number
	name   string // of the adapter, if it has no number
	port   uint8
}

// compare orders slots as Rails has them.
func (p slot) compare(q slot) int {
	return cmp.Or(cmp.Compare(p.number, q.number), cmp.Compare(p.name, q.name), cmp.Compare(p.port, q.port))
}

// counted is the names of adapters that end in a number: HCA-1, mlx5_0.
var counted = regexp.MustCompile(`^(HCA-|[a-z]+\d*_)(\d+)$`)

// deviceNumber is the number of an adapter in its host, from 0; None: its name has
// none.
func deviceNumber(adapter string) int {
	m := counted.FindStringSubmatch(adapter)
	if m == nil {
		return fabric.None
	}
	n, err := strconv.Atoi(m[2])
	if m[1] == "HCA-" {
		n--
	}
	if err != nil || n < 0 {
		return fabric.None
	}
	return n
}

// compareDevices orders the names of adapters by their numbers.
func compareDevices(a, b string) int {
	return cmp.Or(cmp.Compare(deviceNumber(a), deviceNumber(b)), cmp.Compare(a, b))
}

// findRails assigns the adapter ports of all hosts to rails.
func (x *Index) findRails() {
	x.rail = slices.Repeat([]int{fabric.None}, len(x.fabric.Endpoints()))
	at := map[slot][]fabric.EndpointID{}
	for _, adapters := range x.host {
		for k, n := range adapters {
			_, adapter := HostOf(x.fabric.Node(n))
			p := slot{number: deviceNumber(adapter), name: adapter}
			if adapter == "" {
				p.number = k
			} else if p.number != fabric.None {
				p.name = ""
			}
			for first, end := x.endpointsOf(n); first < end; first++ {
				p.port = x.fabric.Endpoint(first).Port
				at[p] = append(at[p], first)
			}
		}
	}
	places := slices.SortedFunc(maps.Keys(at), slot.compare)
	x.rails = make([]Rail, len(places))
	for i, p := range places {
		r := &x.rails[i]
		r.Port = p.port
		hosts, adapters := map[string]bool{}, map[string]bool{}
		for _, e := range at[p] {
			x.rail[e] = i
			host, adapter := HostOf(x.fabric.Node(x.fabric.Endpoint(e).Node))
			hosts[host] = true
			if adapter != "" && !adapters[adapter] {
				adapters[adapter] = true
				r.Adapters = append(r.Adapters, adapter)
			}
		}
		r.Hosts = len(hosts)
		slices.Sort(r.Adapters)
	}
}

// RailOf is the number of an endpoint's rail, from 1; 0 if it is on none.
func (x *Index) RailOf(e fabric.EndpointID) int { return x.rail[e] + 1 }

// OnRails is those of a list of endpoints that are on one of some rails, which are
// numbers from 1, as in Rails, or names of adapters, with * for any text. Without rails
// it is the whole list.
func (x *Index) OnRails(among []fabric.EndpointID, rails []string) ([]fabric.EndpointID, error) {
	if len(rails) == 0 {
		return among, nil
	}
	wanted := make([]bool, len(among))
	for _, rail := range rails {
		number, err := strconv.Atoi(rail)
		found := false
		for i, e := range among {
			_, adapter := HostOf(x.fabric.Node(x.fabric.Endpoint(e).Node))
			if err == nil && x.RailOf(e) == number && number > 0 || err != nil && adapter != "" && Fits(adapter, rail) {
				wanted[i], found = true, true
			}
		}
		if !found {
			return nil, x.noRail(rail)
		}
	}
	var chosen []fabric.EndpointID
	for i, e := range among {
		if wanted[i] {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}

// noRail is the error for an unknown rail, with the list of rails.
func (x *Index) noRail(rail string) error {
	if len(x.rails) == 0 {
		return fmt.Errorf("there is no rail %q: no adapter of the fabric says which host it is in", rail)
	}
	var adapters []string
	list := make([]string, len(x.rails))
	for i := range x.rails {
		adapters = append(adapters, x.rails[i].Adapters...)
		list[i] = fmt.Sprintf("%d (%s)", i+1, x.rails[i].String())
		if x.rails[i].String() == "" {
			list[i] = strconv.Itoa(i + 1)
		}
	}
	near := ""
	if _, err := strconv.Atoi(rail); err != nil {
		near = spell.Hint(rail, adapters)
	}
	return fmt.Errorf("no endpoint in scope is on rail %q%s (rails: %s)", rail, near, listed(list))
}

// Host is a host and its adapters, in the order of rails.
type Host struct {
	Name     string
	Adapters []fabric.NodeID
}

// Hosts is the hosts of a fabric by name, numbers in names by value.
func (x *Index) Hosts() []Host {
	hosts := make([]Host, 0, len(x.host))
	for name, adapters := range x.host {
		hosts = append(hosts, Host{name, adapters})
	}
	slices.SortFunc(hosts, func(a, b Host) int {
		return words.Natural(a.Name, b.Name)
	})
	return hosts
}
