package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// record is a line of the file of results, from which an interrupted run continues.
type record struct {
	mutant
	outcome
	Nth     int     `json:"nth"`
	Source  string  `json:"source"` // sum of the mutated file: a mutant of another text is another mutant
	Seconds float64 `json:"seconds"`
}

type results struct {
	root string
	file *os.File
	done map[string]outcome // [name, source]
	sums map[string]string  // [file]
}

// openResults reads existing results and appends to them. If again, it leaves out those
// that survived, to be tried once more.
func openResults(root, name string, again bool) (*results, error) {
	r := &results{root: root, done: map[string]outcome{}, sums: map[string]string{}}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var rec record
		if json.Unmarshal(line, &rec) != nil {
			continue // cut short when it was stopped
		}
		rec.nth = rec.Nth
		if key := rec.name() + rec.Source; again && rec.Fate == survived {
			delete(r.done, key)
		} else {
			r.done[key] = rec.outcome
		}
	}
	r.file, err = os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	return r, err
}

// source is a short sum of the file that a mutant changes.
func (r *results) source(m *mutant) (string, error) {
	if sum, ok := r.sums[m.File]; ok {
		return sum, nil
	}
	text, err := os.ReadFile(filepath.Join(r.root, m.File))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	r.sums[m.File] = hex.EncodeToString(sum[:6])
	return r.sums[m.File], nil
}

// of is the outcome of a mutant, if it is known.
func (r *results) of(m *mutant) (o outcome, known bool, err error) {
	source, err := r.source(m)
	o, known = r.done[m.name()+source]
	return o, known, err
}

func (r *results) add(m *mutant, o outcome, seconds float64) error {
	source, err := r.source(m)
	if err != nil {
		return err
	}
	r.done[m.name()+source] = o
	line, err := json.Marshal(record{*m, o, m.nth, source, seconds})
	if err != nil {
		return err
	}
	_, err = r.file.Write(append(line, '\n'))
	return err
}

// equivalents is mutants that no test can kill, with the reasons.
type equivalents struct {
	why map[string]string // [file, function, change]
}

// readEquivalents reads blocks of three lines: file and function, the change, the
// reason. Blank lines and those that begin with # stand between them.
func readEquivalents(name string) (*equivalents, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	e := &equivalents{map[string]string{}}
	var block []string
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			if len(block) != 0 {
				return nil, fmt.Errorf("%s:%d: a block is file and function, change, reason: three lines", name, n)
			}
			continue
		}
		if block = append(block, line); len(block) == 3 {
			e.why[block[0]+"\n"+block[1]] = block[2]
			block = nil
		}
	}
	if len(block) != 0 {
		return nil, fmt.Errorf("%s: the last block is cut short", name)
	}
	return e, lines.Err()
}

// reason is why a mutant is equivalent to the program; "" if it is not listed.
func (e *equivalents) reason(m *mutant) string {
	return e.why[strings.TrimSpace(m.File+" "+m.Func)+"\n"+m.What]
}

// stale is the blocks that match no existing mutant.
func (e *equivalents) stale(all []mutant) []string {
	there := map[string]bool{}
	for i := range all {
		there[strings.TrimSpace(all[i].File+" "+all[i].Func)+"\n"+all[i].What] = true
	}
	var stale []string
	for key := range e.why {
		if !there[key] {
			stale = append(stale, strings.ReplaceAll(key, "\n", ": "))
		}
	}
	return stale
}
