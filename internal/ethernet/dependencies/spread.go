package dependencies

import "github.com/weft-fabric/weft/ethernet"

// spread finds the links that packets of a class take from the sources on, for Checker and Union, where packets keep
// their mark and no walk is needed. It is for one goroutine.
type spread struct {
	n       *ethernet.Network
	sources []ethernet.DeviceID
	there   []bool              // [DeviceID] that packets come to
	devices []ethernet.DeviceID // the same as a list, in the order in which they were found
}

func newSpread(n *ethernet.Network, sources []ethernet.DeviceID) spread {
	return spread{n: n, sources: sources, there: make([]bool, len(n.Names))}
}

// links visits every link that packets take by the next hops of a row, once, with the device it leads to.
func (s *spread) links(row ethernet.Row, visit func(link ethernet.LinkID, to ethernet.DeviceID)) {
	s.devices = append(s.devices[:0], s.sources...)
	for _, at := range s.devices {
		s.there[at] = true
	}
	for i := 0; i < len(s.devices); i++ {
		at := s.devices[i]
		s.n.Each(s.n.Words(row, at), at, func(out ethernet.LinkID) {
			to := s.n.Links[out].To
			visit(out, to)
			if !s.there[to] {
				s.there[to] = true
				s.devices = append(s.devices, to)
			}
		})
	}
	for _, at := range s.devices {
		s.there[at] = false
	}
}
