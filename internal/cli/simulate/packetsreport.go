package simulate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/traffic"
)

// nanoseconds is a time of the simulator, which counts picoseconds.
func nanoseconds(t packets.Time) float64 { return float64(t) / 1000 }

// busiest is how many of the busiest lanes a run lists.
const busiest = 5

// runSummary is a run, for programs.
func (j *packetsJob) runSummary(r *packets.Result) result.PacketsRun {
	s := result.PacketsRun{
		Offered: r.Offered, Accepted: r.Accepted, Status: string(r.Status), Hops: r.Hops, Packets: r.Packets, Dropped: r.Dropped,
		Latency: result.Latency{
			Mean: r.Mean / 1000, Error: r.Error / 1000, Network: r.Network / 1000,
			P50: nanoseconds(r.Median), P90: nanoseconds(r.P90), P99: nanoseconds(r.P99), P999: nanoseconds(r.P999), Max: nanoseconds(r.Max),
		},
		WarmUp: nanoseconds(r.WarmUp), Window: nanoseconds(r.Window), BlockHops: r.Moved, InNetwork: r.Held, Created: r.Created,
	}
	s.Classes = list.Of(r.Classes, func(c packets.Class) result.LatencyClass {
		return result.LatencyClass{EndPS: int64(c.End), Packets: c.Packets}
	})
	for _, b := range r.Busiest(busiest) {
		u := r.Use(b.Channel, b.VL)
		s.Busiest = append(s.Busiest, result.BusyLane{NamedChannel: outputs.Channel(j.fabric, b.Channel), VL: b.VL, Busy: u.Busy, Blocks: u.Mean, Peak: u.Peak})
	}
	if r.Deadlock != nil {
		s.Deadlock = j.stopSummary(r.Deadlock)
	}
	return s
}

// stopSummary is how the network deadlocked.
func (j *packetsJob) stopSummary(d *packets.Deadlock) *result.Deadlock {
	s := &result.Deadlock{ClosedNS: nanoseconds(d.Closed), FoundNS: nanoseconds(d.Found), Buffers: d.Buffers, Packets: d.Packets}
	for _, b := range d.Cycle {
		c := result.BlockedBuffer{NamedChannel: outputs.Channel(j.fabric, b.Channel), VL: b.VL, Output: b.Output, Used: b.Used}
		for _, p := range b.Packets {
			c.Packets = append(c.Packets, result.BlockedPacket{Pair: outputs.Pair(j.fabric, p.Src, p.Dst), SL: p.SL, Bytes: p.Bytes, Created: nanoseconds(p.Created)})
		}
		s.Cycle = append(s.Cycle, c)
	}
	return s
}

// summary is all runs, for programs; screen or completeScreen shows them to people.
func (j *packetsJob) summary() *result.Packets {
	s := &result.Packets{
		Fabric: outputs.Fabric(j.name, j.fabric), Engine: j.engine,
		Tables: j.o.tables.LFTs, Then: j.o.change.then, Preset: j.o.preset, Traffic: j.o.job.String(), Ranks: len(j.load.Placement), VLs: j.network.Lanes(), Used: j.network.Lanes(),
		Buffer: j.config.Buffer, MTU: j.config.MTU, Seed: j.load.Seed, Runs: []result.PacketsRun{}, Seconds: j.spent,
	}
	s.Fit = j.fit
	if j.tables != nil && j.tables.Lanes.Classes > 1 { // adaptive routing has no tables
		s.Classes = j.tables.Lanes.Classes
	}
	for _, r := range j.results {
		if r != nil {
			s.Runs = append(s.Runs, j.runSummary(r))
		}
	}
	if f := j.found; f != nil {
		s.Saturation = &result.Saturation{Load: f.Offered, Accepted: f.Accepted}
		if f.Status != "" {
			s.Saturation.Above, s.Saturation.Status = f.Above, string(f.Status)
		}
	}
	return s
}

// report prints what was measured, all of it or what there is when the user
// interrupts. A deadlock is a finding.
func (j *packetsJob) report(ctx context.Context) error {
	s := j.summary()
	err := j.print(s, j.screen)
	if err == nil && j.o.plot != "" && ctx.Err() == nil {
		err = output.WriteFile(j.Console, j.o.plot, func(w io.Writer) error { return plotRuns(w, s) })
	}
	if err == nil && j.o.counters != "" && ctx.Err() == nil {
		err = output.WriteFile(j.Console, j.o.counters, func(w io.Writer) error { return counters.Write(w, j.fabric, j.counted()) })
	}
	if err != nil {
		return err
	}
	return j.outcome(ctx, s)
}

// counted is what the ports have counted, in ticks of a nanosecond.
func (j *packetsJob) counted() *counters.Counters {
	ports := j.results[0].Counters
	c := &counters.Counters{Bytes: make([]float64, len(ports)), Wait: make([]float64, len(ports)), Known: slices.Repeat([]bool{true}, len(ports)), Ports: len(ports)}
	for i, p := range ports {
		c.Bytes[i], c.Wait[i] = float64(p.Bytes), float64(p.Wait/1000)
	}
	return c
}

// print prints a summary in the form asked for, on the screen by screen.
func (j *packetsJob) print(s *result.Packets, screen func(*result.Packets) error) error {
	switch {
	case j.o.json:
		return j.JSON(s)
	case j.o.csv:
		return writeRuns(j.Stdout, s.Runs)
	}
	return screen(s)
}

// outcome is the error of the command after everything was printed: an interruption, or exit code 1
// for a deadlock or tables that do not fit.
func (j *packetsJob) outcome(ctx context.Context, s *result.Packets) error {
	if ctx.Err() != nil {
		fmt.Fprintf(j.Stderr, "weft: interrupted; the figures are of what was measured so far\n")
		return &exit.Error{Code: exit.Interrupted}
	}
	for _, r := range s.Runs {
		if r.Deadlock != nil {
			return &exit.Error{Code: exit.Found}
		}
	}
	if j.fit.Misfits != nil && s.Then == nil { // what is written over them may mend it
		return &exit.Error{Code: exit.Found}
	}
	return nil
}

// screen prints the runs for people, a row for each load.
func (j *packetsJob) screen(s *result.Packets) error {
	p := j.NewPage()
	p.Fact("fabric", "%s", report.Network(j.name, j.fabric))
	tables := "engine " + s.Engine
	if s.Tables != "" {
		tables = s.Tables
	}
	p.Fact("tables", "%s, %s used", tables, words.Plural(s.VLs, "lane"))
	input.Facts(p, j.fit)
	if s.Then != nil {
		p.Fact("then", "%s", j.o.change.text())
	}
	p.Fact("model", "%s, buffers of %s bytes for a lane, MTU %s, seed %d", s.Preset, words.Thousands(s.Buffer), words.Thousands(s.MTU), s.Seed)
	p.Fact("traffic", "%s among %s", s.Traffic, words.Plural(s.Ranks, "endpoint"))
	if err := j.Show(p); err != nil {
		return err
	}
	t := j.NewTable("load", "accepted", "mean "+j.unit(), "± 95 %", "p50", "p99", "max", "hops", "status")
	for _, r := range s.Runs {
		row := []any{words.Figure(r.Offered), words.Figure(r.Accepted)}
		for _, v := range []float64{r.Latency.Mean, r.Latency.Error, r.Latency.P50, r.Latency.P99, r.Latency.Max} {
			row = append(row, words.Figure(v*j.perUnit()))
		}
		t.Row(append(row, words.Figure(r.Hops), r.Status)...)
	}
	t.Render()
	for _, r := range s.Runs {
		if r.Dropped > 0 {
			fmt.Fprintf(j.Stdout, "at load %s %s dropped, of %s\n", words.Figure(r.Offered), words.Plural(r.Dropped, "packet"), words.Thousands(r.Packets+r.Dropped))
		}
	}
	if f := s.Saturation; f != nil {
		fmt.Fprintf(j.Stdout, "saturation throughput %s", words.Figure(f.Accepted))
		if f.Status != "" {
			fmt.Fprintf(j.Stdout, " (offered %s; %s is %s)", words.Figure(f.Load), words.Figure(f.Above), f.Status)
		}
		fmt.Fprintln(j.Stdout)
	}
	for _, r := range s.Runs {
		if r.Deadlock != nil {
			fmt.Fprintf(j.Stdout, "deadlock at load %s:\n%s\n", words.Figure(r.Offered), j.stopText(r.Deadlock))
			break
		}
	}
	return nil
}

// unit is what times are told in: nanoseconds, or the time unit of a preset that
// counts flits.
func (j *packetsJob) unit() string {
	if j.config.FlitTime > 0 {
		return "units"
	}
	return "ns"
}

// perUnit is how many of unit a nanosecond is.
func (j *packetsJob) perUnit() float64 {
	if j.config.FlitTime > 0 {
		return 1000 / float64(j.config.FlitTime)
	}
	return 1
}

// stopText says how the network deadlocked: when, and the circle of buffers.
func (j *packetsJob) stopText(d *result.Deadlock) string {
	lines := list.Of(d.Cycle, func(b result.BlockedBuffer) string {
		where := ""
		if b.Output {
			where = ", output buffer"
		}
		return fmt.Sprintf("  %s, VL %d%s: %s, the first %s → %s", b.Channel, b.VL, where, words.Plural(len(b.Packets), "packet"), b.Packets[0].Src, b.Packets[0].Dst)
	})
	return fmt.Sprintf("  closed at %s, %s in a circle; %s in %s will never move\n%s", j.when(d.ClosedNS),
		words.Plural(len(d.Cycle), "buffer"), words.Plural(d.Packets, "packet"), words.Plural(d.Buffers, "buffer"),
		j.First(report.MaxSteps, lines, func(n int) string {
			return "  … and " + words.Counted(n, "more buffer", "more buffers") + " back to the first (--json has all)"
		}))
}

// when is a time in ns for people.
func (j *packetsJob) when(ns float64) string {
	if j.config.FlitTime > 0 {
		return words.Figure(ns*j.perUnit()) + " units"
	}
	if ns >= 1000 {
		return fmt.Sprintf("%.3f us", ns/1000)
	}
	return fmt.Sprintf("%.3f ns", ns)
}

// writeRuns writes the runs as CSV.
func writeRuns(w io.Writer, runs []result.PacketsRun) error {
	c := reading.NewCSVWriter(w)
	record := []string{"offered", "accepted", "status", "mean_ns", "error_95_ns", "network_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns", "hops", "packets", "dropped"}
	if err := c.Write(record); err != nil {
		return err
	}
	for _, r := range runs {
		l := r.Latency
		record = append(record[:0], number(r.Offered), number(r.Accepted), r.Status)
		for _, v := range []float64{l.Mean, l.Error, l.Network, l.P50, l.P90, l.P99, l.P999, l.Max, r.Hops} {
			record = append(record, number(v))
		}
		record = append(record, strconv.FormatInt(r.Packets, 10), strconv.FormatInt(r.Dropped, 10))
		if err := c.Write(record); err != nil {
			return err
		}
	}
	return c.Close()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

// runComplete is --complete: it sends the pattern once, phase by phase, and prints how long it took.
func (j *packetsJob) runComplete(ctx context.Context) error {
	pattern := j.load.Pattern // place takes uniform away
	if err := j.place(); err != nil {
		return err
	}
	if pattern == nil {
		pattern = j.load.Pattern // of a file
	}
	phases, err := packets.Phases(pattern, j.load.Placement, j.load.Bytes, traffic.Stream(j.load.Seed, 0))
	if err != nil {
		return exit.Usage("%w", err)
	}
	start := time.Now()
	r, err := j.network.Complete(ctx, phases, j.load.Seed, 0)
	if err != nil {
		return err
	}
	j.spent = time.Since(start).Seconds()
	j.results = []*packets.Result{r}
	s := j.summary()
	s.Runs[0].Makespan = nanoseconds(r.Makespan)
	if err := j.print(s, func(s *result.Packets) error { return j.completeScreen(s, len(phases)) }); err != nil {
		return err
	}
	return j.outcome(ctx, s)
}

// completeScreen prints for people what came of runComplete.
func (j *packetsJob) completeScreen(s *result.Packets, phases int) error {
	p := j.NewPage()
	r := s.Runs[0]
	p.Fact("fabric", "%s", report.Network(j.name, j.fabric))
	p.Fact("traffic", "%s among %s, %s", s.Traffic, words.Plural(s.Ranks, "endpoint"), words.Plural(phases, "phase"))
	p.Fact("result", "%s after %s: %s arrived of %s", r.Status, j.when(r.Makespan), words.Thousands(r.Packets), words.Plural(r.Created, "packet"))
	p.Fact("latency", "mean %s, p99 %s, max %s", j.when(r.Latency.Mean), j.when(r.Latency.P99), j.when(r.Latency.Max))
	if r.Dropped > 0 {
		p.Fact("dropped", "%s", words.Plural(r.Dropped, "packet"))
	}
	if r.Deadlock != nil {
		p.Fact("deadlock", "%s", j.stopText(r.Deadlock))
	}
	return j.Show(p)
}
