package daemon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/shell"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/result"
)

// Names in the state folder.
const (
	lastGood     = "last-good"
	before       = "before" // link to the tables handed over before those
	tablesPrefix = "tables-"
	refusals     = "refusals"
	unfinished   = whole.Unfinished // also at the end of a link's name
	keptRefusals = 100
)

// refusalName is what files in refusals are called; others are left alone.
var refusalName = regexp.MustCompile(`^\d{8}T\d{6}\.\d{3}Z-\d{6,}\.json$`)

// state is the state folder. Whatever is done in it is done below its handle, so
// that no symbolic link leads out of it.
type state struct {
	dir    string
	root   *os.Root
	lock   *os.File
	serial int // of refusals, tables and put-aside folders of this run, to tell apart those of one second
}

// openState makes the folder or takes over one that is there, if nobody else can
// write in it, and removes what a killed run left unfinished.
func openState(dir string) (*state, error) {
	root, lock, err := (&shell.Folder{Dir: dir, Mode: 0o755, Within: []string{refusals, snapshots, asideFolder}, Command: "weft serve", Danger: "put other tables in place of the proven ones"}).Take()
	if err != nil {
		return nil, err
	}
	s := &state{dir: dir, root: root, lock: lock}
	if err := s.clean(); err != nil {
		s.close()
		return nil, fmt.Errorf("state folder: %w", err)
	}
	return s, nil
}

// there is an error if the name of the folder does not lead to it any more, since somebody removed or moved it: what
// is written into it then would not be found.
func (s *state) there() error {
	held, err := s.root.Stat(".")
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	if now, err := os.Stat(s.dir); err != nil || !os.SameFile(held, now) {
		return fmt.Errorf("state folder %s was taken away, or another put in its place: it is made again", s.dir)
	}
	return nil
}

// close gives the folder back.
func (s *state) close() {
	s.lock.Close()
	s.root.Close()
}

// clean removes what a killed run left: files and links without their final name,
// and folders of tables that neither last-good nor before leads to.
func (s *state) clean() error {
	err := errors.Join(s.remove(lastGood+unfinished), s.remove(before+unfinished))
	for _, dir := range []string{refusals, snapshots} {
		entries, listErr := fs.ReadDir(s.root.FS(), dir)
		err = errors.Join(err, listErr)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), unfinished) {
				err = errors.Join(err, s.remove(filepath.Join(dir, e.Name())))
			}
		}
	}
	last, linkErr := s.linked(lastGood)
	earlier, otherErr := s.linked(before)
	if linkErr := errors.Join(linkErr, otherErr); linkErr != nil {
		return errors.Join(err, linkErr)
	}
	return errors.Join(err, s.sweepOut(last, earlier))
}

// linked is the folder that last-good or before leads to, empty if there is none.
func (s *state) linked(name string) (string, error) {
	info, err := s.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink == 0:
		return "", fmt.Errorf("%s is %s, and no link to tables that were handed over, as weft makes it; nothing was touched: move it away",
			filepath.Join(s.root.Name(), name), whole.KindOf(info.Mode()))
	}
	return s.root.Readlink(name)
}

// remove removes a file or link, if it is there.
func (s *state) remove(name string) error {
	if err := s.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// refusal writes why there were no tables.
func (s *state) refusal(r *result.StatusSweep) error {
	s.serial++
	name := fmt.Sprintf("%s-%06d.json", r.At.Format("20060102T150405.000Z"), s.serial)
	if err := s.whole(filepath.Join(refusals, name), whole.JSON(r)); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), refusals)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !refusalName.MatchString(e.Name()) || e.Name() == name }) // the clock may have been set back
	for i := 0; i <= len(entries)-keptRefusals; i++ {                                                                                // by name, which is by time
		err = errors.Join(err, s.remove(filepath.Join(refusals, entries[i].Name())))
	}
	return err
}

// errNewer ends the writing of tables when newer ones wait.
var errNewer = errors.New("newer tables wait to be written")

// unless is a writer that stops when newer tables wait.
type unless struct {
	io.Writer
	newer func() bool
}

func (u unless) Write(b []byte) (int, error) {
	if u.newer() {
		return 0, errNewer
	}
	return u.Writer.Write(b)
}

// tables writes the folder of the tables for people, and has last-good lead to it and before to the last one. On a large
// fabric that is gigabytes of text: it ends with errNewer as soon as newer says that newer tables wait.
func (s *state) tables(r *result.StatusSweep, p *handed, newer func() bool) error {
	s.serial++
	dir := folderName(r.At.Format("20060102T150405.000Z"), s.serial, p.number)
	last, _ := s.root.Readlink(lastGood) // none before the first
	err := s.root.Mkdir(dir, 0o755)
	if err == nil {
		err = s.root.Chmod(dir, 0o755) // whatever the umask
	}
	for _, file := range p.files(r, last) {
		if err == nil {
			err = s.whole(filepath.Join(dir, file.Name), func(w io.Writer) error { return file.Write(unless{w, newer}) })
		}
	}
	if err == nil && last != "" {
		err = s.link(last, before)
	}
	if err == nil {
		err = s.link(dir, lastGood)
	}
	if err != nil {
		return errors.Join(err, s.root.RemoveAll(dir))
	}
	return s.sweepOut(dir, last)
}

// link has the link of a name lead to a folder of tables, at once.
func (s *state) link(dir, name string) error {
	err := errors.Join(s.remove(name+unfinished), s.root.Symlink(dir, name+unfinished))
	if err == nil {
		err = s.root.Rename(name+unfinished, name)
	}
	return err
}

// sweepOut removes all folders of tables except these.
func (s *state) sweepOut(keep ...string) error {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), tablesPrefix) && !slices.Contains(keep, e.Name()) {
			err = errors.Join(err, s.root.RemoveAll(e.Name()))
		}
	}
	return err
}

// whole writes a file that everybody may read.
func (s *state) whole(path string, write func(io.Writer) error) error {
	return whole.Write(s.root, path, 0o644, write)
}
