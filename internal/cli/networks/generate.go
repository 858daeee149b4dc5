package networks

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
)

// Generate makes the command weft generate.
func Generate(a *console.Console) *cobra.Command {
	var out string
	var lmc int
	c := &cobra.Command{
		Use:   "generate SPEC",
		Short: "Compute a network and write it as ibnetdiscover does",
		Long: `Compute a network from its spec and write it in the form of ibnetdiscover, which
ibsim reads too. weft topologies lists the families and their parameters.`,
		Example: `  weft generate torus:8x8x8,hosts=2 -o torus.ibnet
  weft generate dragonfly:p=4 | weft info -
  weft generate slimfly:q=5 --lmc 2 -o fabric.ibnetdiscover`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := input.Compute(args[0])
			if err != nil {
				return err
			}
			if lmc != flags.NoLMC {
				if f, err = f.WithLMC(uint8(lmc)); err != nil {
					return exit.Usage("--lmc %d: %w", lmc, err)
				}
			}
			return output.WriteFile(a, out, func(w io.Writer) error { return ibnet.Write(w, f) })
		},
	}
	flags.AddLMC(c.Flags(), &lmc)
	c.Flags().StringVarP(&out, "output", "o", "-", "file to write; .gz compresses, - is standard output")
	return c
}
