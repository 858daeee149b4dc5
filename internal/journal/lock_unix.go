//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes a file for this process alone, until it is closed or the process ends. The
// error is ErrHeld if another process has it.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrHeld
	case err != nil:
		return fmt.Errorf("%s cannot be locked against other processes: %w", f.Name(), err)
	}
	return nil
}

// noFollow has a symbolic link not opened.
const noFollow = syscall.O_NOFOLLOW
