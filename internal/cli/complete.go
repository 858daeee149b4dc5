package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/names"
)

// completed is flags that name parts of FABRIC, the command's first argument, and for each list of
// them the names that a shell completes what was begun with.
var completed = []struct {
	flags []string
	names func(f *fabric.Fabric, begun string) []string
}{
	{[]string{"switch", "roots"}, func(f *fabric.Fabric, _ string) []string { return switchNames(f, "") }},
	{[]string{"host"}, func(f *fabric.Fabric, _ string) []string {
		var list []string
		for _, h := range names.New(f).Hosts() {
			list = append(list, h.Name)
		}
		return list
	}},
	{[]string{"cable"}, portNames},
}

// switchNames is the labels of all switches, each with a text behind it.
func switchNames(f *fabric.Fabric, behind string) []string {
	var list []string
	for s := range fabric.NodeID(f.Switches()) {
		list = append(list, f.Label(s)+behind)
	}
	return list
}

// portNames is the ports of a cable as --cable takes them: where a switch was typed whole, its ports
// to other switches, else the switches.
func portNames(f *fabric.Fabric, begun string) []string {
	var list []string
	for s := range fabric.NodeID(f.Switches()) {
		label := f.Label(s)
		if !strings.HasPrefix(begun, label+":") {
			continue
		}
		for t, last := f.TrunksFrom(s); t < last; t++ {
			list = append(list, fmt.Sprintf("%s:%d", label, f.Channel(t).FromPort))
		}
	}
	if list == nil {
		return switchNames(f, ":")
	}
	return list
}

// completeNames has a shell complete the flags in completed, of a command and all below it. The
// root calls it once; the fabric is read when a shell asks.
func completeNames(a *console.Console, c *cobra.Command) {
	for _, below := range c.Commands() {
		completeNames(a, below)
	}
	for _, of := range completed {
		for _, flag := range of.flags {
			if c.Flags().Lookup(flag) == nil {
				continue
			}
			err := c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				if len(args) == 0 {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				silent := *a
				silent.Quiet = true
				f, err := input.Fabric(&silent, args[0])
				if err != nil {
					return nil, cobra.ShellCompDirectiveNoFileComp // the command will say it
				}
				list := of.names(f, begun)
				list = slices.DeleteFunc(list, func(name string) bool { return !strings.HasPrefix(name, begun) })
				return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
			})
			if err != nil {
				panic(err) // it is completed already
			}
		}
	}
}
