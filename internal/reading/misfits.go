package reading

import (
	"errors"

	"github.com/weft-fabric/weft/format"
)

// ErrSkip is what Skip returns for a line to be left out.
var ErrSkip = errors.New("a line about what the fabric lacks")

// Skip refuses a line about a part that the fabric does not have or, lenient, counts it
// and returns ErrSkip; why is called for the first one.
func Skip(m *format.Mismatches, why func() error) error {
	if !m.Lenient {
		return why()
	}
	if m.Skipped++; m.FirstSkipped == nil {
		m.FirstSkipped = why()
	}
	return ErrSkip
}

// Miss refuses a file that does not mention a part or, lenient, counts the part; why is
// called for the first one.
func Miss(m *format.Mismatches, why func() error) error {
	if !m.Lenient {
		return why()
	}
	if m.Missing++; m.FirstMissing == nil {
		m.FirstMissing = why()
	}
	return nil
}
