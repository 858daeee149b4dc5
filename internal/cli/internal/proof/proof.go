// Package proof is --proof-checker: weft-proof, asked about whatever a command has proven.
package proof

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/proofchecker"
	"github.com/weft-fabric/weft/result"
)

// Refused reports whether the program was asked, and did not confirm that there is no deadlock, or
// says that not all packets arrive.
func Refused(p *result.Proof) bool {
	return p != nil && (!p.Holds || p.Delivers != nil && !*p.Delivers)
}

// patience is how long a program may take: weft-proof takes two minutes for a quarter of a million links of lossless
// Ethernet (docs/proof.md), and who hangs must not keep a script for ever.
const patience = time.Hour

// Ask finds the program of --proof-checker and has ask ask it, with the path of the program.
func Ask(ctx context.Context, program string, ask question) (*result.Proof, error) {
	return askWithin(ctx, patience, program, ask)
}

// question asks the program at a path until the context ends.
type question = func(ctx context.Context, path string) (*proofchecker.Answer, error)

func askWithin(ctx context.Context, limit time.Duration, program string, ask question) (*result.Proof, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, exit.Usage("--proof-checker: %w; make weft-proof builds it from weft's sources", err)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a, err := ask(limited, path)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return nil, fmt.Errorf("--proof-checker: %s gave no answer within %v, and was ended", path, limit)
	}
	if none := (*proofchecker.NoAnswer)(nil); errors.As(err, &none) {
		return nil, fmt.Errorf("--proof-checker: %w; make weft-proof builds it from weft's sources", err)
	}
	if err != nil {
		return nil, exit.Internal("%w", err)
	}
	return &result.Proof{Checker: path, Holds: a.Holds, Delivers: a.Delivers, Why: a.Why}, nil
}
