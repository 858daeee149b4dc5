package route

import (
	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Engines makes the command weft engines.
func Engines(a *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "engines",
		Short: "List the routing engines and the parts they are made of",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all := list.Of(engines.All(), func(e engines.Engine) result.Engine {
				return result.Engine{Name: e.Name, Paths: e.Paths, Lanes: e.Lanes, Paper: e.Paper, Contract: e.Contract.String(), Safe: e.Safe, Guarantee: trustOf(e), Needs: e.Needs, Refuses: e.Refuses}
			})
			for _, e := range choosing.Engines() { // no tables, so no service levels
				all = append(all, result.Engine{Name: e.Name, Paths: e.Name, Lanes: e.Name, Paper: e.Paper, Contract: "adaptive", Safe: true, Guarantee: choosing.Trust, Needs: e.Needs, Refuses: ""})
			}
			return a.Answer(asJSON, all, func() error { printEngines(a, all); return nil }, false)
		},
	}
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

// trustOf says in a sentence why the engine's tables may be trusted, or not.
func trustOf(e engines.Engine) string {
	switch {
	case e.Safe && e.Contract == routing.Any:
		return "its tables cannot hold a credit loop, whatever service levels clients use"
	case e.Safe:
		return "its tables cannot hold a credit loop, if clients use the service level of their PathRecord"
	}
	return "it promises nothing: only the verdict counts, for this network as it is"
}

// printEngines prints engines, path finders and lane assigners, a table each.
func printEngines(a *console.Console, all []result.Engine) {
	t := a.NewTable("engine", "paths", "lanes", "contract", "deadlock-free", "lanes needed", "refuses", "paper")
	for _, e := range all {
		free := "as verified"
		if e.Safe {
			free = "always"
		}
		t.Row(e.Name, e.Paths, e.Lanes, e.Contract, free, e.Needs, e.Refuses, e.Paper)
	}
	t.Render()
	t = a.NewTable("--paths", "which way", "paper")
	for _, f := range engines.Finders() {
		t.Row(f.Name, f.Summary, f.Paper)
	}
	t.Render()
	t = a.NewTable("--lanes", "which lane", "paper")
	for _, l := range engines.Assigners() {
		t.Row(l.Name, l.Summary, l.Paper)
	}
	t.Render()
}
