// Package output writes files and folders that appear whole or not at all, whatever
// becomes of the process.
package output

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/opensm/deploy"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/internal/visible"
	"github.com/weft-fabric/weft/internal/whole"
)

// WriteFile writes a file whole or not at all: under another name, then renamed.
// - is standard output; names that end in .gz are compressed. What is no file,
// such as a pipe or a device, stays what it is and is written into.
func WriteFile(c *console.Console, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(c.Stdout)
	}
	compress := strings.HasSuffix(name, ".gz")
	at := name
	switch info, err := os.Stat(name); {
	case name == "":
		return exit.Usage("the name of the output file is empty; - is standard output")
	case err != nil: // nothing there yet
	case info.IsDir():
		return fmt.Errorf("%s is a directory; the output is a file", name)
	case !info.Mode().IsRegular():
		f, err := openWaiting(c.Context, name)
		if err != nil {
			return Explain(name, err)
		}
		defer context.AfterFunc(c.Context, func() { _ = f.SetWriteDeadline(time.Now()) })() // of a pipe that nobody reads; others have none
		return Explain(name, fill(c.Context, f, compress, write))
	default:
		if err := linkOfAnother(name); err != nil {
			return err
		}
		if at, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	clearUnfinished(at)
	u, err := NewUnfinished(at, false)
	if err != nil {
		return Explain(name, err)
	}
	defer u.Discard()                                                // nothing once renamed
	f, err := os.OpenFile(u.Path, os.O_WRONLY|syscall.O_NOFOLLOW, 0) // where others can write too, it may be another file by now
	if err != nil {
		return Explain(name, err)
	}
	if err := errors.Join(readable(f, 0o644), fill(c.Context, f, compress, write)); err != nil {
		return Explain(name, err)
	}
	return Explain(name, os.Rename(u.Path, at))
}

// readable lets others read what is written, where files have modes: file systems such as FAT refuse to set them.
func readable(f interface{ Chmod(mode fs.FileMode) error }, mode fs.FileMode) error {
	err := f.Chmod(mode)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// openWaiting opens a pipe or a device to write into it, and waits for who reads a pipe until ctx ends.
func openWaiting(ctx context.Context, name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.ENXIO) { // nobody reads it
			return f, err
		}
		if info, statErr := os.Stat(name); statErr != nil || info.Mode()&fs.ModeNamedPipe == 0 { // a socket, or a device that is not there
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Explain is an error about the file or folder that the user named, in place of one about the
// temporary file that stood for it; nil for nil.
func Explain(name string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	dir := filepath.Dir(name)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) { // a folder that is not there yet
		if _, err := os.Stat(dir); err == nil {
			break
		}
	}
	return fmt.Errorf("%s cannot be written: %w", name, whole.FullOf(err, dir))
}

// whileRunning is a writer that fails once its context ends.
type whileRunning struct {
	ctx context.Context
	w   io.Writer
}

func (w whileRunning) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// fill writes an open file to the end, onto the disk, and closes it. Control characters in texts of
// others are made visible.
func fill(ctx context.Context, f *os.File, compress bool, write func(io.Writer) error) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(whileRunning{ctx, f}, 1<<20)
	text := &visible.Writer{Under: out}
	var z *gzip.Writer
	if compress {
		z = gzip.NewWriter(out)
		text.Under = z
	}
	if err := errors.Join(write(text), text.Close()); err != nil {
		return err
	}
	if compress {
		if err := z.Close(); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) { // pipes and devices cannot
		return err
	}
	return nil
}

// Folder is an output folder that appears whole or not at all: under a temporary name until Commit.
type Folder struct {
	*Unfinished
	Final string // the name that it will have
	force bool

	root *os.Root // of the unfinished folder: who exchanges it for a link leads nothing elsewhere
	sub  string   // the folder's own path below root
}

// NewFolder checks that a folder may be written and makes a temporary one beside
// it. A folder with something in it is replaced only by force, and never if
// something in it is not weft's.
func NewFolder(name string, force bool) (*Folder, error) {
	name = filepath.Clean(name)
	clearUnfinished(name)
	if err := mayReplace(name, force); err != nil {
		return nil, err
	}
	u, err := NewUnfinished(name, true)
	if err != nil {
		return nil, Explain(name, err)
	}
	d := &Folder{Unfinished: u, Final: name, force: force, sub: "."}
	if d.root, err = u.opened(); err == nil {
		err = readable(u.lock, 0o755)
	}
	if err != nil {
		d.Discard()
		return nil, Explain(name, err)
	}
	return d, nil
}

// Discard removes the unfinished folder, if it is there.
func (d *Folder) Discard() {
	if d.root != nil {
		d.root.Close()
	}
	d.Unfinished.Discard()
}

// WriteFolder makes a folder that appears when fill has written all its files.
func WriteFolder(name string, force bool, fill func(*Folder) error) error {
	d, err := NewFolder(name, force)
	if err != nil {
		return err
	}
	defer d.Discard()
	if err := fill(d); err != nil {
		return err
	}
	return d.Commit()
}

// MayWrite is the error that would keep a folder from being written: commands ask before they work
// for an hour.
func MayWrite(name string, force bool) error {
	d, err := NewFolder(name, force)
	if err == nil {
		d.Discard()
	}
	return err
}

// mayReplace is the error for a folder that is there and must not be replaced.
func mayReplace(name string, force bool) error {
	switch filepath.Base(name) {
	case ".", "..", string(filepath.Separator):
		return exit.Usage("%s: give the folder a name of its own; it appears when all its files are there", name)
	}
	entries, err := os.ReadDir(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s cannot be a folder: it is a file, or lies below one", name)
	case err != nil:
		return Explain(name, err)
	}
	if other := notOurs(name, entries); other != "" {
		return exit.Usage("%s holds %s, which weft did not write; choose another folder", name, other)
	}
	if len(entries) > 0 && !force {
		return exit.Usage("%s is not empty; --force replaces it", name)
	}
	return nil
}

// notOurs is the first of the entries of a folder that weft does not write, or empty.
// A folder of steps has a folder for each.
func notOurs(dir string, entries []os.DirEntry) string {
	ours := append([]string{tablefiles.NetworkFile, tablefiles.ForwardingFile, tablefiles.SL2VLFile, tablefiles.PSLFile, tablefiles.GroupsFile, tablefiles.MulticastFile, tablefiles.CertificateFile, tablefiles.UnionCertificateFile, tablefiles.EthernetTablesFile, Summary, Plan, PlanText, Rules, RulesTable, PinsTable}, deploy.Names...)
	pins := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == PinsTable })
	for _, e := range entries {
		if !e.IsDir() && (slices.Contains(ours, e.Name()) || strings.HasSuffix(e.Name(), SonicMaps) || pins && ofPins(e.Name())) {
			continue
		}
		within, err := os.ReadDir(filepath.Join(dir, e.Name()))
		if err != nil || !stepFolder.MatchString(e.Name()) {
			return e.Name()
		}
		if other := notOurs(filepath.Join(dir, e.Name()), within); other != "" {
			return filepath.Join(e.Name(), other)
		}
	}
	return ""
}

// ofPins reports whether a file is one that weft route --pin writes beside pins.csv.
func ofPins(name string) bool {
	return name == PinsText || strings.HasSuffix(name, PinsOfDevice) || strings.HasSuffix(name, UnpinOfDevice) || strings.HasSuffix(name, PinsOfSonic)
}

// At is the path of a file of the folder before Commit.
func (d *Folder) At(name string) string { return filepath.Join(d.Path, name) }

// Within adds a folder to the folder; it appears with it.
func (d *Folder) Within(name string) (*Folder, error) {
	w := &Folder{Unfinished: &Unfinished{Path: d.At(name)}, Final: filepath.Join(d.Final, name), root: d.root, sub: filepath.Join(d.sub, name)}
	return w, Explain(w.Final, d.root.Mkdir(w.sub, 0o755))
}

// Write adds files.
func (d *Folder) Write(ctx context.Context, files ...files.File) error {
	for _, file := range files {
		f, err := d.root.OpenFile(filepath.Join(d.sub, file.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) // never through a link that others put there
		if err == nil {
			err = errors.Join(readable(f, 0o644), fill(ctx, f, false, file.Write))
		}
		if err != nil {
			return Explain(filepath.Join(d.Final, file.Name), err)
		}
	}
	return nil
}

// Commit gives the folder its final name, as Commit of several does.
func (d *Folder) Commit() error { return Commit(d) }

// Commit renames folders to their final names, all or none of them, and then removes those that were there.
func Commit(folders ...*Folder) error {
	var olds []string // of the first folders, what was there
	for _, d := range folders {
		old, err := d.place()
		if err != nil {
			for i, old := range olds {
				err = errors.Join(err, folders[i].takeBack(old))
			}
			return err
		}
		olds = append(olds, old)
	}
	var err error
	for i, old := range olds {
		err = errors.Join(err, folders[i].removeReplaced(old))
	}
	return err
}

// place renames the folder to its final name. One that was there changes names with it, so that at every moment one of the
// two is there; where the system cannot do that, it is put aside first. old is where it is then; empty: there was none.
func (d *Folder) place() (old string, err error) {
	if err := mayReplace(d.Final, d.force); err != nil {
		return "", err
	}
	if exchange(d.Path, d.Final) == nil {
		return d.Path, nil
	}
	old = d.Path + replacedMark
	switch err := os.Rename(d.Final, old); {
	case errors.Is(err, os.ErrNotExist):
		old = ""
	case err != nil:
		return "", Explain(d.Final, err)
	}
	if err := os.Rename(d.Path, d.Final); err != nil {
		if old != "" {
			err = errors.Join(err, os.Rename(old, d.Final))
		}
		return "", Explain(d.Final, err)
	}
	return old, nil
}

// takeBack undoes place.
func (d *Folder) takeBack(old string) error {
	if old == d.Path {
		return exchange(d.Path, d.Final)
	}
	err := os.Rename(d.Final, d.Path)
	if err == nil && old != "" {
		err = os.Rename(old, d.Final)
	}
	return err
}

// removeReplaced removes the folder that was there before, such as one with files of another user, which cannot be.
func (d *Folder) removeReplaced(old string) error {
	if old == "" {
		return nil
	}
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("%s is written, but what was there before cannot be removed, and is left as %s: %w", d.Final, old, err)
	}
	return nil
}

// The files of an output folder.
const (
	Summary = "summary.json" // beside those of package files
)

// The files of a folder of steps.
const (
	Plan     = "plan.json"
	PlanText = "plan.txt"
)

// The files of an output folder for lossless Ethernet.
const (
	Rules      = "rules.json"
	RulesTable = "rules.csv"
	SonicMaps  = ".config_db.json" // behind the name of a device

	PinsTable     = "pins.csv"
	PinsText      = "README.md"
	PinsOfDevice  = ".pins.conf" // behind the name of a device, as is the next
	UnpinOfDevice = ".unpin.conf"
	PinsOfSonic   = ".sonic.json"
)

// stepFolder tells the folder of a plan's step from one that weft did not write.
var stepFolder = regexp.MustCompile(`^step-[1-9]\d*$`)

// JSONFile is a file that holds a value for programs, with its schema.
func JSONFile(c *console.Console, name string, v any) files.File {
	return files.File{Name: name, Write: func(w io.Writer) error { return c.WriteJSON(w, v) }}
}
