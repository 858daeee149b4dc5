package prove

import (
	"context"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/proof"
	"github.com/weft-fabric/weft/internal/proofchecker"
)

// prove has weft-proof judge the certificate; nothing is asked where there is a credit loop.
func (j *verifyJob) prove(ctx context.Context) error {
	if j.o.proofChecker == "" || !j.free() {
		return nil
	}
	if j.verdict.Certificate == nil {
		return exit.Usage("--proof-checker: weft-proof knows no switches that choose again (--choose again), and these tables have a loop otherwise")
	}
	q := proofchecker.Question{Tables: j.Tables, Certificate: j.verdict.Certificate}
	switch unknown := q.Unknown(); {
	case j.Tables.Multicast != nil:
		return exit.Usage("--proof-checker: weft-proof knows no multicast; without --multicast the proof is of unicast alone")
	case len(j.ByLane) > 0:
		return exit.Usage("--proof-checker: weft-proof knows no switches that look up lanes by lanes, as in %s", j.o.ByLane)
	case unknown != "":
		return exit.Usage("--proof-checker: weft-proof knows no %s; without the flag weft judges them", unknown)
	}
	var err error
	j.proof, err = proof.Ask(ctx, j.o.proofChecker, func(ctx context.Context, path string) (*proofchecker.Answer, error) {
		return proofchecker.Ask(ctx, path, q)
	})
	return err
}
