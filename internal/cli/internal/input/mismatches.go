package input

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// mismatchesOf is what a dump and the fabric do not have in common, never nil. Those of
// --sl2vl and --psl are added as these are read.
func mismatchesOf(f *fabric.Fabric, d *lft.Dump) *result.Mismatches {
	m := &result.Mismatches{}
	m.NoTable, m.NoTableOf = report.Labels(f, d.NoTable), outputs.Nodes(f, d.NoTable)
	for _, e := range d.Unreached {
		if ep := f.Endpoint(e); ep.Switch != fabric.None && ep.Class != fabric.SwitchPort && e != leftOut(f, d) {
			m.NoEntry, m.NoEntryOf = append(m.NoEntry, f.EndpointLabel(e)), append(m.NoEntryOf, outputs.Endpoint(f, e))
		}
	}
	m.UnknownSwitches = list.Of(d.Mismatches.UnknownSwitches, func(s lft.UnknownSwitch) result.AbsentSwitch {
		return result.AbsentSwitch{GUID: s.GUID.String(), Name: s.Name, Line: s.Line}
	})
	for _, g := range d.Mismatches.Gone {
		a := result.AbsentLID{LID: g.LID, Name: g.Name, Line: g.Line, Why: g.Why}
		if g.GUID != 0 {
			a.GUID = g.GUID.String()
		}
		if g.Beyond {
			m.Beyond = append(m.Beyond, a)
		} else {
			m.Gone = append(m.Gone, a)
		}
	}
	m.Dead = list.Of(d.Mismatches.Dead, func(p lft.DeadEntries) result.DeadPort {
		return result.DeadPort{Switch: f.Label(p.Switch), SwitchNode: outputs.Node(f, p.Switch, p.Port), Port: p.Port, Entries: p.Entries}
	})
	for _, g := range d.Mismatches.Moved {
		if e := f.Owner(g.PortLID); e != fabric.None && f.Endpoint(e).LID == g.PortLID {
			m.OtherLIDs = append(m.OtherLIDs, result.OtherLID{Endpoint: f.EndpointLabel(e), EndpointNode: outputs.Endpoint(f, e), Tables: g.LID, Fabric: g.PortLID})
		}
		if g.Now != fabric.None {
			m.OtherOwners = append(m.OtherOwners, result.OtherOwner{LID: g.LID, GUID: g.GUID.String(), Name: g.Name, Line: g.Line, Endpoint: f.EndpointLabel(g.Now), EndpointNode: outputs.Endpoint(f, g.Now), Replaced: g.PortLID == 0})
		}
	}
	return m
}

// leftOut is the endpoint whose entries the program that made a dump leaves out, or None.
func leftOut(f *fabric.Fabric, d *lft.Dump) fabric.EndpointID {
	if d.LeftOut == 0 || d.Renumbered > 0 || d.LeftOut > f.TopLID() {
		return fabric.None
	}
	return f.Owner(d.LeftOut)
}

// fileMisfits is what of a file of service levels or maps did not fit; nil: nothing.
func fileMisfits(name string, fit format.Mismatches) *result.FileMisfit {
	if fit.Skipped == 0 && fit.Missing == 0 {
		return nil
	}
	m := &result.FileMisfit{File: name, Skipped: fit.Skipped, Missing: fit.Missing}
	if fit.FirstSkipped != nil {
		m.FirstSkipped = fit.FirstSkipped.Error()
	}
	if fit.FirstMissing != nil {
		m.FirstMissing = fit.FirstMissing.Error()
	}
	return m
}

// refuse is the error of --strict for a dump that lacks switches or endpoints of the fabric; whatever
// else does not fit was an error when it was read.
func refuse(m *result.Mismatches, d *lft.Dump, tables, name string) error {
	switch {
	case d.LeftOut != 0:
		return fmt.Errorf("%s has no entries for LID %d: %s", tables, d.LeftOut, whyLeftOut)
	case len(m.NoTable) > 0:
		return fmt.Errorf("%s does not fit %s: it has no table for %s", tables, name, words.Some(m.NoTable, "switch"))
	case len(m.NoEntry) > 0:
		return fmt.Errorf("%s does not fit %s: no switch in it has an entry for %s", tables, name, words.Some(m.NoEntry, "endpoint"))
	}
	return nil
}
