package engines

import (
	"fmt"

	"github.com/weft-fabric/weft/internal/engine/adaptive/alash"
	"github.com/weft-fabric/weft/internal/engine/adaptive/escape"
	"github.com/weft-fabric/weft/internal/engine/adaptive/updown"
	"github.com/weft-fabric/weft/routing"
)

// Adaptive is an adaptive engine by name: switches choose among several ports, which
// InfiniBand's tables cannot express. It is free of deadlock whatever they choose.
type Adaptive struct {
	Name    string
	Summary string
	Paper   string
	Needs   string // lanes
	routing.AdaptiveEngine
}

// AdaptiveTrust says in a sentence why adaptive engines may be trusted.
const AdaptiveTrust = "whatever way its switches choose, packets cannot wait for one another in a circle"

// Adaptives lists the adaptive engines.
func Adaptives() []Adaptive {
	return []Adaptive{
		{"a-lash", "all shortest paths open, grouped by first link into layers", tpds2006, "as found", alash.Engine{}},
		{"updn-adaptive", "all Up*/Down* paths open", autonet + "; " + tpds2006, "1", updown.Engine{}},
		{"escape", "all shortest paths open, an Up*/Down* layer to escape to", "Silla, Duato, TPDS 2000; " + tpds2006, "2", escape.Engine{}},
	}
}

// AdaptiveNamed finds an adaptive engine.
func AdaptiveNamed(name string) (Adaptive, error) {
	return find(name, "adaptive engine", Adaptives(), func(a Adaptive) string { return a.Name })
}

// NoTables is the error if tables are wanted of an adaptive engine.
type NoTables struct{ Name string }

func (e *NoTables) Error() string {
	return fmt.Sprintf("engines: %s has no tables: its switches choose among several ports as packets come", e.Name)
}
