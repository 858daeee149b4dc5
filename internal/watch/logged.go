package watch

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/internal/reading"
)

// logged is what OpenSM's log says of its last sweeps. Unless force_log_flush is set, OpenSM keeps
// lines back until 4 KiB of them have come together or one of them is about an error; so the log may
// end before the tables in force were made.
type logged struct {
	engine string    // whose tables it says were written last; empty: it does not say
	failed []string  // engines that made none since
	at     time.Time // when it was last written to
	ahead  bool      // that was before the clock was set back, and the tables were written after it
}

// routed is the lines of OpenSM's log that name the engine whose tables it wrote, or one that
// failed.
var routed = regexp.MustCompile(`(\S+) tables configured on all switches|(\S+): cannot build (?:fwd tables|lid matrices)`)

// ofOneSweep is taken as the longest time from an engine's failure, which is in the log at once, to the dump
// of the tables that another made in its place. On a large network a sweep may take longer: then the log is
// behind, and no engine is named until OpenSM writes to it again.
const ofOneSweep = 10 * time.Second

// endOfLog is how much of the end of OpenSM's log is searched.
const endOfLog = 4 << 20

func readLog(path string) (said logged, err error) {
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
	said.at = info.ModTime()
	for _, m := range routed.FindAllSubmatch(text, -1) {
		if wrote := strings.ToLower(string(m[1])); wrote != "" {
			said.engine, said.failed = wrote, nil
		} else {
			said.failed = append(said.failed, strings.ToLower(string(m[2])))
		}
	}
	return said, nil
}

// of is the engine of tables that were written at a time, which is zero where OpenSM did not write
// them. behind: the log ends before them, and they may be anybody's.
func (l *logged) of(written time.Time, asked []string, noFallback bool) (engine string, behind bool) {
	switch {
	case l.at.IsZero(): // there is no log
		return "", false
	case l.ahead:
		return "", true
	case !l.at.Before(written):
		return l.engine, false
	case len(l.failed) == 0 || written.Sub(l.at) > ofOneSweep:
		return "", true
	case noFallback: // the tables stay
		return l.engine, false
	}
	last := l.failed[len(l.failed)-1]
	switch i := slices.IndexFunc(asked, func(name string) bool { return strings.EqualFold(name, last) }); {
	case i < 0: // OpenSM was asked for others, and which comes next is not known
		return "", true
	case i+1 < len(asked):
		return strings.ToLower(asked[i+1]), false
	}
	return fallen, false
}

// setBack says whether the clock was set back between a log's last line and tables: the log's time is still
// to come, and that of the tables is not.
func setBack(logged, written, now time.Time) bool {
	soon := now.Add(ofOneSweep)
	return !written.IsZero() && logged.After(soon) && !written.After(soon)
}

// dumped is when OpenSM dumped the tables that are among some files; zero: it did not.
func dumped(files []stamp) time.Time {
	for _, at := range files {
		if name := reading.PlainName(filepath.Base(at.path)); strings.HasPrefix(name, "opensm") && slices.Contains(tables, name) {
			return at.mtime
		}
	}
	return time.Time{}
}
