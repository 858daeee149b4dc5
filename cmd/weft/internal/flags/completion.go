// Package flags has the flags that several commands share, with their checks.
package flags

import (
	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
)

// Complete lets the shell complete the value of a flag.
func Complete(c *cobra.Command, flag string, names func() []string) {
	if err := c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveNoFileComp
	}); err != nil {
		panic(err)
	}
}

// LmcUsage describes --lmc.
const LmcUsage = "give every adapter port 2^N LIDs, N from 0 to 7 (default: as in the fabric)"

// CheckLMC checks --lmc; -1 is that it was not given.
func CheckLMC(lmc int) error {
	if lmc < -1 || lmc > 7 {
		return exit.Usage("--lmc %d: it is 0 to 7", lmc)
	}
	return nil
}
