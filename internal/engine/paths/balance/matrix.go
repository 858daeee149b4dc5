package balance

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// Demand is what a host sends to another, relative to other demands.
type Demand struct {
	From, To fabric.EndpointID
	Bytes    int64 // above 0
}

// A search for a matrix of demands. What counts is how long the channels are busy: first
// of all the fullest, then the fullest on the way of each byte. A trial takes the tree of
// one destination after another out of the loads and grows it anew from the root: a switch
// takes that of its shortest ways on which the p-th powers of the times grow least by what
// it and the switches behind it send. p rises while passes find nothing better, since with
// a high power the fullest trunk counts most. This is descent on a convex function of the
// loads, as in the concurrent flow problem (F. Shahrokhi, D. Matula, JACM 1990), with paths
// that depend on the destination alone.
//
// Beside that everybody sends to everybody, so that paths that the matrix has no use for, and
// those on which it does not matter much, are spread for pairs at random.

// matrix is demands as the search uses them.
type matrix struct {
	sent  [][]sending // [dest] by switch, without those on the destination's own
	ends  float64     // time of the fullest link of a host: no routing can do better
	total float64     // of all demands
}

// sending is what the hosts on a switch send to a destination.
type sending struct {
	from  fabric.NodeID
	bytes float64
}

// aside is what a trunk that is as busy with everybody's traffic as any was to begin with
// counts, where one that is busy with the matrix all the time counts 1.
const aside = 0.1

// newMatrix sums up demands by switch and destination. Hosts receive at their first
// address, as long as others do not choose.
func newMatrix(n *network, demands []Demand) (*matrix, error) {
	m := &matrix{sent: make([][]sending, len(n.dests))}
	out, in := make([]float64, len(n.f.Endpoints())), make([]float64, len(n.f.Endpoints()))
	byEnd := n.firstAddress()
	sum := make([]map[fabric.NodeID]float64, len(n.dests))
	for _, d := range demands {
		for _, e := range [2]fabric.EndpointID{d.From, d.To} {
			if e < 0 || int(e) >= len(byEnd) {
				return nil, fmt.Errorf("a demand of endpoint %d; the fabric has %d", e, len(byEnd))
			}
		}
		if d.Bytes <= 0 {
			return nil, fmt.Errorf("endpoint %d sends %d to %d; demands are above 0", d.From, d.Bytes, d.To)
		}
		from, to := n.f.Endpoint(d.From), n.f.Endpoint(d.To)
		if d.From == d.To || from.Switch == fabric.None || to.Class != fabric.HostAdapter || n.weight[d.To] == 0 {
			continue
		}
		bytes := float64(d.Bytes)
		out[d.From] += bytes * float64(max(1, n.end[d.From])) / unit
		in[d.To] += bytes * float64(max(1, n.end[d.To])) / unit
		m.total += bytes
		if from.Switch == to.Switch {
			continue
		}
		i := byEnd[d.To]
		if sum[i] == nil {
			sum[i] = map[fabric.NodeID]float64{}
		}
		sum[i][from.Switch] += bytes
	}
	m.ends = max(slices.Max(out), slices.Max(in))
	for i, all := range sum {
		for s := range n.f.Switches() {
			if b := all[fabric.NodeID(s)]; b > 0 {
				m.sent[i] = append(m.sent[i], sending{fabric.NodeID(s), b})
			}
		}
	}
	return m, nil
}

// laid is a routing of a matrix, improved pass by pass.
type laid struct {
	*network
	*matrix
	from   string // what it began with
	power  int
	pick   []uint8 // as in trial
	random *rand.Rand
	queue  []int32
	load   []float64 // [trunk] of the matrix
	even   []float64 // [trunk] of everybody's traffic to everybody
	usual  float64   // of the fullest of these to begin with

	// Of the tree at hand, by position: what the switch sends itself, and with those behind it
	// in the tree before; of the matrix and of everybody's traffic.
	own, flow         []float64
	ownEven, flowEven []float64

	busy []float64 // [trunk] scratch of measure

	took, mean float64 // of the best routing so far, see judge
	kept       []uint8
	passes     int
	bestPass   int
	stale      int // passes since
}

func (l *laid) picks(d int32) []uint8 {
	i := int(d) * l.f.Switches()
	return l.pick[i : i+len(l.roots[l.dests[d].root].order)]
}

// gather sums up what each switch sends to a destination, itself and with all behind it.
func (l *laid) gather(d int32, r *root, pick []uint8) {
	k := len(r.order)
	own, flow, ownEven, flowEven := l.own[:k], l.flow[:k], l.ownEven[:k], l.flowEven[:k]
	weight := float64(l.dests[d].weight)
	for j, u := range r.order {
		own[j], ownEven[j] = 0, float64(l.src[u])*weight
	}
	for _, s := range l.sent[d] {
		if at := r.at[s.from]; at != 0 {
			own[at] += s.bytes
		}
	}
	copy(flow, own)
	copy(flowEven, ownEven)
	for j := k - 1; j > 0; j-- {
		h := r.ways[r.first[j]+int32(pick[j])].head
		flow[h] += flow[j]
		flowEven[h] += flowEven[j]
	}
}

// charge adds the tree of a destination to the loads.
func (l *laid) charge(d int32, sign float64) {
	r, pick := &l.roots[l.dests[d].root], l.picks(d)
	l.gather(d, r, pick)
	for j := 1; j < len(r.order); j++ {
		c := r.ways[r.first[j]+int32(pick[j])].trunk
		l.load[c] += sign * l.flow[j]
		l.even[c] += sign * l.flowEven[j]
	}
}

// grows is by how much the cost of a trunk grows by what is sent: the power of its time for
// the matrix, and the third power of that for everybody's traffic.
func (l *laid) grows(c fabric.ChannelID, bytes, even float64) float64 {
	inverse := float64(l.inverse[c]) / unit
	scale := inverse / l.ends
	x, y := l.load[c]*scale, (l.load[c]+bytes)*scale
	before, after := x, y
	if bytes > 0 {
		for range l.power - 1 {
			before, after = float64(before*x), float64(after*y)
		}
	}
	scale = inverse / l.usual
	x, y = l.even[c]*scale, (l.even[c]+even)*scale
	return after - before + aside*(float64(y*y*y)-float64(x*x*x))
}

// place grows the tree of a destination that is not in the loads, and puts it there.
func (l *laid) place(d int32) {
	r, pick := &l.roots[l.dests[d].root], l.picks(d)
	l.gather(d, r, pick)
	for j := 1; j < len(r.order); j++ {
		if r.first[j+1]-r.first[j] > 1 {
			pick[j] = l.cheapest(r, pick, j)
		}
		for at := int32(j); at != 0; {
			w := r.ways[r.first[at]+int32(pick[at])]
			l.load[w.trunk] += l.own[j]
			l.even[w.trunk] += l.ownEven[j]
			at = w.head
		}
	}
}

// cheapest is the best way of a switch; of equal ones it keeps what it had.
func (l *laid) cheapest(r *root, pick []uint8, j int) uint8 {
	ways := r.ways[r.first[j]:r.first[j+1]]
	best, least := pick[j], math.Inf(1)
	at := int(pick[j])
	for range ways {
		cost := 0.0
		for w := ways[at]; cost < least; w = r.ways[r.first[w.head]+int32(pick[w.head])] {
			cost += l.grows(w.trunk, l.flow[j], l.flowEven[j])
			if w.head == 0 {
				break
			}
		}
		if cost < least {
			best, least = uint8(at), cost
		}
		if at++; at == len(ways) {
			at = 0
		}
	}
	return best
}

// pass routes every destination again.
func (l *laid) pass(ctx context.Context) {
	l.passes++
	l.random.Shuffle(len(l.queue), func(i, j int) { l.queue[i], l.queue[j] = l.queue[j], l.queue[i] })
	for _, d := range l.queue {
		if ctx.Err() != nil {
			return
		}
		l.charge(d, -1)
		l.place(d)
	}
	l.reload() // what was added and taken off again leaves rounding behind
}

// reload adds up the loads.
func (l *laid) reload() {
	clear(l.load)
	clear(l.even)
	for d := range l.dests {
		l.charge(int32(d), 1)
	}
}

// judge keeps the routing if it is the best so far, and says so.
func (l *laid) judge() bool {
	took, mean := l.measure()
	if l.kept != nil && WorthOfTraffic(took, mean) <= WorthOfTraffic(l.took, l.mean) {
		return false
	}
	l.took, l.mean, l.bestPass = took, mean, l.passes
	l.kept = append(l.kept[:0], l.pick...)
	return true
}

// WorthOfTraffic makes one number, the more the better, of how long the fullest channel
// takes for a matrix, and the fullest on the way of each byte in the mean, which counts half
// as much.
func WorthOfTraffic(took, mean float64) float64 { return 1 / (took * math.Sqrt(mean)) }

// measure is how long the fullest channel takes, and the fullest on the way of each byte
// in the mean, by the demands alone; in units of the fullest link of a host.
func (l *laid) measure() (took, mean float64) {
	busy := l.busy
	clear(busy)
	l.eachWay(func(c fabric.ChannelID, bytes float64) {
		busy[c] += bytes * float64(l.inverse[c]) / (unit * l.ends)
	}, nil)
	took = max(1, slices.Max(busy))
	worst := 0.0
	l.eachWay(func(c fabric.ChannelID, _ float64) { worst = max(worst, busy[c]) }, func(bytes float64) {
		mean += bytes / l.total * max(worst, 1e-3)
		worst = 0
	})
	return took, max(mean, 1e-3)
}

// eachWay tells the trunks of every demand, and when one is done.
func (l *laid) eachWay(tell func(c fabric.ChannelID, bytes float64), done func(bytes float64)) {
	for d := range l.dests {
		r, pick := &l.roots[l.dests[d].root], l.picks(int32(d))
		for _, s := range l.sent[d] {
			for at := r.at[s.from]; at != 0; {
				w := r.ways[r.first[at]+int32(pick[at])]
				tell(w.trunk, s.bytes)
				at = w.head
			}
			if done != nil {
				done(s.bytes)
			}
		}
	}
}

// matrixPowers is the powers that trials begin with.
var matrixPowers = []int{2, 4, 8}

const (
	steepest       = 16 // power up to which they rise
	matrixPatience = 4  // passes without a better routing after which a trial ends

	matrixWork = 400_000_000 // trunks looked at
)

// searchMatrix finds paths for a matrix. It begins with the paths for random pairs, which
// pairs that the matrix does not name keep as far as can be, and with those given.
func searchMatrix(ctx context.Context, n *network, fd Finder, p routing.Progress) (*trial, error) {
	m, err := newMatrix(n, fd.Demands)
	if err != nil {
		return nil, err
	}
	fd.Begin = quick(fd.Begin)
	starts, err := n.given(ctx, fd, func(*trial) figures { return figures{0, []float64{2}} }, progressBetween(p, 0, 1))
	if err != nil {
		return nil, err
	}
	own, err := searchPairs(ctx, n, fd, progressBetween(p, 1, 2))
	if err != nil || m.total == 0 {
		return own, err
	}
	starts = append([]*start{{name: "balance", pick: own.kept}}, starts...)
	if c := n.colored(m, own.kept); c != nil { // first, where one beginning has to do
		starts = append([]*start{c}, starts...)
	}
	var trials []*laid
	for _, power := range matrixPowers {
		for _, s := range starts {
			trials = append(trials, n.newLaid(m, s, power, fd.Seed))
		}
	}
	byWorth := func(a, b *laid) int {
		return cmp.Compare(WorthOfTraffic(b.took, b.mean), WorthOfTraffic(a.took, a.mean))
	}
	if n.looked*int64(len(trials)) > matrixWork/2 {
		trials = trials[len(starts) : len(starts)+1] // of the middle power, from random pairs
	}
	left := max(2, int(matrixWork/max(1, n.looked))) // passes of all trials together
	for rung := 2; err == nil; rung *= 2 {
		each := min(rung, max(1, left/len(trials)))
		err = par.For(ctx, len(trials), func(_, i int) { trials[i].run(ctx, each, fd.deadline) })
		slices.SortStableFunc(trials, byWorth)
		left -= each * len(trials)
		trials = trials[:(len(trials)+2)/3]
		if left <= 0 || rung >= DefaultPasses {
			break
		}
	}
	best := trials[0]
	p.Report(1, 1)
	own.kept = best.kept
	own.said = fmt.Sprintf("balance: begun with the paths of %s, best after %d passes; for the traffic given the fullest channel takes %.2f times as long as the fullest link of a host, in the mean over bytes %.2f",
		best.from, best.bestPass, best.took, best.mean)
	return own, err
}

// newLaid begins a trial.
func (n *network) newLaid(m *matrix, s *start, power int, seed uint64) *laid {
	l := &laid{
		network: n, matrix: m, from: s.name, power: power, pick: slices.Clone(s.pick), random: rand.New(rand.NewPCG(seed, 0x6d6174726978)),
		load: make([]float64, n.f.Trunks()), even: make([]float64, n.f.Trunks()), busy: make([]float64, n.f.Trunks()),
	}
	for _, scratch := range []*[]float64{&l.own, &l.flow, &l.ownEven, &l.flowEven} {
		*scratch = make([]float64, n.f.Switches())
	}
	for d := range n.dests {
		l.queue = append(l.queue, int32(d))
	}
	l.reload()
	l.usual = max(1, slices.Max(l.even))
	return l
}

// run improves a trial by some more passes.
func (l *laid) run(ctx context.Context, passes int, deadline time.Time) {
	if l.kept == nil {
		l.judge()
	}
	for ; passes > 0 && l.stale < matrixPatience && ctx.Err() == nil; passes-- {
		if !deadline.IsZero() && time.Now().After(deadline) {
			return
		}
		l.pass(ctx)
		if l.stale++; l.judge() {
			l.stale = 0
		} else {
			l.power = min(steepest, l.power+2)
		}
	}
}
