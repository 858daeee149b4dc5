package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// group is commands that people look for in the same place.
type group struct {
	title    string
	commands []*cobra.Command
}

// section is flags that are about the same, under a heading in the help of whatever command
// has any of them.
type section struct {
	title string
	flags string // their names
}

// sections is every section, in the order of help texts. A flag is in the first that has its name.
var sections = []section{
	{"Network and tables", "certificate choose conf dir fabric fabrics groups have keep lmc lst multicast multicast-sl multicast-share opensm " +
		"plugin psl restore sl2vl state strict tables with cable cables host switch switches keep-connected"},
	{"Engine", "adaptive aim all-paths before classes drain drops engine exact group lanes limit order paths prefer rank-order rebalance roots seed sls survive " +
		"time-budget traffic vls weight within-parts"},
	{"What is proven", "contract endpoints proof-checker write-certificate write-proof write-unproven"},
	{"Traffic", "allocation beginnings burst job lifetime load message pattern per-endpoint phases precision rail ranks runs then then-at until-saturated warm-up"},
	{"Model", "any-lane arbiter buffer complete flits hot model mtu output-buffer process replay-cycle speedup " +
		"store-and-forward time uniform-rates choice vlarb-high vlarb-limit vlarb-low"},
	{"Cables in trouble", "cabling cable-limit events measured measured-tick measured-time"},
	{"Live", "after for live"},
	{"Steps", "back-steps max-entries-per-change steps"},
	{"Cluster", "account array-limit partition sbatch shard slurm tasks"},
	{"Run", "check-config config dry-run estimates every files list log memory metrics once quick set socket wait watch workers"},
	{"Output", "counters csv force ibsim io json markdown out output plot title to write-order write-pause write-time"},
	{"Lossless Ethernet", "accept-new addresses as bounces cable-length converging failures from inventory known-hosts lossless lossless-priorities nic-list nics partial parallel pin pins polarized preset qps resume routes samples ssh-config timeout vrf xoff xon"},
}

// leading is the flags of commands that have many that matter first.
var leading = map[string]string{
	"weft collect":      "inventory output resume force json",
	"weft compare":      "engine tables traffic csv json",
	"weft deploy files": "engine out dir contract json",
	"weft diff":         "tables contract endpoints routes json",
	"weft drain":        "tables switch cable steps json",
	"weft explain":      "engine vls contract to json",
	"weft export":       "to out engine tables lst",
	"weft lanes":        "exact all-paths vls paths json",
	"weft packets":      "engine pattern load tables replay-cycle",
	"weft place":        "ranks engine tables allocation json",
	"weft report":       "out engine tables lst json",
	"weft priorities":   "lossless out bounces routes json",
	"weft repair":       "tables steps out switch json",
	"weft reproduce":    "out list quick fabrics json",
	"weft route":        "out engine tables vls json",
	"weft deploy check": "conf fabric tables vls json",
	"weft serve":        "config socket engine vls state",
	"weft simulate":     "engine pattern tables lst json",
	"weft sweep":        "out dry-run workers slurm json",
	"weft verify":       "tables lst sl2vl psl json",
	"weft what-if":      "tables switch cable host json",
}

// widest is how many columns a line of help takes at most.
const widest = 100

// usageOf makes cobra's UsageFunc of all commands, which prints what a command takes: how it is
// called, the commands below it, and its flags. The commands of the root are in groups; columns is
// the width of the terminal, 0 if there is none.
func usageOf(columns int, groups []group) func(c *cobra.Command) error {
	if columns == 0 || columns > widest {
		columns = widest
	}
	return func(c *cobra.Command) error {
		var b strings.Builder
		b.WriteString("Usage:\n")
		if c.Runnable() {
			fmt.Fprintf(&b, "  %s\n", c.UseLine())
		}
		if c.HasAvailableSubCommands() {
			fmt.Fprintf(&b, "  %s [command]\n", c.CommandPath())
		}
		if c.HasExample() {
			fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
		}
		if c.HasParent() {
			writeCommands(&b, group{title: "Commands", commands: c.Commands()})
		} else {
			for _, g := range groups {
				writeCommands(&b, g)
			}
		}
		writeFlags(&b, c, columns)
		if c.HasAvailableSubCommands() {
			fmt.Fprintf(&b, "\n%s [command] --help says more about a command.\n", c.CommandPath())
		}
		_, err := c.OutOrStdout().Write([]byte(b.String()))
		return err
	}
}

// writeCommands prints the commands of a group under its title; nothing if all are hidden.
func writeCommands(b *strings.Builder, g group) {
	title := "\n" + g.title + ":\n"
	for _, c := range g.commands {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() || c.Name() == "help" {
			fmt.Fprintf(b, "%s  %-*s %s\n", title, c.NamePadding(), c.Name(), c.Short)
			title = ""
		}
	}
}

// writeFlags prints the flags of a command: of few all together, of many those that matter first
// and the others by what they are about; last those of every command.
func writeFlags(b *strings.Builder, c *cobra.Command, columns int) {
	own := c.LocalFlags()
	left := map[string]*pflag.Flag{} // not printed yet
	everywhere := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "help" || f.Name == "version" || c.Root().PersistentFlags().Lookup(f.Name) != nil:
			everywhere.AddFlag(f)
		case !f.Hidden:
			left[f.Name] = f
		}
	})
	everywhere.AddFlagSet(c.InheritedFlags())
	write := func(title string, names []string) {
		some := pflag.NewFlagSet("", pflag.ContinueOnError)
		some.SortFlags = false
		for _, name := range names {
			if f := left[name]; f != nil {
				some.AddFlag(f)
				delete(left, name)
			}
		}
		if some.HasFlags() {
			fmt.Fprintf(b, "\n%s:\n%s", title, some.FlagUsagesWrapped(columns))
		}
	}
	first := strings.Fields(leading[c.CommandPath()])
	if len(first) > 0 {
		write("Flags", first)
		for _, s := range sections {
			write(s.title, strings.Fields(s.flags))
		}
	}
	title := "Flags"
	if len(first) > 0 {
		title = "Other flags"
	}
	write(title, slices.Sorted(maps.Keys(left)))
	fmt.Fprintf(b, "\nEverywhere:\n%s", everywhere.FlagUsagesWrapped(columns))
}
