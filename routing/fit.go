package routing

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
)

// Check says what is wrong with tables that do not fit their fabric, or have invalid
// values. The judge calls it before it follows them.
func (t *Tables) Check() error {
	f := t.Fabric
	lids := int(f.TopLID()) + 1
	if t.Forwarding.switches != f.Switches() || len(t.Forwarding.ports) != lids*f.Switches() {
		return fmt.Errorf("the forwarding tables are for %d switches and %d entries, the fabric has %d switches and %d LIDs",
			t.Forwarding.switches, len(t.Forwarding.ports), f.Switches(), lids)
	}
	if t.Groups != nil {
		if err := t.Groups.check(t); err != nil {
			return err
		}
	}
	if t.Multicast != nil {
		if err := t.Multicast.check(f); err != nil {
			return err
		}
	}
	return t.Lanes.check(f, lids)
}

// check says what is wrong with lanes for a fabric with LIDs below lids.
func (l *Lanes) check(f *fabric.Fabric, lids int) error {
	if len(l.Row) != len(f.Endpoints()) || l.sl != nil && len(l.sl) != lids*l.Rows {
		return fmt.Errorf("the service levels are for %d endpoints and %d pairs, the fabric has %d endpoints and %d LIDs",
			len(l.Row), len(l.sl), len(f.Endpoints()), lids)
	}
	for e, row := range l.Row {
		if attached := f.Endpoint(fabric.EndpointID(e)).Switch != fabric.None; attached && (row < 0 || int(row) >= l.Rows) {
			return fmt.Errorf("endpoint %d has row %d of %d", e, row, l.Rows)
		}
	}
	for i := 0; i < len(l.sl); i++ {
		if i+32 <= len(l.sl) { // 32 at a time, since there are so many: bits 4 to 7 of all are 0 below SLs
			x := l.sl[i : i+32]
			if (binary.LittleEndian.Uint64(x)|binary.LittleEndian.Uint64(x[8:])|binary.LittleEndian.Uint64(x[16:])|binary.LittleEndian.Uint64(x[24:]))&0xf0f0f0f0f0f0f0f0 == 0 {
				i += 31
				continue
			}
		}
		if sl := l.sl[i]; sl >= SLs && sl != NoSL {
			return fmt.Errorf("SL %d for LID %d, row %d; there are 0 to %d", sl, i/l.Rows, i%l.Rows, SLs-1)
		}
	}
	return l.SL2VL.check(f)
}

// check says what is wrong with maps for a fabric; their lanes may be any.
func (m *SL2VL) check(f *fabric.Fabric) error {
	if m.first == nil {
		return nil
	}
	if len(m.first) != f.Switches() {
		return fmt.Errorf("the SL2VL maps are for %d switches, the fabric has %d", len(m.first), f.Switches())
	}
	for s := range m.ports {
		if ports := f.Node(fabric.NodeID(s)).Ports + 1; int(m.ports[s]) != ports {
			return fmt.Errorf("the SL2VL map of %s is for %d ports, the switch has %d", f.Label(fabric.NodeID(s)), m.ports[s]-1, ports-1)
		}
	}
	return nil
}

// WithDefaults is the budget with what it leaves out filled in. It refuses numbers
// that InfiniBand does not have.
func (b Budget) WithDefaults() (Budget, error) {
	b.VLs, b.SLs = cmp.Or(b.VLs, DefaultVLs), cmp.Or(b.SLs, SLs)
	if b.VLs < 1 || b.VLs > MaxDataVLs {
		return b, fmt.Errorf("%d lanes; there are 1 to %d", b.VLs, MaxDataVLs)
	}
	if b.SLs < 1 || b.SLs > SLs {
		return b, fmt.Errorf("%d service levels; there are 1 to %d", b.SLs, SLs)
	}
	return b, nil
}
