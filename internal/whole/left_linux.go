package whole

import (
	"math"
	"syscall"
)

// Left is what there is room for where a folder is; false: it is not known.
func Left(dir string) (Space, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return Space{}, false
	}
	r := Space{Bytes: s.Bavail * uint64(s.Bsize), Files: s.Ffree}
	if s.Files == 0 { // a file system that makes inodes as they are wanted
		r.Files = math.MaxUint64
	}
	return r, true
}
