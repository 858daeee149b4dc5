package ethernet

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
)

// twoKinds is a command of InfiniBand that is to take a lossless Ethernet network too, in place of a fabric.
type twoKinds struct {
	*cobra.Command
	long  string                                      // about these networks, added to its help
	also  []string                                    // flags of the command that make sense for them
	flags func(*pflag.FlagSet)                        // adds flags that are for them only
	run   func(cmd *cobra.Command, name string) error // answers for the one called name
}

// ofBothKinds changes the command so that it calls run where its first argument is a lossless Ethernet
// network, and what it did before for others; it refuses flags that are for the other kind. Each command that takes both is made by it.
func ofBothKinds(e twoKinds) *cobra.Command {
	c := e.Command
	own := pflag.NewFlagSet("", pflag.ContinueOnError) // flags for Ethernet only
	e.flags(own)
	c.Flags().AddFlagSet(own)
	c.Long += "\n\n" + e.long
	ofInfiniBand := c.RunE
	c.PreRun = func(cmd *cobra.Command, args []string) {
		if isEthernet(cmd, own, args[0]) { // what an InfiniBand network needs
			cmd.Flags().VisitAll(func(f *pflag.Flag) { delete(f.Annotations, cobra.BashCompOneRequiredFlag) })
		}
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ours := isEthernet(cmd, own, args[0])
		if _, err := flags.TablesIn(args[0]); ours && err == nil {
			return exit.Usage("%s holds forwarding tables, and not the network that they are for: weft verify FABRIC --tables %[1]s", args[0])
		}
		var wrong error
		cmd.Flags().Visit(func(f *pflag.Flag) {
			switch mine := own.Lookup(f.Name) != nil; {
			case cmd.InheritedFlags().Lookup(f.Name) != nil || wrong != nil:
			case ours && !mine && !slices.Contains(e.also, f.Name):
				wrong = exit.Usage("--%s is for InfiniBand, and %s is a lossless Ethernet network", f.Name, args[0])
			case !ours && mine:
				wrong = exit.Usage("--%s is for lossless Ethernet: a folder of dumps, a Containerlab file, or with --routes a computed network", f.Name)
			}
		})
		if wrong != nil {
			return wrong
		}
		if ours {
			return e.run(cmd, args[0])
		}
		return ofInfiniBand(cmd, args)
	}
	return c
}

// isEthernet reports whether an argument is a lossless Ethernet network: by what it is, or because
// --routes was given, if that is among own.
func isEthernet(cmd *cobra.Command, own *pflag.FlagSet, name string) bool {
	routes := own != nil && own.Lookup("routes") != nil && cmd.Flags().Changed("routes")
	return folder.IsFolder(name) && !flags.HasNetwork(name) || flags.IsContainerlab(name) || flags.IsNS3(name) || routes
}
