package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/weft-fabric/weft/internal/whole"
)

// lockName is the file in a state folder whose lock is held.
const lockName = ".lock"

// Folder is a state folder that a daemon takes: it believes every word in it.
type Folder struct {
	Dir     string
	Mode    fs.FileMode // of what is made
	Within  []string    // folders in it
	Command string      // the daemon
	Danger  string      // what others who can write in it could do
}

// Take makes the folder or takes over one that is there, if nobody else can write in it, or in those within, and no other
// daemon has it. The folder is taken until lock is closed; root is its handle.
func (f *Folder) Take() (root *os.Root, lock *os.File, err error) {
	if err := os.MkdirAll(f.Dir, f.Mode); err != nil {
		return nil, nil, fmt.Errorf("state folder: %w", err)
	}
	if root, err = os.OpenRoot(f.Dir); err != nil {
		return nil, nil, fmt.Errorf("state folder: %w", err)
	}
	if lock, err = f.hold(root); err != nil {
		root.Close()
		return nil, nil, err
	}
	return root, lock, nil
}

// hold checks and makes what is below the handle of the folder, and holds its lock.
func (f *Folder) hold(root *os.Root) (*os.File, error) {
	if err := errors.Join(whole.Ours(root, ".", f.Command, f.Danger), whole.Above(f.Dir)); err != nil {
		return nil, err
	}
	for _, name := range f.Within {
		if err := root.Mkdir(name, f.Mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("state folder: %w", err)
		}
		if err := whole.Ours(root, name, f.Command, f.Danger); err != nil {
			return nil, err
		}
	}
	lock, err := root.OpenFile(lockName, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	if err := Hold(lock, "the state folder "+f.Dir); err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// FolderHeldBy is who has taken a state folder; nil: nobody, or it is not there.
func FolderHeldBy(dir string) *Holder { return HeldBy(filepath.Join(dir, lockName)) }
