// Package exit holds the exit codes of weft, and errors that carry one.
package exit

import "fmt"

// The exit codes, a contract with scripts.
const (
	OK       = 0
	Found    = 1 // a credit loop, an unreachable pair, a refusal
	BadUsage = 2
	BadInput = 3 // bad input, or output that could not be written
	Bug      = 4 // a bug in weft

	Interrupted = 130 // by a signal, as shells have it for SIGINT
)

// Error is an error with an exit code. Without an error inside, everything
// has been said already.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Usage is a mistake on the command line.
func Usage(format string, args ...any) error {
	return &Error{BadUsage, fmt.Errorf(format, args...)}
}

// Internal is something that cannot be.
func Internal(format string, args ...any) error {
	return &Error{Bug, fmt.Errorf("internal error: "+format, args...)}
}

// Finding is a finding that has yet to be said.
func Finding(format string, args ...any) error {
	return &Error{Found, fmt.Errorf(format, args...)}
}
