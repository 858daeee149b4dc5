package watch

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/result"
)

// logged is what OpenSM's log says of its last sweeps, as readLog reads it and readReference completes it. Unless
// force_log_flush is set, OpenSM keeps lines back until 4 KiB of them have come together or one of them is about
// an error; so the log may end before the tables in force were made.
type logged struct {
	result.OpenSMLog
	ahead   bool     // it was written to before the clock was set back, and the tables were written after that
	ruled   bool     // it says whether tables fit the network, by its last sweep
	state   bool     // it says whether OpenSM is master
	notices []notice // what it says of links and ports, the oldest first
}

// takeOver fills in, where the log says nothing itself, what it said when it was read last, before: it may have been
// rotated since. written is when the tables at hand were: if that is after before.At, what it said of engines and
// sweeps was about others.
func (l *logged) takeOver(before *result.OpenSMLog, written time.Time) {
	if before == nil || before.Path != l.Path {
		return
	}
	if l.Given.IsZero() {
		l.Given, l.Exact = before.Given, before.Exact
	}
	if l.Swept.IsZero() {
		l.Swept = before.Swept
	}
	if !l.state {
		l.Standby = before.Standby
	}
	if before.At.Before(written) {
		return
	}
	if l.At.IsZero() { // OpenSM has not begun a new one yet
		l.At = before.At
	}
	if l.Engine == "" && len(l.Failed) == 0 {
		l.Engine, l.Failed = before.Engine, before.Failed
	}
	if !l.ruled {
		l.Lack = before.Lack
		l.clearLack()
	}
}

// clearLack clears Lack where an engine other than weft has made tables since.
func (l *logged) clearLack() {
	if l.Engine != "" && l.Engine != "weft" && len(l.Failed) == 0 {
		l.Lack = ""
	}
}

// engineLine matches lines of OpenSM's log that name the engine whose tables it wrote, or one that failed.
var engineLine = regexp.MustCompile(`(\S+) tables configured on all switches|(\S+): cannot build (?:fwd tables|lid matrices)`)

// fitLine matches lines of weft's plugin that say whether tables fit the network: ERR W001 and W002 that
// none do, the others that some do.
var fitLine = regexp.MustCompile(`(?m)weft: (?:ERR (W00[12]): no tables for (.*)|(ERR W003|sweep \d+: .* proven).*)$`)

// stateLine matches lines of OpenSM's log that tell which state it enters, with their times.
var stateLine = regexp.MustCompile(`(?m)^(\w{3} [ \d]\d \d\d:\d\d:\d\d) .*Entering (\S+) state`)

// sweptLine matches the lines of OpenSM's log that end a heavy sweep, with their times. What a sweep dumps it has dumped then.
var sweptLine = regexp.MustCompile(`(?m)^(\w{3} [ \d]\d \d\d:\d\d:\d\d) .*-> SUBNET UP\s*$`)

// ofOneSweep is taken as the longest time from an engine's failure, which is in the log at once, to the dump
// of the tables that another made in its place. On a large network a sweep may take longer: then the log is
// behind, and no engine is named until OpenSM writes to it again.
const ofOneSweep = 10 * time.Second

// endOfLog is how much of the end of OpenSM's log is searched.
const endOfLog = 4 << 20

// readLog reads the end of OpenSM's log.
func readLog(path string) (said logged, err error) {
	said.Path = path
	in, err := reading.OpenPlain(path)
	if err != nil {
		return said, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return said, err
	}
	text, err := reading.ReadBytes(io.NewSectionReader(in, max(0, info.Size()-endOfLog), endOfLog), path, endOfLog)
	if err != nil {
		return said, err
	}
	said.At = info.ModTime()
	for _, m := range engineLine.FindAllSubmatch(text, -1) {
		if wrote := strings.ToLower(string(m[1])); wrote != "" {
			said.Engine, said.Failed = wrote, nil
		} else {
			said.Failed = append(said.Failed, strings.ToLower(string(m[2])))
		}
	}
	for _, m := range fitLine.FindAllSubmatch(text, -1) {
		said.ruled = true
		if said.Lack = ""; len(m[1]) > 0 {
			said.Lack = reading.Printable(string(m[1]) + ": no tables for " + string(m[2]))
		}
	}
	if all := usedLine.FindAllSubmatch(text, -1); len(all) > 0 {
		last := all[len(all)-1]
		said.Given = timeOf(string(last[1]), said.At)
		if micros, err := strconv.Atoi(string(last[2])); err == nil && !said.Given.IsZero() {
			said.Given, said.Exact = said.Given.Add(time.Duration(micros)*time.Microsecond), true
		}
	}
	if all := stateLine.FindAllSubmatch(text, -1); len(all) > 0 {
		last := all[len(all)-1]
		if said.state = true; string(last[2]) == "STANDBY" {
			said.Standby = timeOf(string(last[1]), said.At)
		}
	}
	if all := sweptLine.FindAllSubmatch(text, -1); len(all) > 0 {
		said.Swept = timeOf(string(all[len(all)-1][1]), said.At)
	}
	said.notices = noticesIn(text, said.At)
	said.clearLack()
	return said, nil
}

// notice is a line of OpenSM's log about a link or a port.
type notice struct {
	at   time.Time
	guid uint64 // of the switch one of whose links changed, or of the port of a host
	what noticed
}

// noticed is what a line says of the link or the port.
type noticed uint8

const (
	linkChanged noticed = iota
	portRemoved
	portFound
)

// noticeLine matches these lines, with their times.
var noticeLine = regexp.MustCompile(`(?m)^(\w{3} [ \d]\d \d\d:\d\d:\d\d) (\d{6})?.*(?:"Link state change" from switch LID \d+, GUID|(Removed port|Discovered new port) with GUID:) ?0x([0-9a-f]{1,16})\b`)

// noticesIn is what a log says of links and ports; it was last written to at a time.
func noticesIn(text []byte, written time.Time) (all []notice) {
	for _, m := range noticeLine.FindAllSubmatch(text, -1) {
		n := notice{at: timeOf(string(m[1]), written)}
		if micros, err := strconv.Atoi(string(m[2])); err == nil {
			n.at = n.at.Add(time.Duration(micros) * time.Microsecond)
		}
		n.guid, _ = strconv.ParseUint(string(m[4]), 16, 64) // by the expression it is a number
		switch string(m[3]) {
		case "Removed port":
			n.what = portRemoved
		case "Discovered new port":
			n.what = portFound
		}
		all = append(all, n)
	}
	return all
}

// usedLine matches lines of weft's plugin that tables are used, with their times.
var usedLine = regexp.MustCompile(`(?m)^(\w{3} [ \d]\d \d\d:\d\d:\d\d) (\d{6})?.*weft: sweep \d+: .* proven;`)

// timeOf is the time of a line, by the clock of this host.
func timeOf(text string, written time.Time) time.Time { return timeIn(time.Local, text, written) }

// timeIn is the time of a line, which has no year: the last such time up to a day after the log was written to; zero
// for what is no time. Of an hour that comes twice, where summer ends, it is the first one if the second is still to come.
func timeIn(zone *time.Location, text string, written time.Time) time.Time {
	t, err := time.ParseInLocation(time.Stamp, text, zone)
	if err != nil {
		return time.Time{}
	}
	t = t.AddDate(written.Year(), 0, 0)
	if t.After(written.Add(24 * time.Hour)) {
		t = t.AddDate(-1, 0, 0)
	}
	if later := t.Add(time.Hour); sameClock(t, later) {
		t = later
	}
	if earlier := t.Add(-time.Hour); t.After(written) && sameClock(t, earlier) {
		t = earlier
	}
	return t
}

// sameClock reports whether a clock on the wall, which is set back where summer ends, shows the same at two times.
func sameClock(a, b time.Time) bool { return a.Format(time.Stamp) == b.Format(time.Stamp) }

// sinceDump reports whether OpenSM has written tables of weft's into switches since it dumped tables, at a time: it dumps
// none when it takes a step of a plan.
func (l *logged) sinceDump(written time.Time) bool {
	margin := dumpTime
	if l.Exact { // the dump of a sweep ends after its line, and the next step is taken no sooner than a tenth of a second later
		margin = coarse
	}
	return !l.ahead && !written.IsZero() && !l.Given.IsZero() && l.Given.Sub(written) > margin
}

// dumpTime is taken as the longest time from the line to the end of the dump, where times are in whole seconds; coarse
// is how far the time of a file may lie behind that of the clock.
const (
	dumpTime = 2 * time.Second
	coarse   = 20 * time.Millisecond
)

// leaveStandby clears Standby where OpenSM dumped tables, at a time, after it went: only a master does.
func (l *logged) leaveStandby(written time.Time) {
	if written.Sub(l.Standby) > dumpTime {
		l.Standby = time.Time{}
	}
}

// dumpAfter is taken as the longest time from the last dump of a sweep to the line that ends it.
const dumpAfter = time.Minute

// sweptSince is when a heavy sweep ended that dumped nothing, where dumps were written at a time; zero: none did.
func (l *logged) sweptSince(written time.Time) time.Time {
	swept := l.Swept.Local()
	if earlier := swept.Add(-time.Hour); sameClock(swept, earlier) { // it may be either
		swept = earlier
	}
	if l.ahead || written.IsZero() || swept.Sub(written) <= dumpAfter {
		return time.Time{}
	}
	return swept
}

// lackAt is why tables that OpenSM wrote at a time are of before: since then it had none that fit the network. Empty: the
// log does not say so.
func (l *logged) lackAt(written time.Time) string {
	if l.At.Before(written) || l.ahead {
		return ""
	}
	return l.Lack
}

// engineOf is the engine that made tables written at a time, which is zero where OpenSM did not write them. asked are
// the engines that OpenSM was asked for, in order; with noFallback it keeps its tables where all of them fail.
// Empty: it is not known; and if behind is true, because the log ends before the tables were made.
func (l *logged) engineOf(written time.Time, asked []string, noFallback bool) (engine string, behind bool) {
	switch {
	case l.At.IsZero(): // there is no log
		return "", false
	case l.ahead:
		return "", true
	case !l.At.Before(written):
		return l.Engine, false
	case len(l.Failed) == 0 || written.Sub(l.At) > ofOneSweep:
		return "", true
	case noFallback: // the tables stay
		return l.Engine, false
	}
	last := l.Failed[len(l.Failed)-1]
	switch i := slices.IndexFunc(asked, func(name string) bool { return strings.EqualFold(name, last) }); {
	case i < 0: // OpenSM was asked for others, and which comes next is not known
		return "", true
	case i+1 < len(asked):
		return strings.ToLower(asked[i+1]), false
	}
	return fallen, false
}

// setBack reports whether the clock was set back between a log's last line and tables: the log's time is still
// to come, and that of the tables is not.
func setBack(logged, written, now time.Time) bool {
	soon := now.Add(ofOneSweep)
	return !written.IsZero() && logged.After(soon) && !written.After(soon)
}

// dumped is when OpenSM dumped the tables that are among some files; zero: there are none of its dumps.
func dumped(files []stamp) time.Time {
	at, _ := dumpedBy(files)
	return at
}

// dumpedBy is dumped, and which of managers dumped them.
func dumpedBy(files []stamp) (time.Time, *manager) {
	for _, at := range files {
		name := reading.PlainName(filepath.Base(at.path))
		if !slices.Contains(tableFiles, name) {
			continue
		}
		for i, m := range managers {
			if strings.HasPrefix(name, m.process) {
				return at.mtime, &managers[i]
			}
		}
	}
	return time.Time{}, nil
}
