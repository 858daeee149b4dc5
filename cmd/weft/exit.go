package main

import "fmt"

// The exit codes.
const (
	exitOK       = 0
	exitFinding  = 1 // a credit loop, an unreachable pair, a refusal
	exitUsage    = 2
	exitInput    = 3 // bad input, or output that could not be written
	exitInternal = 4 // a bug in weft

	exitInterrupted = 130 // by a signal, as shells have it for SIGINT
)

// exitError is an error with an exit code. Without an error inside, everything
// has been said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func internal(format string, args ...any) error {
	return &exitError{exitInternal, fmt.Errorf("internal error: "+format, args...)}
}

func finding(format string, args ...any) error {
	return &exitError{exitFinding, fmt.Errorf(format, args...)}
}
