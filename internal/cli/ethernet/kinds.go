package ethernet

import (
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/reading"
)

// twoKinds is a command that takes a lossless Ethernet network too, in place of a fabric.
type twoKinds struct {
	*cobra.Command
	long  string   // about these networks, added to its help
	also  []string // its own flags that make sense for them, besides --json and the like
	flags func(*pflag.FlagSet)
	run   func(cmd *cobra.Command, name string) error
}

// ofBothKinds makes the command do what it does for Ethernet where its argument is such a
// network, and refuse flags that are for the other kind.
func ofBothKinds(e twoKinds) *cobra.Command {
	c := e.Command
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	e.flags(own)
	c.Flags().AddFlagSet(own)
	c.Long += "\n\n" + e.long
	rest := c.RunE
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
		return rest(cmd, args)
	}
	return c
}

// isEthernet reports whether an argument is a lossless Ethernet network: by what it is, or by
// the flag among own that has its routes computed.
func isEthernet(cmd *cobra.Command, own *pflag.FlagSet, name string) bool {
	routes := own != nil && own.Lookup("routes") != nil && cmd.Flags().Changed("routes")
	return folder.IsFolder(name) && !flags.HasNetwork(name) || isClab(name) || isNS3(name) || routes
}

// isNS3 says whether a file begins as the topology.txt of ns-3 does: three numbers in the first
// line, and as many in what follows as the second of them says.
func isNS3(name string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false // a pipe is opened once, by who reads it
	}
	f, err := reading.OpenPlain(name)
	if err != nil {
		return false
	}
	defer f.Close()
	lines := reading.NewLines(io.LimitReader(f, 64<<10), name)
	var head [3]uint64
	if !lines.Next() {
		return false
	}
	c := lines.Text()
	for i := range head {
		n, ok := c.Uint(math.MaxInt32)
		if !ok {
			return false
		}
		head[i] = n
	}
	if !c.Empty() || head[1] == 0 || head[1] > head[0] || !lines.Next() {
		return false
	}
	c = lines.Text()
	n, ok := c.Uint(math.MaxInt32)
	return ok && n < head[0]
}

// isClab says whether a name is that of a Containerlab file.
func isClab(name string) bool {
	return strings.HasSuffix(name, ".clab.yml") || strings.HasSuffix(name, ".clab.yaml")
}
