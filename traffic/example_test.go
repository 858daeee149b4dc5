package traffic_test

import (
	"fmt"

	"github.com/weft-fabric/weft/traffic"
)

// The phases of a collective among four ranks, and who sends to whom in each.
func ExampleParse() {
	pattern, err := traffic.Parse("alltoall-phased")
	if err != nil {
		fmt.Println(err)
		return
	}
	phases, err := pattern.Phases(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	for phase := range phases {
		fmt.Print("phase ", phase+1)
		for _, p := range pattern.Append(nil, 4, phase, nil) {
			fmt.Printf(", %d to %d", p.From, p.To)
		}
		fmt.Println()
	}
	// Output:
	// phase 1, 0 to 1, 1 to 2, 2 to 3, 3 to 0
	// phase 2, 0 to 2, 1 to 3, 2 to 0, 3 to 1
	// phase 3, 0 to 3, 1 to 0, 2 to 1, 3 to 2
}

// What a tracer of MPI programs counted, by rank.
func ExamplePairs() {
	pattern := traffic.Pairs("trace", 3, []traffic.Pair{{From: 0, To: 1, Bytes: 4096}, {From: 1, To: 2, Bytes: 512}})
	for _, p := range pattern.Append(nil, 3, 0, nil) {
		fmt.Println(p.From, "sends", p.Bytes, "bytes to", p.To)
	}
	// Output:
	// 0 sends 4096 bytes to 1
	// 1 sends 512 bytes to 2
}
