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
	"strconv"
	"time"

	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
)

// What the state folder has of tables that were handed over.
const (
	snapshots     = "installed" // a snapshot for each of the tables handed over last, the newest with the largest number
	asideFolder   = "put-aside" // a folder for each time that snapshots were put aside
	keptAside     = 5
	whyName       = "why.txt"
	questionName  = "question.request" // as the plugin sent it
	mostSaved     = 1 << 30            // bytes of a snapshot that is read back
	installedName = "installed.json"   // of versions before snapshots, below last-good
)

// snapshotName is what snapshots are called: the order in which they were written, and the number
// by which the plugin knows the tables.
var snapshotName = regexp.MustCompile(`^(\d{12})-([0-9a-f]{16})\.snapshot$`)

// snapshotFile is a snapshot in the folder, with what its name says.
type snapshotFile struct {
	name   string
	order  int
	number uint64
}

// snapshotsIn is the snapshots in the folder, the newest last.
func snapshotsIn(root *os.Root) ([]snapshotFile, error) {
	entries, err := fs.ReadDir(root.FS(), snapshots)
	var all []snapshotFile
	for _, e := range entries {
		if m := snapshotName.FindStringSubmatch(e.Name()); m != nil {
			order, _ := strconv.Atoi(m[1]) // digits by the expression, and few enough
			number, _ := strconv.ParseUint(m[2], 16, 64)
			all = append(all, snapshotFile{filepath.Join(snapshots, e.Name()), order, number})
		}
	}
	return all, err
}

// remember writes a snapshot of tables that are about to be handed over, and of those in use (nil:
// not known) if there is none: one of the two is in use from then on. Then it removes the oldest
// beyond handedKept, but for that of the tables in use.
func (s *state) remember(h, inUse *handed) error {
	all, err := snapshotsIn(s.root)
	if err != nil {
		return err
	}
	has := func(x *handed) bool {
		return slices.ContainsFunc(all, func(f snapshotFile) bool { return f.number == x.number })
	}
	order := 0
	if len(all) > 0 {
		order = all[len(all)-1].order
	}
	for _, x := range []*handed{inUse, h} {
		if x == nil || x != h && has(x) {
			continue
		}
		order++
		name := filepath.Join(snapshots, fmt.Sprintf("%012d-%s.snapshot", order, hexadecimal(x.number)))
		if err := s.whole(name, x.snapshot); err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(f snapshotFile) bool {
			older := f.number == x.number
			if older {
				err = errors.Join(err, s.remove(f.name))
			}
			return older
		})
		all = append(all, snapshotFile{name, order, x.number})
	}
	for _, f := range dropped(all, func(f snapshotFile) bool { return inUse != nil && f.number == inUse.number }) {
		err = errors.Join(err, s.remove(f.name))
	}
	return err
}

// dropped is what goes of a list: all but the last handedKept, unless it is needed.
func dropped[T any](list []T, needed func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list[:max(0, len(list)-handedKept)]), needed)
}

// aside is snapshots that are to be put aside for a bug report, and why.
type aside struct {
	at       time.Time
	why      string
	names    []string      // nil: all
	question *wire.Request // at which an internal error came up; nil: none
}

// putAside moves snapshots out of the way, and returns the folder where they are.
func (s *state) putAside(a *aside) (string, error) {
	s.serial++
	dir := filepath.Join(asideFolder, fmt.Sprintf("%s-%06d", a.at.UTC().Format("20060102T150405.000Z"), s.serial))
	err := s.root.Mkdir(dir, 0o755)
	if err == nil {
		err = s.whole(filepath.Join(dir, whyName), func(w io.Writer) error { _, err := fmt.Fprintln(w, a.why); return err })
	}
	if err == nil && a.question != nil {
		err = s.whole(filepath.Join(dir, questionName), a.question.Write)
	}
	names := a.names
	if names == nil {
		all, listErr := snapshotsIn(s.root)
		err = errors.Join(err, listErr)
		for _, f := range all {
			names = append(names, f.name)
		}
	}
	for _, name := range names {
		if moved := s.root.Rename(name, filepath.Join(dir, filepath.Base(name))); !errors.Is(moved, fs.ErrNotExist) {
			err = errors.Join(err, moved)
		}
	}
	entries, listErr := fs.ReadDir(s.root.FS(), asideFolder)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == filepath.Base(dir) }) // the clock may have been set back
	for i := 0; i <= len(entries)-keptAside; i++ {                                                           // by name, which is by time
		err = errors.Join(err, s.root.RemoveAll(filepath.Join(asideFolder, entries[i].Name())))
	}
	return dir, errors.Join(err, listErr)
}

// restore reads back what an earlier run handed over and what is drained, once the writer has opened the state folder,
// and gives it to the keeper. Run starts it beside the first questions, which wait for it (keeper.wait). It is not
// trusted: whoever continues from it has every step judged. What cannot be read is put aside.
func (s *Server) restore(dir string) {
	var all []*handed
	defer func() {
		s.keeper.restore(all)
		if len(all) > 0 {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.seen == nil {
				s.seen = all[len(all)-1].tables.Fabric
			}
		}
	}()
	if s.writer == nil {
		return
	}
	s.keeper.diskBegins()
	found := s.writer.isFound()
	s.keeper.diskEnds()
	if !found {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		s.Log.Error("the tables handed over are not known any more", "error", err)
		return
	}
	defer root.Close()
	list, err := readDrained(root)
	if err != nil {
		s.Log.Error("what is drained is not known any more", "error", err)
	}
	if past, _, err := events.Read(dir); err == nil { // else there are no events yet, or they cannot be read
		s.noteForgotten(past, list)
	}
	if len(list) > 0 {
		s.drained.set(list)
		s.showMissing()
		s.expire()
	}
	files, err := snapshotsIn(root)
	if err != nil {
		s.Log.Error("the tables handed over are not known any more", "error", err)
		return
	}
	if _, err := root.Lstat(filepath.Join(lastGood, installedName)); err == nil && len(files) == 0 {
		s.Log.Warn("the tables handed over are not known any more", "error", errOtherVersion)
	}
	replaced := make(map[*handed]uint64)
	var damaged aside
	for _, f := range files {
		h, by, err := s.restored(root, f)
		switch {
		case errors.Is(err, fs.ErrNotExist): // newer ones have taken its place meanwhile
		case err != nil:
			s.Log.Error("a snapshot of the tables handed over cannot be read; it is put aside, the others serve", "file", f.name, "error", words.FirstLine(err.Error()))
			damaged.names = append(damaged.names, f.name)
			damaged.why += f.name + ": " + err.Error() + "\n"
		default:
			all = append(all, h)
			replaced[h] = by
		}
	}
	for _, h := range all {
		if i := slices.IndexFunc(all, func(o *handed) bool { return o.number == replaced[h] }); i >= 0 && replaced[h] != h.number {
			h.since.earlier, h.since.number = all[i].tables, replaced[h]
		}
	}
	if damaged.names != nil {
		damaged.at = time.Now()
		s.writer.putAside(&damaged)
	}
}

// restored reads a snapshot back. A panic that a damaged file leads to is an error.
func (s *Server) restored(root *os.Root, f snapshotFile) (h *handed, replaced uint64, err error) {
	s.keeper.diskBegins()
	b, err := readFile(root, f.name)
	s.keeper.diskEnds()
	if err != nil {
		return nil, 0, err
	}
	err = guarded(func() error {
		h, replaced, err = readSnapshot(b)
		return err
	})
	if err == nil && h.number != f.number {
		err = fmt.Errorf("the file has the tables of number %s", hexadecimal(h.number))
	}
	return h, replaced, err
}

// readFile reads a regular file, no link, of at most mostSaved bytes.
func readFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostSaved:
		return nil, fmt.Errorf("%s is no file of at most %d bytes", name, mostSaved)
	}
	in, err := reading.OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return reading.ReadBytes(in, name, mostSaved)
}
