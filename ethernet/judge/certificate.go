package judge

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/dependencies"
)

// Certificate is a proof that a network cannot deadlock: a rank for every lane in use, which
// rises along every dependency. Packets in a lane of the highest rank wait for hosts only,
// so the lane drains, and then those of the next lower rank do.
type Certificate struct {
	Scope ethernet.Scope
	Lanes int     // lanes of a link are numbered 0 … Lanes-1
	Rank  []int32 // [link × Lanes + lane]; Unused for lanes that carry nothing
}

// Unused is the rank of a lane that carries no packets.
const Unused = -1

// Check derives the dependencies of a network again, and refuses a certificate whose ranks do not rise along each of
// them.
func Check(ctx context.Context, n *ethernet.Network, c *Certificate) error {
	d, err := dependencies.Of(ctx, n, c.Scope)
	if err != nil {
		return err
	}
	if d.Lanes > c.Lanes || len(c.Rank) != len(n.Links)*c.Lanes {
		return fmt.Errorf("the certificate is for %d lanes, the network has %d links of %d lanes", len(c.Rank), len(n.Links), d.Lanes)
	}
	// v is link × d.Lanes + lane; a certificate may be for more lanes than the network uses.
	rank := func(v int32) int32 { return c.Rank[int(v)/d.Lanes*c.Lanes+int(v)%d.Lanes] }
	lane := func(v int32) string {
		return fmt.Sprintf("%s, lane %d", n.End(ethernet.LinkID(int(v)/d.Lanes)), int(v)%d.Lanes)
	}
	var after []int32
	for v, used := range d.InUse() {
		v := int32(v)
		if used && rank(v) == Unused {
			return fmt.Errorf("the certificate has no rank for %s, which carries packets", lane(v))
		}
		after = d.Successors(v, after[:0])
		for _, u := range after {
			if rank(v) >= rank(u) {
				return fmt.Errorf("the certificate does not hold: %s (rank %d) waits for %s (rank %d)", lane(v), rank(v), lane(u), rank(u))
			}
		}
	}
	return nil
}
