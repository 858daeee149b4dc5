package daemon

import (
	"io"

	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/mcfdbs"
	"github.com/weft-fabric/weft/format/psl"
	"github.com/weft-fabric/weft/format/slvl"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/whole"
)

// Names of the files below last-good, which are for people and their tools: the daemon goes on
// from snapshots.
const (
	lftsName        = "lfts.dump"
	sl2vlName       = "sl2vl.dump"
	pslName         = "paths.psl"
	treeName        = "multicast.mcfdbs"
	certificateName = "certificate"
	sweepName       = "sweep.json"
	fabricName      = "fabric.request" // as a plugin would send it
)

type stateFile struct {
	name  string
	write func(io.Writer) error
}

// files is the files of tables that were handed over in a sweep.
func (h *handed) files(r *Sweep) []stateFile {
	t := h.tables
	f := t.Fabric
	all := []stateFile{
		{lftsName, func(w io.Writer) error { return lft.Write(w, f, t.Forwarding, lft.PortGUIDs) }},
		{sl2vlName, func(w io.Writer) error { return slvl.Write(w, f, t.Lanes.SL2VL, slvl.Dump) }},
		{pslName, func(w io.Writer) error { return psl.Write(w, t, psl.Compact) }},
		{certificateName, func(w io.Writer) error { return certificate.Write(w, f, h.verdict.Certificate) }},
		{sweepName, whole.JSON(r)},
		{fabricName, func(w io.Writer) error { return wire.Of(f, 0).Write(w) }},
	}
	if t.Multicast != nil {
		all = append(all, stateFile{treeName, func(w io.Writer) error { return mcfdbs.Write(w, f, t.Multicast) }})
	}
	return all
}
