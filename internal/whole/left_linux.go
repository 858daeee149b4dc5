package whole

import "syscall"

// Left is how many bytes can still be written where a folder is; false: it is not known.
func Left(dir string) (bytes uint64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
