package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// mutant is a program that differs from the one in the tree in one place.
type mutant struct {
	File   string `json:"file"` // relative to the repository
	Func   string `json:"func"` // the function it is in, "" outside of any
	Line   int    `json:"line"`
	Column int    `json:"column"`
	What   string `json:"change"` // `a < b` → `a <= b`

	offset, end int    // the bytes of the file that are replaced,
	text        string // and what by
	nth         int    // among the mutants with the same File, Func and What
}

// name identifies a mutant in its file, whatever changes in other lines.
func (m *mutant) name() string { return fmt.Sprintf("%s %s %s %d", m.File, m.Func, m.What, m.nth) }

func (m *mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.offset], []byte(m.text), source[m.end:])
}

func (m *mutant) String() string {
	in := m.Func
	if in != "" {
		in = " in " + in
	}
	return fmt.Sprintf("%s:%d:%d%s: %s", m.File, m.Line, m.Column, in, m.What)
}

// shuffle numbers mutants with the same name and puts all into a random order in which
// each has a fixed position: where a file changes, the others keep theirs.
func shuffle(all []mutant, seed uint64) {
	count := map[string]int{}
	place := make(map[string]uint64, len(all))
	for i := range all {
		m := &all[i]
		m.nth = 0
		alike := m.name()
		m.nth = count[alike]
		count[alike]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.name()))
		place[m.name()] = binary.BigEndian.Uint64(sum[:])
	}
	slices.SortStableFunc(all, func(a, b mutant) int {
		return cmp.Compare(place[a.name()], place[b.name()])
	})
}

// change describes a replacement on one line.
func change(old, new string) string {
	if new == "" {
		return fmt.Sprintf("`%s` removed", oneLine(old))
	}
	return fmt.Sprintf("`%s` → `%s`", oneLine(old), oneLine(new))
}

// oneLine is source code on one line, cut where it gets long.
func oneLine(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 100 {
		r = append(r[:99], '…')
	}
	return string(r)
}
