package spanning_test

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// lane is a lane of a trunk.
type lane struct {
	trunk fabric.ChannelID
	vl    uint8
}

// twin is which lane waits for which, found by sending every packet there can be.
func twin(t *routing.Tables, c routing.Contract) map[lane]map[lane]bool {
	waits := map[lane]map[lane]bool{}
	f := t.Fabric
	note := func(from *lane, to lane) {
		if waits[to] == nil {
			waits[to] = map[lane]bool{}
		}
		if from != nil {
			waits[*from][to] = true
		}
	}
	for _, src := range routing.HCA.Endpoints(f) {
		for lid, dst := range routing.HCA.LIDs(f) {
			for sl := range levelsOf(t, c, src, dst, lid) {
				at, in := f.Endpoint(src).Switch, f.LastPort(f.Endpoint(src))
				var from *lane
				for at != f.Endpoint(dst).Switch && src != dst {
					out := f.Out(at, t.Forwarding.Port(at, lid))
					to := lane{out, t.Lanes.SL2VL.VL(at, in, f.Channel(out).FromPort, sl)}
					note(from, to)
					from, at, in = &to, f.Channel(out).To, f.Channel(out).ToPort
				}
			}
		}
	}
	if t.Multicast == nil {
		return waits
	}
	tree := &t.Multicast.Trees[0]
	var copies func(s fabric.NodeID, in uint8, from *lane, sl uint8)
	copies = func(s fabric.NodeID, in uint8, from *lane, sl uint8) {
		ports := tree.At(s)
		for port := range ports.All() {
			c := f.Out(s, port)
			if port == in || c == fabric.None || int(c) >= f.Trunks() {
				continue
			}
			to := lane{c, t.Lanes.SL2VL.VL(s, in, port, sl)}
			note(from, to)
			copies(f.Channel(c).To, f.Channel(c).ToPort, &to, sl)
		}
	}
	for sl := range uint8(routing.SLs) {
		for _, n := range tree.Nodes {
			for _, e := range f.Attached(n.Switch) {
				if t.Multicast.SLs>>sl&1 == 1 {
					copies(n.Switch, f.LastPort(f.Endpoint(e)), nil, sl)
				}
			}
		}
	}
	return waits
}

// levelsOf is the service levels of packets from src to a LID of dst.
func levelsOf(t *routing.Tables, c routing.Contract, src, dst fabric.EndpointID, lid fabric.LID) map[uint8]bool {
	sls := map[uint8]bool{}
	if mask, fixed := c.FixedMask(); fixed {
		for sl := range uint8(routing.SLs) {
			if mask>>sl&1 == 1 {
				sls[sl] = true
			}
		}
		return sls
	}
	sls[t.Lanes.SL(src, lid)] = true
	if c.EitherWay() {
		for back := range t.Fabric.Endpoint(src).LIDs() {
			sls[t.Lanes.SL(dst, back)] = true
		}
	}
	return sls
}

// cyclic reports whether some lane waits for itself in the end.
func cyclic(waits map[lane]map[lane]bool) bool {
	const open, done = 1, 2
	state := map[lane]int{}
	var visit func(lane) bool
	visit = func(v lane) bool {
		state[v] = open
		for u := range waits[v] {
			if state[u] == open || state[u] == 0 && visit(u) {
				return true
			}
		}
		state[v] = done
		return false
	}
	for v := range waits {
		if state[v] == 0 && visit(v) {
			return true
		}
	}
	return false
}
