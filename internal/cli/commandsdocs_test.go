package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
)

// docs/commands.md is what help says of every command, behind a head that is written by hand.
func TestCommandsPage(t *testing.T) {
	const file = "../../docs/commands.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(text), "\n## ")
	if !found {
		t.Fatalf("%s has no sections", file)
	}
	_, groups := rootAndGroups(&console.Console{Context: t.Context()})
	var b strings.Builder
	b.WriteString(strings.TrimRight(head, "\n") + "\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n| command | what |\n|---|---|\n", g.title)
		for _, c := range g.commands {
			eachCommand(c, func(c *cobra.Command) {
				if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() || c.Name() == "help" {
					fmt.Fprintf(&b, "| `%s` | %s |\n", c.CommandPath(), c.Short)
				}
			})
		}
		for _, c := range g.commands {
			eachCommand(c, func(c *cobra.Command) {
				if c.Long != "" && c.IsAvailableCommand() {
					fmt.Fprintf(&b, "\n### %s\n\n```\n%s\n\n%s\n", c.CommandPath(), c.UseLine(), strings.TrimSpace(c.Long))
					if c.Example != "" {
						fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(c.Example, "\n"))
					}
					b.WriteString("```\n")
				}
			})
		}
	}
	compareWith(t, file, string(text), b.String())
}
