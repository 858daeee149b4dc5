package opensm

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/service"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/configfile"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/setting"
	"github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
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

// Serve makes the command weft serve.
func Serve(a *console.Console) *cobra.Command {
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
	f.StringVar(&o.Aim, "aim", "", setting.Usage(option.Aim)+" (default mixed)")
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
	f.StringVar(&o.Watch, "watch", "", "loopback address of weft watch, whose cables in trouble are shown with the daemon's own, such as 127.0.0.1:9470")
	f.StringVar(&o.ProofChecker, "proof-checker", "", "program asked about all that was handed over, behind the answers, with an error in the log if it does not accept it: weft-proof (docs/proof.md), by its whole path")
	f.BoolVar(&o.check, "check-config", false, "say whether the configuration is right and what it means, and serve nothing")
	flags.OneOf(f, &o.log, "log", "form of the log on standard error: text or json", "text", "json")
	flags.Complete(c, "engine", flags.ChoiceNames)
	return c
}

// load is the settings of the daemon: those of the file, except where a flag is given. The daemon asks
// at its start and at every reload.
func (o *serveFlags) load(cmd *cobra.Command) (daemon.Config, error) {
	c := o.Config
	c.Engine, c.Roots, c.Weight, c.RankOrder = o.engines, o.roots, o.weights, o.orders
	if o.config == "" {
		_, err := c.Check()
		return c, o.blame(cmd, err)
	}
	file, err := reading.Open(cmd.Context(), o.config, nil)
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
func flagOf(key string) string {
	if key == "budget" { // where flags say budget it is lanes
		return "time-budget"
	}
	return strings.ReplaceAll(key, "_", "-")
}

// blame is an error of the settings with where the wrong one is from: a flag, which is an error in
// usage, or the file.
func (o *serveFlags) blame(cmd *cobra.Command, err error) error {
	var wrong *configfile.Wrong
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && (o.config == "" || cmd.Flags().Changed(flagOf(wrong.Key))):
		why := strings.TrimPrefix(strings.TrimPrefix(wrong.Err.Error(), wrong.Key), ": ")
		return exit.Usage("--%s: %s", cmd.Flags().Lookup(flagOf(wrong.Key)).Name, strings.TrimSpace(why))
	case o.config != "":
		return configfile.In(o.config, err)
	}
	return err
}

// checkConfig is --check-config: it prints what the settings mean, or the error that a start would end
// with.
func checkConfig(a *console.Console, cmd *cobra.Command, o *serveFlags) error {
	c, err := o.load(cmd)
	if err != nil {
		return err
	}
	if c, err = c.Check(); err != nil { // which fills in the defaults
		return err
	}
	if c.ProofChecker != "" {
		if _, err := exec.LookPath(c.ProofChecker); err != nil {
			err = fmt.Errorf("proof_checker: %w", err)
			if o.config != "" {
				err = configfile.In(o.config, err)
			}
			return err
		}
	}
	runs, err := c.Try(cmd.Context())
	if err != nil {
		return o.blame(cmd, err)
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
	if runs != nil {
		p.Fact("runs", "%s has this socket: it takes these settings over by a reload (SIGHUP), and another cannot begin beside it", runs)
	}
	if c.Watch != "" {
		p.Fact("watch", "%s, whose cables in trouble are shown too", c.Watch)
	}
	return a.Show(&p)
}

// keepText says what becomes of tables in use when the fabric changes.
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

// runServe runs the daemon until it is told to end.
func runServe(a *console.Console, cmd *cobra.Command, o *serveFlags) (err error) {
	log := service.Log(a, o.log)
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
		Version: version.Text(version.Current()),
		Ready:   func() { service.Tell(log, "READY=1") },
	}
	err = s.Run(cmd.Context(), hup)
	service.Tell(log, "STOPPING=1")
	return err
}
