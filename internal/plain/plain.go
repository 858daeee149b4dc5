// Package plain says errors to people. Errors begin with the package that they come
// from, which helps whoever programs against it; who runs a command wants to know
// what is wrong.
package plain

import "strings"

// packages is those that begin their errors with their names; a test holds the list
// against the code.
var packages = []string{
	"balance", "change", "choose", "congestion", "daemon", "deadlock", "deploy", "engines", "exact", "fabric", "figure", "format", "layer", "lighter",
	"measure", "nue", "orient", "packets", "papers", "psl", "repair", "reproduce", "routing", "topology", "torus2qos", "traffic", "turnlanes", "updown", "weave", "wire",
}

// Error is what an error says, without the names of packages before its parts.
func Error(err error) string { return Text(err.Error()) }

// Text is a text without the names of packages before its parts: at the start, behind
// a colon or at the start of a line. The words of except stay: a file may be called
// like a package. So may an engine: what is said of several, by name, is put together
// from their Errors.
func Text(text string, except ...string) string {
	var b strings.Builder
	for text != "" {
		if cut := leading(text, except); cut > 0 {
			text = text[cut:]
			continue
		}
		end := partEnd(text)
		b.WriteString(text[:end])
		text = text[end:]
	}
	return b.String()
}

// leading is the length of a package's name and what follows it, at the start of a
// text; 0: there is none.
func leading(text string, except []string) int {
next:
	for _, p := range packages {
		if !strings.HasPrefix(text, p) || !strings.HasPrefix(text[len(p):], ": ") {
			continue
		}
		for _, e := range except {
			if e == p {
				continue next
			}
		}
		return len(p) + len(": ")
	}
	return 0
}

// partEnd is where the first part of a text ends, with what ends it.
func partEnd(text string) int {
	end := len(text)
	for _, mark := range [...]string{": ", "\n"} {
		if i := strings.Index(text, mark); i >= 0 {
			end = min(end, i+len(mark))
		}
	}
	return end
}
