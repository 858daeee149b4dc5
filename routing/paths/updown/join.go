package updown

import (
	"context"
	"errors"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// joined is the rule behind the one refusal of this package.
const joined = "every switch has a path to every other that goes up, then down, or by turns that keep all paths free of cycles"

func (o *orientation) slope() *dag.Slope { return &dag.Slope{Up: o.up, Order: o.order} }

// apart says whether some switches cannot reach others: whether a part of the
// network has more than one switch without an up channel.
func (o *orientation) apart(f *fabric.Fabric) bool { return o.slope().Apart(f) }

// join gives every switch a path to every LID of its part of the network, and
// counts the turns that it took beyond Up*/Down*.
func join(ctx context.Context, f *fabric.Fabric, o *orientation, t *routing.Forwarding) (int, error) {
	turns, err := dag.Join(ctx, f, o.slope(), t)
	if lost := (*dag.NotJoined)(nil); errors.As(err, &lost) {
		err = routing.Refuse(f, joined, lost.From, 0, "no path to %s; give fewer roots, or take updn and let it choose", f.Label(lost.To))
	}
	return turns, err
}
