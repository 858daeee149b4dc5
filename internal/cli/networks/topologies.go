package networks

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/topology"
)

// Topologies makes the command weft topologies.
func Topologies(a *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "topologies",
		Short: "List the families of computed networks and their parameters",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			t := a.NewTable("family", "what", "example", "parameters")
			var list []result.Topology
			for _, f := range topology.Families() {
				keys, lines := map[string]string{}, []string{}
				for _, k := range f.Keys {
					keys[k.Name], lines = k.Meaning, append(lines, k.Name+": "+k.Meaning)
				}
				list = append(list, result.Topology{Name: f.Name, Summary: f.Summary, Example: f.Example, Keys: keys})
				t.Row(f.Name, f.Summary, f.Example, strings.Join(lines, "\n"))
			}
			return a.Answer(asJSON, list, func() error { t.Render(); return nil }, false)
		},
	}
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}
