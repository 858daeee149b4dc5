package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
)

// versionCommand makes the command weft version.
func versionCommand(a *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Say which weft this is",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := version.Current()
			return a.Answer(asJSON, v, func() error {
				_, err := fmt.Fprintf(a.Stdout, "weft %s\n", version.Text(v))
				return err
			}, false)
		},
	}
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}
