package slvl_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// The lane for each service level, by switch, in-port and out-port, as OpenSM dumps it.
func Example() {
	f, err := topology.Build("ring:3")
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := engines.Named("weave-any")
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
	if err := slvl.Write(&text, f, tables.Lanes.SL2VL, slvl.Dump); err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range strings.SplitAfter(text.String(), "\n")[:4] {
		fmt.Println(strings.TrimSpace(line))
	}
	maps, err := slvl.Read(&text, "opensm-sl2vl.dump", f)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("VL", maps.VL(0, 1, 2, 0))
	// Output:
	// Switch 0x0002c90100000000, base LID 1, "sw-0"
	// #in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
	// #--------------------------------------------------------
	// 0   1   : 0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0
	// VL 0
}
