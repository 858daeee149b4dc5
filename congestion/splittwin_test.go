package congestion_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/loads"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// split is what becomes of a flow whose switches choose, in the plainest way: every path that its
// packets may take, with the chance that they do where each port is as likely as the others.
type split struct {
	carried map[fabric.ChannelID]float64
	byLane  map[[2]int]float64
	hops    int
	arrives bool
}

func (s *split) follow(t *routing.Tables, at fabric.NodeID, in uint8, lid fabric.LID, sl uint8, chance float64, hops int) {
	f := t.Fabric
	if hops > f.Switches() {
		s.arrives = false
		return
	}
	table, to := t.Groups.Table(at, in, sl), f.Endpoint(f.Owner(lid))
	static := t.Forwarding.Port(at, lid)
	if table > 0 {
		static = t.Groups.Static(table).Port(at, lid)
	}
	var ports []uint8
	for port := range 256 {
		may := port == int(static) && static != routing.NoPort
		if c := t.Groups.Row(table, lid)[at]; c != routing.NoChoice && t.Groups.Levels(at)>>sl&1 == 1 {
			set := t.Groups.Sets(at)[c.Group()]
			may = may || set.Has(uint8(port))
		}
		if may && (port == 0 || port <= f.Node(at).Ports && f.Out(at, uint8(port)) != fabric.None) {
			ports = append(ports, uint8(port))
		}
	}
	if len(ports) == 0 {
		s.arrives = false
	}
	for _, port := range ports {
		part := chance / float64(len(ports))
		switch {
		case at == to.Switch && port == f.LastPort(to):
			s.hops = max(s.hops, hops)
		case port == 0 || int(f.Out(at, port)) >= f.Trunks():
			s.arrives = false
		default:
			c := f.Out(at, port)
			s.carried[c] += part
			s.byLane[[2]int{int(t.Lanes.SL2VL.VL(at, in, port, sl)), int(c)}] += part
			s.follow(t, f.Channel(c).To, f.Channel(c).ToPort, lid, sl, part, hops+1)
		}
	}
}

func splitOf(t *routing.Tables, from, to fabric.EndpointID, lid fabric.LID) *split {
	s := &split{carried: map[fabric.ChannelID]float64{}, byLane: map[[2]int]float64{}, arrives: true}
	e := t.Fabric.Endpoint(from)
	s.follow(t, e.Switch, t.Fabric.LastPort(e), lid, t.Lanes.SL(from, lid), 1, 0)
	return s
}

// Flows whose switches choose are on every channel as often as one finds who goes through all paths,
// and get what the fullest channel of their parts gives them.
func TestSplitFlows(t *testing.T) {
	lost, whole, parts := 0, 0, 0
	for seed := range uint64(12) {
		for _, c := range [][2]string{{"xgft:m=3x3,w=2x3,hosts=3", "updn"}, {"torus:3x4,hosts=1", "weave-any"}, {"dragonfly:p=2", "weave-any"}} {
			tables := routed.Choosing(t, c[0], c[1], seed, seed > 0)
			f := tables.Fabric
			p := hosts(t, f)
			for _, model := range []congestion.Model{congestion.Bottleneck, congestion.MaxMin} {
				bisect := pattern(t, "bisect")
				r := simulate(t, tables, congestion.Options{Pattern: bisect, Placement: p, Model: model, Runs: 1, Seed: seed, UniformRates: true})
				pairs := bisect.Append(nil, len(p), 0, traffic.Stream(seed, 0))
				flows, load := splitAll(tables, p, pairs)
				want := splitRates(flows, load, model)
				sum, gone := 0.0, int64(0)
				for i, s := range flows {
					sum += want[i]
					if !s.arrives {
						gone++
						lost++
						continue
					}
					whole++
					parts += len(s.carried)
				}
				what := fmt.Sprintf("%s, seed %d, %v", c[0], seed, model)
				if !r.Split || r.Lost != gone || math.Abs(r.Lambda-sum/float64(len(pairs))) > 1e-4 {
					t.Fatalf("%s: split %v, %d lost, lambda %g; the twin has %d, %g", what, r.Split, r.Lost, r.Lambda, gone, sum/float64(len(pairs)))
				}
				for ch, n := range r.Sum {
					if math.Abs(n-load[fabric.ChannelID(ch)]) > 1e-4 || r.Most[ch] != n {
						t.Fatalf("%s: %g flows on channel %d, the twin has %g", what, n, ch, load[fabric.ChannelID(ch)])
					}
				}
			}
		}
	}
	if t.Logf("%d flows over %d trunks, %d lost", whole, parts, lost); lost < 20 || parts < 4*whole {
		t.Errorf("%d flows over %d trunks, %d lost: too few to say anything", whole, parts, lost)
	}
}

// splitAll is all flows, with what is on the channels at their ends, and the sums by channel.
func splitAll(tables *routing.Tables, p traffic.Placement, pairs []traffic.Pair) (flows []*split, load map[fabric.ChannelID]float64) {
	f := tables.Fabric
	load = map[fabric.ChannelID]float64{}
	for _, pair := range pairs {
		from, to := p[pair.From], p[pair.To]
		s := splitOf(tables, from, to, f.Endpoint(to).LID)
		s.carried[f.Endpoint(from).Inject], s.carried[f.Endpoint(to).Deliver] = 1, 1
		flows = append(flows, s)
		for c, part := range s.carried {
			if s.arrives {
				load[c] += part
			}
		}
	}
	return flows, load
}

// splitRates is what each flow gets where all links are alike.
func splitRates(flows []*split, load map[fabric.ChannelID]float64, model congestion.Model) []float64 {
	rates := make([]float64, len(flows))
	growing := map[int]bool{}
	for i, s := range flows {
		if s.arrives {
			growing[i] = true
			rates[i] = 1
		}
		for c := range s.carried {
			if s.arrives {
				rates[i] = min(rates[i], 1/load[c])
			}
		}
	}
	if model == congestion.Bottleneck {
		return rates
	}
	rates = make([]float64, len(flows))
	for len(growing) > 0 { // all that grow do so alike until a channel is full
		used, open := map[fabric.ChannelID]float64{}, map[fabric.ChannelID]float64{}
		for i, s := range flows {
			for c, part := range s.carried {
				used[c] += rates[i] * part
				if growing[i] {
					open[c] += part
				}
			}
		}
		step := math.Inf(1)
		for c, n := range open {
			step = min(step, (1-used[c])/n)
		}
		for i := range growing {
			rates[i] += step
		}
		for i := range flows {
			for c := range flows[i].carried {
				if open[c] > 0 && used[c]+step*open[c] >= 1-1e-9 {
					delete(growing, i)
				}
			}
		}
	}
	return rates
}

// All-to-all routes are on every trunk and lane as often as one finds who goes through all paths of
// every pair, but for rounding.
func TestSplitLoads(t *testing.T) {
	for seed := range uint64(4) {
		for _, c := range [][2]string{{"xgft:m=3x3,w=2x3,hosts=3", "updn"}, {"xgft:m=2x2,w=4x4,hosts=1", "updn"}, {"torus:3x4,hosts=1", "weave-any"}, {"dragonfly:p=2", "weave-any"}} {
			tables := routed.Choosing(t, c[0], c[1], seed, seed > 2)
			f := tables.Fabric
			l, err := congestion.CountTables(t.Context(), tables, routing.HCA)
			if err != nil {
				t.Fatal(err)
			}
			lanes, err := congestion.CountLanes(t.Context(), tables, routing.HCA)
			if err != nil {
				t.Fatal(err)
			}
			load, byLane := map[fabric.ChannelID]float64{}, map[[2]int]float64{}
			hops, longest, pairs, cross := 0.0, 0, int64(0), int64(0)
			for _, from := range routing.HCA.Endpoints(f) {
				for _, to := range routing.HCA.Endpoints(f) {
					if from == to {
						continue
					}
					s := splitOf(tables, from, to, f.Endpoint(to).LID)
					pairs++
					longest = max(longest, s.hops)
					if len(s.carried) > 0 {
						cross++
					}
					for c, part := range s.carried {
						load[c] += part
						hops += part
					}
					for k, part := range s.byLane {
						byLane[k] += part
					}
				}
			}
			close := func(got uint32, want float64) bool {
				return (got > 0) == (want > 1e-9) && (math.Abs(float64(got)-want) <= .51 || got == 1 && want < 1)
			}
			for ch, n := range l.Routes {
				if !close(n, load[fabric.ChannelID(ch)]) {
					t.Fatalf("%s, seed %d: %d routes on trunk %d, the twin has %g", c[0], seed, n, ch, load[fabric.ChannelID(ch)])
				}
			}
			for vl := range routing.MaxDataVLs {
				for ch, n := range loads.On(lanes, vl) {
					if !close(n, byLane[[2]int{vl, ch}]) {
						t.Fatalf("%s, seed %d: %d routes on VL %d of trunk %d, the twin has %g", c[0], seed, n, vl, ch, byLane[[2]int{vl, ch}])
					}
				}
			}
			onLanes := int64(0)
			for _, n := range lanes.Pairs {
				onLanes += n
			}
			if _, uniform := tables.Lanes.SL2VL.Uniform(); uniform && seed <= 2 && onLanes != cross {
				t.Fatalf("%s, seed %d: %d routes come to lanes, %d cross trunks", c[0], seed, onLanes, cross)
			}
			if seed <= 2 && (l.Pairs != pairs || l.MaxHops != longest || math.Abs(float64(l.Hops)-hops) > 1) {
				t.Fatalf("%s, seed %d: %d pairs, %d hops, %d the longest; the twin has %d, %g, %d", c[0], seed, l.Pairs, l.Hops, l.MaxHops, pairs, hops, longest)
			}
		}
	}
}
