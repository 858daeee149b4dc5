package simulate

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/traffic"
)

// Patterns is no command but what weft help patterns says.
func Patterns() *cobra.Command {
	var b strings.Builder
	for _, k := range traffic.Kinds() {
		fmt.Fprintf(&b, "  %-26s %s\n", k.Example, k.Summary)
	}
	return &cobra.Command{
		Use:   "patterns",
		Short: "(weft help patterns) The patterns that simulate, packets and place know",
		Long: `Patterns say which rank sends to which. Several joined by + count at once.

` + b.String() + `
The ranks are placed on all endpoints in scope (--endpoints), or on an --allocation:

  all, switch     by switch and port
  name            by host name, numbers by value
  rail            rail by rail, each by name
  guid            by GUID
  random          at random
  linear:N        N of them by switch and port; :N behind name, rail, guid or random takes
                  N of them in that order
  names:A,B,…     these

--ranks reads a host list or an Open MPI rank file. Both take lists of Slurm such as
a[1-3,7],b02: --allocation "names:$SLURM_JOB_NODELIST".`,
	}
}
