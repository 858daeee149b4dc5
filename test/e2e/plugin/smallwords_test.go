package plugin_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// where is how the plugin says where something is wrong.
var where = regexp.MustCompile(`^(tree for multicast, )?switch 0x([0-9a-f]{16})(, LID (\d+))?: (while tables are replaced, )?(.*)$`)

// isTrue reports whether what the plugin says of a case that it does not take is so: that there is such a switch, LID
// and port, and that they are as it says.
func (c *smallCase) isTrue(why string) bool {
	m := where.FindStringSubmatch(why)
	if m == nil {
		return c.isTrueOfAll(why)
	}
	number := func(text string, base int) int {
		n, _ := strconv.ParseInt(text, base, 64)
		return int(n)
	}
	n := c.net[0]
	if c.malformed() && c.kept {
		n = c.net[1]
	}
	s, lid, what := slices.Index(n.guids, number(m[2], 16)), number(m[4], 10), m[6]
	switch {
	case s < 0:
		return false
	case m[1] != "":
		return lid == 0 && c.tables[0].groups != 0 && c.isTrueOfTree(n, s, what, m[5] != "")
	}
	home := n.owner(lid)
	if home == nil || m[5] != "" && (!c.tables[0].step || len(c.tables) < 2) {
		return false
	}
	t := c.tables[0]
	out := t.out[s][lid]
	at := [2]int{s, out}
	var a, b, e int
	switch {
	case said(what, "out-port %d of %d", &a, &b):
		return a == out && a > b && b == n.ports[s]
	case what == "packets do not arrive":
		return c.follow(0, s, lid) == "lost"
	case said(what, "out-port %d has no cable", &a):
		return a == out && (a == 0 || n.free(at)) && at != home.at
	case said(what, "out-port %d leads to another node", &a):
		_, trunk := n.trunk(at)
		return a == out && a != 0 && !n.free(at) && !trunk && at != home.at
	case what == "packets circle for ever":
		return c.follow(0, s, lid) == "circle" && c.returns(s, lid)
	case said(what, "SL %d is dropped from port %d to port %d", &a, &b, &e):
		return m[5] == "" && e == out && c.mayUse(home, lid, a, 1) && c.laneOf(0, s, b, e, a) == 15
	case said(what, "SL %d goes on by port %d on lane %d,", &a, &b, &e):
		return c.mayUse(home, lid, a, c.mixed()) && c.goesOn(s, lid, a, b, e, m[5] != "") && c.noLane(s, b, e)
	case said(what, "the rank does not rise at port %d, lane %d:", &a, &b):
		return !c.noLane(s, a, b) && c.higherBefore(s, a, b)
	case said(what, "SL %d", &a):
		return a == t.sl[s][lid] && a > 15
	}
	return false
}

// said reads what is said by a format.
func said(what, format string, into ...any) bool {
	n, err := fmt.Sscanf(what, format, into...)
	return err == nil && n == len(into) && (strings.HasSuffix(format, ":") || strings.HasSuffix(format, ",") || what == fmt.Sprintf(format, values(into)...))
}

func values(of []any) []any {
	all := make([]any, len(of))
	for i, at := range of {
		all[i] = *at.(*int)
	}
	return all
}

// isTrueOfAll is isTrue of what is wrong at no switch in particular.
func (c *smallCase) isTrueOfAll(why string) bool {
	n, t := c.net[0], c.tables[0]
	var a, b int
	switch {
	case strings.HasPrefix(why, "switch "): // 0x… has out-port a and SL b for LID c, which nobody has
		var guid, lid int
		if c.kept {
			n = c.net[1]
		}
		if got, err := fmt.Sscanf(why, "switch 0x%x has out-port %d and SL %d for LID %d, which nobody has", &guid, &a, &b, &lid); got != 4 || err != nil {
			return false
		}
		s := slices.Index(n.guids, guid)
		return s >= 0 && n.owner(lid) == nil && t.out[s][lid] == a && t.sl[s][lid] == b
	case why == "they use several lanes and QoS is off, so that OpenSM would not write them: set qos TRUE":
		return !c.qos && slices.ContainsFunc(t.maps, func(m [16]int) bool { return m != [16]int{} })
	case said(why, "adapters are to drop SL %d, which is in use", &a):
		return a < 16 && t.adapters[a] == 15
	case said(why, "the tree for multicast is for service levels 0x%04x, that in use for 0x%04x", &a, &b):
		return a == int(t.groups) && t.step && len(c.tables) > 1 && b == int(c.tables[1].groups) && b&^a != 0
	case said(why, "map %d has lane %d", &a, &b):
		return b > 15 && slices.Contains(t.maps[a][:], b)
	case why == "a step from tables in use, where there are none":
		return t.step && len(c.tables) == 1
	case strings.HasPrefix(why, "a contract of service levels "):
		return t.drops && !t.step || t.newTree && (!t.step || t.groups == 0)
	case !c.kept:
		return false
	}
	then := c.net[1]
	switch {
	case why == "they are for other switches":
		return !slices.Equal(n.guids, then.guids) || !slices.Equal(n.ports, then.ports)
	case said(why, "they end at LID %d, the fabric has LID %d", &a, &b):
		return a == then.lids-1 && b == n.lids-1 && b > a
	case said(why, "LID %d is new since", &a):
		return n.owner(a) != nil && then.owner(a) == nil
	}
	var from, to int
	if got, err := fmt.Sscanf(why, "LID %d was on switch 0x%x and is on 0x%x", &a, &from, &to); got != 3 || err != nil {
		return false
	}
	now, was := n.owner(a), then.owner(a)
	return now != nil && was != nil && n.guids[now.at[0]] == to && then.guids[was.at[0]] == from && from != to
}

// isTrueOfTree is isTrue of the tree for multicast.
func (c *smallCase) isTrueOfTree(n *smallNet, s int, what string, mixed bool) bool {
	t := c.tables[0]
	_, trunk := n.trunk([2]int{s, t.tree[s]})
	mixes := t.step && !t.newTree && len(c.tables) > 1
	var a, b, e int
	switch {
	case what == "it is a root, and there is another":
		return t.tree[s] == 0 && slices.Contains(t.tree[:s], 0)
	case said(what, "no cable to another switch at port %d", &a):
		return a == t.tree[s] && a != 0 && !trunk
	case what == "it is on a ring":
		at := s
		for range n.ports {
			next, trunk := n.trunk([2]int{at, t.tree[at]})
			if !trunk {
				return false
			}
			if at = next[0]; at == s {
				return true
			}
		}
		return false
	case mixed != mixes:
		return false
	case said(what, "the cable at port %d is in the tree in use and not in this one", &a):
		return c.treeOf(c.rows[1][s], c.tables[1]) == a && !c.cablesOfTree(0)[[2]int{s, a}]
	}
	cables := c.cablesOfTree(0)
	switch {
	case said(what, "SL %d is dropped from port %d to port %d", &a, &b, &e):
		return t.groups>>a&1 != 0 && b != e && cables[[2]int{s, e}] && c.laneOf(0, s, b, e, a) == 15
	case said(what, "SL %d goes on by port %d on lane %d,", &a, &b, &e):
		return t.groups>>a&1 != 0 && cables[[2]int{s, b}] && c.noLane(s, b, e)
	case said(what, "the rank does not rise at port %d, lane %d:", &a, &b):
		return cables[[2]int{s, a}] && !c.noLane(s, a, b) && c.higherBefore(s, a, b)
	}
	return false
}

// mayUse reports whether somebody may send to a LID on a service level.
func (c *smallCase) mayUse(home *smallEnd, lid, sl, mixed int) bool {
	if slices.ContainsFunc(c.tables[0].sl, func(row []int) bool { return slices.Max(row) > 15 }) {
		return true // it is no service level, and taken for the last four bits of it until that is found
	}
	return slices.ContainsFunc(c.senders(), func(s sender) bool { return s.end != home && c.usable(s, home, lid, mixed, true)>>sl&1 != 0 })
}

// returns reports whether packets that a switch sends to a LID come back to it.
func (c *smallCase) returns(s, lid int) bool {
	at := s
	for range c.net[0].ports {
		next, trunk := c.net[0].trunk([2]int{at, c.tables[0].out[at][lid]})
		if !trunk {
			return false
		}
		if at = next[0]; at == s {
			return true
		}
	}
	return false
}

// goesOn reports whether packets of a service level may leave a switch to a LID by a port, on a lane.
func (c *smallCase) goesOn(s, lid, sl, port, lane int, mixed bool) bool {
	tables := 1
	if mixed {
		tables = len(c.tables)
	}
	by, on := mixed && c.blocks[s] != nil && c.blocks[s][lid] == port, false
	for k := range tables {
		by = by || c.outOf(k, s, lid) == port
		for in := range c.net[0].ports[s] + 1 {
			on = on || c.laneOf(k, s, in, port, sl) == lane
		}
	}
	return by && on
}

// noLane reports whether the lane of a port does not exist, or has no rank.
func (c *smallCase) noLane(s, port, lane int) bool {
	x := [2]int{s, port}
	rank, has := c.tables[0].rank[[3]int{s, port, lane}]
	return lane >= c.tables[0].lanes || lane >= c.lanesOf(x) || !has || rank < 0
}

// higherBefore reports whether some lane into a switch has a rank as high as that of a lane out of it.
func (c *smallCase) higherBefore(s, port, lane int) bool {
	rank := c.tables[0].rank[[3]int{s, port, lane}]
	for in := range c.net[0].ports[s] + 1 {
		far, trunk := c.net[0].trunk([2]int{s, in})
		for v := range c.tables[0].lanes {
			if r, has := c.tables[0].rank[[3]int{far[0], far[1], v}]; trunk && has && r >= rank {
				return true
			}
		}
	}
	return false
}

// covered is what the plugin says beside figures: what a proof is about, and which of the switches' cables towards the
// root the part of the tree has that joins some of them.
func (c *smallCase) covered() string {
	t := c.tables[0]
	if t.groups == 0 {
		return "unicast; OpenSM's own multicast trees are outside"
	}
	text := "unicast and multicast"
	if t.groups != 0xFFFF {
		comma := " on SL "
		for sl := range 16 {
			if t.groups>>sl&1 != 0 {
				text += comma + strconv.Itoa(sl)
				comma = ","
			}
		}
	}
	if c.kept {
		return text
	}
	// A cable is needed if switches that are to be joined are on both sides of it.
	n := c.net[0]
	joined := func(s int) bool { return t.number>>(s%10)&1 != 0 }
	text += " "
	for s, p := range t.tree {
		below, beside := false, false
		for m := range n.ports {
			var under bool
			for at := m; ; {
				if under = at == s; under || t.tree[at] == 0 {
					break
				}
				next, _ := n.trunk([2]int{at, t.tree[at]})
				at = next[0]
			}
			below, beside = below || under && joined(m), beside || !under && joined(m)
		}
		if p != 0 && below && beside {
			text += "1"
		} else {
			text += "0"
		}
	}
	return text
}
