// Package example is the worked examples of HOTI 2009, figures 2, 3 and 6: so small that they are
// counted out instead of measured.
package example

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Spec is the network of HOTI 2009, figure 6 and section IV.F, by which the
// paper explains why P²-SSSP, which spreads routes more evenly, has less effective bisection
// bandwidth than P-SSSP:
//
//	      B ── C
//	     /      \
//	3 ─ A        D ─ 4, 5, 6
//	     \      /
//	  2 ─ F ── E ─ 1
//
// All shortest paths are unique except those between 3 and 4, 5, 6, which may go by
// the upper path (D,C,B,A) or the lower one (D,E,F,A). The network is small enough
// to take the mean over all patterns instead of some of them: 20 choices of three
// senders, 6 matchings of each.
const Spec = "example:hoti2009-6"

// The lines of the example that are no engines: the algorithms as the paper prints
// them, figures 2(a) and 3(a), hosts in numerical order, and the routes as its text
// states them. Those that the text states of P²-SSSP differ from source to source
// at one switch, which no tables by destination can hold.
const (
	PrintedP  = "P-SSSP as printed"
	PrintedP2 = "P²-SSSP as printed"
	TextP     = "P-SSSP as in the text"
	TextP2    = "P²-SSSP as in the text"
)

// figure6Hosts is where hosts 1 to 6 are attached.
const figure6Hosts = "EFADDD"

// figure6 builds the network. Switches are numbered by name, and ports of A and D
// to the upper path come first.
func figure6() (*fabric.Fabric, error) {
	var b fabric.Builder
	sw := map[byte]fabric.Ref{}
	for i, name := range []byte("ABCDEF") {
		sw[name] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 5, Name: string(name)}, "")
	}
	for _, cable := range []struct {
		a     byte
		aPort uint8
		z     byte
		zPort uint8
	}{{'A', 1, 'B', 1}, {'B', 2, 'C', 1}, {'C', 2, 'D', 1}, {'D', 2, 'E', 1}, {'E', 2, 'F', 1}, {'F', 2, 'A', 2}} {
		b.Cable(sw[cable.a], cable.aPort, sw[cable.z], cable.zPort, fabric.Rate{})
	}
	port := map[byte]uint8{'A': 2, 'D': 2, 'E': 2, 'F': 2}
	for i, at := range []byte(figure6Hosts) {
		host := b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Kind: fabric.Adapter, Ports: 1, Name: fmt.Sprint(i + 1)}, "")
		port[at]++
		b.Cable(host, 1, sw[at], port[at], fabric.Rate{})
	}
	return b.Build()
}

// routes is the switches of every route, a letter each: [from][to] of hosts 0 to 5, which the figure
// numbers from 1.
type routes [6][6]string

// exampleRoutes is the routes of a line: as printed, as in the text, or by an engine of that name.
func exampleRoutes(ctx context.Context, line string) (routes, error) {
	switch line {
	case PrintedP:
		return printedRoutes(perHost), nil
	case PrintedP2:
		return printedRoutes(perPair), nil
	case TextP, TextP2:
		r := printedRoutes(perHost)
		for host := 3; host < 6; host++ {
			r[host][2] = "DCBA" // "P-SSSP uses the upper path (D,C,B,A) for all routes"
		}
		if line == TextP2 {
			r[5][2] = "DEFA" // "if the lower path is taken for the pair (6,3)"
		}
		return r, nil
	}
	f, err := figure6()
	if err != nil {
		return routes{}, err
	}
	e, err := engines.Named(line)
	if err != nil {
		return routes{}, err
	}
	routed, err := tables(ctx, f, e)
	if err != nil {
		return routes{}, err
	}
	var r routes
	for from := range r {
		for to := range r {
			if from != to {
				r[from][to] = walk(routed, fabric.GUID(100+from), fabric.GUID(100+to))
			}
		}
	}
	return r, nil
}

// A round of the algorithms as printed: of P-SSSP the shortest paths to one host, of P²-SSSP the one
// from a host to another.
const perHost, perPair = false, true

// printedRoutes is the routes of P-SSSP or P²-SSSP as printed. Edges weigh P² and
// the routes they carry. On a ring there are two ways to go, so that a shortest path
// is the lighter of two; no two weigh the same in any round.
func printedRoutes(byPair bool) routes {
	var r routes
	load := map[string]int{}
	entry := map[[2]string]string{} // [switch, host] the rest of the way: forwarding by destination
	take := func(from, to int) string {
		a, z := figure6Hosts[from:from+1], figure6Hosts[to:to+1]
		key := [2]string{a, fmt.Sprint(to)}
		if way, ok := entry[key]; ok {
			return way
		}
		best, least := "", 0
		for _, ring := range []string{"ABCDEF", "FEDCBA"} {
			twice := ring + ring
			first := strings.Index(twice, a)
			way := twice[first : first+1+strings.Index(twice[first:], z)]
			weight := 0
			for _, e := range edges(way) {
				weight += len(figure6Hosts)*len(figure6Hosts) + load[e]
			}
			if best == "" || weight < least {
				best, least = way, weight
			}
		}
		for i := range best {
			entry[[2]string{best[i : i+1], key[1]}] = best[i:]
		}
		return best
	}
	charge := func(way string) {
		for _, e := range edges(way) {
			load[e]++
		}
	}
	for u := range r {
		for v := range r {
			switch {
			case u == v:
			case byPair: // from u to v
				r[u][v] = take(u, v)
				charge(r[u][v])
			default: // from v to u, charged when all are there
				r[v][u] = take(v, u)
			}
		}
		for v := range r {
			if !byPair && u != v {
				charge(r[v][u])
			}
		}
	}
	return r
}

// walk is the names of the switches from one host to another.
func walk(t *routing.Tables, from, to fabric.GUID) string {
	f := t.Fabric
	end := func(g fabric.GUID) *fabric.Endpoint {
		n := f.NodeByGUID(g)
		for i := range f.Endpoints() {
			if e := f.Endpoint(fabric.EndpointID(i)); e.Node == n {
				return e
			}
		}
		panic("example: no such host")
	}
	dest := end(to)
	at := end(from).Switch
	way := f.Label(at)
	for at != dest.Switch {
		at = f.Channel(f.Out(at, t.Forwarding.Port(at, dest.LID))).To
		way += f.Label(at)
	}
	return way
}

// Counted is what comes of a line.
type Counted struct {
	Bandwidth float64 // effective bisection bandwidth, exact
	Patterns  int     // that it is the mean of
	Index     int     // edge-forwarding index
}

// Size is the switches of the example, its hosts, and its cables between switches.
const Size = 6

// Count counts out a line: an engine, or one of those above.
func Count(ctx context.Context, line string) (Counted, error) {
	r, err := exampleRoutes(ctx, line)
	if err != nil {
		return Counted{}, err
	}
	sum, patterns := 0.0, 0
	eachBisection(func(pairs [3][2]int) {
		sum += r.bandwidth(pairs[:]) / 3
		patterns++
	})
	return Counted{Bandwidth: sum / float64(patterns), Patterns: patterns, Index: r.index()}, nil
}

// tables is the example routed by an engine, credit loop or not.
func tables(ctx context.Context, f *fabric.Fabric, e engines.Engine) (*routing.Tables, error) {
	contract := routing.Directed
	r, err := weft.Route(ctx, f, weft.Request{Custom: &e, Contract: &contract})
	if loop := (*weft.CreditLoop)(nil); errors.As(err, &loop) {
		return loop.Tables, nil
	}
	if err != nil {
		return nil, err
	}
	return r.Tables, nil
}

// bandwidth is the sum of the bandwidths of pairs that send at the same time: 1
// over the largest congestion on the route (section IV).
func (r *routes) bandwidth(pairs [][2]int) float64 {
	count := map[string]int{}
	for _, p := range pairs {
		for _, e := range edges(r[p[0]][p[1]]) {
			count[e]++
		}
	}
	sum := 0.0
	for _, p := range pairs {
		worst := 1 // the host's own channels: a host sends once or receives once
		for _, e := range edges(r[p[0]][p[1]]) {
			worst = max(worst, count[e])
		}
		sum += 1 / float64(worst)
	}
	return sum
}

// index is the edge-forwarding index.
func (r *routes) index() int {
	var ways []string
	for from := range r {
		ways = append(ways, r[from][:]...)
	}
	return indexOf(ways)
}

// indexOf is the edge-forwarding index of some routes.
func indexOf(ways []string) (most int) {
	count := map[string]int{}
	for _, way := range ways {
		for _, e := range edges(way) {
			count[e]++
			most = max(most, count[e])
		}
	}
	return most
}

// edges cuts a route, a letter a switch as in the figure, into pairs of letters.
func edges(way string) (all []string) {
	for i := 1; i < len(way); i++ {
		all = append(all, way[i-1:i+1])
	}
	return all
}

// eachBisection visits every pattern of three senders and three receivers.
func eachBisection(visit func(pairs [3][2]int)) {
	matchings := [6][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for set := range 1 << 6 {
		var senders, receivers []int
		for host := range 6 {
			if set>>host&1 == 1 {
				senders = append(senders, host)
			} else {
				receivers = append(receivers, host)
			}
		}
		if len(senders) != 3 {
			continue
		}
		for _, m := range matchings {
			var pairs [3][2]int
			for i := range pairs {
				pairs[i] = [2]int{senders[i], receivers[m[i]]}
			}
			visit(pairs)
		}
	}
}
