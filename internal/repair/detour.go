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

// detour adds steps to other rows than those of target from which steps lead to target, if it
// finds any. Rows may bar each other's way: each closes a cycle with the present entries of
// others. Then none of them can be brought, but with other entries, for a time, some can.
//
// Any two tables with a safe way from one to the other are joined by safe changes of a single
// entry, since a part of a step is as safe as the step. So the detours that are tried are drawn
// at random, always the same for the same tables: entries of the rows that are left, or of all,
// few or many, in one to three steps.
func (p *Plan) detour(ctx context.Context, sh *shared, tables, target *routing.Tables, most int) error {
	begun, each := sh.begun, sh.entries*len(sh.levels.used)
	for try := range uint64(detours) {
		if (sh.begun-begun)*each > detourWork {
			break
		}
		rng := rand.New(rand.NewPCG(try, 0))
		way := &Plan{}
		for range 1 + try/2%3 {
			s := sh.newStep(way.end(p.end(tables)))
			if err := s.derive(ctx); err != nil {
				return err
			}
			d := detourer{mender: newMender(s), rng: rng, share: []float64{.1, .3, 1}[rng.IntN(3)]}
			if try%2 == 0 {
				for _, l := range p.Left {
					d.destination(l.LID)
				}
			} else if err := s.eachInScope(ctx, d.destination); err != nil {
				return err
			}
			if s.Rebuilt = true; s.Mended > 0 {
				way.Steps = append(way.Steps, s.Step)
			}
		}
		if err := way.bring(ctx, sh, p.end(tables), target, upTo{steps: most}); err != nil {
			return err
		}
		if len(way.Left) == 0 {
			p.Steps, p.Left = append(p.Steps, way.Steps...), nil
			break
		}
	}
	return nil
}

// detourer gives switches other entries, drawn at random.
type detourer struct {
	*mender
	rng   *rand.Rand
	share float64 // of the switches
}

// destination changes entries of a row as the union allows: of switches with traffic in scope,
// to switches with working paths that are at most one hop farther from the destination.
func (d *detourer) destination(lid fabric.LID) {
	f := d.flow
	d.inForce(lid)
	for _, i := range d.rng.Perm(d.f.Switches()) {
		s := fabric.NodeID(i)
		if s == f.home || d.rng.Float64() >= d.share || !f.comes(s) {
			continue
		}
		first, end := d.f.TrunksFrom(s)
		for _, i := range d.rng.Perm(int(end - first)) {
			c := first + fabric.ChannelID(i)
			to := d.f.Heads()[c]
			if c != f.cur[s] && d.dist[to] != unknown && d.best[to] <= d.best[s]+1 && d.takeSafely(s, c) {
				break
			}
		}
	}
	d.Mended += d.write(d.Tables.Forwarding.Row(lid))
}
