package experiments

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

func bandwidth(ctx context.Context, t *routing.Tables, p Point, seed uint64) (mean, stderr float64, err error) {
	f := t.Fabric
	var hosts []fabric.EndpointID
	for i := range f.Endpoints() {
		if e := f.Endpoint(fabric.EndpointID(i)); e.Class == fabric.HostAdapter && e.Switch != fabric.None {
			hosts = append(hosts, fabric.EndpointID(i))
		}
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	count := make([]int, len(f.Channels()))
	var s, s2 float64
	for range p.Patterns {
		rng.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		n := len(hosts)
		if p.Job > 0 {
			n = min(n, p.Job)
		}
		clear(count)
		var ways [][]fabric.ChannelID
		for i := range n / 2 {
			a, b := f.Endpoint(hosts[i]), f.Endpoint(hosts[n/2+i])
			way := []fabric.ChannelID{a.Inject}
			for at := a.Switch; at != b.Switch; {
				c := f.Out(at, t.Forwarding.Port(at, b.LID))
				way = append(way, c)
				at = f.Channel(c).To
			}
			way = append(way, b.Deliver)
			for _, c := range way {
				count[c]++
			}
			ways = append(ways, way)
		}
		sum := 0.0
		for _, w := range ways {
			m := 0
			for _, c := range w {
				m = max(m, count[c])
			}
			sum += 1 / float64(m)
		}
		x := sum / float64(n/2)
		s += x
		s2 += x * x
	}
	k := float64(p.Patterns)
	mean = s / k
	return mean, math.Sqrt(max(0, s2/k-mean*mean) / max(1, k-1)), nil
}
