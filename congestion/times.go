package congestion

import (
	"context"
	"errors"
	"math"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// Times is how long the channels take for a matrix of traffic if each is busy all the
// time. The unit is the time of the fullest link of a host, which no routing can change.
type Times struct {
	Time    float64          // of the fullest channel, at least 1
	Mean    float64          // over bytes, of the fullest channel on their way
	Fullest fabric.ChannelID // the first of the fullest
	Bytes   float64          // over it
	Lost    int64            // pairs without a route, which are left out
}

// TimesOf lays every pair of the first phase of a pattern on the routes of the tables, and
// adds up what the channels carry: Pair.Bytes, or alike for all pairs.
func TimesOf(ctx context.Context, t *routing.Tables, o Options) (*Times, error) {
	j, err := newJob(t, o)
	if err != nil {
		return nil, err
	}
	w := j.newWorker()
	w.pairs = j.Pattern.Append(nil, len(j.routes.rank), 0, traffic.Stream(j.Seed, 0))
	var counted outcome
	w.expand(&counted, runPhase{})
	if counted.flows == 0 {
		return nil, errors.New("no pair of the traffic has a route through the network")
	}
	bytes := make([]float64, len(j.capacity))
	total := 0.0
	w.eachWay(func(p traffic.Pair, way, share []uint32) {
		for i, c := range way {
			if share == nil {
				bytes[c] += sent(p)
			} else {
				bytes[c] += sent(p) * float64(share[i]) / splitUnits
			}
		}
		total += sent(p)
	})
	c := &Times{Fullest: fabric.None, Lost: counted.lost}
	hosts, most := 0.0, 0.0
	for ch, b := range bytes {
		time := b / j.capacity[ch]
		if ch >= t.Fabric.Trunks() {
			hosts = max(hosts, time)
		}
		if time > most {
			most, c.Fullest, c.Bytes = time, fabric.ChannelID(ch), b
		}
	}
	if hosts == 0 { // between addresses of switches
		hosts = most
	}
	w.eachWay(func(p traffic.Pair, way, _ []uint32) {
		slowest := 0.0
		for _, ch := range way {
			slowest = max(slowest, bytes[ch]/j.capacity[ch])
		}
		c.Mean += sent(p) / total * slowest / hosts
	})
	c.Time = most / hosts
	return c, ctx.Err()
}

// sent is the bytes that a pair sends; pairs of patterns have none, and count alike.
func sent(p traffic.Pair) float64 { return math.Max(1, float64(p.Bytes)) }

// eachWay calls tell for every flow that has a route, with the channels on its way and its share on each, in
// splitUnits; share nil: all of it is on each.
func (w *worker) eachWay(tell func(p traffic.Pair, way, share []uint32)) {
	first := int32(0)
	for i, end := range w.end {
		if end > first {
			var share []uint32
			if w.split != nil {
				share = w.parts[first:end]
			}
			tell(w.pairs[i], w.crossed[first:end], share)
		}
		first = end
	}
}
