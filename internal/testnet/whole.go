package testnet

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	_ "pgregory.net/rapid" // has the flag that init sets
)

// drawn is how many cases a test of package rapid draws in a sample; of all, it draws rapid's own 100.
const drawn = "20"

// garbage is how much memory a sample lets pile up before it is collected, in percent of what is in use. Tests have little in use
// each, and collecting at Go's 100 took a tenth of their time.
const garbage = 400

func init() {
	if !Whole() && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}

// RAPID_CHECKS in the environment and -rapid.checks on the command line say otherwise; with -short, rapid itself
// draws a fifth.
func init() {
	if Whole() || slices.Contains(os.Args, "-test.short=true") || os.Getenv("RAPID_CHECKS") != "" {
		return
	}
	if err := flag.Set("rapid.checks", drawn); err != nil {
		panic(err) // rapid has no such flag any more
	}
}

// Whole reports whether tests take all that they have, as make test demands by WEFT_WHOLE=1, and WEFT_THOROUGH=1
// with more. Otherwise those that take seconds take a sample, so that go test ./... is over in minutes.
func Whole() bool {
	return os.Getenv("WEFT_WHOLE") != "" || os.Getenv("WEFT_THOROUGH") != ""
}

// OnlyWhole skips a test that a sample leaves out: others of its package look at the same, for less.
func OnlyWhole(t testing.TB) {
	t.Helper()
	if !Whole() {
		t.Skip("WEFT_WHOLE is not set: a sample does without, make test runs it")
	}
}

// Of is how many of something a test takes: all, or no more than a sample.
func Of(all, sample int) int {
	if Whole() {
		return all
	}
	return sample
}

// First is a list, or of a sample its first n.
func First[T any](list []T, n int) []T {
	return list[:Of(len(list), n)]
}

// Sample is for TestMain of a package whose tests start other programs: it has a sample run only those whose
// names match, as those of -run do, and says so. -run, -bench and -short of the command line come first.
func Sample(tests string) {
	flag.Parse()
	asked := testing.Short()
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.run" || f.Name == "test.bench" })
	if Whole() || asked {
		return
	}
	if err := flag.Set("test.run", tests); err != nil {
		panic(err) // package testing has no such flag any more
	}
	fmt.Printf("WEFT_WHOLE is not set: of this package, %s; make test runs all\n", tests)
}
