package installed

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Drained is parts that are to be pulled, ascending, each once. As long as they are still cabled, packets that can go
// no other way use them.
type Drained []result.Location

// Equal reports whether two lists name the same parts.
func (d Drained) Equal(o Drained) bool { return slices.Equal(d, o) }

// has reports whether a list names all parts of another.
func (d Drained) has(o Drained) bool {
	return !slices.ContainsFunc(o, func(p result.Location) bool { return !slices.Contains(d, p) })
}

// Without is a fabric without the parts; nil: it has none of them.
func (d Drained) Without(f *fabric.Fabric) (*fabric.Fabric, error) {
	var cables []fabric.ChannelID
	var switches []fabric.NodeID
	for _, p := range d {
		n := f.NodeByGUID(p.GUID)
		switch {
		case n == fabric.None || f.Node(n).Kind != fabric.Switch:
		case p.Port == 0:
			switches = append(switches, n)
		default:
			if c := f.Trunk(n, p.Port); c != fabric.None {
				cables = append(cables, c)
			}
		}
	}
	if len(cables)+len(switches) == 0 {
		return nil, nil
	}
	return f.Without(cables, switches)
}

// aim is the state if parts d are to be kept free from now on: where these are others than before, a plan that was under
// way to drain or to return ends where it is, and if some need not be kept free any more the tables return to the goal.
func (s State) aim(d Drained) State {
	if s.Drained.Equal(d) {
		return s
	}
	if len(s.Plan.Steps) > 0 && (s.Plan.Kind == Drain || s.Plan.Kind == Return) {
		s.Returning = s.Returning || s.Plan.Kind == Return
		s.Plan = Plan{}
	}
	if !d.has(s.Drained) {
		s.Returning = s.Goal != nil
	}
	return s
}

// drain plans the way of all packets out of the parts that are to be kept free, and sets c.kept. Where there is none it
// is no error: there are no steps, and c.undrained says why.
func (c *carrier) drain(ctx context.Context) ([]*routing.Tables, error) {
	c.kept = c.o.Drained
	p, err := c.without(ctx, c.before)
	switch {
	case err != nil && ctx.Err() == nil:
		c.undrained = err.Error()
		return nil, nil
	case err != nil || p == nil:
		return nil, err
	}
	return c.steps(p)
}

// without is a plan from tables to others that do without the parts that are to be kept free; nil:
// the fabric has none of them. The error may be that there is no such plan (Stays).
func (c *carrier) without(ctx context.Context, t *routing.Tables) (*change.Proven, error) {
	less, err := c.o.Drained.Without(c.live)
	if err != nil || less == nil {
		return nil, err
	}
	p, err := change.Remove(ctx, t, less, c.change)
	if err != nil {
		return nil, err
	}
	return p, Stays(p)
}

// Stays is an error if a plan of change.Remove does not free the parts: destinations would go on using them, pairs would
// be cut meanwhile, or packets dropped.
func Stays(p *change.Proven) error {
	f := p.Before.Fabric
	if n := len(p.Left); n > 0 {
		l := p.Left[0]
		who := "nobody"
		if o := f.Owner(l.LID); o != fabric.None {
			who = f.EndpointLabel(o)
		}
		return fmt.Errorf("%s would go on using it, the first of them LID %d (%s)", words.Counted(n, "destination", "destinations"), l.LID, who)
	}
	if n := p.Cuts(); n > 0 {
		return fmt.Errorf("%s would be cut meanwhile", words.Counted(n, "pair", "pairs"))
	}
	if n := len(p.Absent); n > 0 {
		return fmt.Errorf("packets would be dropped for want of a lane at %d places: %s", n, p.Absent[0].Text(f))
	}
	return nil
}

// mendFree is mend that leaves drained parts alone where that will do. Where it will not, they are
// used, and drained again afterwards.
func (c *carrier) mendFree(ctx context.Context, unarmed []fabric.ChannelID) ([]*routing.Tables, error) {
	if len(c.o.Drained) == 0 {
		return c.mend(ctx, unarmed)
	}
	c.kept = nil
	less, err := c.o.Drained.Without(c.live)
	if err != nil {
		return nil, err
	}
	if less != nil && len(c.o.Scope.Endpoints(less)) == len(c.o.Scope.Endpoints(c.live)) && less.Switches() == c.live.Switches() {
		free := slices.Clone(unarmed)
		for t := range fabric.ChannelID(c.live.Trunks()) {
			ch := c.live.Channel(t)
			if from := less.NodeByGUID(c.live.Node(ch.From).GUID); less.Out(from, ch.FromPort) == fabric.None && !slices.Contains(free, t) {
				free = append(free, t)
			}
		}
		unarmed = free
	}
	return c.mend(ctx, unarmed)
}
