package daemon

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/psl"
	"github.com/weft-fabric/weft/format/slvl"
)

// Names in the state folder.
const (
	lastGood     = "last-good"
	tablesPrefix = "tables-"
	refusals     = "refusals"
	keptRefusals = 100
)

// state is the state folder; nil is none.
type state struct {
	dir    string
	number int // of refusals in this run, to tell apart those of one second
}

func newState(dir string) (*state, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(filepath.Join(dir, refusals), 0o755); err != nil {
		return nil, fmt.Errorf("daemon: state folder: %w", err)
	}
	return &state{dir: dir}, nil
}

// refusal writes why there were no tables.
func (s *state) refusal(r *Sweep) error {
	if s == nil {
		return nil
	}
	s.number++
	dir := filepath.Join(s.dir, refusals)
	name := fmt.Sprintf("%s-%06d.json", r.At.Format("20060102T150405.000Z"), s.number)
	if err := whole(filepath.Join(dir, name), asJSON(r)); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir) // by name, which is by time
	for i := 0; i < len(entries)-keptRefusals; i++ {
		err = errors.Join(err, os.Remove(filepath.Join(dir, entries[i].Name())))
	}
	return err
}

// tables writes the folder of the tables and turns the link to it.
func (s *state) tables(r *Sweep, p *proven) error {
	if s == nil {
		return nil
	}
	dir, err := os.MkdirTemp(s.dir, tablesPrefix+r.At.Format("20060102T150405Z-"))
	if err != nil {
		return err
	}
	f, t := p.tables.Fabric, p.tables
	err = os.Chmod(dir, 0o755)
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"lfts.dump", func(w io.Writer) error { return lft.Write(w, f, t.Forwarding, lft.PortGUIDs) }},
		{"sl2vl.dump", func(w io.Writer) error { return slvl.Write(w, f, t.Lanes.SL2VL, slvl.Dump) }},
		{"paths.psl", func(w io.Writer) error { return psl.Write(w, t, psl.Compact) }},
		{"certificate", func(w io.Writer) error { return certificate.Write(w, f, p.verdict.Certificate) }},
		{"sweep.json", asJSON(r)},
	} {
		if err == nil {
			err = whole(filepath.Join(dir, file.name), file.write)
		}
	}
	link := filepath.Join(s.dir, lastGood)
	if err == nil {
		os.Remove(link + ".new") // of a run that was killed
		err = errors.Join(os.Symlink(filepath.Base(dir), link+".new"), os.Rename(link+".new", link))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return s.sweepOut(filepath.Base(dir))
}

// sweepOut removes the folders that last-good does not lead to.
func (s *state) sweepOut(keep string) error {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), tablesPrefix) && e.Name() != keep {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, e.Name())))
		}
	}
	return err
}

func asJSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
}

// whole writes a file under another name and renames it.
func whole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new.*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once renamed
	out := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(f.Chmod(0o644), write(out), out.Flush(), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
