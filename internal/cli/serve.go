package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/configfile"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// defaultSocket is where daemon and plugin meet unless told otherwise.
const defaultSocket = "/run/weft/opensm.sock"

type serveFlags struct {
	config string
	daemon.Config
	engines, roots, weights, orders []string

	log   string
	check bool // the configuration, and nothing else
}

func serveCommand(a *console.Console) *cobra.Command {
	var o serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer OpenSM's plugin with proven tables",
		Long: `Wait at a Unix socket for OpenSM's plugin, route the fabrics that it sends, prove
the tables, and hand over only what is proven under the contract. Engines are
tried in order; the first whose tables are proven is used. auto is the best of all
that are proven, as in weft route.

Settings come from --config, strict YAML with the names of the flags as keys, _ for -,
and from flags, which win. SIGHUP reads the file again; a bad one changes nothing.
--check-config says whether settings are right, and what they mean.
One line is logged for every sweep. weft status tells how things are.`,
		Example: `  weft serve --socket /run/weft/opensm.sock --engine auto --contract any --state /var/lib/weft
  weft serve --config /etc/weft/weft.yaml
  weft serve --config /etc/weft/weft.yaml --check-config`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(a, cmd, &o) },
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "configuration file")
	f.StringVar(&o.Socket, "socket", defaultSocket, "Unix socket to answer at")
	f.StringVar(&o.Group, "group", "", "group whose members may connect (default: the daemon's own)")
	f.StringSliceVar(&o.engines, "engine", daemon.DefaultEngines, "engines in the order in which to try them, with commas between")
	f.StringVar(&o.Contract, "contract", "any", "what clients do with service levels: honored, directed, single:N or any")
	f.StringVar(&o.Endpoints, "endpoints", "hca", "who sends and receives in the proof: hca, ca or all")
	f.StringVar(&o.MulticastSL, "multicast-sl", "", "service levels that multicast groups may use, as any or 0,2, for which a spanning tree is proven together with the paths, or none (default: any where there is such a tree, else 0)")
	f.IntVar(&o.VLs, "vls", 0, "data lanes at most (default: as many as the fabric has)")
	f.IntVar(&o.SLs, "sls", 0, "service levels at most (default: all)")
	f.IntVar(&o.Classes, "classes", 0, "classes of traffic, each with a copy of the lanes, for contract any: service level n is of class n modulo classes where paths take one service level (default: one)")
	f.StringSliceVar(&o.roots, "roots", nil, "roots of updn, by name or GUID, with commas between (default: chosen)")
	f.StringVar(&o.Aim, "aim", "", engines.Aim.Usage()+" (default mixed)")
	f.StringArrayVar(&o.orders, "rank-order", nil, "how ranks sit on the hosts, for the aims mixed and shifts: switch, name, rail or hosts as node[001-128], with commas between (default: switch and name)")
	f.StringSliceVar(&o.weights, "weight", nil, "traffic of hosts by name, as 'storage-*=40', 0 to 100; others have 10; the last that fits counts")
	f.DurationVar(&o.Budget, "time-budget", 0, flags.TimeBudgetUsage)
	f.DurationVar(&o.Limit, "limit", 10*time.Minute, "longest time that one fabric is worked on")
	f.StringVar(&o.Keep, "keep", "least", "tables in use when the fabric changes: least (mend them), balanced (mend, then look for better ones) or never (route anew)")
	f.IntVar(&o.MaxEntries, "max-entries-per-change", 0, "entries of forwarding tables that a change may have where nothing is broken (default: any number)")
	f.StringVar(&o.Rebalance, "rebalance", "", "hours of the day for --keep balanced, as 02:00-05:00 (default: any)")
	f.StringVar(&o.Drops, "drops", "", "where all is routed anew, whether a step may drop packets of single destinations: allowed or never (default never)")
	f.StringVar(&o.State, "state", "", "folder for the last good tables and the reasons of refusals")
	f.StringVar(&o.Metrics, "metrics", "", "loopback address for Prometheus (/metrics) and a page of the fabric (/report), such as 127.0.0.1:9469")
	f.BoolVar(&o.check, "check-config", false, "say whether the configuration is right and what it means, and serve nothing")
	flags.OneOf(f, &o.log, "log", "form of the log on standard error: text or json", "text", "json")
	flags.Complete(c, "engine", flags.ChoiceNames)
	return c
}

func (o *serveFlags) load(cmd *cobra.Command) (daemon.Config, error) {
	c := o.Config
	c.Engine, c.Roots, c.Weight, c.RankOrder = o.engines, o.roots, o.weights, o.orders
	if o.config == "" {
		_, err := c.Check()
		return c, o.blame(cmd, err)
	}
	file, err := format.Open(cmd.Context(), o.config, nil)
	if err != nil {
		return c, err
	}
	defer file.Close()
	read, err := daemon.ReadConfig(file)
	if err != nil {
		return c, configfile.In(o.config, err)
	}
	for _, key := range read.Keys() {
		if cmd.Flags().Changed(flagOf(key)) {
			read.Take(key, &c)
		}
	}
	if read.Socket == "" {
		read.Socket = c.Socket
	}
	_, err = read.Check()
	return read, o.blame(cmd, err)
}

// flagOf turns the key of a setting in the file into its flag: max_entries_per_change is --max-entries-per-change.
func flagOf(key string) string { return strings.ReplaceAll(key, "_", "-") }

// blame says where a setting is from that is wrong: a flag, which is an error in
// usage, or the file.
func (o *serveFlags) blame(cmd *cobra.Command, err error) error {
	var wrong *configfile.Wrong
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && (o.config == "" || cmd.Flags().Changed(flagOf(wrong.Key))):
		why := strings.TrimPrefix(strings.TrimPrefix(wrong.Why, wrong.Key), ": ")
		return exit.Usage("--%s: %s", cmd.Flags().Lookup(flagOf(wrong.Key)).Name, strings.TrimSpace(why))
	case o.config != "":
		return configfile.In(o.config, err)
	}
	return err
}

func checkConfig(a *console.Console, cmd *cobra.Command, o *serveFlags) error {
	c, err := o.load(cmd)
	if err != nil {
		return err
	}
	if c, err = c.Check(); err != nil { // which fills in the defaults
		return err
	}
	var p console.Page
	from := "the command line"
	if o.config != "" {
		from = o.config
	}
	p.Fact("config", "%s: nothing is wrong with it", from)
	most := func(n int, what string) string {
		if n == 0 {
			return "all " + what + "s"
		}
		return words.Plural(n, what) + " at most"
	}
	p.Fact("engines", "%s; %s, %s", strings.Join(c.Engine, ", then "), most(c.VLs, "lane"), most(c.SLs, "service level"))
	if c.Classes > 1 {
		p.Fact("classes", "%d of traffic, each with a copy of the lanes", c.Classes)
	}
	p.Fact("proof", "contract %s; endpoints %s; multicast on SL %s", c.Contract, c.Endpoints, cmp.Or(c.MulticastSL, "any, else on 0"))
	if len(c.Roots) > 0 {
		p.Fact("roots", "%s", c.Roots)
	}
	if len(c.RankOrder) > 0 {
		p.Fact("ranks", "by %s", c.RankOrder)
	}
	if len(c.Weight) > 0 || c.Aim != "mixed" {
		p.Fact("paths", "aim %s; weights %s", c.Aim, cmp.Or(c.Weight.String(), "all alike"))
	}
	p.Fact("keep", "%s", keepText(&c))
	budget := "as long as auto needs by the size of the fabric"
	if c.Budget > 0 {
		budget = c.Budget.String()
	}
	p.Fact("time", "budget %s; limit %s", budget, c.Limit)
	p.Fact("socket", "%s, for %s", c.Socket, cmp.Or(c.Group, "the daemon's own group"))
	p.Fact("state", "%s", cmp.Or(c.State, "no folder: nothing is kept"))
	p.Fact("metrics", "%s", cmp.Or(c.Metrics, "none"))
	return a.Show(&p)
}

func keepText(c *daemon.Config) string {
	text := c.Keep + ": tables in use are mended when the fabric changes"
	if c.Keep == "never" {
		text = "never: tables are routed anew whenever the fabric changes"
	}
	if c.MaxEntries > 0 {
		text += "; at most " + words.Counted(c.MaxEntries, "entry", "entries") + " in a change where nothing is broken"
	}
	if c.Keep == "balanced" {
		text += "; rebalanced " + cmp.Or(c.Rebalance, "at any time")
	}
	if c.Drops == "allowed" {
		text += "; where all is routed anew, packets of single destinations may be dropped for a step"
	}
	return text
}

func runServe(a *console.Console, cmd *cobra.Command, o *serveFlags) (err error) {
	log := logger(a, o.log)
	for _, path := range []*string{&o.Socket, &o.State} {
		if *path != "" {
			if *path, err = filepath.Abs(*path); err != nil {
				return err
			}
		}
	}
	if o.check {
		return checkConfig(a, cmd, o)
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	s := &daemon.Server{
		Load:    func() (daemon.Config, error) { return o.load(cmd) },
		Log:     log,
		Version: version.Current().String(),
		Ready:   func() { tellSystemd(log, "READY=1") },
	}
	err = s.Run(cmd.Context(), hup)
	tellSystemd(log, "STOPPING=1")
	return err
}

// logger logs on standard error in the form of --log, text or json.
func logger(a *console.Console, form string) *slog.Logger {
	if form == "json" {
		return slog.New(slog.NewJSONHandler(a.Stderr, nil))
	}
	return slog.New(slog.NewTextHandler(a.Stderr, nil))
}

// tellSystemd tells the service manager how far the daemon is, if one asked.
func tellSystemd(log *slog.Logger, what string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	if abstract, ok := strings.CutPrefix(name, "@"); ok {
		name = "\x00" + abstract
	}
	c, err := net.Dial("unixgram", name)
	if err == nil {
		defer c.Close()
		_, err = c.Write([]byte(what))
	}
	if err != nil {
		log.Warn("the service manager was not told", "error", err)
	}
}

func statusCommand(a *console.Console) *cobra.Command {
	var socket string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Ask a running weft serve how it is",
		Long: `Ask a running weft serve how it is: what it is set to, what came of the last sweep
and which tables were handed over last.

Exit code 1 if the last sweep was refused or the last reload was, or if the state
folder cannot be written; 3 if no daemon answers.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return showStatus(cmd.Context(), a, socket, asJSON) },
	}
	c.Flags().StringVar(&socket, "socket", defaultSocket, "Unix socket of the daemon")
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

func showStatus(ctx context.Context, a *console.Console, socket string, asJSON bool) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	text, err := wire.AskStatus(ctx, socket)
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%s answers the members of its group only: %w", socket, err)
	}
	if err != nil {
		return fmt.Errorf("no daemon answers at %s: %w", socket, err)
	}
	var s daemon.Status
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", socket, err)
	}
	return a.Answer(asJSON, s, func() error { return printStatus(a, &s) }, s.ReloadError != "" || s.StateError != "" || s.Last != nil && s.Last.Refusal != "")
}

func printStatus(a *console.Console, s *daemon.Status) error {
	p := a.NewPage()
	p.Fact("daemon", "weft %s, pid %d, since %s", s.Version, s.PID, s.Since.Local().Format(time.DateTime))
	lanes := "as many lanes as the fabric has"
	if s.VLs > 0 {
		lanes = words.Plural(s.VLs, "lane") + " at most"
	}
	p.Fact("settings", "engines %s; contract %s; endpoints %s; %s; keep %s", strings.Join(s.Engines, ", then "), s.Contract, s.Endpoints, lanes, s.Keep)
	if len(s.NotCovered) > 0 {
		p.Fact("outside", "of any proof: %s", strings.Join(s.NotCovered, ", "))
	}
	p.Fact("sweeps", "%s; %s refused, %s answered from memory", words.Plural(s.Sweeps, "sweep"), words.Thousands(s.Refused), words.Thousands(s.Cached))
	if s.Last == nil {
		p.Fact("last", "OpenSM has not asked yet")
	} else {
		p.Fact("last", "%s", sweepText(s.Last))
	}
	if s.Last != nil && s.Last.Refusal != "" {
		good := "none: OpenSM has no tables of ours"
		if s.LastGood != nil {
			good = sweepText(s.LastGood)
		}
		p.Fact("last good", "%s", good)
	}
	if s.Plan != nil {
		p.Fact("plan", "%s", progressText(s.Plan))
	}
	if s.Search != nil {
		p.Fact("search", "%s", searchText(s.Search))
	}
	if s.ReloadError != "" {
		p.Fact("reload", "refused, the old settings stand: %s", s.ReloadError)
	}
	if s.StateError != "" {
		p.Fact("state", "%s", stateText(&s.State))
	}
	if s.StateAside != "" {
		p.Fact("put aside", "%s in the state folder, for a bug report: %s", s.StateAside, s.StateWhy)
	}
	return a.Show(p)
}

func stateText(s *daemon.State) string {
	since := ""
	if s.StateSince != nil {
		since = " since " + s.StateSince.Local().Format(time.DateTime)
	}
	text := fmt.Sprintf("cannot be written%s, %s waiting", since, words.Plural(s.StateWaiting, "sweep"))
	if s.StateDropped > 0 {
		text += fmt.Sprintf(", %s given up", words.Thousands(s.StateDropped))
	}
	return text + ": " + s.StateError
}

func progressText(g *daemon.Progress) string {
	purpose := map[string]string{"repair": "a repair", "return": "the way back to the tables from before", "full": "tables that were routed anew", "same": "waiting for new links"}[g.Kind]
	text := fmt.Sprintf("%s, begun %s: %s", cmp.Or(purpose, g.Kind), g.Began.Local().Format(time.DateTime), words.Plural(g.Steps, "step"))
	if g.Ended != nil {
		text += " handed over, the last at " + g.Ended.Local().Format(time.TimeOnly)
	} else {
		text += fmt.Sprintf(" handed over, at least %d to follow, the next no sooner than %s after the last", g.More, words.Seconds(g.Wait))
	}
	switch {
	case g.Confirmed == g.Steps && g.Steps > 0:
		text += "; all switches have confirmed them, by OpenSM's last question"
	case g.Steps > 0:
		text += fmt.Sprintf("; OpenSM has said of %d that all switches have confirmed them, and says it of the others at its next sweep", g.Confirmed)
	}
	text += fmt.Sprintf("\nLFT entries: %s changed, %s had to", words.Thousands(g.Entries), words.Thousands(g.Due))
	if g.CutPairs > 0 {
		text += fmt.Sprintf("\n%s cut at the beginning, %s from OpenSM's question to the answer that mends the last; %s now", words.Plural(g.CutPairs, "pair"), words.Seconds(g.CutFor), words.Thousands(g.CutNow))
	}
	if g.Left > 0 {
		text += fmt.Sprintf("\n%s by no safe step come back to what they were, and stay as they are", words.Plural(g.Left, "destination"))
	}
	return text
}

func searchText(s *daemon.Search) string {
	if s.Ended == nil {
		return fmt.Sprintf("goes on since %s for better tables than those of %s", s.Began.Local().Format(time.DateTime), s.Given)
	}
	how := fmt.Sprintf("ended at %s after %s: ", s.Ended.Local().Format(time.DateTime), words.Seconds(s.Seconds))
	switch {
	case !s.Better:
		how += "none better than those of " + s.Given
	case s.Awaited:
		how += fmt.Sprintf("%s in place of %s, for which OpenSM routes again", s.Engine, s.Given)
	default:
		how += fmt.Sprintf("%s in place of %s, at OpenSM's next sweep", s.Engine, s.Given)
	}
	if s.Unfinished != "" {
		how += " (not carried through: " + s.Unfinished + ")"
	}
	return how
}

// coversText is a line about whose packets the proof is.
func coversText(s *daemon.Sweep) string {
	switch {
	case len(s.MulticastSLs) == routing.SLs:
		return fmt.Sprintf("covers %s, groups on any service level\n", s.Covers)
	case len(s.MulticastSLs) > 0:
		return fmt.Sprintf("covers %s, groups on SL %s\n", s.Covers, strings.Join(list.Of(s.MulticastSLs, strconv.Itoa), ", "))
	case s.NoTree != "":
		return fmt.Sprintf("covers %s; multicast trees are OpenSM's own: %s\n", s.Covers, s.NoTree)
	}
	return fmt.Sprintf("covers %s; multicast trees are OpenSM's own\n", s.Covers)
}

func sweepText(s *daemon.Sweep) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sweep %d of %s at %s: %s, %s\n", s.Sweep, s.OpenSM, s.At.Local().Format(time.DateTime), words.Plural(s.Switches, "switch"), words.Plural(s.Endpoints, "endpoint"))
	if s.Refusal != "" {
		fmt.Fprintf(&b, "refused: %s", s.Refusal)
		return b.String()
	}
	from := ""
	switch {
	case s.Cached:
		from = ", from memory"
	case s.Restored:
		from = ", those handed over before the restart"
	case s.SoFar:
		from = ", the best so far"
	}
	fmt.Fprintf(&b, "%s by %s (contract %s), largest load %s\nlanes: %s\n", s.Verdict, s.Engine, s.Contract, words.Thousands(s.MaxLoad), report.LaneCounts{Needed: s.LanesNeeded, Used: s.LanesUsed, Available: s.LanesAvailable})
	b.WriteString(coversText(s))
	c := s.Change
	if c != nil && c.Kind == "full" {
		fmt.Fprintf(&b, "routed anew: %s\n", c.Why)
	}
	switch {
	case c == nil || c.Kind == "same":
	case !c.Proven:
		b.WriteString("nothing is proven about the time until the tables are written\n")
	default:
		fmt.Fprintf(&b, "%s: step %d, %d more; %s of tables to write\n", c.Kind, c.Step, c.More, words.Plural(c.Blocks, "block"))
	}
	fmt.Fprintf(&b, "changed LFT entries %s, service levels %s; in %s%s", words.Thousands(s.ChangedEntries), words.Thousands(s.ChangedSLs), words.Seconds(s.Seconds.Total), from)
	for _, t := range s.Tried {
		if t.Refused != "" {
			fmt.Fprintf(&b, "\n%s refused: %s", t.Engine, t.Refused)
		}
	}
	return b.String()
}
