// Package spell guesses which word a mistyped one was meant to be. The distance between
// two words is the number of bytes to insert, delete or replace and of neighbours to
// swap, no byte twice (optimal string alignment: V. I. Levenshtein, Binary Codes
// Capable of Correcting Deletions, Insertions, and Reversals, Soviet Physics Doklady
// 10(8), 1966, with the swaps of F. J. Damerau, A Technique for Computer Detection
// and Correction of Spelling Errors, CACM 7(3), 1964), counted in time a·b for words
// of a and b bytes.
package spell

import (
	"fmt"
	"math"
	"strings"
)

// Nearest is the word of among with the smallest distance from word, the first of
// equals; empty if none is similar. Words are similar if at most a third of the longer
// one has to change, or if one of at least three bytes begins the other.
func Nearest(word string, among []string) string {
	best, fewest := "", math.MaxInt
	for _, w := range among {
		if d := distance(word, w); d < fewest && alike(word, w, d) {
			best, fewest = w, d
		}
	}
	return best
}

// Hint ends an error about a word that is not among some others: "; nearest is
// "torus"", or nothing if none is similar.
func Hint(word string, among []string) string {
	if near := Nearest(word, among); near != "" {
		return fmt.Sprintf("; nearest is %q", near)
	}
	return ""
}

// alike reports whether a may be a misspelling of b, at distance d.
func alike(a, b string, d int) bool {
	if short := min(len(a), len(b)); short >= 3 && (strings.HasPrefix(a, b[:short]) || strings.HasPrefix(b, a[:short])) {
		return true
	}
	return d <= max(len(a), len(b))/3
}

// distance counts the edits of bytes that turn a into b.
func distance(a, b string) int {
	// The distances from each prefix of b to the current prefix of a (row), and to those
	// with 1 and 2 bytes fewer.
	above, twoAbove, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replace := above[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], twoAbove[j-1]+1)
			}
		}
		twoAbove, above, row = above, row, twoAbove
	}
	return above[len(b)]
}
