package psl_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// Service levels of paths: source, destination, level. The compact form has those
// other than 0, and a line for all endpoints of a switch.
func Example() {
	f, err := topology.Build("ring:5")
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := engines.Named("updn")
	if err != nil {
		fmt.Println(err)
		return
	}
	tables, err := engine.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: 2}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tables.Lanes = routing.NewLanes(f, routing.LanePerSL(2))
	tables.Lanes.SLRow(8)[1] = 1 // from what hangs on switch 1 to LID 8
	var text bytes.Buffer
	if err := psl.Write(&text, tables, psl.Compact); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text.String())
	lanes, err := psl.Read(&text, "paths.psl", f, tables.Lanes.SL2VL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lanes.Rows, "rows of service levels")
	// Output:
	// #compact
	// 0x0002c90100000100 8 1
	// #end 1
	// 5 rows of service levels
}
