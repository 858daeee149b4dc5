package changes

import (
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// without is a network with its tables, and what is left without some parts. weft what-if
// and drain plan the way there and back.
type without struct {
	*console.Console
	name     string     // of the fabric
	source   string     // what the tables are
	fit      result.Fit // these and the fabric
	was      *routing.Tables
	contract routing.Contract
	scope    routing.Scope
	gone     result.GoneParts
	live     *fabric.Fabric
	there    *change.Proven
	back     *change.Proven
}

// take takes away what is named.
func (j *without) take(o *flags.Parts) error {
	p, err := input.PartsOf(j.was.Fabric, o)
	if err == nil {
		j.live, j.gone, err = p.Without(j.was.Fabric)
	}
	return err
}

// endpointsText says how many endpoints they are, and who.
func endpointsText(f *fabric.Fabric, of []fabric.EndpointID) (how, who string) {
	return words.Plural(len(of), "endpoint"), words.FirstOf(list.Of(of, f.EndpointLabel))
}
