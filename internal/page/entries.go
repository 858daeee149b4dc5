package page

import (
	"compress/flate"
	"io"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// PathBytes is how many bytes the tables on a page may take together, compressed. Of
// networks that would take more, fewer destinations are kept, some of every switch. In base64
// this many are 23.8 MB of a page, which shall not be over 25 MB.
const PathBytes = 17 << 20

// entriesOf is the tables by which the page follows paths, in at most so many bytes when compressed:
// where all destinations take more, those of the end of inTurns are left out.
func entriesOf(t *routing.Tables, v *deadlock.Verdict, most int) *result.ReportEntries {
	f := t.Fabric
	e := &result.ReportEntries{Switches: f.Switches(), Rows: t.Lanes.Rows}
	order := inTurns(f, v)
	e.Of = len(order)
	kept := len(order)
	for {
		setRows(e, t, order[:kept])
		size := compressed(e.Ports) + compressed(e.Levels)
		if size <= most || kept <= 1 {
			break
		}
		kept = max(1, min(kept-1, int(0.95*float64(kept)*float64(most)/float64(size))))
	}
	for i := f.Switches(); i < len(f.Endpoints()); i++ {
		e.Row = append(e.Row, t.Lanes.Row[i])
	}
	if lane, ok := t.Lanes.SL2VL.Uniform(); ok {
		for _, vl := range lane {
			e.Same = append(e.Same, int32(vl))
		}
	} else {
		addMaps(e, t)
	}
	return e
}

// inTurns is the LIDs of adapters in the order in which they are kept: first those that a credit loop
// is shown by, then the first of every switch, then the second of every switch, and so on.
func inTurns(f *fabric.Fabric, v *deadlock.Verdict) []fabric.LID {
	var order []fabric.LID
	taken := map[fabric.LID]bool{}
	for _, s := range v.Cycle {
		if !taken[s.Dst] {
			taken[s.Dst] = true
			order = append(order, s.Dst)
		}
	}
	for turn, more := 0, true; more; turn++ {
		more = false
		for s := range f.Switches() {
			attached := f.Attached(fabric.NodeID(s))
			if turn+1 >= len(attached) {
				continue
			}
			more = true
			e := f.Endpoint(attached[turn+1]) // behind its own port 0
			for i := range fabric.LID(1) << e.LMC {
				if !taken[e.LID+i] {
					order = append(order, e.LID+i)
				}
			}
		}
	}
	return order
}

// setRows fills in the entries and service levels of some LIDs, in place of those before.
func setRows(e *result.ReportEntries, t *routing.Tables, lids []fabric.LID) {
	e.LIDs, e.Ports, e.Levels = nil, nil, nil
	levels := false
	for _, lid := range lids {
		levels = levels || t.Lanes.SLRow(lid) != nil
	}
	for _, lid := range lids {
		e.LIDs = append(e.LIDs, int32(lid))
		e.Ports = append(e.Ports, t.Forwarding.Row(lid)...)
		switch row := t.Lanes.SLRow(lid); {
		case row != nil:
			e.Levels = append(e.Levels, row...)
		case levels:
			e.Levels = append(e.Levels, make([]byte, e.Rows)...)
		}
	}
}

// counter counts what is written.
type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

// compressed is how many bytes some take when they are compressed, about.
func compressed(b []byte) int {
	var c counter
	w, err := flate.NewWriter(&c, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	if _, err := w.Write(b); err != nil {
		panic(err) // a counter takes everything
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return c.n
}

var _ io.Writer = (*counter)(nil)

// addMaps adds the SL2VL maps of ports that packets between switches leave by. In-ports
// of hosts with the same maps are of one class.
func addMaps(e *result.ReportEntries, t *routing.Tables) {
	f, m := t.Fabric, t.Lanes.SL2VL
	for sl := range t.Lanes.TopLevel() + 1 {
		e.SLs = append(e.SLs, int32(sl))
	}
	for s := range fabric.NodeID(f.Switches()) {
		e.InFirst, e.Outs, e.MapFirst = append(e.InFirst, int32(len(e.InClass))), append(e.Outs, int32(len(e.OutPort))), append(e.MapFirst, int32(len(e.Maps)))
		first, end := f.TrunksFrom(s)
		for c := first; c < end; c++ {
			e.OutPort = append(e.OutPort, int32(f.Channel(c).FromPort))
		}
		classes, hosts := int32(0), []uint8{} // hosts: the first port of each class of host ports
		of := []int32{}                       // [hosts] that class
		for p := 0; p <= f.Node(s).Ports; p++ {
			port := uint8(p)
			class := classes
			if f.Trunk(s, port) == fabric.None {
				known := -1
				for i, h := range hosts {
					if m.SameFrom(s, port, h) {
						known = i
						break
					}
				}
				if known >= 0 {
					e.InClass = append(e.InClass, of[known])
					continue
				}
				hosts, of = append(hosts, port), append(of, class)
			}
			e.InClass = append(e.InClass, class)
			classes++
			for c := first; c < end; c++ {
				for _, sl := range e.SLs {
					e.Maps = append(e.Maps, m.VL(s, port, f.Channel(c).FromPort, uint8(sl)))
				}
			}
		}
	}
	e.InFirst, e.Outs, e.MapFirst = append(e.InFirst, int32(len(e.InClass))), append(e.Outs, int32(len(e.OutPort))), append(e.MapFirst, int32(len(e.Maps)))
}
