package proof

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/proofchecker"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// A program that hangs is ended when its time is over, which is said and is no bug of weft; one that
// a user interrupts is not said to be slow.
func TestProgramHangs(t *testing.T) {
	t.Parallel()
	got, err := weft.Route(t.Context(), testnet.Build(t, "ring:n=5"), weft.Request{Engine: "updn", Contract: new(routing.Any)})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, path string) (*proofchecker.Answer, error) {
		return proofchecker.Ask(ctx, path, proofchecker.Question{Tables: got.Tables, Certificate: got.Verdict.Certificate})
	}
	program := filepath.Join(t.TempDir(), "checker")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nsleep 300\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	a, err := askWithin(t.Context(), time.Second, program, ask)
	if a != nil || err == nil || err.Error() != "--proof-checker: "+program+" gave no answer within 1s, and was ended" || errors.As(err, new(*exit.Error)) {
		t.Errorf("%+v, %v", a, err)
	}
	interrupted, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if a, err := askWithin(interrupted, patience, program, ask); a != nil || err == nil || strings.Contains(err.Error(), "no answer within") {
		t.Errorf("interrupted: %+v, %v", a, err)
	}
	if d := time.Since(begun); d > time.Minute {
		t.Errorf("it took %v", d)
	}
}
