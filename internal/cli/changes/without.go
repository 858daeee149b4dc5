package changes

import (
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// partFlags names parts of a network.
type partFlags struct {
	before                  string // what the flags begin with
	switches, cables, hosts []string
}

// addTo declares the flags: --switch and so on, with some words before that.
func (o *partFlags) addTo(f *pflag.FlagSet, before string) {
	o.before = before
	f.StringArrayVar(&o.switches, before+"switch", nil, "take the switch of this name, or all that fit, as in 'spine-*'; may be repeated")
	f.StringArrayVar(&o.cables, before+"cable", nil, "take the cable at this port, NAME:PORT, or all that fit, as in 'leaf-7:*'; may be repeated")
}

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
func (j *without) take(o *partFlags) error {
	f := j.was.Fabric
	switches, err := input.Switches(f, "--"+o.before+"switch", o.switches)
	if err != nil {
		return err
	}
	adapters, err := input.Adapters(f, "--"+o.before+"host", o.hosts)
	if err != nil {
		return err
	}
	cables, err := input.Cables(f, "--"+o.before+"cable", o.cables)
	if err != nil {
		return err
	}
	j.gone = result.GoneParts{Switches: report.Labels(f, switches), Links: result.RemovedLinks(f, cables), Hosts: report.Labels(f, adapters), SwitchNodes: result.NodesOf(f, switches), HostNodes: result.NodesOf(f, adapters)}
	if j.live, err = f.Without(cables, append(switches, adapters...)); err != nil {
		return err
	}
	if j.live.Switches() == 0 {
		return exit.Usage("no switch is left; one has to stay")
	}
	return nil
}

// endpointsText says how many endpoints they are, and who.
func endpointsText(f *fabric.Fabric, of []fabric.EndpointID) (how, who string) {
	return words.Plural(len(of), "endpoint"), words.FirstOf(list.Of(of, f.EndpointLabel))
}
