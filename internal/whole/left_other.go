//go:build !linux

package whole

// Left is what there is room for where a folder is; false: it is not known.
func Left(string) (Space, bool) { return Space{}, false }
