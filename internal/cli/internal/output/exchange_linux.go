package output

import "golang.org/x/sys/unix"

// exchange has two files or folders change names, in one step: whenever the process is killed, both names are there.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
