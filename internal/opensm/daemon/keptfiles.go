package daemon

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/result"
)

// Names of the files below last-good, which are for people and their tools: the daemon goes on
// from snapshots.
const (
	sweepName  = "sweep.json"
	fabricName = "fabric.request" // as a plugin would send it
	cablesName = "fabric.ibnetdiscover"
)

// folderName is the folder of tables that were handed over at a time; it ends with the number by
// which the plugin knows them.
func folderName(at string, count int, number uint64) string {
	return fmt.Sprintf("%s%s-%06d-%016x", tablesPrefix, at, count, number)
}

// files is the files of tables that were handed over in a sweep. last is the folder of the tables before: if these are
// a step from those, the proof of every mixture of both is among the files.
func (h *handed) files(r *result.StatusSweep, last string) []files.File {
	folder := &files.Folder{Tables: h.tables, Certificate: h.verdict.Certificate, Compact: true}
	if h.step && strings.HasSuffix(last, fmt.Sprintf("-%016x", h.since.number)) {
		folder.Union = h.verdict.Certificate
	}
	return append(folder.Files(),
		files.File{Name: cablesName, Write: func(w io.Writer) error { return ibnet.Write(w, h.tables.Fabric) }},
		files.File{Name: sweepName, Write: whole.JSON(r)},
		files.File{Name: fabricName, Write: func(w io.Writer) error { return wire.Of(h.tables.Fabric, 0).Write(w) }})
}
