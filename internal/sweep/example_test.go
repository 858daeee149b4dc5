package sweep_test

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/sweep"
)

// A campaign is networks by engines by measures: read, multiplied out, and dealt out to
// two tasks by what each point is expected to take.
func ExampleRead() {
	const text = `
networks:
  - {spec: "torus:{n}x{n}", n: [4, 8]}
engines: [dfsssp, lash]
measures: [lanes, bandwidth]
`
	spec, err := sweep.Read(strings.NewReader(text), "tori.yaml", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	costs := make([]float64, len(spec.Points))
	for i := range spec.Points {
		p := &spec.Points[i]
		fmt.Println(p.Network.String(), p.Engine.Name, len(p.Measures), "measures")
		costs[i] = float64(1 + i/2*9) // seconds; Estimates foretell them
	}
	fmt.Println("tasks:", sweep.Deal(spec.Points, costs, 2))
	// Output:
	// torus:4x4 dfsssp 2 measures
	// torus:4x4 lash 2 measures
	// torus:8x8 dfsssp 2 measures
	// torus:8x8 lash 2 measures
	// tasks: [1 0 1 0]
}
