package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Unfinished is an output under the name that it has until it is whole. Its lock
// says that somebody is at work on it; the system gives the lock back when that
// somebody is killed, and the next run that writes the same output removes what is
// left.
type Unfinished struct {
	Path string
	lock *os.File
}

const (
	unfinishedMark = ".weft-" // .NAME.weft-NUMBER
	replacedMark   = ".old"   // .NAME.weft-NUMBER.old: the folder that is being replaced
)

// NewUnfinished makes a file or folder beside the one that it will be.
func NewUnfinished(at string, folder bool) (*Unfinished, error) {
	for range 100 {
		path, err := makeTemporary(at, folder)
		if err != nil {
			return nil, err
		}
		lock, err := os.Open(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, os.Remove(path))
		}
		u := &Unfinished{Path: path, lock: lock}
		if err == nil && u.takeLock() {
			return u, nil
		}
		lock.Close() // another run took it for one that is left, before it was locked
	}
	return nil, errors.New("other runs remove it again and again")
}

// makeTemporary makes an empty file or folder beside another, under a name of its own.
func makeTemporary(at string, folder bool) (string, error) {
	pattern := "." + filepath.Base(at) + unfinishedMark + "*"
	if folder {
		return os.MkdirTemp(filepath.Dir(at), pattern)
	}
	f, err := os.CreateTemp(filepath.Dir(at), pattern)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// takeLock takes the lock, and says whether what is locked still lies under its name. On a file
// system without locks it succeeds: removeIfLeft removes nothing there.
func (u *Unfinished) takeLock() bool {
	if errors.Is(tryLock(u.lock), syscall.EWOULDBLOCK) {
		return false
	}
	here, err := os.Lstat(u.Path)
	if err != nil {
		return false
	}
	mine, err := u.lock.Stat()
	return err == nil && os.SameFile(here, mine)
}

// errExchanged says that another folder, or a link, lies where ours was made.
var errExchanged = errors.New("somebody else who can write beside it put something else in its place: choose a folder that only you can write in")

// opened opens an unfinished folder to write in it: the one that is locked, and no other that
// somebody put in its place.
func (u *Unfinished) opened() (*os.Root, error) {
	root, err := os.OpenRoot(u.Path)
	if err != nil {
		return nil, err
	}
	here, err := root.Stat(".")
	mine, mineErr := u.lock.Stat()
	if err = errors.Join(err, mineErr); err == nil && !os.SameFile(here, mine) {
		err = errExchanged
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// tryLock locks a file, or fails at once.
func tryLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// Discard removes what is there under the unfinished name, if anything is.
func (u *Unfinished) Discard() {
	os.RemoveAll(u.Path)
	u.lock.Close()
}

// clearUnfinished removes what killed runs left of an output. A folder that one of
// them had put aside, and not replaced, is put back.
func clearUnfinished(at string) {
	dir, prefix := filepath.Dir(at), "."+filepath.Base(at)+unfinishedMark
	entries, _ := os.ReadDir(dir) // what cannot be read will not be written either
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && !strings.HasSuffix(e.Name(), replacedMark) {
			removeIfLeft(filepath.Join(dir, e.Name()))
		}
	}
	for _, e := range entries {
		old := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(old, replacedMark) || !e.IsDir() {
			continue
		}
		if _, err := os.Lstat(strings.TrimSuffix(old, replacedMark)); err == nil {
			continue // somebody is at work on it
		}
		if os.Rename(old, at) != nil { // something newer is there
			os.RemoveAll(old)
		}
	}
}

// removeIfLeft removes a file or folder that nobody holds the lock of. It follows
// no link, and waits for nothing.
func removeIfLeft(path string) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && (info.IsDir() || info.Mode().IsRegular()) && tryLock(f) == nil {
		os.RemoveAll(path)
	}
}

// linkOfAnother refuses a symbolic link that another user put into a folder where everybody may
// write, such as /tmp: it would have a file of ours replaced that only we may write. The system
// refuses to open such a link likewise, but not to find out where it leads.
func linkOfAnother(name string) error {
	link, err := os.Lstat(name)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return err
	}
	dir, err := os.Stat(filepath.Dir(name))
	if err != nil || dir.Mode()&fs.ModeSticky == 0 || dir.Mode().Perm()&0o002 == 0 {
		return err
	}
	of, ok := link.Sys().(*syscall.Stat_t)
	in, known := dir.Sys().(*syscall.Stat_t)
	if !ok || !known || int(of.Uid) == os.Geteuid() || of.Uid == in.Uid {
		return nil
	}
	return fmt.Errorf("%s is a symbolic link that user %d put into a folder where everybody may write, and is not followed: remove it, or choose another folder", name, of.Uid)
}
