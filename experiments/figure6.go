package experiments

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// The example of HOTI 2009, figure 6 and section IV.F, by which the paper explains
// why P²-SSSP, which spreads routes more evenly, has less effective bisection
// bandwidth than P-SSSP:
//
//	      B ── C
//	     /      \
//	3 ─ A        D ─ 4, 5, 6
//	     \      /
//	  2 ─ F ── E ─ 1
//
// All shortest paths are unique but those between 3 and 4, 5, 6, which may go by
// the upper path (D,C,B,A) or the lower one (D,E,F,A). The network is small enough
// to take the mean over all patterns instead of a sample: 20 choices of three
// senders, 6 matchings of each.
const figure6Spec = "example:hoti2009-6"

// The lines of the example that are no engines: the routes as the text states
// them. Those of P²-SSSP differ from source to source at one switch, which no
// tables by destination can hold.
const (
	textP  = "P-SSSP as the text has it"
	textP2 = "P²-SSSP as the text has it"
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

// routes is the switches of every route, [from][to] of hosts 0 to 5.
type routes [6][6]string

// exampleRoutes is the routes of a line of the example.
func exampleRoutes(ctx context.Context, line string) (routes, error) {
	name := line
	if line == textP || line == textP2 {
		name = "sssp" // whose unique paths the text takes as well
	}
	f, err := figure6()
	if err != nil {
		return routes{}, err
	}
	e, err := engines.Named(name)
	if err != nil {
		return routes{}, err
	}
	t, err := e.Route(ctx, f, engines.Options{}, budget, nil)
	if err != nil {
		return routes{}, err
	}
	var r routes
	for from := range r {
		for to := range r {
			if from != to {
				r[from][to] = walk(t, fabric.GUID(100+from), fabric.GUID(100+to))
			}
		}
	}
	if name == line {
		return r, nil
	}
	for host := 3; host < 6; host++ {
		r[host][2] = "DCBA" // "P-SSSP uses the upper path (D,C,B,A) for all routes"
		r[2][host] = "ABCD"
	}
	if line == textP2 {
		r[5][2] = "DEFA" // "if the lower path is taken for the pair (6,3)"
	}
	return r, nil
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
		panic("experiments: no such host")
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

// example measures a line of the example.
func example(ctx context.Context, line string) (Result, error) {
	r, err := exampleRoutes(ctx, line)
	if err != nil {
		return Result{}, err
	}
	sum, patterns := 0.0, 0
	eachBisection(func(pairs [3][2]int) {
		sum += r.bandwidth(pairs[:]) / 3
		patterns++
	})
	mean := sum / float64(patterns)
	return Result{Value: mean, Low: mean, High: mean, Count: patterns, Index: float64(r.index()), Switches: 6, Hosts: 6, Cables: 6}, nil
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
	count := map[string]int{}
	most := 0
	for from := range r {
		for to := range r {
			for _, e := range edges(r[from][to]) {
				count[e]++
				most = max(most, count[e])
			}
		}
	}
	return most
}

// edges is the directed edges of a route.
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
