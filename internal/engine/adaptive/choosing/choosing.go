// Package choosing is the literal table of the adaptive engines, a row an engine. They make no
// tables that InfiniBand's switches could hold, so they are not among routing/engines.
package choosing

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/adaptive/alash"
	"github.com/weft-fabric/weft/internal/engine/adaptive/escape"
	"github.com/weft-fabric/weft/internal/engine/adaptive/updown"
	"github.com/weft-fabric/weft/internal/spell"
)

// Engine is an adaptive engine by name: switches choose among several ports, which
// InfiniBand's tables cannot express. It is free of deadlock whatever they choose.
type Engine struct {
	Name    string
	Summary string
	Paper   string
	Needs   string // lanes
	adaptive.Engine
}

// Trust says in a sentence why adaptive engines may be trusted.
const Trust = "whatever way its switches choose, packets cannot wait for one another in a circle"

const tpds2006 = "Lysne et al., TPDS 2006"

// Engines lists the adaptive engines.
func Engines() []Engine {
	return []Engine{
		{Name: "a-lash", Summary: "all shortest paths open, grouped by first link into layers", Paper: tpds2006, Needs: "as found", Engine: alash.Engine{}},
		{Name: "updn-adaptive", Summary: "all Up*/Down* paths open", Paper: "Schroeder et al., Autonet, JSAC 1991; " + tpds2006, Needs: "1", Engine: updown.Engine{}},
		{Name: "escape", Summary: "all shortest paths open, an Up*/Down* layer to escape to", Paper: "Silla, Duato, TPDS 2000; " + tpds2006, Needs: "2", Engine: escape.Engine{}},
	}
}

// Named finds an adaptive engine.
func Named(name string) (Engine, error) {
	var names []string
	for _, e := range Engines() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Engine{}, fmt.Errorf("no adaptive engine is called %q%s (there are %s)", name, spell.Hint(name, names), strings.Join(names, ", "))
}
