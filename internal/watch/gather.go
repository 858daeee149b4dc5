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
)

// The files of a look by their names, each of which may be a .gz.
const (
	ibnetdiscover = "fabric.ibnetdiscover"
	subnetList    = "opensm-subnet.lst"
	ibdiagnetNet  = "ibdiagnet2.db_csv"
)

// Networks is the files that a look reads the network from, the first that is there.
var Networks = []string{ibdiagnetNet, ibnetdiscover, subnetList}

// known is the files that may be in a look: networks, forwarding tables, of which the
// first that is there counts, lanes, service levels, adaptive routing, multicast trees.
var known = slices.Concat(Networks, tables, []string{
	"opensm-sl2vl.dump", "sl2vl.dump", "ibdiagnet2.slvl", "ibdiagnet2.vl2vl", "paths.psl", "ibdiagnet2.far", "ibdiagnet2.plft", "opensm.mcfdbs", "ibdiagnet2.mcfdbs",
})

var tables = []string{"opensm-lfts.dump", "lfts.dump", "opensm.fdbs", "ibdiagnet2.fdbs"}

// mostBytes limits a file.
const mostBytes = 4 << 30

func gathered(name string) bool { return slices.Contains(known, reading.PlainName(name)) }

// File is a file as a look saw it.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// stamp is what tells that a file was written again.
type stamp struct {
	path  string
	size  int64
	mtime time.Time
}

// source is where the files of a look come from.
type source struct{ *settings }

// stamps is the state of the files of a folder, by name. Of forwarding tables in several
// forms only one is looked at.
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
		all = append(all, stamp{path, info.Size(), info.ModTime()})
		return nil
	}
	first := slices.IndexFunc(tables, has)
	for _, e := range entries {
		plain := reading.PlainName(e.Name())
		if i := slices.Index(tables, plain); !gathered(e.Name()) || i > first {
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

// tries is how often a folder is copied whose files change meanwhile.
const tries = 5

// collected is the files of a look by name, the state in which they were, and how long it
// was waited for them to rest.
type collected struct {
	files  []File
	stamps []stamp
	waited time.Duration
}

// gather copies the files of a look into a folder once they rest. before is the state of
// those of the last look: if nothing changed since, there are no files.
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
		return g, fmt.Errorf("%s: none of the files that a look reads is in it (%s)", s.Folder, strings.Join(known, ", "))
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

// wait waits, unless the context ends.
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

func (s source) copyAll(ctx context.Context, all []stamp, into string) ([]File, error) {
	var files []File
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
		file, err := store(reading.Interruptible(ctx, io.LimitReader(in, mostBytes)), into, name)
		in.Close()
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// store writes a file of a look.
func store(r io.Reader, into, name string) (File, error) {
	if dir := filepath.Dir(name); dir != "." {
		if err := os.MkdirAll(filepath.Join(into, dir), 0o750); err != nil {
			return File{}, err
		}
	}
	out, err := os.OpenFile(filepath.Join(into, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return File{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), r)
	if err := errors.Join(err, out.Close()); err != nil {
		return File{}, err
	}
	return File{name, n, hex.EncodeToString(sum.Sum(nil))}, nil
}

// run has the commands write the files of a look.
func (s source) run(ctx context.Context, into string) ([]File, error) {
	var files []File
	for _, c := range s.commands {
		file, err := c.run(ctx, s.Timeout, into)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(c.args, " "), err)
		}
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

func (c command) run(ctx context.Context, limit time.Duration, into string) (File, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p := child.Command(ctx, c.args[0], c.args[1:]...)
	said := tail{most: 4 << 10}
	p.Stderr = &said
	out, err := p.StdoutPipe()
	if err != nil {
		return File{}, err
	}
	if err := p.Start(); err != nil {
		return File{}, err
	}
	file, err := store(io.LimitReader(out, mostBytes+1), into, c.file)
	if file.Bytes > mostBytes {
		cancel()
		err = fmt.Errorf("it printed more than %d bytes", int64(mostBytes))
	}
	switch end := p.Wait(); {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return File{}, fmt.Errorf("it did not end within %v", limit)
	case err != nil:
		return File{}, err
	case end != nil:
		return File{}, fmt.Errorf("%w%s", end, said.last())
	case file.Bytes == 0:
		return File{}, fmt.Errorf("it printed nothing%s", said.last())
	}
	return file, nil
}

// tail keeps the end of what is written to it.
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
