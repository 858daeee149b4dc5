package ethernet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/ethernet/collect"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// collectFlags is the flags of weft collect.
type collectFlags struct {
	collect.Options
	inventory, out string
	json           bool
}

// Collect makes the command weft collect.
func Collect(a *console.Console) *cobra.Command {
	var o collectFlags
	c := &cobra.Command{
		Use:   "collect --inventory FILE -o DIR",
		Short: "Gather what the devices of lossless Ethernet say, over ssh, into a folder",
		Long: `Ask the devices of a network over ssh, many at a time, for routes, interfaces,
neighbors, maps of priorities and configurations, and write them into a folder that
weft info, verify and the other commands read (docs/ethernet.md).

FILE says hosts, one a line, each with its address if it is not its name, or with
address, port, user and key; or it is an inventory of Ansible in YAML. Devices run
FRR, SONiC, Cumulus Linux or EOS; what is asked of which version, and what is missing,
is said, and kept in DIR/collect.json. Nothing is written on devices. It is the
system's ssh that asks, with its configuration, keys and jump hosts; host keys are
checked, and no password is asked for.

The folder of a device appears whole or not at all. --resume asks those that are
missing, --force all of them anew: their folders take the place of those that are there
when all have answered, and then nothing stays of those that did not.
Passwords in configurations are left out. Exit code 1: a device did not answer.`,
		Example: `  weft collect --inventory hosts.yaml -o today && weft verify today
  weft collect --inventory hosts.yaml -o today --resume --timeout 2m`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCollect(a, cmd, &o) },
	}
	f := c.Flags()
	f.StringVar(&o.inventory, "inventory", "", "file of the devices: hosts, or an inventory of Ansible in YAML")
	f.StringVarP(&o.out, "output", "o", "", "folder to write")
	f.BoolVar(&o.Resume, "resume", false, "ask only devices that are not in the folder yet")
	f.BoolVar(&o.Force, "force", false, "ask all devices anew, in place of what the folder has")
	f.IntVar(&o.Parallel, "parallel", 32, "devices to ask at a time")
	f.DurationVar(&o.Timeout, "timeout", time.Minute, "time for a device")
	f.StringVar(&o.VRF, "vrf", "", "VRF whose routes are asked for (default \"default\")")
	f.StringVar(&o.Config, "ssh-config", "", "configuration file of ssh (default the user's)")
	f.StringVar(&o.KnownHosts, "known-hosts", "", "file of host keys (default as ssh is configured)")
	f.BoolVar(&o.AcceptNew, "accept-new", false, "take and keep host keys that are new; those that changed are refused in any case")
	flags.AddJSON(f, &o.json)
	cobra.CheckErr(c.MarkFlagRequired("inventory"))
	cobra.CheckErr(c.MarkFlagRequired("output"))
	return c
}

// runCollect answers weft collect.
func runCollect(a *console.Console, cmd *cobra.Command, o *collectFlags) error {
	switch {
	case o.Resume && o.Force:
		return exit.Usage("--resume keeps what is there, --force does not: one of them")
	case o.Parallel < 1 || o.Parallel > 1024:
		return exit.Usage("--parallel %d: it is 1 to 1024", o.Parallel)
	case o.Timeout < time.Second:
		return exit.Usage("--timeout %v: a second at least", o.Timeout)
	case o.VRF != "" && !collect.IsVRF(o.VRF):
		return exit.Usage("--vrf %q is not the name of a VRF", o.VRF)
	}
	devices, err := console.ReadFile(a, o.inventory, collect.ReadInventory)
	if err != nil {
		return err
	}
	s := &result.Collect{Inventory: o.inventory, Out: o.out, Devices: len(devices)}
	stage := a.Stage("devices", &s.Seconds)
	o.Progress = stage.Progress()
	s.Records, err = collect.Run(cmd.Context(), o.out, devices, o.Options)
	stage.Done()
	if err != nil && cmd.Context().Err() != nil && !o.Force { // of devices that answered the folders are there
		a.Tell("interrupted; the devices that had answered are in %s, and weft collect --inventory %s -o %s --resume asks the others", o.out, words.ShellWord(o.inventory), words.ShellWord(o.out))
		return &exit.Error{Code: exit.Interrupted}
	}
	if err != nil {
		return err
	}
	for i := range s.Records {
		switch r := &s.Records[i]; {
		case r.Error != "":
			s.Failed++
		case r.Kept:
			s.Kept++
			s.Whole++
		default:
			s.Whole++
		}
	}
	if s.Failed == 0 {
		if _, err := folder.Read(cmd.Context(), o.out, folder.Options{VRF: o.VRF}); err != nil {
			s.Unreadable = err.Error()
		}
	}
	return a.Answer(o.json, s, func() error { return showCollected(a, s) }, s.Failed > 0)
}

// showCollected says how the devices answered: those that run the same together.
func showCollected(a *console.Console, s *result.Collect) error {
	p := a.NewPage()
	p.Fact("folder", "%s: %d of %s whole, %s", s.Out, s.Whole, words.Plural(s.Devices, "device"), words.Seconds(s.Seconds))
	if s.Kept > 0 {
		p.Fact("kept", "%s from a run before (--force asks anew)", words.Plural(s.Kept, "device"))
	}
	systems := map[string][]*result.CollectDevice{}
	var order []string
	var failed []string
	for i := range s.Records {
		r := &s.Records[i]
		if r.Error != "" {
			failed = append(failed, r.Device+": "+r.Error)
			continue
		}
		if systems[r.System] == nil {
			order = append(order, r.System)
		}
		systems[r.System] = append(systems[r.System], r)
	}
	slices.Sort(order)
	for _, system := range order {
		p.Fact("asked", "%s, %s:\n%s", system, words.Plural(len(systems[system]), "device"), strings.Join(askedLines(systems[system]), "\n"))
	}
	if len(failed) > 0 {
		p.Judged(false, "%s did not answer:\n%s", words.Plural(len(failed), "device"), a.First(maxFailures, failed, func(n int) string { return fmt.Sprintf("and %d more (--json has all)", n) }))
		p.Fact("next", "weft collect --inventory %s -o %s --resume asks them again", s.Inventory, s.Out)
		return a.Show(p)
	}
	if s.Unreadable != "" {
		p.Fact("not whole", "%s", s.Unreadable)
		return a.Show(p)
	}
	p.Fact("next", "weft verify %s", s.Out)
	return a.Show(p)
}

// askedLines is what was asked of devices that run the same, and what is missing, each with how many of them.
func askedLines(records []*result.CollectDevice) []string {
	type answer struct{ what, how string }
	count := map[answer]int{}
	var order []answer
	for _, r := range records {
		for _, f := range r.Files {
			k := answer{f.What, f.Command}
			if f.Missing != "" {
				k.how = "missing: " + f.Missing
			}
			if count[k] == 0 {
				order = append(order, k)
			}
			count[k]++
		}
	}
	slices.SortStableFunc(order, func(x, y answer) int {
		return cmp.Or(cmp.Compare(slices.IndexFunc(records[0].Files, func(f result.CollectFile) bool { return f.What == x.what }), slices.IndexFunc(records[0].Files, func(f result.CollectFile) bool { return f.What == y.what })), strings.Compare(x.how, y.how))
	})
	var lines []string
	for _, k := range order {
		line := k.what + ": " + k.how
		if count[k] < len(records) {
			line += fmt.Sprintf(" (%d of them)", count[k])
		}
		lines = append(lines, line)
	}
	return lines
}
