package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

type packetsFlags struct {
	route               flags.Engine
	tables              flags.Tables
	groups              float64 // share of the messages that go to multicast groups
	job                 flags.Job
	change              changeFlags
	loads               []float64
	untilSaturated      bool
	preset              string
	buffer, outBuffer   int64
	mtu, speedup        int
	storeWhole, flits   bool
	anyLane             bool
	lifetime, length    time.Duration
	warmUp              time.Duration
	process, choice     string
	arbiter             string
	vlarbHigh, vlarbLow []packets.Weight
	vlarbLimit          uint8
	message             int64
	burst               int
	complete, replay    bool
	json, csv           bool
	plot                string
	counters            string
}

// Packets makes the command weft packets.
func Packets(a *console.Console) *cobra.Command {
	var o packetsFlags
	c := &cobra.Command{
		Use:   "packets FABRIC",
		Short: "Simulate packets, credits and lanes: latency, throughput, and deadlocks",
		Long: `Simulate what a fabric does with finished tables: packets, credits, lanes,
arbitration, in time. The tables are an engine's, or those of files (--tables).

Each load is a run of its own, and runs go on in parallel. A run is steady, or
saturated (the network delivers less than is offered), or unstable (all is
delivered, but the mean latency has not settled), or deadlocked (packets that can
never move again, found as such and not by a time-out).

--replay-cycle sends along the routes of the judge's credit loop, shows that the
network stops, and that the same traffic drains under engines that are proven:
under those that --engine names behind that of the tables, if it names several.
--complete sends the pattern once, phase by phase, and says how long it takes.
--then writes other tables over those of --tables during the run, block by block, as a
subnet manager does: do packets survive the change? weft repair --steps and weft
drain write steps that are proven to.

` + flags.HostNamesHelp,
		Example: `  weft packets torus:8x8 --engine torus-2qos --pattern uniform --load 0.1:0.9:0.1
  weft packets fabric.ibnetdiscover --tables opensm-lfts.dump --load 0.5 --json
  weft packets torus:5x5 --engine minhop --replay-cycle
  weft packets torus:5x5 --engine dfsssp --vls 2 --vlarb-high 0:64,1:32 --vlarb-low 0:8,1:8
  weft packets dragonfly:p=4 --pattern shifts --message 64KiB --complete`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runPackets(a, cmd, args[0], &o) },
	}
	o.route.AddTo(c, auto.Name)
	o.route.AddClassesTo(c)
	o.route.SeedForMore("seed of traffic, and of engines that choose by chance")
	f := c.Flags()
	o.tables.AddTo(c)
	o.tables.AddMulticastTo(c)
	f.Float64Var(&o.groups, "multicast-share", 0, "share of the messages that go to a multicast group of --multicast of which the source is a member; each copy counts as accepted")
	o.job.AddTo(c, "uniform")
	o.change.addTo(c)
	flags.Parse(f, &o.loads, "load", "0.1:0.9:0.1", parseLoads, "offered loads, of what an endpoint's link carries: FROM:TO:STEP, or with commas between")
	f.BoolVar(&o.untilSaturated, "until-saturated", false, "stop at the first load that is not delivered, and search the saturation throughput")
	f.StringVar(&o.preset, "preset", "ib-hdr", "links and switches: "+strings.Join(list.Of(packets.Presets(), func(p packets.Preset) string { return p.Name }), ", "))
	flags.Parse(f, &o.buffer, "buffer", "", parseSize, "input buffer for each lane of a port, as in 8KiB (default: of the preset)")
	flags.Parse(f, &o.outBuffer, "output-buffer", "", parseSize, "output buffer likewise (default: none)")
	flags.Whole(f, &o.mtu, "mtu", 0, 1, mostPayload, fmt.Sprintf("a packet holds 1 to %d bytes of payload", mostPayload), "bytes of payload in a packet (default: of the preset)")
	flags.Whole(f, &o.speedup, "speedup", 1, 1, math.MaxInt, "it is at least 1", "packets that leave the lanes of an in-port at once; with --output-buffer how much faster switches are than links")
	f.BoolVar(&o.storeWhole, "store-and-forward", false, "in place of virtual cut-through")
	f.BoolVar(&o.anyLane, "any-lane", false, "with --flits: endpoints send, and are sent to, on any lane that is free, as in BookSim2, and not on that of the service level")
	f.BoolVar(&o.flits, "flits", false, "wormhole switching, flit by flit: a packet begins with space for one flit, and lanes share a cable flit by flit")
	f.DurationVar(&o.lifetime, "lifetime", 0, "drop what heads its queue for longer, as switches do (HOQ), as in 100us (default: never)")
	f.DurationVar(&o.length, "time", 0, "network time to measure, as in 1ms (default: 4,000 packets); a picosecond of unit is 1/1000 ns")
	f.DurationVar(&o.warmUp, "warm-up", 0, "network time to warm up at most (default: three times as long as to measure)")
	flags.OneOf(f, &o.process, "process", "when messages come: poisson; fixed, at equal intervals; or slots, with the same chance in the time of each flit", "poisson", "fixed", "slots")
	flags.OneOf(f, &o.choice, "choice", "among several addresses (LMC): random or in-turn", "random", "in-turn")
	flags.OneOf(f, &o.arbiter, "arbiter", "which request for a lane of a port goes first: oldest, or lottery", "oldest", "lottery")
	flags.Parse(f, &o.vlarbHigh, "vlarb-high", "", parseArbitration, "high-priority arbitration table of every port, VL:WEIGHT,... in blocks of 64 bytes, as OpenSM's qos_vlarb_high (default: lanes take turns)")
	flags.Parse(f, &o.vlarbLow, "vlarb-low", "", parseArbitration, "low-priority table likewise, as qos_vlarb_low")
	f.Uint8Var(&o.vlarbLimit, "vlarb-limit", 0, "blocks of 4 KiB that the high table may send while the low one waits, as qos_high_limit: 0 is one packet, 255 no limit")
	flags.Parse(f, &o.message, "message", "", parseSize, "size of a message, as in 64KiB (default: a packet)")
	flags.Whole(f, &o.burst, "burst", 1, 1, math.MaxInt, "it is at least 1", "messages that come together")
	f.BoolVar(&o.complete, "complete", false, "send the pattern once and say how long it takes")
	f.BoolVar(&o.replay, "replay-cycle", false, "send along the judge's credit loop")
	f.Lookup("engine").Usage += "; with --replay-cycle several, with commas between: that of the tables, unless --tables are, and those to send the same under"
	flags.AddJSON(f, &o.json)
	f.BoolVar(&o.csv, "csv", false, "print a line of figures for each load")
	f.StringVar(&o.plot, "plot", "", "SVG file to draw latency and throughput into")
	f.StringVar(&o.counters, "counters", "", "of a single --load: file for what the ports have counted meanwhile, as infiniband_exporter has it, ticks of a nanosecond (for weft compare --measured)")
	c.MarkFlagsMutuallyExclusive("json", "csv")
	flags.Without(c, "tables", "paths")
	c.MarkFlagsMutuallyExclusive("complete", "replay-cycle", "until-saturated")
	c.MarkFlagsMutuallyExclusive("complete", "replay-cycle", "plot")
	c.MarkFlagsMutuallyExclusive("complete", "replay-cycle", "until-saturated", "counters")
	return c
}

const (
	mostPayload = 1 << 20 // of a packet, in bytes
	mostBuffer  = 1 << 30 // bytes
)

// packetsJob is a call of weft packets: readFlags and takeEngines check the flags, makeNetwork routes
// or reads, run sends packets and prints.
type packetsJob struct {
	*console.Console
	name   string
	o      *packetsFlags
	config packets.Config
	loads  []float64         // offered, a run each
	load   packets.Injection // what all runs send, except the load
	window packets.Window

	engine  string           // that made the tables; empty with --tables
	others  []engines.Engine // of --replay-cycle: engines under which the same traffic is sent too
	chosen  bool             // the user named these
	fabric  *fabric.Fabric
	tables  *routing.Tables
	fit     result.Fit // of finished tables
	network *packets.Network
	scope   routing.Scope
	results []*packets.Result // [load]; nil: not run
	found   *packets.Saturation
	spent   float64 // seconds
}

// runPackets is the whole command.
func runPackets(a *console.Console, cmd *cobra.Command, name string, o *packetsFlags) error {
	j := &packetsJob{Console: a, name: name, o: o}
	if err := cmp.Or(j.readFlags(), j.takeEngines()); err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := j.makeNetwork(ctx); err != nil {
		return err
	}
	err := j.run(ctx)
	if pair := (*packets.NoRoute)(nil); errors.As(err, &pair) {
		return exit.Finding("%w\nweft verify says who else is cut off; --allocation and --traffic choose who sends", err)
	}
	return err
}

// run sends packets in the way that the flags ask for, and prints what came of it.
func (j *packetsJob) run(ctx context.Context) error {
	switch {
	case j.o.replay:
		return j.replayCycle(ctx)
	case j.o.complete:
		return j.runComplete(ctx)
	}
	if err := j.sweep(ctx); err != nil {
		return err
	}
	return j.report(ctx)
}

// makeNetwork makes the simulator, on tables that an engine makes or that are read.
func (j *packetsJob) makeNetwork(ctx context.Context) error {
	if j.o.tables.LFTs != "" {
		return j.readTables()
	}
	r, err := routed.New(j.Console, j.name, &j.o.route)
	if err != nil {
		return err
	}
	if err := r.Prepare(); err != nil {
		return err
	}
	j.fabric, j.engine = r.Fabric, r.Wanted.Name
	if r.Wanted.Adaptive != nil {
		t, v, err := r.Adapt(ctx)
		if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) {
			return exit.Finding("%s refuses: %w", r.Wanted.Name, err)
		}
		if err != nil {
			return err
		}
		if !v.Free() {
			return exit.Internal("%s is not free of deadlock", r.Wanted.Name)
		}
		j.network, err = packets.NewAdaptive(t, j.config)
		return asUsage(err)
	}
	if err := r.Compute(ctx); err != nil {
		return r.Refusal(ctx, err, j.o.json)
	}
	j.tables, j.engine = r.Tables, r.Engine.Name
	j.network, err = packets.New(j.tables, j.config)
	return asUsage(err)
}

// asUsage makes a usage error of what the simulator says of its Config, which is made of flags.
func asUsage(err error) error {
	if err != nil {
		return exit.Usage("%w", err)
	}
	return nil
}

// readTables makes the simulator on the tables of --tables, and those of --then if they replace them.
func (j *packetsJob) readTables() error {
	v, err := input.Read(j.Console, j.name, j.o.route.LMC, &j.o.tables)
	if err != nil {
		return err
	}
	j.fabric, j.tables, j.fit = v.Tables.Fabric, v.Tables, v.Fit()
	if j.o.change.then != nil {
		j.network, err = j.rewritten()
		return err
	}
	j.network, err = packets.New(j.tables, j.config)
	return asUsage(err)
}

// place finds who sends and puts the ranks of the pattern on them, in j.load.
func (j *packetsJob) place() (err error) {
	among := slices.DeleteFunc(j.scope.Endpoints(j.fabric), func(e fabric.EndpointID) bool { return j.fabric.Endpoint(e).Class == fabric.SwitchPort })
	j.load.Pattern, j.load.Placement, err = j.o.job.Place(j.Console, j.fabric, among, j.load.Pattern, j.load.Seed)
	if err != nil {
		return err
	}
	if j.load.Pattern.String() == "uniform" {
		j.load.Pattern = nil // each message to another, not each run
	}
	return nil
}

// sweep measures all loads, in parallel, into j.results. With --until-saturated those above the
// first that was not delivered do not count: it cuts j.loads, too.
func (j *packetsJob) sweep(ctx context.Context) error {
	if err := j.place(); err != nil {
		return err
	}
	s := j.Stage("packets", &j.spent)
	defer s.Done()
	var mu sync.Mutex
	progress, done := s.Progress(), 0
	j.window.Batch = func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		progress.Report(min(done, 30*len(j.loads)), 30*len(j.loads))
	}
	j.results = make([]*packets.Result, len(j.loads))
	limit := len(j.loads) // loads from here on are not wanted any more
	failed := make([]error, len(j.loads))
	stopped := par.For(ctx, len(j.loads), func(_, i int) {
		mu.Lock()
		wanted := i < limit
		mu.Unlock()
		if !wanted {
			return
		}
		l := j.load
		l.Offered, l.Run = j.loads[i], uint64(i)
		j.results[i], failed[i] = j.network.Measure(ctx, l, j.window)
		if r := j.results[i]; r != nil && j.o.untilSaturated && !delivered(r.Status) {
			mu.Lock()
			limit = min(limit, i+1)
			mu.Unlock()
		}
	})
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	j.loads, j.results = j.loads[:limit], j.results[:limit]
	if stopped != nil || !j.o.untilSaturated {
		return nil
	}
	return j.search(ctx)
}

// delivered reports whether a network delivers what is offered.
func delivered(s packets.Status) bool { return s == packets.Steady || s == packets.Unstable }

// search looks for the saturation throughput, j.found, between the last load that was
// delivered and the first that was not.
func (j *packetsJob) search(ctx context.Context) (err error) {
	low, high := 0.0, 1.0
	for i, r := range j.results {
		if delivered(r.Status) {
			low = j.loads[i]
		} else {
			high = j.loads[i]
			break
		}
	}
	if low >= high {
		return nil
	}
	j.found, err = j.network.Saturation(ctx, j.load, j.window, low, high, 0.01)
	return err
}
