package lft

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// GUIDs says which port GUIDs Write prints. When OpenSM reads the file, it maps entries
// by port GUID to the current LIDs of the ports, so they must be the GUIDs that this
// OpenSM sees.
type GUIDs uint8

// The choices.
const (
	PortGUIDs    GUIDs = iota // the fabric's own
	NodePlusPort              // node GUID + port number: as ibsim assigns them
)

// Write writes the tables in the form of opensm-lfts.dump, which OpenSM reads
// back (routing_engine file, lfts_file). Entries without a path are left out. A table ends
// with the number of its entries, as in ibroute's form, in place of the largest LID: without
// it an entry that was lost could not be told from one without a path.
// Control characters in names become blanks.
func Write(w io.Writer, f *fabric.Fabric, t *routing.Forwarding, guids GUIDs) error {
	out := bufio.NewWriterSize(w, 1<<16)
	top := int(f.TopLID())
	tails := destinations(f, guids)
	for s := range fabric.NodeID(f.Switches()) {
		n := f.Node(s)
		fmt.Fprintf(out, "Unicast lids [0-%d] of switch Lid %d guid %s ('%s'):\n", top, f.Endpoint(fabric.EndpointID(s)).LID, n.GUID, n.Name)
		entries := int64(0)
		for lid, tail := range tails {
			if tail == "" {
				continue
			}
			port := t.Port(s, fabric.LID(lid))
			if port == routing.NoPort {
				continue
			}
			line := append(out.AvailableBuffer(), '0', 'x')
			for shift := 12; shift >= 0; shift -= 4 {
				line = append(line, "0123456789abcdef"[lid>>shift&15])
			}
			line = append(line, ' ', '0'+port/100, '0'+port/10%10, '0'+port%10)
			out.Write(line)
			out.WriteString(tail)
			entries++
		}
		out.Write(strconv.AppendInt(out.AvailableBuffer(), entries, 10))
		if _, err := out.WriteString(" valid lids dumped\n"); err != nil {
			return err
		}
	}
	return out.Flush()
}

// destinations is the text after the port in every line, [LID]; empty for LIDs that no
// endpoint has.
func destinations(f *fabric.Fabric, guids GUIDs) []string {
	tails := make([]string, int(f.TopLID())+1)
	for lid, id := range f.LIDs() {
		e := f.Endpoint(id)
		n := f.Node(e.Node)
		guid := e.PortGUID
		if guids == NodePlusPort {
			guid = n.GUID + fabric.GUID(e.Port)
		}
		kind := [...]string{"Switch", "Channel Adapter", "Router"}[n.Kind]
		tails[lid] = fmt.Sprintf(" # %s portguid %s: '%s'\n", kind, guid, n.Name)
	}
	return tails
}
