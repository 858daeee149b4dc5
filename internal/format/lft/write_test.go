package lft

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// The text of a dump, line by line, with either kind of port GUIDs.
func TestWriteSaysWhatOpenSMSays(t *testing.T) {
	var b fabric.Builder
	s := b.Node(fabric.Node{GUID: 0xa0, Kind: fabric.Switch, Ports: 120, Name: "leaf\t1"}, "")
	h := b.Node(fabric.Node{GUID: 0xc0, Kind: fabric.Adapter, Ports: 2, Name: "host"}, "")
	r := b.Node(fabric.Node{GUID: 0xd0, Kind: fabric.Router, Ports: 1, Name: "out"}, "")
	b.Port(s, 0, fabric.Port{GUID: 0xa1, LID: 300})
	b.Port(h, 2, fabric.Port{GUID: 0xcafe, LID: 2, LMC: 1})
	b.Port(r, 1, fabric.Port{GUID: 0xd00d, LID: 0x1234})
	b.Cable(h, 2, s, 7, fabric.Rate{})
	b.Cable(r, 1, s, 119, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fw := routing.NewForwarding(f)
	fw.Row(300)[0], fw.Row(2)[0], fw.Row(0x1234)[0] = 0, 7, 119 // none to LID 3
	for guids, want := range map[GUIDs][3]string{PortGUIDs: {"a1", "cafe", "d00d"}, NodePlusPort: {"a0", "c2", "d1"}} {
		var text bytes.Buffer
		if err := Write(&text, f, fw, guids); err != nil {
			t.Fatal(err)
		}
		lines := []string{
			"Unicast lids [0-4660] of switch Lid 300 guid 0x00000000000000a0 ('leaf 1'):",
			"0x0002 007 # Channel Adapter portguid 0x" + padded(want[1]) + ": 'host'",
			"0x012c 000 # Switch portguid 0x" + padded(want[0]) + ": 'leaf 1'",
			"0x1234 119 # Router portguid 0x" + padded(want[2]) + ": 'out'",
			"3 valid lids dumped",
			"",
		}
		if got := text.String(); got != strings.Join(lines, "\n") {
			t.Errorf("%d: wrote\n%swant\n%s", guids, got, strings.Join(lines, "\n"))
		}
	}
}

func padded(hex string) string {
	return strings.Repeat("0", 16-len(hex)) + hex
}
