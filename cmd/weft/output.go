package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeFile writes a file whole or not at all: under another name, then renamed.
// - is standard output; names that end in .gz are compressed.
func (a *app) writeFile(name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(a.stdout)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once renamed
	if err := fill(f, strings.HasSuffix(name, ".gz"), write); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}

// fill writes, flushes and closes a file.
func fill(f *os.File, compress bool, write func(io.Writer) error) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	if compress {
		z := gzip.NewWriter(out)
		if err := write(z); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
	} else if err := write(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// folder is an output folder that appears whole or not at all.
type folder struct {
	final, temp string
	force       bool
}

// newFolder checks that a folder may be written and makes a temporary one beside
// it. A folder with something in it is replaced only by force.
func newFolder(name string, force bool) (*folder, error) {
	if err := mayReplace(name, force); err != nil {
		return nil, err
	}
	name = filepath.Clean(name)
	temp, err := os.MkdirTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	return &folder{final: name, temp: temp, force: force}, os.Chmod(temp, 0o755)
}

func mayReplace(name string, force bool) error {
	entries, err := os.ReadDir(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0 && !force:
		return usage("%s is not empty; --force replaces it", name)
	}
	return nil
}

// path is where a file of the folder lies for now.
func (d *folder) path(name string) string { return filepath.Join(d.temp, name) }

// write adds a file.
func (d *folder) write(name string, write func(io.Writer) error) error {
	f, err := os.Create(d.path(name))
	if err != nil {
		return err
	}
	if err := fill(f, false, write); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(d.final, name), err)
	}
	return nil
}

// commit puts the folder in its place.
func (d *folder) commit() error {
	if err := mayReplace(d.final, d.force); err != nil {
		return err
	}
	old := d.temp + ".old"
	if err := os.Rename(d.final, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(d.temp, d.final); err != nil {
		return errors.Join(err, os.Rename(old, d.final))
	}
	return os.RemoveAll(old)
}

// discard removes what was written, unless it was committed.
func (d *folder) discard() { os.RemoveAll(d.temp) }
