package look

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Only a refusal is an answer to why an engine refuses; what fails has failed.
func TestFailureIsNoRefusal(t *testing.T) {
	for _, err := range []error{errors.New("out of luck"), context.Canceled, context.DeadlineExceeded} {
		s := result.Explain{}
		if got := refusedBy(&s, err); !errors.Is(got, err) || s.Refusal != "" {
			t.Errorf("%v: returned %v, refusal %q", err, got, s.Refusal)
		}
		j := &routed.Job{Judged: routed.Judged{Console: &console.Console{}}}
		if got := j.Refusal(t.Context(), err, false); !errors.Is(got, err) || codeOf(got) == exit.Found {
			t.Errorf("route: %v: returned %v", err, got)
		}
	}
	for _, err := range []error{
		&routing.Refusal{Why: "no tree"}, fmt.Errorf("wrapped: %w", &routing.TooFewLanes{Need: 3, Have: 2}), &routing.TooFewLevels{Need: 3, Have: 2},
	} {
		s := result.Explain{}
		if got := refusedBy(&s, err); got != nil || s.Refusal != err.Error() {
			t.Errorf("%v: returned %v, refusal %q", err, got, s.Refusal)
		}
	}
}

// codeOf is the exit code that an error carries; none is zero.
func codeOf(err error) int {
	e := (*exit.Error)(nil)
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code
}
