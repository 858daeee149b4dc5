// Package proof is --proof-checker: weft-proof, asked about whatever a command has proven.
package proof

import (
	"errors"
	"fmt"
	"os/exec"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/proofchecker"
	"github.com/weft-fabric/weft/result"
)

// Refused reports whether the program was asked, and did not confirm that there is no deadlock, or
// says that not all packets arrive.
func Refused(p *result.Proof) bool {
	return p != nil && (!p.Holds || p.Delivers != nil && !*p.Delivers)
}

// Ask finds the program of --proof-checker and has ask ask it, with the path of the program.
func Ask(program string, ask func(path string) (*proofchecker.Answer, error)) (*result.Proof, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, exit.Usage("--proof-checker: %w; make weft-proof builds it from weft's sources", err)
	}
	a, err := ask(path)
	if none := (*proofchecker.NoAnswer)(nil); errors.As(err, &none) {
		return nil, fmt.Errorf("--proof-checker: %w; make weft-proof builds it from weft's sources", err)
	}
	if err != nil {
		return nil, exit.Internal("%w", err)
	}
	return &result.Proof{Checker: path, Holds: a.Holds, Delivers: a.Delivers, Why: a.Why}, nil
}
