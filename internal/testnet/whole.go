package testnet

import (
	"os"
	"testing"
)

// Whole reports whether tests take all that they have, as make test demands by WEFT_WHOLE=1, and WEFT_THOROUGH=1
// with more. Otherwise those that take seconds take a sample, so that go test ./... is over in minutes.
func Whole() bool {
	return os.Getenv("WEFT_WHOLE") != "" || os.Getenv("WEFT_THOROUGH") != ""
}

// OnlyWhole skips a test that a sample leaves out: others of its package look at the same, for less.
func OnlyWhole(t testing.TB) {
	t.Helper()
	if !Whole() {
		t.Skip("WEFT_WHOLE is not set: a sample does without")
	}
}

// Of is how many of something a test takes: all, or no more than a sample.
func Of(all, sample int) int {
	if Whole() {
		return all
	}
	return sample
}
