package lft_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// Tables are written for OpenSM, and read as OpenSM dumps them.
func Example() {
	f, err := topology.Build("ring:3")
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := engines.Named("updn")
	if err != nil {
		fmt.Println(err)
		return
	}
	tables, err := engine.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: 8}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var text bytes.Buffer
	if err := lft.Write(&text, f, tables.Forwarding, lft.PortGUIDs); err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range strings.Split(text.String(), "\n")[:8] {
		fmt.Println(line)
	}
	dump, err := lft.Read(&text, "opensm-lfts.dump", f, lft.Join{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("switches without a table:", len(dump.NoTable))
	// Output:
	// Unicast lids [0-6] of switch Lid 1 guid 0x0002c90100000000 ('sw-0'):
	// 0x0001 000 # Switch portguid 0x0002c90100000000: 'sw-0'
	// 0x0002 002 # Switch portguid 0x0002c90100000100: 'sw-1'
	// 0x0003 003 # Switch portguid 0x0002c90100000200: 'sw-2'
	// 0x0004 001 # Channel Adapter portguid 0x0002c90200000001: 'host-0'
	// 0x0005 002 # Channel Adapter portguid 0x0002c90200000101: 'host-1'
	// 0x0006 003 # Channel Adapter portguid 0x0002c90200000201: 'host-2'
	// 6 valid lids dumped
	// switches without a table: 0
}
