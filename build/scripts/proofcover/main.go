// Command proofcover says which theorems of the proofs no change to the theories has broken.
//
//	go run ./build/scripts/proofcover FOLDER <BROKEN
//
// FOLDER has the theories (*.v) and what coqc wrote down about them (*.glob); Theorems.v there names the theorems. BROKEN
// has a line for every change that Coq refused: the theory, the byte in it where the change begins, and theory and name
// of the proof that failed. A change counts for a theorem if it was made to a definition that the theorem's
// own statement is about, itself or through other definitions, or to one of the theorem's assumptions, and if the proof that failed
// is the theorem's own or that of a lemma on which it rests. build/scripts/proof-mutants.sh asks this of all changes.
//
// The exit status is 1 if there is a theorem for which none counts.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	missing, err := cover(os.Args[1:], os.Stdin, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "proofcover:", err)
		os.Exit(4)
	case missing > 0:
		os.Exit(1)
	}
}

// cover prints a line for every theorem, and returns how many no change has broken.
func cover(args []string, broken io.Reader, out io.Writer) (int, error) {
	if len(args) != 1 {
		return 0, errors.New("usage: proofcover FOLDER <BROKEN")
	}
	t, err := read(args[0])
	if err != nil {
		return 0, err
	}
	changes, err := t.changes(broken)
	if err != nil {
		return 0, err
	}
	theorems, err := t.listed()
	if err != nil {
		return 0, err
	}
	missing := 0
	for _, theorem := range theorems {
		own, lemmas := 0, map[string]int{}
		about, rests := t.about(theorem), t.rests(theorem)
		for _, c := range changes {
			switch {
			case !about[c.changed] || !rests[c.proof]:
			case c.proof == theorem:
				own++
			default:
				lemmas[c.proof.called]++
			}
		}
		if own == 0 && len(lemmas) == 0 {
			missing++
			fmt.Fprintf(out, "no change breaks %s of %s.v\n", theorem.called, theorem.theory)
			continue
		}
		fmt.Fprintf(out, "%s of %s.v: %s\n", theorem.called, theorem.theory, counted(own, lemmas))
	}
	return missing, nil
}

func counted(own int, lemmas map[string]int) string {
	var parts []string
	if own > 0 {
		parts = append(parts, fmt.Sprintf("%d in its own proof", own))
	}
	var names []string
	sum := 0
	for name, n := range lemmas {
		names = append(names, name)
		sum += n
	}
	if sum > 0 {
		slices.Sort(names)
		parts = append(parts, fmt.Sprintf("%d in %s", sum, strings.Join(names, ", ")))
	}
	return strings.Join(parts, ", ")
}

// name is what a theory calls something: a definition, a theorem, an assumption of a section.
type name struct{ theory, called string }

// item is what a theory says between the name of something and the name of the next.
type item struct {
	name
	from, to  int // bytes
	statement int // where a proof begins; to, if there is none
	uses      []use
}

type use struct {
	at int
	of name
}

type theories struct {
	texts map[string][]byte
	files map[string][]*item // in order
	items map[name]*item     // a constructor or field by the type that it is of
}

// library is what Coq writes before the names of these theories in .glob files: what is of others has other names.
const library = "WeftProof."

func read(folder string) (*theories, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.glob"))
	if err != nil {
		return nil, err
	}
	t := &theories{map[string][]byte{}, map[string][]*item{}, map[name]*item{}}
	for _, path := range paths {
		theory := strings.TrimSuffix(filepath.Base(path), ".glob")
		glob, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(strings.TrimSuffix(path, "glob") + "v")
		if err != nil {
			return nil, err
		}
		t.texts[theory] = text
		if err := t.theory(theory, text, glob); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	t.texts["Theorems"], err = os.ReadFile(filepath.Join(folder, "Theorems.v"))
	return t, err
}

// theory reads what coqc wrote down about one. It names things as they come, and uses where it finds their meaning, which
// is not in their order.
func (t *theories) theory(theory string, text, glob []byte) error {
	var uses []use
	var list []*item
	parts := map[string]int{} // constructors and fields: where they are
	for line := range strings.Lines(string(glob)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 5 && fields[0][0] == 'R':
			at, err := first(fields[0][1:])
			if err != nil {
				return err
			}
			if of, ok := strings.CutPrefix(fields[1], library); ok && fields[3] != "<>" {
				uses = append(uses, use{at, name{of, fields[3]}})
			}
		case len(fields) == 4 && fields[0] != "binder":
			at, err := first(fields[1])
			if err != nil {
				return err
			}
			called := fields[3]
			switch fields[0] {
			case "constr", "proj":
				parts[called] = at
				continue
			case "sec":
				called = "Section " + called
			case "var": // of a section, by which it is called where it is used
				called = fields[2] + "." + called
			}
			list = append(list, &item{name: name{theory, called}, from: at})
		}
	}
	slices.SortStableFunc(list, func(a, b *item) int { return a.from - b.from })
	for i, it := range list {
		it.to = len(text)
		if i+1 < len(list) {
			it.to = list[i+1].from
		}
		it.statement = it.to
		if proof := bytes.Index(text[it.from:it.to], []byte("\nProof")); proof >= 0 {
			it.statement = it.from + proof
		}
		if t.items[it.name] == nil { // else an induction principle and its like
			t.items[it.name] = it
		}
	}
	t.files[theory] = list
	for called, at := range parts {
		t.items[name{theory, called}] = t.at(theory, at)
	}
	for _, u := range uses {
		if it := t.at(theory, u.at); it != nil {
			it.uses = append(it.uses, u)
		}
	}
	return nil
}

func first(span string) (int, error) {
	from, _, _ := strings.Cut(span, ":")
	return strconv.Atoi(from)
}

// at is what a theory says at a byte.
func (t *theories) at(theory string, at int) *item {
	list := t.files[theory]
	i, exact := slices.BinarySearchFunc(list, at, func(it *item, at int) int { return it.from - at })
	switch {
	case exact:
		return list[i]
	case i == 0:
		return nil
	}
	return list[i-1]
}

// rests is a proof with all that it uses.
func (t *theories) rests(theorem *item) map[*item]bool {
	found := map[*item]bool{}
	t.follow(theorem, found)
	return found
}

// about is what the statement of a theorem says, with all definitions that it uses, and what is assumed in its section.
func (t *theories) about(theorem *item) map[*item]bool {
	found := map[*item]bool{theorem: true}
	for _, u := range theorem.uses {
		if used := t.items[u.of]; used != nil && u.at < theorem.statement {
			t.follow(used, found)
		}
	}
	for _, it := range t.files[theorem.theory] {
		if section, _, ok := strings.Cut(it.called, "."); ok && it.from < theorem.from && !t.closed(section, theorem) {
			t.follow(it, found)
		}
	}
	return found
}

// closed reports whether a section ended before a theorem.
func (t *theories) closed(section string, theorem *item) bool {
	return bytes.Contains(t.texts[theorem.theory][:theorem.from], []byte("\nEnd "+section+"."))
}

func (t *theories) follow(it *item, found map[*item]bool) {
	if found[it] {
		return
	}
	found[it] = true
	for _, u := range it.uses {
		if used := t.items[u.of]; used != nil {
			t.follow(used, found)
		}
	}
}

// change is one that Coq refused: what it was made to, and the proof that failed.
type change struct{ changed, proof *item }

func (t *theories) changes(broken io.Reader) ([]change, error) {
	var all []change
	lines := bufio.NewScanner(broken)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 4 {
			return nil, fmt.Errorf("not theory, byte, theory and proof: %s", lines.Text())
		}
		at, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, err
		}
		c := change{t.at(fields[0], at), t.items[name{fields[2], fields[3]}]}
		if c.changed == nil || c.proof == nil {
			return nil, fmt.Errorf("nothing stands there, or no such proof: %s", lines.Text())
		}
		all = append(all, c)
	}
	return all, lines.Err()
}

// listed is the theorems that Theorems.v names.
func (t *theories) listed() ([]*item, error) {
	var all []*item
	for line := range strings.Lines(string(t.texts["Theorems"])) {
		called, ok := strings.CutPrefix(strings.TrimSpace(line), "Print Assumptions ")
		if !ok {
			continue
		}
		theory, called, qualified := strings.Cut(strings.TrimSuffix(called, "."), ".")
		if !qualified {
			theory, called = "", theory
		}
		var found []*item
		for file := range t.files {
			if it := t.items[name{file, called}]; it != nil && (theory == "" || theory == file) {
				found = append(found, it)
			}
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("%d theorems are called %s, which Theorems.v names", len(found), called)
		}
		all = append(all, found[0])
	}
	if len(all) == 0 {
		return nil, errors.New("no theorem is named in Theorems.v")
	}
	return all, nil
}
