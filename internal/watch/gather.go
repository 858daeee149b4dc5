package watch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/internal/child"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/result"
)

// Names of files that a look reads the network from, each of which may be a .gz.
const (
	ibnetdiscover = "fabric.ibnetdiscover"
	subnetList    = "opensm-subnet.lst"
	nvlinkList    = "nvlsm-subnet.lst" // of NVLSM, the OpenSM of NVLink switches
	ibdiagnetNet  = "ibdiagnet2.db_csv"
)

// Networks is the files that a look reads the network from: of those that are there, the first one.
var Networks = []string{ibdiagnetNet, ibnetdiscover, subnetList, nvlinkList}

// lookFiles is the names of files that may be in a look of InfiniBand: networks, forwarding tables, lanes, service
// levels, adaptive routing, multicast trees.
var lookFiles = slices.Concat(Networks, tableFiles, []string{
	"opensm-sl2vl.dump", "sl2vl.dump", "ibdiagnet2.slvl", "ibdiagnet2.vl2vl", "paths.psl", "ibdiagnet2.far", "ibdiagnet2.plft", "opensm.mcfdbs", "nvlsm.mcfdbs", "ibdiagnet2.mcfdbs",
})

// tableFiles is forwarding tables in several forms, of which a look has the first that is there.
var tableFiles = []string{"opensm-lfts.dump", "lfts.dump", "opensm.fdbs", "nvlsm.fdbs", "ibdiagnet2.fdbs"}

// mostBytes is how long a file of a look may be.
const mostBytes = 4 << 30

// isLookFile reports whether a file of a folder, maybe packed, is one that a look has.
func isLookFile(name string) bool { return slices.Contains(lookFiles, reading.PlainName(name)) }

// stamp is the state of a file: another one tells that it was written again.
type stamp struct {
	path  string
	size  int64
	mtime time.Time
}

// source is where the files of a look come from.
type source struct{ *settings }

// stamps is the stamps of the files that a look would copy, by name.
func (s source) stamps() ([]stamp, error) {
	if s.Ethernet != "" {
		return s.ethernetStamps()
	}
	entries, err := os.ReadDir(s.Folder)
	if err != nil {
		return nil, err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return reading.PlainName(e.Name()) == name })
	}
	var all []stamp
	add := func(path string) error {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went away just now
			return nil
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is no file", path)
		case info.Size() > mostBytes:
			return fmt.Errorf("%s has more than %d bytes", path, int64(mostBytes))
		}
		all = append(all, stamp{path: path, size: info.Size(), mtime: info.ModTime()})
		return nil
	}
	first := slices.IndexFunc(tableFiles, has) // the form of forwarding tables that counts
	for _, e := range entries {
		plain := reading.PlainName(e.Name())
		if i := slices.Index(tableFiles, plain); !isLookFile(e.Name()) || i > first { // no form of tables has i = -1
			continue
		}
		if s.Fabric != "" && (plain == ibnetdiscover || plain == ibdiagnetNet) {
			continue
		}
		if err := add(filepath.Join(s.Folder, e.Name())); err != nil {
			return nil, err
		}
	}
	if s.Fabric != "" {
		if err := add(s.Fabric); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// tries is how often gather copies a folder whose files change meanwhile, and how often see (watch.go) begins a look anew whose
// tables differ from those expected.
const tries = 5

// collected is what gather has found.
type collected struct {
	files  []result.LookFile // by name; nil: nothing changed
	stamps []stamp           // of these files, as they were copied; nil for those of commands
	waited time.Duration     // spent on waiting for files to rest
}

// gather copies the files of a look into a folder once they rest, or has the commands write them there. before is the
// stamps of the last look: if they are the same now, there are no files. nil: copy them in any case.
func (s source) gather(ctx context.Context, before []stamp, into string) (g collected, err error) {
	if len(s.commands) > 0 {
		g.files, err = s.run(ctx, into)
		return g, err
	}
	if g.stamps, err = s.stamps(); err != nil || before != nil && slices.Equal(g.stamps, before) {
		return g, err
	}
	if len(g.stamps) == 0 {
		if s.Ethernet != "" {
			return g, fmt.Errorf("%s: no file of a device is in it, such as leaf1.route.json", s.Ethernet)
		}
		return g, fmt.Errorf("%s: none of the files that a look reads is in it (%s)", s.Folder, strings.Join(lookFiles, ", "))
	}
	for range tries {
		seen := g.stamps
		if err := wait(ctx, s.Settle); err != nil {
			return g, err
		}
		g.waited += s.Settle
		if g.stamps, err = s.stamps(); err != nil {
			return g, err
		}
		if !slices.Equal(g.stamps, seen) {
			continue
		}
		if g.files, err = s.copyAll(ctx, g.stamps, into); err != nil {
			return g, whole.Full(err, into, "a look", bytesOf(g.stamps))
		}
		if seen, err = s.stamps(); err != nil || slices.Equal(seen, g.stamps) {
			return g, err
		}
		g.stamps = seen
		for _, f := range g.files {
			if err := os.Remove(filepath.Join(into, f.Name)); err != nil {
				return g, err
			}
		}
	}
	return g, fmt.Errorf("%s: its files change all the time: %d times they did not rest for %v", cmp.Or(s.Ethernet, s.Folder), tries, s.Settle)
}

// wait waits for a time, or until the context ends, whose error it returns then.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// bytesOf is how long files are together.
func bytesOf(files []stamp) (n int64) {
	for _, at := range files {
		n += at.size
	}
	return n
}

// copyAll copies files into a folder, under the names that they have in a look.
func (s source) copyAll(ctx context.Context, all []stamp, into string) ([]result.LookFile, error) {
	var files []result.LookFile
	for _, at := range all {
		name := s.lookFileName(at.path)
		if at.path == s.Fabric {
			name = ibnetdiscover // whatever kind of network file it is: readers look inside
			name += strings.TrimPrefix(at.path, reading.PlainName(at.path))
		}
		in, err := reading.OpenPlain(at.path)
		if err != nil {
			return nil, err
		}
		file, err := writeCopy(reading.Interruptible(ctx, io.LimitReader(in, mostBytes)), into, name)
		in.Close()
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// writeCopy writes a file of a look into a folder.
func writeCopy(r io.Reader, into, name string) (result.LookFile, error) {
	if dir := filepath.Dir(name); dir != "." {
		if err := os.MkdirAll(filepath.Join(into, dir), 0o750); err != nil {
			return result.LookFile{}, err
		}
	}
	out, err := os.OpenFile(filepath.Join(into, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return result.LookFile{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), r)
	if err := errors.Join(err, out.Close()); err != nil {
		return result.LookFile{}, err
	}
	return result.LookFile{Name: name, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// run has all commands write the files of a look into a folder.
func (s source) run(ctx context.Context, into string) ([]result.LookFile, error) {
	var files []result.LookFile
	for _, c := range s.commands {
		file, err := c.run(ctx, s.Timeout, into)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(c.args, " "), err)
		}
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b result.LookFile) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// run writes what a command prints into its file. It fails if the command does, takes longer than limit, or prints
// nothing or too much.
func (c command) run(ctx context.Context, limit time.Duration, into string) (result.LookFile, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p := child.Command(ctx, c.args[0], c.args[1:]...)
	said := tail{most: 4 << 10}
	p.Stderr = &said
	out, err := p.StdoutPipe()
	if err != nil {
		return result.LookFile{}, err
	}
	if err := p.Start(); err != nil {
		return result.LookFile{}, err
	}
	file, err := writeCopy(io.LimitReader(out, mostBytes+1), into, c.file)
	if file.Bytes > mostBytes {
		err = fmt.Errorf("it printed more than %d bytes", int64(mostBytes))
	}
	if err != nil && ctx.Err() == nil {
		cancel() // nobody reads what it prints any more, so that it might wait for that
	}
	end := p.Wait() // it may have closed its output and go on
	if err := whyFailed(err, ctx.Err(), end, limit, said.last()); err != nil {
		return result.LookFile{}, err
	}
	if file.Bytes == 0 {
		return result.LookFile{}, fmt.Errorf("it printed nothing%s", said.last())
	}
	return file, nil
}

// whyFailed is the error of a command by what went wrong: keeping its output, its time, or itself as it ended. Output
// that cannot be kept comes first: a disk that keeps a command waiting until its time is over is why it did not end.
// Only a pipe that was closed since the time was over says nothing by itself.
func whyFailed(keeping, late, end error, limit time.Duration, said string) error {
	switch {
	case keeping != nil && !errors.Is(keeping, os.ErrClosed):
		return keeping
	case errors.Is(late, context.DeadlineExceeded):
		return fmt.Errorf("it did not end within %v", limit)
	case keeping != nil:
		return keeping
	case end != nil:
		return fmt.Errorf("%w%s", end, said)
	}
	return nil
}

// tail keeps the last most bytes of what is written to it: what a program says before it fails.
type tail struct {
	most int
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-t.most):]
	return len(p), nil
}

// last is the last line, as the end of a sentence; empty if nothing was said.
func (t *tail) last() string {
	lines := bytes.Split(bytes.TrimSpace(t.kept), []byte("\n"))
	if line := string(lines[len(lines)-1]); line != "" {
		return ": " + line
	}
	return ""
}
