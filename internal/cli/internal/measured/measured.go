// Package measured reads what is known of the cables of a fabric beside its tables, for the commands that show it:
// counters of ports, events, and the network as it should be cabled.
package measured

import (
	"fmt"
	"io"
	"maps"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// timesMeasured is how often --measured may be given.
const timesMeasured = "once, or for an earlier look and a later one, and once for an ibdiagnet2.net_dump_ext"

// Flags is what says where to read.
type Flags struct {
	Files   []string      // of counters
	During  time.Duration // in which they were counted; 0: not known
	Tick    time.Duration // of PortXmitWait; 0: not known
	Events  []string      // state folders
	Cabling string        // the network as it should be
	Limits  []string

	limits trouble.Limits
}

// AddTo adds the flags to a command; what says what is done with the counters.
func (o *Flags) AddTo(f *pflag.FlagSet, what string) {
	f.StringArrayVar(&o.Files, "measured", nil, "counters of the ports, "+what+": perfquery's or ibqueryerrors' output, an ibdiagnet2.pm or ibdiagnet2.db_csv with PM_INFO, or infiniband_exporter's text; error rates: an ibdiagnet2.net_dump_ext; given twice, an earlier look and a later one")
	f.DurationVar(&o.During, "measured-time", 0, "time in which the counters of --measured were counted, such as 60s: errors are an hour then")
	f.DurationVar(&o.Tick, "measured-tick", 0, "length of a tick of PortXmitWait, which depends on the switches; with --measured-time, the cable is named at which waiting ends")
	f.StringArrayVar(&o.Events, "events", nil, "state folder of weft serve or weft watch, whose events say which cables flap; may be repeated")
	f.StringVar(&o.Cabling, "cabling", "", "the network as it should be cabled, in any form that a fabric has, such as a cable plan: cables that are elsewhere are in trouble")
	f.StringArrayVar(&o.Limits, "cable-limit", nil, "from how much on a cable is in trouble, such as symbol=100 (errors an hour), flaps=5 (an hour), ber=1e-12; 0: not at all; may be repeated")
}

// Given reports whether anything is to be read.
func (o *Flags) Given() bool { return len(o.Files) > 0 || len(o.Events) > 0 || o.Cabling != "" }

// Check refuses what makes no sense.
func (o *Flags) Check() (err error) {
	switch {
	case o.During < 0 || o.Tick < 0:
		return exit.Usage("--measured-time and --measured-tick are not negative")
	case o.Tick > 0 && o.During == 0 || len(o.Files) == 0 && o.During > 0:
		return exit.Usage("--measured-tick goes with --measured-time, and both with --measured: ticks by time say how long ports waited")
	case len(o.Files) > 3:
		return exit.Usage("--measured is given %d times: %s", len(o.Files), timesMeasured)
	}
	if o.limits, err = trouble.ParseLimits(o.Limits); err != nil {
		return exit.Usage("--cable-limit: %w", err)
	}
	return nil
}

// Complete has the shell offer the names of limits.
func (o *Flags) Complete(c *cobra.Command) {
	_ = c.RegisterFlagCompletionFunc("cable-limit", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var all []string
		for _, name := range trouble.LimitNames() {
			all = append(all, name+"=")
		}
		return all, cobra.ShellCompDirectiveNoSpace
	})
}

// Seen is what was read: for the commands themselves Sent and Rated, for the list of cables in trouble
// the evidence.
type Seen struct {
	Sent     *counters.Counters // of files that say what ports have sent; nil: none does
	Files    []string           // that Sent is of
	Rated    *counters.Counters // of a file that has error rates alone; nil: none has
	RatedOf  string
	evidence trouble.Evidence
}

// Read reads everything that the flags name, after Check.
func (o *Flags) Read(a *console.Console, f *fabric.Fabric) (*Seen, error) {
	s := &Seen{evidence: trouble.Evidence{Fabric: f, Limits: o.limits, Time: o.During}}
	if err := o.readCounters(a, f, s); err != nil {
		return nil, err
	}
	s.evidence.Counted = s.combined()
	for _, dir := range o.Events {
		list, _, err := events.Read(dir)
		if err != nil {
			return nil, err
		}
		s.evidence.Events = append(s.evidence.Events, list...)
	}
	for _, e := range s.evidence.Events { // the end of the log is now, whenever it is read
		if e.At.After(s.evidence.Now) {
			s.evidence.Now = e.At
		}
	}
	if o.Cabling != "" {
		planned, err := input.Fabric(a, o.Cabling)
		if err != nil {
			return nil, err
		}
		s.evidence.Planned = planned
	}
	return s, nil
}

// readCounters reads the files of --measured into s: one look, or what was counted between two, and
// error rates.
func (o *Flags) readCounters(a *console.Console, f *fabric.Fabric, s *Seen) error {
	var sent []*counters.Counters
	var rated []string
	for _, name := range o.Files {
		c, err := console.ReadFile(a, name, func(r io.Reader, file string) (*counters.Counters, error) {
			return counters.Read(r, file, f)
		})
		if err != nil {
			return err
		}
		if note := c.Fit.String(); note != "" {
			a.Warn(name + ": " + note)
		}
		switch {
		case c.Ports > 0 || !c.Rated():
			sent, s.Files = append(sent, c), append(s.Files, name)
		default:
			rated, s.Rated, s.RatedOf = append(rated, name), c, name
		}
	}
	switch {
	case len(rated) > 1:
		return exit.Usage("%s have error rates alone: one of them is enough, as each covers all the time since counters were cleared", words.FirstOf(rated))
	case len(sent) > 2:
		return exit.Usage("--measured is given %d times: %s", len(o.Files), timesMeasured)
	case len(sent) == 0 && o.During > 0:
		return exit.Usage("--measured-time says how long bytes were counted, and %s has error rates alone", rated[0])
	case len(sent) == 1:
		s.Sent = sent[0]
	case len(sent) == 2:
		s.evidence.Between = true
		if s.Sent = sent[1].Since(sent[0]); s.Sent.Ports == 0 && len(s.Sent.Received) == 0 {
			return fmt.Errorf("%s and %s have no port in common that has counted on since", s.Files[0], s.Files[1])
		}
	}
	return nil
}

// combined is what is known of the ports by all files: rates are of the one that has them.
func (s *Seen) combined() *counters.Counters {
	switch {
	case s.Rated == nil:
		return s.Sent
	case s.Sent == nil:
		return s.Rated
	}
	both := *s.Sent
	both.Received = maps.Clone(s.Sent.Received)
	for c, r := range s.Rated.Received {
		counted, ok := both.Received[c]
		if !ok {
			counted = counters.Unknown()
		}
		r.Errors = counted.Errors // those of the rates are of all the time since they were cleared
		both.Received[c] = r
	}
	return &both
}

// Trouble is the list of cables in trouble, with what routes do not explain.
func (s *Seen) Trouble(waiting []explain.Finding) *result.Trouble {
	e := s.evidence
	e.Waiting = waiting
	return trouble.Find(e)
}

// Counted is counters as package explain puts them beside routes; the time is left out where it is
// not known how long a tick is.
func (o *Flags) Counted(c *counters.Counters) explain.Counted {
	counted := explain.Counted{Bytes: c.Bytes, Wait: c.Wait, Known: c.Known}
	if o.Tick > 0 {
		counted.Seconds, counted.Tick = o.During.Seconds(), o.Tick.Seconds()
	}
	return counted
}

// Known is a figure, or nil where nobody knows it.
func Known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}
