//go:build !linux

package whole

// Left is how many bytes can still be written where a folder is; false: it is not known.
func Left(string) (bytes uint64, ok bool) { return 0, false }
