// Package blocks finds the switches of files that have a block for each switch, which begins
// with its node GUID.
package blocks

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// Begins is the lines in which the blocks of the switches begin, [switch]; 0: there is none.
type Begins []int

// Begin is the switch with a node GUID, whose block begins in the line that is read; None for one of
// gone, the switches that the fabric lacks and whose blocks are left out. It is an error if the fabric has
// no other such switch, or the file a block of it already; what is a block in the words of the file.
func (b Begins) Begin(f *fabric.Fabric, lines *reading.Lines, guid fabric.GUID, what string, gone ...fabric.GUID) (fabric.NodeID, error) {
	if slices.Contains(gone, guid) {
		return fabric.None, nil
	}
	s := f.NodeByGUID(guid)
	switch {
	case s == fabric.None:
		return s, lines.Errorf("the fabric has no switch with node GUID %s", guid)
	case int(s) >= f.Switches():
		return s, lines.Errorf("node GUID %s is %s in the fabric, which is no switch", guid, f.Label(s))
	case b[s] != 0:
		return s, lines.Errorf("a second %s of %s; the first begins in %s", what, f.Label(s), lines.Line(b[s]))
	}
	b[s] = lines.Number()
	return s, nil
}
