// Package spell finds what a mistyped word was meant to be. The distance between
// two words is the number of bytes to insert, delete or replace (V. I. Levenshtein:
// Binary Codes Capable of Correcting Deletions, Insertions, and Reversals, Soviet
// Physics Doklady 10(8), 1966), counted in time a·b for words of a and b bytes.
package spell

import "math"

// Nearest is the word of among with the smallest distance from word, the first of
// several, empty where there are none.
func Nearest(word string, among []string) string {
	best, fewest := "", math.MaxInt
	for _, w := range among {
		if d := distance(word, w); d < fewest {
			best, fewest = w, d
		}
	}
	return best
}

// distance counts the edits of bytes that turn a into b.
func distance(a, b string) int {
	above := make([]int, len(b)+1) // from the start of a to each start of b
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		diagonal := above[0]
		above[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = above[j+1]
			above[j+1] = min(replace, above[j]+1, above[j+1]+1)
		}
	}
	return above[len(b)]
}
