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
const quickly = "./conformance -skip=RealFabrics|AnyNumberOfCores"

// changes is the tests of the commands that change tables.
const changes = "./internal/cli -run=TestScripts/(diff|drain|keep|what-if)"

// withoutOpenSM is the tests of the plugin that need no OpenSM.
const withoutOpenSM = "./e2e/plugin -run=TestEveryByte|TestMostLanes|TestNothingUnproven|TestOtherSwitches|TestAdapters|TestDropped|TestNobodysLID|TestCircle|TestWayBack|TestWhoAnswers|TestStep|TestUnconfirmed|TestSwap|TestHangsUp|TestTalk|TestLate|TestBetter"

// targets is what is mutated: the judges, the engines, what they are built on, what
// compares and measures them, and what brings tables to the machine.
var targets = []target{
	{"deadlock", []string{quickly}},
	{"routing", []string{"./routing/engines", quickly}},
	{"routing/paths/...", []string{"./conformance -run=Twins", quickly}},
	{"routing/lanes/...", []string{"./routing/engines", quickly}},
	{"routing/adaptive/...", []string{"./routing/adaptive", "./sweep/meter", quickly}},
	{"routing/repair", []string{"./change", changes}},
	{"routing/...", []string{quickly}},
	{"routing/internal/dag", []string{"./routing/paths/sssp", "./routing/paths/updown", "./routing/paths/symmetric", quickly}},
	{"routing/internal/orient", []string{"./routing/paths/updown", "./routing/paths/fattree", "./routing/adaptive", quickly}},
	{"routing/internal/choices", []string{"./routing/adaptive", "./internal/reproduce", quickly}},
	{"routing/internal/intree", []string{"./routing/nue", "./routing/weave", quickly}},
	{"routing/internal/acyclic", []string{"./routing/lanes/layer", "./routing/lanes/exact", quickly}},
	{"routing/internal/forest", []string{"./conformance -run=PathsThatDoNotArrive", "./routing/lanes/layer", quickly}},
	{"routing/internal/turnlanes", []string{"./routing/lanes/weave", "./routing/weave", quickly}},
	{"routing/internal/grid", []string{"./routing/paths/dor", "./routing/torus2qos", quickly}},
	{"transition", []string{"./conformance -run=Mixture", "./change", "./routing/repair"}},
	{"change", []string{changes}},
	{".", []string{"./opensm/daemon", "./internal/cli -run=TestScripts/auto"}},
	{"congestion", []string{"./conformance -run=TestEveryEngineOnAnyNetwork", "."}},
	{"packets", nil},
	{"format", []string{"./format/ibnet", "./format/lft", "./format/psl", "./format/slvl", "./format/subnetlst"}},
	{"format/...", []string{"./conformance -run=TestCheckerAgreesWith"}},
	{"opensm/wire", []string{"./opensm/daemon", withoutOpenSM}},
	{"opensm/daemon", []string{"./internal/cli -run=TestScripts/serve", withoutOpenSM}},
	{"opensm/plugin", []string{withoutOpenSM, "./e2e/plugin"}},
}

// exempt is files of targets that decide nothing, and folders used by tests only.
var exempt = map[string]string{
	"routing/internal/grid/gridtest": "the rules of the tests of grids: who tests it tests tests",
	"packets/prefetch.go":            "it reads what is about to be needed, so that it is at hand: without it everything is as it is",
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

// matches says whether a folder is named by a pattern: itself, or "x/...".
func matches(patterns []string, dir string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		p = strings.TrimPrefix(path.Clean(p), "./")
		if above, ok := strings.CutSuffix(p, "/..."); ok {
			return dir == above || strings.HasPrefix(dir, above+"/")
		}
		return dir == p
	})
}
