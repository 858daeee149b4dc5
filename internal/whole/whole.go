// Package whole writes the files of state folders: they appear under their names when they
// are whole and on the disk, or not at all, whenever the process is killed.
package whole

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weft-fabric/weft/internal/visible"
)

// Unfinished is the name of a file, in its folder, before it has its own: what a killed
// run left. So of each folder one file at a time is written.
const Unfinished = ".new"

// Write writes a file below a handle under another name and renames it.
func Write(root *os.Root, path string, mode fs.FileMode, write func(io.Writer) error) error {
	temp := filepath.Join(filepath.Dir(path), Unfinished)
	if err := remove(root, temp); err != nil {
		return err
	}
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return FullOf(err, root.Name())
	}
	err = errors.Join(f.Chmod(mode), buffered(f, write))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = root.Rename(temp, path)
	}
	if err != nil {
		left := remove(root, temp)
		if isFull(err) {
			err = Full(err, root.Name(), path, sizeOf(write))
		}
		return errors.Join(err, left)
	}
	return nil
}

// remove removes a file, if it is there.
func remove(root *os.Root, name string) error {
	if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// buffered writes through a large buffer. Flush says once more what went wrong with
// a write before it, so that it is not asked then.
func buffered(w io.Writer, write func(io.Writer) error) error {
	out := bufio.NewWriterSize(w, 1<<20)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}

// JSON writes a value, indented for people, without what a terminal would obey.
func JSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(&visible.Writer{Under: w})
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
}
