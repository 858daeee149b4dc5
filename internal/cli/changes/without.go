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

// without is what weft what-if and drain have in common: a network with its tables in force, what is
// left without some parts, and a plan for that and one for the way back.
type without struct {
	*console.Console
	name     string     // of the fabric
	source   string     // of the tables
	fit      result.Fit // of the tables to the fabric
	was      *routing.Tables
	contract routing.Contract
	other    string // which contract may serve if this one does not; may be empty
	scope    routing.Scope
	gone     result.GoneParts
	live     *fabric.Fabric // without what is gone
	jobs     []flags.Allocation
	there    *change.Proven // what-if: the repair on live; drain: from was, away from what goes
	back     *change.Proven // to was again
}

// take takes away from a fabric what the flags name, and finds the hosts of jobs: it sets gone, live and jobs. It needs no
// tables, so that a wrong name is told before these are read or made.
func (j *without) take(f *fabric.Fabric, o *flags.Parts, jobs flags.Allocations) error {
	p, err := input.PartsOf(f, o)
	if err == nil {
		j.live, j.gone, err = p.Without(f)
	}
	if err == nil {
		j.jobs, err = jobs.Place(f, j.scope)
	}
	return err
}

// readChecked is input.Read with a check of the fabric before its tables are read.
func readChecked(a *console.Console, name string, lmc int, o *flags.Tables, check func(*fabric.Fabric) error) (*input.Given, error) {
	f, err := input.FabricWithLMC(a, name, lmc)
	if err == nil {
		err = check(f)
	}
	if err != nil {
		return nil, err
	}
	return input.TablesOf(a, name, f, o)
}

// endpointsText says of endpoints how many they are, and who.
func endpointsText(f *fabric.Fabric, of []fabric.EndpointID) (how, who string) {
	return words.Plural(len(of), "endpoint"), words.FirstOf(list.Of(of, f.EndpointLabel))
}
