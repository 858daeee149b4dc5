package engines

import (
	"fmt"

	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/adaptive/alash"
	"github.com/weft-fabric/weft/routing/adaptive/escape"
	"github.com/weft-fabric/weft/routing/adaptive/updown"
)

// Adaptive is an adaptive router by name: switches choose among several ports, which
// InfiniBand's tables cannot express. Whatever they choose, it is free of deadlock.
type Adaptive struct {
	Name    string
	Summary string
	Paper   string
	Needs   string // lanes
	routing.AdaptiveRouter
}

// AdaptiveTrust says in a sentence why adaptive routers may be trusted.
const AdaptiveTrust = "whatever way its switches choose, packets cannot wait for one another in a circle"

// Adaptives is every adaptive router.
func Adaptives() []Adaptive {
	return []Adaptive{
		{"a-lash", "all shortest paths open, grouped by first link into layers", tpds2006, "as found", alash.Router{}},
		{"updn-adaptive", "all Up*/Down* paths open", autonet + "; " + tpds2006, "1", updown.Router{}},
		{"escape", "all shortest paths open, an Up*/Down* layer to escape to", "Silla, Duato, TPDS 2000; " + tpds2006, "2", escape.Router{}},
	}
}

// AdaptiveNamed finds an adaptive router.
func AdaptiveNamed(name string) (Adaptive, error) {
	return find(name, "adaptive router", Adaptives(), func(a Adaptive) string { return a.Name })
}

// NoTables is the error where an adaptive router is named and tables are wanted.
type NoTables struct{ Name string }

func (e *NoTables) Error() string {
	return fmt.Sprintf("engines: %s has no tables: its switches choose among several ports as packets come", e.Name)
}
