//go:build !linux

package output

import "errors"

// exchange would have two files or folders change names in one step.
func exchange(string, string) error { return errors.ErrUnsupported }
