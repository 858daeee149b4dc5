package repair

import (
	"context"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

const (
	detours    = 300        // that are tried at most
	detourWork = 24_000_000 // entries that the steps begun for them read, times service levels, after which no other is tried
)

// detour is what Migrate does where steps straight to target leave destinations: it looks for steps to other
// rows from which further steps, at most so many, lead to target, and adds both to p if it finds such. Rows
// may bar each other's way: each closes a cycle with the present entries of others. Then none of them can
// be written, but with other entries for a time, some can.
//
// Any two tables with a safe way from one to the other are joined by safe changes of a single
// entry, since a part of a step is as safe as the step. So the detours that are tried are drawn
// at random, always the same for the same tables: entries of the rows that are left, or of all,
// few or many, in one to three steps.
func (p *Plan) detour(ctx context.Context, in *problem, tables, target *routing.Tables, most int) error {
	before, work := in.attempts, in.entries*len(in.sources.SLs) // work: of one attempt
	for try := range uint64(detours) {
		if (in.attempts-before)*work > detourWork {
			break
		}
		rng := rand.New(rand.NewPCG(try, 0))
		way := &Plan{}
		for range 1 + try/2%3 {
			a := in.newAttempt(way.end(p.end(tables)))
			if err := a.derive(ctx); err != nil {
				return err
			}
			d := randomizer{a: a, rng: rng, share: []float64{.1, .3, 1}[rng.IntN(3)]}
			if try%2 == 0 {
				for _, l := range p.Left {
					d.destination(l.LID)
				}
			} else if err := in.eachInScope(ctx, d.destination); err != nil {
				return err
			}
			if a.step.Rebuilt = true; a.step.Mended > 0 {
				way.Steps = append(way.Steps, a.step)
			}
		}
		if err := way.migrate(ctx, in, p.end(tables), target, upTo{steps: most}); err != nil {
			return err
		}
		if len(way.Left) == 0 {
			p.Steps, p.Left = append(p.Steps, way.Steps...), nil
			break
		}
	}
	return nil
}

// randomizer gives switches other entries, drawn at random.
type randomizer struct {
	a     *attempt
	rng   *rand.Rand
	share float64 // of the switches that get another entry
}

// destination changes entries of a LID's row, and counts them in the step, as the union allows: of switches with
// traffic in scope, to neighbours with working paths. None of these is more than a hop farther from the destination.
func (d *randomizer) destination(lid fabric.LID) {
	a := d.a
	a.inForce(lid)
	for _, i := range d.rng.Perm(a.f.Switches()) {
		s := fabric.NodeID(i)
		if s == a.packets.Home || d.rng.Float64() >= d.share || !a.packets.Visit(s) {
			continue
		}
		first, end := a.f.TrunksFrom(s)
		for _, i := range d.rng.Perm(int(end - first)) {
			c := first + fabric.ChannelID(i)
			to := a.f.Heads()[c]
			if c != a.packets.Entry[s] && a.dist[to] != unknown && a.take(s, c) {
				break
			}
		}
	}
	a.step.Mended += a.write(a.row(lid))
}
