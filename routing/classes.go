package routing

// InClasses is tables with n copies of their lanes, each for a class of traffic of its
// own: what waits in one class holds up nothing in the others. Class k uses the service
// level of a pair plus k × Lanes.ClassLevels, and has the copy k of every lane. Service
// levels beyond all classes begin again at class 0. It refuses with *TooFewLanes or
// *TooFewLevels where InfiniBand has not as many.
//
// Which class a packet is of is up to its sender, so the tables are free of deadlock as
// they were if they were under contract Any.
func (t *Tables) InClasses(n int) (*Tables, error) {
	levels := t.Lanes.TopLevel() + 1
	lanes := int(t.Lanes.SL2VL.top(levels)) + 1
	switch {
	case n*lanes > MaxDataVLs:
		return nil, &TooFewLanes{Need: n * lanes, Have: MaxDataVLs}
	case n*levels > SLs:
		return nil, &TooFewLevels{Need: n * levels, Have: SLs}
	}
	l := *t.Lanes
	l.SL2VL = t.Lanes.SL2VL.copied(n, levels, lanes)
	l.Needed, l.Classes, l.ClassLevels = n*l.Needed, n, levels
	c := *t
	c.Lanes = &l
	return &c, nil
}

// Class is the service level of a class for a pair whose own is sl.
func (l *Lanes) Class(class int, sl uint8) uint8 {
	if sl == NoSL {
		return sl
	}
	return sl + uint8(class*l.ClassLevels)
}

// top is the highest lane to which any of the service levels below levels is mapped. Lanes that carry
// no data do not count.
func (m *SL2VL) top(levels int) (top uint8) {
	see := func(lane []uint8) {
		for _, vl := range lane[:levels] {
			if vl < MaxDataVLs {
				top = max(top, vl)
			}
		}
	}
	for at := 0; at < len(m.table); at += SLs {
		see(m.table[at : at+SLs])
	}
	if m.first == nil {
		see(m.uniform[:])
	}
	return top
}

// copied is the map for some classes, of so many service levels each: every class has a copy of its own
// of the lanes of class 0, which are so many.
func (m *SL2VL) copied(classes, levels, lanes int) *SL2VL {
	c := &SL2VL{first: m.first, ports: m.ports, table: make([]uint8, len(m.table))}
	spread := func(to, from []uint8) {
		for sl := range to {
			vl := from[sl%levels]
			if vl < MaxDataVLs {
				vl += uint8(sl / levels % classes * lanes)
			}
			to[sl] = vl
		}
	}
	for at := 0; at < len(m.table); at += SLs {
		spread(c.table[at:at+SLs], m.table[at:at+SLs])
	}
	spread(c.uniform[:], m.uniform[:])
	return c
}
