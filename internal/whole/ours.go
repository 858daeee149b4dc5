package whole

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Ours says what is wrong with a folder below a handle of which every word will be believed: only
// this user and root may be able to write there. command is what runs as this user, harm what
// others could do.
func Ours(root *os.Root, name, command, harm string) error {
	at := filepath.Join(root.Name(), name)
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return fmt.Errorf("state folder: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is no folder but %s; nothing was touched: remove it", at, KindOf(info.Mode()))
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, who could %s: chown it to user %d, whom %s runs as", at, owner.Uid, harm, os.Geteuid(), command)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("others than its owner can write in %s (mode %04o), and %s: chmod go-w %s", at, mode, harm, at)
	}
	return nil
}

// Above says what is wrong with the folders above a state folder: who can write
// in one of them can put another folder in its place, unless its sticky bit is set.
func Above(dir string) error {
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	for above := filepath.Dir(at); ; at, above = above, filepath.Dir(above) {
		info, err := os.Stat(above)
		if err != nil {
			return fmt.Errorf("state folder: %w", err)
		}
		if mode := info.Mode(); mode.Perm()&0o022 != 0 && mode&fs.ModeSticky == 0 {
			return fmt.Errorf("others than its owner can write in %s (mode %04o), and put another folder in place of %s: chmod go-w %s, or choose another state folder",
				above, mode.Perm(), at, above)
		}
		if above == filepath.Dir(above) {
			return nil
		}
	}
}

// KindOf names what is no plain file.
func KindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	case mode.IsRegular():
		return "a file"
	}
	return "something else"
}
