package daemon

import (
	"fmt"
	"runtime/debug"
)

// internalError is an error of the program itself.
type internalError struct {
	why   any
	stack string
}

func (e *internalError) Error() string {
	return fmt.Sprintf("internal error: %v\n%s", e.why, e.stack)
}

// guarded does something that must not end the daemon, and makes an error of a panic.
func guarded(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &internalError{why: r, stack: string(debug.Stack())}
		}
	}()
	return do()
}
