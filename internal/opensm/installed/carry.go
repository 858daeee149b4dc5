package installed

import (
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// carrier is a state on the fabric as it is now, on which the next step is planned.
type carrier struct {
	*State
	live   *fabric.Fabric
	o      Options
	change change.Options
	before *routing.Tables // Sent on live, with the rows that the goal has for hosts that are back; likeNeighbours adds more
	left   int             // number of destinations that bring leaves

	kept      Drained // Move.Drained
	undrained string  // Move.Undrained
}

// carry sets before: the tables handed over as they act on the fabric now. Plans begin there,
// also where a switch has not confirmed them: it may have them all the same, and what
// it is said to have may be nothing at all, if the cable to it was pulled meanwhile.
func (c *carrier) carry() error {
	fresh, err := c.fresh()
	if err != nil {
		return err
	}
	on, err := transition.On(c.live, c.Sent, fresh)
	if err != nil {
		return err
	}
	fw := routing.NewForwarding(c.live)
	for lid, owner := range c.live.LIDs() {
		switch {
		case !c.isNew(lid):
			copy(fw.Row(lid), on.Forwarding.Row(lid))
		case c.Goal != nil && knows(c.Goal.Fabric, c.live, lid, owner):
			c.goalRow(lid, fw.Row(lid))
		}
	}
	c.before = &routing.Tables{Fabric: c.live, Forwarding: fw, Lanes: c.lanes(on.Lanes.SL2VL)}
	return nil
}

// fresh is tables for the fabric now whose SL2VL maps are for switches that the tables handed over do not know: those
// of the goal, or else one that all switches have, or lane 0.
func (c *carrier) fresh() (*routing.Tables, error) {
	maps := routing.UniformSL2VL([routing.SLs]uint8{})
	if _, uniform := c.Sent.Lanes.SL2VL.Uniform(); uniform {
		maps = c.Sent.Lanes.SL2VL
	}
	plain := &routing.Tables{Fabric: c.live, Lanes: routing.OneSL(c.live, maps)}
	if c.Goal == nil {
		return plain, nil
	}
	return transition.On(c.live, c.Goal, plain)
}

// likeNeighbours gives the LIDs that are new, in before, the rows of other LIDs on their switches, whose
// packets go the same ways on the same service levels. It says whether there are any such.
func (c *carrier) likeNeighbours() bool {
	any := false
	for lid, owner := range c.live.LIDs() {
		if like := c.neighbour(c.Sent.Fabric, owner); c.isNew(lid) && like != 0 {
			copy(c.before.Forwarding.Row(lid), c.before.Forwarding.Row(like))
			any = true
		}
	}
	return any
}

// isNew reports whether nobody had a LID when the tables were handed over: no switch has an
// entry for it.
func (c *carrier) isNew(lid fabric.LID) bool {
	f := c.Sent.Fabric
	return lid > f.TopLID() || f.Owner(lid) == fabric.None
}

// rows is tables on live whose row for each LID is that of the tables that from returns, with the lanes of before.
func (c *carrier) rows(from func(fabric.LID, fabric.EndpointID) *routing.Tables) *routing.Tables {
	fw := routing.NewForwarding(c.live)
	for lid, owner := range c.live.LIDs() {
		copy(fw.Row(lid), from(lid, owner).Forwarding.Row(lid))
	}
	return &routing.Tables{Fabric: c.live, Forwarding: fw, Lanes: c.before.Lanes}
}

// onLive is the tables of a plan for an earlier fabric, which had the same switches and endpoints, on live.
func (c *carrier) onLive(plan []*routing.Tables) ([]*routing.Tables, error) {
	var on []*routing.Tables
	for _, t := range plan {
		now, err := transition.On(c.live, t, nil)
		if err != nil {
			return nil, err
		}
		on = append(on, c.rows(func(fabric.LID, fabric.EndpointID) *routing.Tables { return now }))
	}
	return on, nil
}

// mixed is the tables that packets may meet before a step, on live and without trees: Confirmed and Beside, if there
// are any, and last those handed over.
func (c *carrier) mixed() ([]*routing.Tables, error) {
	var all []*routing.Tables
	for _, had := range []*routing.Tables{c.Confirmed, c.Beside} {
		if had == nil {
			continue
		}
		on, err := transition.On(c.live, had, nil)
		if err != nil {
			return nil, err
		}
		lanes := on.Lanes
		if had.Lanes == c.Sent.Lanes {
			lanes = c.before.Lanes
		}
		all = append(all, &routing.Tables{Fabric: c.live, Forwarding: on.Forwarding, Lanes: lanes})
	}
	return append(all, c.hardware(c.before)), nil
}

// hardware is tables as the switches have them: without rows for LIDs that are new.
func (c *carrier) hardware(t *routing.Tables) *routing.Tables {
	nothing := &routing.Tables{Forwarding: routing.NewForwarding(c.live)}
	return c.rows(func(lid fabric.LID, _ fabric.EndpointID) *routing.Tables {
		if c.isNew(lid) {
			return nothing
		}
		return t
	})
}

// goal is the goal on the fabric as it is, with the service levels in use. LIDs that it does
// not know have the rows of before.
func (c *carrier) goal() (*routing.Tables, error) {
	on, err := transition.On(c.live, c.Goal, nil)
	if err != nil {
		return nil, err
	}
	return c.rows(func(lid fabric.LID, owner fabric.EndpointID) *routing.Tables {
		if knows(c.Goal.Fabric, c.live, lid, owner) {
			return on
		}
		return c.before
	}), nil
}

// knows reports whether a LID belonged to the same port, at the same switch, in an earlier
// fabric.
func knows(then, now *fabric.Fabric, lid fabric.LID, owner fabric.EndpointID) bool {
	if lid > then.TopLID() || then.Owner(lid) == fabric.None {
		return false
	}
	a, b := then.Endpoint(then.Owner(lid)), now.Endpoint(owner)
	return a.Port == b.Port && then.Node(a.Node).GUID == now.Node(b.Node).GUID &&
		a.Switch != fabric.None && b.Switch != fabric.None && then.Node(a.Switch).GUID == now.Node(b.Switch).GUID
}

// goalRow fills in the row for a LID from the goal, at switches that the goal knows.
func (c *carrier) goalRow(lid fabric.LID, row []uint8) {
	for s := range row {
		if at := switchIn(c.Goal.Fabric, c.live, fabric.NodeID(s)); at != fabric.None {
			row[s] = c.Goal.Forwarding.Port(at, lid)
		}
	}
}

// switchIn is a switch of one fabric in an earlier one, or None.
func switchIn(then, now *fabric.Fabric, s fabric.NodeID) fabric.NodeID {
	at := then.NodeByGUID(now.Node(s).GUID)
	if at == fabric.None || then.Node(at).Kind != fabric.Switch || then.Node(at).Ports != now.Node(s).Ports {
		return fabric.None
	}
	return at
}

// lanes is the service levels of the tables handed over, by switch. What they do not know
// has those of the goal, else those of a neighbour on the same switch.
func (c *carrier) lanes(maps *routing.SL2VL) *routing.Lanes {
	sources := []*routing.Tables{c.Sent}
	if c.Goal != nil && c.Goal != c.Sent {
		sources = append(sources, c.Goal)
	}
	plain := true
	for _, t := range sources {
		plain = plain && t.Lanes.SLRow(0) == nil
	}
	l := routing.OneSL(c.live, maps)
	if !plain {
		l = routing.NewLanes(c.live, maps)
		for lid, owner := range c.live.LIDs() {
			c.levels(sources, lid, owner, l.SLRow(lid))
		}
	}
	l.Needed = c.Sent.Lanes.Needed
	return l
}

// levels fills in the service levels to a LID, [switch of live]: from the first of some tables that know both, else as
// to a neighbour of its owner, else 0.
func (c *carrier) levels(sources []*routing.Tables, lid fabric.LID, owner fabric.EndpointID, row []uint8) {
	for s := range row {
		row[s] = routing.NoSL
	}
	fill := func(t *routing.Tables, like fabric.LID) {
		for s := range row {
			if at := switchIn(t.Fabric, c.live, fabric.NodeID(s)); row[s] == routing.NoSL && at != fabric.None {
				row[s] = t.Lanes.SL(fabric.EndpointID(at), like) // endpoint at is port 0 of the switch
			}
		}
	}
	for _, t := range sources {
		if knows(t.Fabric, c.live, lid, owner) {
			fill(t, lid)
		}
	}
	for _, t := range sources {
		if like := c.neighbour(t.Fabric, owner); like != 0 {
			fill(t, like)
		}
	}
	for s := range row {
		if row[s] == routing.NoSL {
			row[s] = 0
		}
	}
}

// neighbour is a LID that an earlier fabric knows too, of an endpoint on the same switch; 0:
// there is none.
func (c *carrier) neighbour(then *fabric.Fabric, e fabric.EndpointID) fabric.LID {
	s := c.live.Endpoint(e).Switch
	if s == fabric.None {
		return 0
	}
	for _, other := range c.live.Attached(s) {
		if ep := c.live.Endpoint(other); ep.Class != fabric.SwitchPort && knows(then, c.live, ep.LID, other) {
			return ep.LID
		}
	}
	return 0
}
