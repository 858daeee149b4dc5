package conformance

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// scout finds paths as dumbly as their package comments allow: one destination after
// another, one switch after another, all hops known beforehand.
type scout struct {
	*network
	hops  [][]int
	table *routing.Forwarding
	load  map[fabric.ChannelID]int
}

// twins is the path finders that have a dumb twin, which must find the same paths.
var twins = []struct {
	name  string
	paths func(*scout)
}{
	{"minhop", (*scout).minhop},
	{"sssp", (*scout).sssp},
	{"multipath", (*scout).multipath},
	{"p2sssp", (*scout).p2sssp},
	{"shortest", func(s *scout) { s.shortest(false) }},
	{"shortest-lowest", func(s *scout) { s.shortest(true) }},
}

// ends is the endpoints on a switch, its own port 0 first.
func (s *scout) ends(at fabric.NodeID) (ends []fabric.Endpoint) {
	for _, e := range s.f.Endpoints() {
		if e.Switch == at {
			ends = append(ends, e)
		}
	}
	return ends
}

// sources counts the endpoints on a switch that send over its trunks.
func (s *scout) sources(at fabric.NodeID) int { return len(s.ends(at)) - 1 }

// switches is every switch.
func (s *scout) switches() (all []fabric.NodeID) {
	for i := range s.f.Switches() {
		all = append(all, fabric.NodeID(i))
	}
	return all
}

// nearer is the trunks of a switch, by port, that lead one hop nearer to another.
func (s *scout) nearer(at, root fabric.NodeID) (out []fabric.ChannelID) {
	for port := range s.f.Node(at).Ports + 1 {
		c, cabled := s.at(plug{at, uint8(port)})
		if cabled && s.isTrunk(c) && s.hops[at][root] < apart && s.hops[s.head(c)][root] == s.hops[at][root]-1 {
			out = append(out, c)
		}
	}
	return out
}

func (s *scout) head(c fabric.ChannelID) fabric.NodeID { return s.f.Channels()[c].To }

// upstream is the switches that a path leads from to a root, the nearest first.
func (s *scout) upstream(root fabric.NodeID) []fabric.NodeID {
	all := slices.DeleteFunc(s.switches(), func(u fabric.NodeID) bool { return u == root || s.hops[u][root] >= apart })
	slices.SortStableFunc(all, func(a, b fabric.NodeID) int { return cmp.Compare(s.hops[a][root], s.hops[b][root]) })
	return all
}

// turned begins a list at one of its places and goes round.
func turned[T any](list []T, start int) []T {
	return append(slices.Clone(list[start:]), list[:start]...)
}

// least is the first that costs least.
func least(list []fabric.ChannelID, cost func(fabric.ChannelID) int) fabric.ChannelID {
	return slices.MinFunc(list, func(a, b fabric.ChannelID) int { return cmp.Compare(cost(a), cost(b)) })
}

func (s *scout) set(at fabric.NodeID, lid fabric.LID, c fabric.ChannelID) {
	s.table.Row(lid)[at] = s.f.Channels()[c].FromPort
}

// counts reports whether routes to an endpoint count as load.
func counts(e fabric.Endpoint) bool { return e.Class != fabric.SwitchPort }

// minhop: of the trunks on a shortest path a switch takes the one by which it sends the
// fewest adapters so far, of several the lowest port. Adapters of the fullest switches
// come first, then in the order of OpenSM's keys; port 0 of switches comes last and does
// not count. A further address avoids the neighbours that the addresses before it took.
func (s *scout) minhop() {
	key := func(u fabric.NodeID) uint64 { // the GUID's bytes, the last first
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(s.f.Node(u).GUID))
		return binary.LittleEndian.Uint64(b[:])
	}
	roots := s.switches()
	slices.SortStableFunc(roots, func(a, b fabric.NodeID) int {
		return cmp.Or(cmp.Compare(len(s.ends(b)), len(s.ends(a))), cmp.Compare(key(a), key(b)))
	})
	for address := range fabric.LID(s.f.Addresses()) {
		for _, adapters := range []bool{true, false} {
			for _, root := range roots {
				ends := slices.DeleteFunc(s.ends(root), func(e fabric.Endpoint) bool { return counts(e) != adapters || address >= 1<<e.LMC })
				slices.SortStableFunc(ends, func(a, b fabric.Endpoint) int { return cmp.Compare(delivery(s.f, a), delivery(s.f, b)) })
				for _, e := range ends {
					for _, u := range s.upstream(root) {
						c := s.fewest(u, root, e, address)
						s.set(u, e.LID+address, c)
						if adapters {
							s.load[c]++
						}
					}
				}
			}
		}
	}
}

// fewest is the trunk by which minhop sends an address of e from u.
func (s *scout) fewest(u, root fabric.NodeID, e fabric.Endpoint, address fabric.LID) fabric.ChannelID {
	out := s.nearer(u, root)
	if address == 0 {
		return least(out, func(c fabric.ChannelID) int { return s.load[c] })
	}
	taken := map[fabric.NodeID]int{} // addresses before by way of each neighbour
	for before := range address {
		c, _ := s.at(plug{u, s.table.Row(e.LID + before)[u]})
		taken[s.head(c)]++
	}
	last := s.table.Row(e.LID + address - 1)[u]
	start := slices.IndexFunc(out, func(c fabric.ChannelID) bool { return s.f.Channels()[c].FromPort > last })
	out = turned(out, max(0, start))
	free := slices.DeleteFunc(slices.Clone(out), func(c fabric.ChannelID) bool { return taken[s.head(c)] > 0 })
	if len(free) > 0 {
		return least(free, func(c fabric.ChannelID) int { return s.load[c] })
	}
	return least(out, func(c fabric.ChannelID) int { return s.load[c]<<16 + taken[s.head(c)] })
}

// lightest chooses for every switch the path to root whose trunks cost least.
func (s *scout) lightest(root fabric.NodeID, cost func(fabric.ChannelID) int, turn func(out []fabric.ChannelID) int) map[fabric.NodeID]fabric.ChannelID {
	sum := map[fabric.NodeID]int{}
	chosen := map[fabric.NodeID]fabric.ChannelID{}
	for _, u := range s.upstream(root) {
		out := s.nearer(u, root)
		whole := func(c fabric.ChannelID) int { return cost(c) + sum[s.head(c)] }
		chosen[u] = least(turned(out, turn(out)), whole)
		sum[u] = whole(chosen[u])
	}
	return chosen
}

// send routes every source to a LID by the chosen trunks, one source at a time.
func (s *scout) send(lid fabric.LID, root fabric.NodeID, e fabric.Endpoint, chosen map[fabric.NodeID]fabric.ChannelID) {
	for _, u := range s.upstream(root) {
		s.set(u, lid, chosen[u])
		for range s.sources(u) {
			for at := u; counts(e) && at != root; at = s.head(chosen[at]) {
				s.load[chosen[at]]++
			}
		}
	}
}

// sssp: lightest shortest paths, the switches with most endpoints first, and for
// aggregation nodes and routers when all hosts are done.
func (s *scout) sssp() {
	order := s.switches()
	slices.SortStableFunc(order, func(a, b fabric.NodeID) int { return cmp.Compare(s.sources(b), s.sources(a)) })
	for _, late := range []bool{false, true} {
		for _, root := range order {
			for _, e := range s.ends(root) {
				if (e.Class == fabric.Aggregation || e.Class == fabric.RouterPort) != late {
					continue
				}
				for lid := e.LID; lid < e.LID+1<<e.LMC; lid++ {
					s.send(lid, root, e, s.lightest(root, func(c fabric.ChannelID) int { return s.load[c] },
						func(out []fabric.ChannelID) int { return int(root) % len(out) }))
				}
			}
		}
	}
}

// multipath: the same, but the trees of an endpoint share as few trunks as can be.
func (s *scout) multipath() {
	for _, root := range s.switches() {
		for _, e := range s.ends(root) {
			trees := map[fabric.ChannelID]int{}
			for lid := e.LID; lid < e.LID+1<<e.LMC; lid++ {
				chosen := s.lightest(root, func(c fabric.ChannelID) int { return s.load[c] + trees[c]<<40 },
					func([]fabric.ChannelID) int { return 0 })
				s.send(lid, root, e, chosen)
				for _, c := range chosen {
					if counts(e) {
						trees[c]++
					}
				}
			}
		}
	}
}

// p2sssp: pair by pair, every way there is, bound by the entries there are.
func (s *scout) p2sssp() {
	var order []fabric.NodeID
	for _, bare := range []bool{false, true} {
		for _, u := range s.switches() {
			if (s.sources(u) == 0) == bare {
				order = append(order, u)
			}
		}
	}
	for _, src := range order {
		for range max(1, s.sources(src)) {
			for _, root := range s.switches() {
				for _, e := range s.ends(root) {
					for lid := e.LID; lid < e.LID+1<<e.LMC; lid++ {
						_, way := s.cheapest(src, root, lid)
						for _, c := range way {
							s.set(s.f.Channels()[c].From, lid, c)
							if counts(e) && s.sources(src) > 0 {
								s.load[c]++
							}
						}
					}
				}
			}
		}
	}
}

// cheapest tries all shortest ways that the entries for a LID allow, from that with the
// switch's own number on.
func (s *scout) cheapest(at, root fabric.NodeID, lid fabric.LID) (cost int, way []fabric.ChannelID) {
	out := s.nearer(at, root)
	if len(out) > 0 {
		out = turned(out, int(at)%len(out))
	}
	for _, c := range out {
		bound := s.table.Port(at, lid)
		if bound != routing.NoPort && bound != s.f.Channels()[c].FromPort {
			continue
		}
		further, rest := s.cheapest(s.head(c), root, lid)
		if way == nil || s.load[c]+further < cost {
			cost, way = s.load[c]+further, append([]fabric.ChannelID{c}, rest...)
		}
	}
	return cost, way
}

// shortest: one neighbour for every pair of switches, over whose cables the LIDs take
// turns: the one with fewest pairs for each of its cables, or the one by the lowest
// port.
func (s *scout) shortest(lowest bool) {
	type hop struct{ from, to fabric.NodeID }
	pairs, cables := map[hop]int{}, map[hop]int{}
	for i, c := range s.f.Channels() {
		if s.isTrunk(fabric.ChannelID(i)) {
			cables[hop{c.From, c.To}]++
		}
	}
	for _, root := range s.switches() {
		for _, u := range s.upstream(root) {
			out := s.nearer(u, root)
			best := s.head(out[0])
			if !lowest {
				best = s.head(slices.MinFunc(turned(out, int(u)%len(out)), func(a, b fabric.ChannelID) int {
					x, y := hop{u, s.head(a)}, hop{u, s.head(b)}
					return cmp.Compare(pairs[x]*cables[y], pairs[y]*cables[x])
				}))
			}
			pairs[hop{u, best}]++
			joined := slices.DeleteFunc(out, func(c fabric.ChannelID) bool { return s.head(c) != best })
			turn := 0
			for _, e := range s.ends(root) {
				for lid := e.LID; lid < e.LID+1<<e.LMC; lid++ {
					s.set(u, lid, joined[turn%len(joined)])
					turn++
				}
			}
		}
	}
}

// checkTwins holds every path finder that has a twin against it.
func checkTwins(t testnet.TB, f *fabric.Fabric) {
	t.Helper()
	for _, twin := range twins {
		finder, err := engines.FinderNamed(twin.name)
		if err != nil {
			t.Fatal(err)
		}
		fw, err := finder.New(engines.Options{}).Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(twin.name, err)
		}
		s := &scout{network: newNetwork(f), hops: hops(f), table: routing.NewForwarding(f), load: map[fabric.ChannelID]int{}}
		twin.paths(s)
		for lid, owner := range f.LIDs() {
			dest := f.Endpoint(owner)
			if dest.Switch != fabric.None {
				s.table.Row(lid)[dest.Switch] = delivery(f, *dest)
			}
			if got, want := fw.Row(lid), s.table.Row(lid); !slices.Equal(got, want) {
				t.Fatal(twin.name, "to LID", lid, "takes ports", got, "its twin", want)
			}
		}
	}
}

func TestFindersMatchTheirTwins(t *testing.T) {
	for _, spec := range []string{
		"torus:3x4,hosts=2", "dragonfly:p=1", "karytree:k=3,n=2", "xgft:m=3x4,w=2x2,hosts=3", "random:switches=12,links=40,hosts=3,seed=1", "random:switches=4,links=14,hosts=5,seed=2",
	} {
		for lmc := range uint8(2) {
			f, err := testnet.Build(t, spec).WithLMC(lmc)
			if err != nil {
				t.Fatal(err)
			}
			checkTwins(t, f)
		}
	}
}

func TestFindersMatchTheirTwinsOnAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkTwins(t, mustBuild(t, recipes(9).Draw(t, "network"))) })
}
