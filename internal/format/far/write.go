package far

import (
	"bufio"
	"fmt"
	"io"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// Write writes the groups of tables that have some, and at the end how many lines there are of groups and of LIDs.
func Write(w io.Writer, t *routing.Tables) error {
	b := bufio.NewWriterSize(w, 1<<16)
	f, g := t.Fabric, t.Groups
	lines := 0 // of groups and of LIDs
	b.WriteString("# Groups of ports for adaptive routing, as in ibdiagnet2.far\nFile version: 1\n")
	for s := range fabric.NodeID(f.Switches()) {
		fmt.Fprintf(b, "\nSwitch %s\n\nGroups Definition:\n%-10s%-11s%-9sPorts\n%s\n", f.Node(s).GUID, "Group", "Sub Group", "WHBF", rule)
		for n, ports := range g.Sets(s) {
			fmt.Fprintf(b, "%-10d%-11d%-9d", n, 0, 0)
			for port := range ports.All() {
				fmt.Fprintf(b, "%d,", port)
			}
			b.WriteByte('\n')
			lines++
		}
		b.WriteString("\nLFT Definition:\n")
		for table := range g.Tables() {
			lines += writeTable(b, t, s, table)
		}
	}
	fmt.Fprintf(b, "\n%s%d\n", reading.EndMark, lines)
	return b.Flush()
}

const rule = "------------------------------------------------"

// writeTable writes a table of a switch, and returns how many LIDs it has.
func writeTable(b *bufio.Writer, t *routing.Tables, s fabric.NodeID, table int) (lids int) {
	fw := t.Forwarding
	if table > 0 {
		fw = t.Groups.Static(table)
	}
	fmt.Fprintf(b, "PLFT_NUM: %d, top: 0x%04x\n%-10s%-14s%-12sGroup\n%s\n", table, t.Fabric.TopLID(), "LID", "Static Port", "Lid State", rule)
	for lid := range t.Fabric.LIDs() {
		choice := t.Groups.Row(table, lid)[s]
		state, group := "Static", 0
		if choice != routing.NoChoice {
			state, group = "Free", choice.Group()
			if choice.Hashed() {
				state = "HBF"
			}
		}
		fmt.Fprintf(b, "0x%04x    %-14d%-12s%d\n", lid, fw.Port(s, lid), state, group)
		lids++
	}
	return lids
}
