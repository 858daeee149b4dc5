package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// target is code that decides something, and the tests that should fail when it decides
// otherwise.
type target struct {
	code  string   // a folder, or "x/..." for all below x
	tests []string // run after the code's own tests, quickest first: a package and flags
}

// quickly is the tests of every engine on every network, without those that take long.
const quickly = "./test/conformance -skip=RealFabrics|AnyNumberOfCores"

// changes is the tests of the commands that change tables.
const changes = "./internal/cli -run=TestScripts/(diff|drain|keep|what-if)"

// withoutOpenSM is the tests of the plugin that need no OpenSM.
const withoutOpenSM = "./test/e2e/plugin -run=TestEveryByte|TestMostLanes|TestNothingUnproven|TestOtherSwitches|TestAdapters|TestDropped|TestNobodysLID|TestCircle|TestWayBack|TestWhoAnswers|TestStep|TestUnconfirmed|TestSwap|TestHangsUp|TestTalk|TestLate|TestBetter"

// targets is what is mutated: the judges, the engines, what they are built on, what
// compares and measures them, and what brings tables to the machine.
var targets = []target{
	{"deadlock", []string{quickly}},
	{"routing", []string{"./routing/engines", quickly}},
	{"internal/engine/paths/...", []string{"./test/conformance -run=Twins", quickly}},
	{"internal/engine/lanes/...", []string{"./routing/engines", quickly}},
	{"internal/engine/adaptive/...", []string{"./internal/engine/adaptive/choosing", "./internal/sweep/meter", quickly}},
	{"internal/repair", []string{"./change", changes}},
	{"routing/engines", []string{quickly}},
	{"internal/engine/...", []string{quickly}},
	{"internal/engine/steps/dag", []string{"./internal/engine/paths/sssp", "./internal/engine/paths/updown", "./internal/engine/paths/symmetric", quickly}},
	{"internal/engine/steps/orient", []string{"./internal/engine/paths/updown", "./internal/engine/paths/fattree", "./internal/engine/adaptive/choosing", quickly}},
	{"internal/engine/steps/choices", []string{"./internal/engine/adaptive/choosing", "./internal/reproduce", quickly}},
	{"internal/engine/steps/intree", []string{"./internal/engine/nue", "./internal/engine/weave", quickly}},
	{"internal/engine/steps/acyclic", []string{"./internal/engine/lanes/layer", "./internal/engine/lanes/exact", quickly}},
	{"internal/engine/steps/forest", []string{"./test/conformance -run=PathsThatDoNotArrive", "./internal/engine/lanes/layer", quickly}},
	{"internal/engine/steps/turnlanes", []string{"./internal/engine/lanes/weave", "./internal/engine/weave", quickly}},
	{"internal/engine/steps/grid", []string{"./internal/engine/paths/dor", "./internal/engine/torus2qos", quickly}},
	{"deadlock/transition", []string{"./test/conformance -run=Mixture", "./change", "./internal/repair"}},
	{"change", []string{changes}},
	{".", []string{"./internal/opensm/daemon", "./internal/cli -run=TestScripts/auto"}},
	{"congestion", []string{"./test/conformance -run=TestEveryEngineOnAnyNetwork", "."}},
	{"packets", nil},
	{"internal/reading", []string{"./format/ibnet", "./internal/format/lft", "./internal/format/psl", "./internal/format/slvl", "./internal/format/subnetlst"}},
	{"format/...", []string{"./test/conformance -run=TestCheckerAgreesWith"}},
	{"internal/format/...", []string{"./test/conformance -run=TestCheckerAgreesWith"}},
	{"internal/opensm/wire", []string{"./internal/opensm/daemon", withoutOpenSM}},
	{"internal/opensm/daemon", []string{"./internal/cli -run=TestScripts/serve", withoutOpenSM}},
	{"plugin", []string{withoutOpenSM, "./test/e2e/plugin"}},
}

// exempt is files of targets that decide nothing, and folders used by tests only.
var exempt = map[string]string{
	"internal/engine/steps/grid/gridtest": "the rules of the tests of grids: who tests it tests tests",
	"packets/prefetch.go":                 "it reads what is about to be needed, so that it is at hand: without it everything is as it is",
}

// targetOf is the target of a folder, nil if none: the first that names it, or else the
// first that contains it.
func targetOf(dir string) *target {
	for i := range targets {
		if targets[i].code == dir {
			return &targets[i]
		}
	}
	for i := range targets {
		if below, ok := strings.CutSuffix(targets[i].code, "..."); ok && strings.HasPrefix(dir, below) {
			return &targets[i]
		}
	}
	return nil
}

// mutants is all mutants of the folders that match one of the patterns, or of all
// targets if there is none.
func mutants(root string, patterns []string) ([]mutant, error) {
	var all []mutant
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "test" || base == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		dir := path.Dir(name)
		if targetOf(dir) == nil || !matches(patterns, dir) || exempt[name] != "" || exempt[dir] != "" {
			return nil
		}
		found, err := mutantsOf(file, name)
		all = append(all, found...)
		return err
	})
	return all, err
}

func mutantsOf(file, name string) ([]mutant, error) {
	isGo := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
	isC := strings.HasSuffix(name, ".c")
	if !isGo && !isC {
		return nil, nil
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if isC {
		return cMutants(name, source), nil
	}
	return goMutants(name, source)
}

// matches reports whether a folder is named by a pattern: itself, or "x/...".
func matches(patterns []string, dir string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		p = strings.TrimPrefix(path.Clean(p), "./")
		if above, ok := strings.CutSuffix(p, "/..."); ok {
			return dir == above || strings.HasPrefix(dir, above+"/")
		}
		return dir == p
	})
}
