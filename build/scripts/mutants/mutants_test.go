package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const goSource = `package p

import "fmt"

const limit = 3

func decide(a, b int, ok bool) (int, error) {
	if a < b && !ok {
		return 0, fmt.Errorf("%d is less than %d", a+1, b)
	}
	for i := 0; i < a; i++ {
		if i == 2 {
			continue
		}
		b += max(i, limit)
		if i%64 == 0 {
			p.Report(i, a)
		}
		if i%64 == 0 && ctx.Err() != nil {
			break
		}
	}
	list := make([]int, 0, 8)
	list = append(list, b)
	return list[0], nil
}

func (e *err) Error() string { return string(rune(1 + 2)) }
`

func TestGoMutants(t *testing.T) {
	found, err := goMutants("p.go", []byte(goSource))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"`3` → `4`", "`3` → `2`",
		"`a < b && !ok` → `!(a < b && !ok)`", "`a < b && !ok` → `a < b || !ok`", "`a < b` → `a <= b`", "`!ok` → `ok`",
		"`0` → `1`",
		"`i < a` → `!(i < a)`", "`i < a` → `i <= a`", "`i == 2` → `i != 2`", "`2` → `3`", "`2` → `1`", "`continue` removed",
		"`b += max(i, limit)` removed", "`b += max(i, limit)` → `b -= max(i, limit)`", "`max(i, limit)` → `min(i, limit)`",
		"`i%64 == 0 && ctx.Err() != nil` → `!(i%64 == 0 && ctx.Err() != nil)`", "`i%64 == 0 && ctx.Err() != nil` → `i%64 == 0 || ctx.Err() != nil`",
		"`ctx.Err() != nil` → `ctx.Err() == nil`", "`break` removed",
		"`0` → `1`", "`list = append(list, b)` removed", "`0` → `1`",
	}
	var got []string
	for i := range found {
		got = append(got, found[i].What)
	}
	if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i := range found {
		m := &found[i]
		text := string(m.apply([]byte(goSource)))
		if _, err := goMutants("p.go", []byte(text)); err != nil || text == goSource {
			t.Errorf("%s: %v in\n%s", m, err, text)
		}
		lines, before := strings.Split(text, "\n"), strings.Split(goSource, "\n")
		if lines[m.Line-1] == before[m.Line-1] {
			t.Errorf("%s: line %d is the same", m, m.Line)
		}
		if m.Line > 6 && m.Func != "decide" {
			t.Errorf("%s is in %q", m, m.Func)
		}
	}
}

const cSource = `#include <x.h>
#define FIVE 5
/* a < b */
static int decide(struct net *n, int a)
{
	const char *text = "a < b"; // 1 + 1
	if (n->rows <= a || !a)
		return -1;
	n->at = a + 0x10u;
	if (snprintf(n->why, 9, "%d", a + 1) > 0)
		wrong(n, a + 1);
	n->list = calloc(a, 2);
	for (;;)
		break;
	return 0;
}
`

func TestCMutants(t *testing.T) {
	var got []string
	for _, m := range cMutants("p.c", []byte(cSource)) {
		if m.Func != "decide" {
			t.Errorf("%s is in %q", &m, m.Func)
		}
		got = append(got, m.What)
	}
	want := []string{
		"`if (n->rows <= a || !a)` → `if (!(n->rows <= a || !a))`", "`if (n->rows <= a || !a)` → `if (n->rows < a || !a)`",
		"`if (n->rows <= a || !a)` → `if (n->rows <= a && !a)`", "`if (n->rows <= a || !a)` → `if (n->rows <= a || a)`",
		"`return -1;` → `return -0;`", // and none to -2: callers ask whether it is 0
		"`n->at = a + 0x10u;` → `;`", "`n->at = a + 0x10u;` → `n->at = a - 0x10u;`", "`n->at = a + 0x10u;` → `n->at = a + 17u;`", "`n->at = a + 0x10u;` → `n->at = a + 15u;`",
		"`if (snprintf(n->why, 9, \"%d\", a + 1) > 0)` → `if (!(snprintf(n->why, 9, \"%d\", a + 1) > 0))`",
		"`n->list = calloc(a, 2);` → `;`", "`break;` → `;`", "`return 0;` → `return 1;`",
	}
	if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The order is the seed's, and a change somewhere leaves the others where they were.
func TestShuffle(t *testing.T) {
	order := func(source string, seed uint64) (names []string) {
		found, err := goMutants("p.go", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		shuffle(found, seed)
		for i := range found {
			names = append(names, found[i].name())
		}
		return names
	}
	one := order(goSource, 1)
	if slices.Equal(one, order(goSource, 2)) || !slices.Equal(one, order(goSource, 1)) {
		t.Error("the order is not that of the seed")
	}
	if len(slices.Compact(slices.Sorted(slices.Values(one)))) != len(one) {
		t.Errorf("two mutants have one name: %q", one)
	}
	more := order(strings.Replace(goSource, "const limit = 3", "const limit = 3\nconst more = 9", 1), 1)
	more = slices.DeleteFunc(more, func(name string) bool { return strings.Contains(name, "`9`") })
	if !slices.Equal(one, more) {
		t.Errorf("%q\nwith another line is\n%q", one, more)
	}
}

// Every line of equivalent.txt speaks of a mutant that there is.
func TestEquivalentsAreThere(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	allow, err := readEquivalents("equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := mutants(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10_000 {
		t.Errorf("only %d mutants", len(all))
	}
	for _, stale := range allow.stale(all) {
		t.Errorf("no such mutant: %s", stale)
	}
	for i := range all {
		if all[i].What == "`` removed" {
			t.Errorf("%s", &all[i])
		}
	}
}

func TestEquivalentsFormat(t *testing.T) {
	file := filepath.Join(t.TempDir(), "equivalent.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# why\n\np.go decide\n`a` → `b`\nthe same\n\np.go\n`1` → `2`\nnobody asks\n")
	e, err := readEquivalents(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    mutant
		want string
	}{
		{mutant{File: "p.go", Func: "decide", What: "`a` → `b`"}, "the same"},
		{mutant{File: "p.go", What: "`1` → `2`"}, "nobody asks"},
		{mutant{File: "p.go", Func: "decide", What: "`1` → `2`"}, ""},
	} {
		if got := e.reason(&c.m); got != c.want {
			t.Errorf("%s: %q, want %q", &c.m, got, c.want)
		}
	}
	for _, bad := range []string{"p.go f\n`a` → `b`\n\nwhy\n", "p.go f\n"} {
		write(bad)
		if _, err := readEquivalents(file); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestResultsGoOn(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(goSource), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := goMutants("p.go", []byte(goSource))
	if err != nil {
		t.Fatal(err)
	}
	shuffle(found, 1)
	name := filepath.Join(dir, "bin", "results.jsonl")
	open := func(again bool) *results {
		t.Helper()
		r, err := openResults(dir, name, again)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	knows := func(r *results, i int, want bool) {
		t.Helper()
		if _, known, err := r.of(&found[i]); err != nil || known != want {
			t.Errorf("mutant %d is known: %v, %v", i, known, err)
		}
	}
	r := open(false)
	for i, fate := range []string{killed, survived} {
		if err := r.add(&found[i], outcome{Fate: fate}, 1); err != nil {
			t.Fatal(err)
		}
	}
	r.file.Close()
	r = open(false)
	knows(r, 0, true)
	knows(r, 1, true)
	knows(r, 2, false)
	r.file.Close()
	r = open(true)
	knows(r, 0, true)
	knows(r, 1, false)
	r.file.Close()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(goSource+"\n// more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = open(false)
	defer r.file.Close()
	knows(r, 0, false)
}

func TestTargets(t *testing.T) {
	for dir, want := range map[string]string{
		"deadlock": "deadlock", "routing": "routing", "internal/engine/nue": "internal/engine/...", "internal/engine/paths/dor": "internal/engine/paths/...", "internal/format/lft": "internal/format/...", "format/ibnet": "format/...",
		"internal/opensm/wire": "internal/opensm/wire", "internal/opensm/daemon": "internal/opensm/daemon", "internal/repair": "internal/repair", "internal/figure": "", "internal/par": "",
	} {
		got := ""
		if target := targetOf(dir); target != nil {
			got = target.code
		}
		if got != want {
			t.Errorf("%s is of target %q, want %q", dir, got, want)
		}
	}
	for _, c := range []struct {
		pattern, dir string
		want         bool
	}{
		{"./routing/...", "routing", true}, {"internal/engine/...", "internal/engine/nue", true}, {"internal/engine", "internal/engine/nue", false}, {"./deadlock/", "deadlock", true}, {"rout/...", "routing", false},
	} {
		if got := matches([]string{c.pattern}, c.dir); got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.dir, got)
		}
	}
}

// What the plan names is there: the code of each target, and tests for each name.
func TestPlanIsOfThisTree(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for _, target := range targets {
		if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(target.code, "..."))); err != nil {
			t.Errorf("code: %v", err)
		}
		for _, suite := range target.tests {
			words := strings.Fields(suite)
			names := testsIn(t, filepath.Join(root, words[0]))
			if len(names) == 0 {
				t.Errorf("%s: no tests in %s", target.code, words[0])
			}
			for _, flag := range words[1:] {
				_, pattern, _ := strings.Cut(flag, "=")
				pattern, _, _ = strings.Cut(pattern, "/")
				for name := range strings.SplitSeq(pattern, "|") {
					if !slices.ContainsFunc(names, regexp.MustCompile(name).MatchString) {
						t.Errorf("%s: %s has no test %s", target.code, words[0], name)
					}
				}
			}
		}
	}
	for name := range exempt {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("exempt: %v", err)
		}
	}
}

// testsIn is the names of a folder's tests.
func testsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// Cases that the plugin as it is does not answer as is due are no measure of mutants, of none of them.
func TestCasesAreChecked(t *testing.T) {
	dir := t.TempDir()
	plugin := filepath.Join(dir, "weft-core")
	for name, text := range map[string]string{"weft-core": "#!/bin/sh\necho wrong\n", "a.cases": "", "a.due": "right\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{plugin: dir, drawn: dir}
	for range 2 {
		if o, err := b.tryCases(t.Context(), plugin, false); err == nil || !strings.Contains(err.Error(), "the plugin as it is") {
			t.Errorf("%v, %v", o, err)
		}
	}
}
