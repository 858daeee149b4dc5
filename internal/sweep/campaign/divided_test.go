package campaign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/meter"
)

// A network is routed twice only where something else than times takes time.
func TestDivided(t *testing.T) {
	for _, c := range []struct{ measures, want string }{
		{"lanes, load", "[lanes load] "},
		{"time, memory", "[time memory] alone "},
		{"lanes, load, time", "[lanes load time] alone "},
		{"lanes, bandwidth, time", "[lanes bandwidth] [time] alone "},
	} {
		s, err := sweep.Read(strings.NewReader("networks: ['torus:3x3']\nengines: [updn]\nmeasures: ["+c.measures+"]"), "SPEC.yaml", nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, j := range divided(NewPlan(s.Points, sweep.BuiltIn(), &meter.Meter{}).Left(nil, "", 1<<30)) {
			var names []string
			for _, m := range j.Point.Measures {
				names = append(names, m.Name)
			}
			got += fmt.Sprint(names, " ")
			if j.Alone {
				got += "alone "
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.measures, got, c.want)
		}
	}
}
