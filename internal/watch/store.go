package watch

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/shell"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/result"
)

// Names in the state folder.
const (
	looksFolder = "looks" // N.json, a look
	filesFolder = "files" // SHA256.gz, a file that looks saw
	statusName  = "status.json"
	gatherName  = ".gather" // the files of a look that is going on
)

// Store is a state folder: the looks that are kept, with the files that they saw, and the health of the watch. Exported
// methods read; the others are for the watch that has the folder.
type Store struct {
	dir  string
	root *os.Root // of dir; nil: the folder is only read
	lock *os.File // held while a watch writes; nil: the folder is only read
}

// OpenStore opens a state folder to read it.
func OpenStore(dir string) (*Store, error) {
	if info, err := os.Stat(filepath.Join(dir, looksFolder)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s: no looks are in it: weft watch --config makes them", dir)
	}
	return &Store{dir: dir}, nil
}

// takeStore opens a state folder to write in it, and makes it if it is not there. What a
// killed run left unfinished is removed.
func takeStore(dir string) (*Store, error) {
	root, lock, err := (&shell.Folder{Dir: dir, Mode: 0o750, Within: []string{looksFolder, filesFolder}, Command: "weft watch", Danger: "change what is reported"}).Take()
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, root: root, lock: lock}
	if err := s.clean(); err != nil {
		s.close()
		return nil, fmt.Errorf("state folder: %w", err)
	}
	return s, nil
}

// close gives the folder back.
func (s *Store) close() {
	s.lock.Close()
	s.root.Close()
}

// there is an error if the name of the folder does not lead to it any more, or folders in it are gone, since somebody removed
// or moved them: what is written into it then would not be found.
func (s *Store) there() error {
	held, err := s.root.Stat(".")
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	now, err := os.Stat(s.dir)
	gone := err != nil || !os.SameFile(held, now)
	for _, name := range []string{looksFolder, filesFolder} {
		_, err := s.root.Lstat(name)
		gone = gone || errors.Is(err, fs.ErrNotExist)
	}
	if gone {
		return fmt.Errorf("state folder %s was taken away, or another put in its place: it is made again", s.dir)
	}
	return nil
}

// clean removes what a killed run left unfinished, and files that no look has.
func (s *Store) clean() error {
	err := s.root.RemoveAll(gatherName)
	for _, d := range []string{".", looksFolder, filesFolder} {
		err = errors.Join(err, s.root.RemoveAll(filepath.Join(d, whole.Unfinished)))
	}
	const keepAll = 0
	return errors.Join(err, s.prune(keepAll))
}

// gatherFolder makes the empty folder for the files of a look.
func (s *Store) gatherFolder() (string, error) {
	dir := filepath.Join(s.dir, gatherName)
	return dir, whole.FullOf(errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o750)), s.dir)
}

// whole writes a file that appears under its name only when it is whole and on the disk.
func (s *Store) whole(name string, write func(io.Writer) error) error {
	return whole.Write(s.root, name, 0o640, write)
}

// put keeps a look with its files, which lie in the folder from, and removes all looks but the last keep.
func (s *Store) put(l *result.WatchLook, from string, keep int) error {
	for _, f := range l.Files {
		if err := s.putFile(f, from); err != nil {
			return err
		}
	}
	if err := s.whole(filepath.Join(looksFolder, lookName(l.Number)), whole.JSON(l)); err != nil {
		return err
	}
	return s.prune(keep)
}

// lookName is the file of a look in looksFolder.
func lookName(number int) string { return fmt.Sprintf("%09d.json", number) }

// packedName is the file in the state folder with the content of a file that a look saw.
func packedName(f result.LookFile) string { return filepath.Join(filesFolder, f.SHA256+".gz") }

// putFile keeps the content of a file of a look, which lies in the folder from, unless it is kept already.
func (s *Store) putFile(f result.LookFile, from string) error {
	if _, err := os.Stat(filepath.Join(s.dir, packedName(f))); err == nil {
		return nil
	}
	in, err := reading.OpenPlain(filepath.Join(from, f.Name))
	if err != nil {
		return err
	}
	defer in.Close()
	return s.whole(packedName(f), func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		_, err = io.Copy(z, in)
		return errors.Join(err, z.Close())
	})
}

// lookFile is what files of looks are called (lookName).
var lookFile = regexp.MustCompile(`^\d{9}\.json$`)

// Numbers is the numbers of the looks, the oldest first.
func (s *Store) Numbers() ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, looksFolder))
	var all []int
	for _, e := range entries {
		if lookFile.MatchString(e.Name()) {
			n, _ := strconv.Atoi(strings.TrimSuffix(e.Name(), ".json"))
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, err
}

// Look is a look by its number; 0 is the last one, -1 that before it, and so on.
func (s *Store) Look(number int) (*result.WatchLook, error) {
	all, err := s.Numbers()
	if err != nil {
		return nil, err
	}
	if i := len(all) - 1 + number; number <= 0 && i >= 0 {
		number = all[i]
	}
	if len(all) == 0 || !slices.Contains(all, number) {
		return nil, &noLook{number, all}
	}
	text, err := readOwn(filepath.Join(s.dir, looksFolder, lookName(number)))
	if err != nil {
		return nil, err
	}
	var l result.WatchLook
	err = json.Unmarshal(text, &l)
	if err == nil {
		err = check(&l, number)
	}
	if err != nil {
		return nil, fmt.Errorf("look %d: %w", number, err)
	}
	return &l, nil
}

// mostOwn limits a look, and the health, as they are kept: they are read whole.
const mostOwn = 64 << 20

// readOwn reads a small file of the state folder.
func readOwn(name string) ([]byte, error) {
	in, err := reading.OpenPlain(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return reading.ReadAll(in, name, mostOwn)
}

// contentSum is what File.SHA256 looks like.
var contentSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// check is an error if a look that was read from a state folder is not the one of this number, or names files that no
// look could have: Files makes files by these names.
func check(l *result.WatchLook, number int) error {
	if l.Number != number {
		return fmt.Errorf("it is look %d by its text", l.Number)
	}
	for _, f := range l.Files {
		if !isLookFile(f.Name) && (l.Ethernet == nil || !localName(f.Name)) || !contentSum.MatchString(f.SHA256) {
			return fmt.Errorf("%q with sum %q is no file of a look", f.Name, f.SHA256)
		}
	}
	return nil
}

// noLook is the error of a look that is not there, which fs.ErrNotExist matches; all is those that are.
type noLook struct {
	number int
	all    []int
}

func (e *noLook) Error() string {
	kept := ": none is kept"
	if n := len(e.all); n > 0 {
		kept = fmt.Sprintf("; %d to %d are kept", e.all[0], e.all[n-1])
	}
	return fmt.Sprintf("there is no look %d%s", e.number, kept)
}

func (e *noLook) Is(target error) bool { return target == fs.ErrNotExist }

// Files puts the files of a look into a folder, for a reader: each as a link to the packed file that is kept, or
// unpacked once if the look saw it packed already.
func (s *Store) Files(l *result.WatchLook, into string) error {
	for _, f := range l.Files {
		if dir := filepath.Dir(f.Name); dir != "." {
			if err := os.MkdirAll(filepath.Join(into, dir), 0o750); err != nil {
				return err
			}
		}
		name := f.Name + ".gz"
		if f.Name != reading.PlainName(f.Name) { // packed when the look saw it, and so twice now
			if err := s.unpack(f, filepath.Join(into, f.Name)); err != nil {
				return err
			}
			continue
		}
		at, err := filepath.Abs(filepath.Join(s.dir, packedName(f)))
		if err == nil {
			err = os.Symlink(at, filepath.Join(into, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unpack writes the content of a file of a look, as the look saw it.
func (s *Store) unpack(f result.LookFile, to string) error {
	in, err := reading.OpenPlain(filepath.Join(s.dir, packedName(f)))
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(z, mostBytes))
	return errors.Join(err, out.Close())
}

// prune removes all looks except the last keep (0: no look), and then the files that no look has. Where a look cannot
// be read no file goes.
func (s *Store) prune(keep int) error {
	all, err := s.Numbers()
	if err != nil {
		return err
	}
	for keep > 0 && len(all) > keep {
		if err := os.Remove(filepath.Join(s.dir, looksFolder, lookName(all[0]))); err != nil {
			return err
		}
		all = all[1:]
	}
	used := map[string]bool{}
	for _, n := range all {
		l, err := s.Look(n)
		if err != nil { // which files it saw is not known: none is removed
			return nil //nolint:nilerr // a damaged look does not end the watch
		}
		for _, f := range l.Files {
			used[filepath.Base(packedName(f))] = true
		}
	}
	entries, err := os.ReadDir(filepath.Join(s.dir, filesFolder))
	for _, e := range entries {
		if !used[e.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, filesFolder, e.Name())))
		}
	}
	return err
}

// Health is how the watch that writes in the folder is, or was when it ended; nil without an error: none has written.
func (s *Store) Health() (*result.WatchStatus, error) {
	text, err := readOwn(filepath.Join(s.dir, statusName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var status result.WatchStatus
	if err == nil {
		err = json.Unmarshal(text, &status)
	}
	if err != nil {
		return &status, fmt.Errorf("%s: %w", statusName, err)
	}
	if t := status.Trouble; t != nil { // whoever names a cable says why
		t.Cables = slices.DeleteFunc(t.Cables, func(c result.CableInTrouble) bool { return len(c.Signs) == 0 })
	}
	return &status, nil
}
