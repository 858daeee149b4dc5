// Package flags has the flags that several commands share, with their checks.
package flags

import (
	"github.com/spf13/cobra"
)

// Complete lets the shell complete the value of a flag.
func Complete(c *cobra.Command, flag string, names func() []string) {
	if err := c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveNoFileComp
	}); err != nil {
		panic(err)
	}
}

// LMCUsage describes --lmc.
const LMCUsage = "give every adapter port 2^N LIDs, N from 0 to 7 (default: as in the fabric)"
