package testnet

import (
	"flag"
	"testing"

	"pgregory.net/rapid"
)

// CheckCounted is rapid.Check for a test that counts what it meets and ends by demanding something of the counts: the
// cases are drawn from a fixed seed, so that the counts are the same in every run, and judge demands it of them. Then, where
// more than a sample is taken or a seed is given, others are drawn as rapid.Check does, and nobody counts on them. The
// seed is a flag of the whole process: not for tests that run in parallel.
func CheckCounted(t *testing.T, check func(*rapid.T), judge func()) {
	t.Helper()
	seed := flag.Lookup("rapid.seed").Value
	given := seed.String()
	func() {
		if err := seed.Set("1"); err != nil {
			panic(err) // rapid's seed is no number any more
		}
		defer func() { _ = seed.Set(given) }()
		rapid.Check(t, check)
	}()
	judge()
	if Whole() || given != "0" {
		rapid.Check(t, check)
	}
}
