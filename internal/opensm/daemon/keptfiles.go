package daemon

import (
	"io"

	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/whole"
)

// Names of the files below last-good, which are for people and their tools: the daemon goes on
// from snapshots.
const (
	sweepName  = "sweep.json"
	fabricName = "fabric.request" // as a plugin would send it
)

// files is the files of tables that were handed over in a sweep.
func (h *handed) files(r *Sweep) []files.File {
	folder := &files.Folder{Tables: h.tables, Certificate: h.verdict.Certificate, Compact: true}
	return append(folder.Files(),
		files.File{Name: sweepName, Write: whole.JSON(r)},
		files.File{Name: fabricName, Write: func(w io.Writer) error { return wire.Of(h.tables.Fabric, 0).Write(w) }})
}
