//go:build !linux

package daemon

// left is how many bytes can still be written where a folder is; false: it is not known.
func left(string) (bytes uint64, ok bool) { return 0, false }
