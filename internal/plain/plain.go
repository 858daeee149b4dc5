// Package plain prepares errors for people. Errors begin with the name of the package
// that they come from, which helps programmers; users of the command want to know what
// is wrong.
package plain

import "strings"

// packages lists those that begin their errors with their names; a test compares the
// list with the code.
var packages = []string{
	"adaptive", "balance", "bgp", "bound", "campaign", "change", "chart", "congestion", "cure", "daemon", "deadlock", "deploy", "ecmp", "engines", "ethernet", "events", "exact", "export", "fabric", "failures", "figure", "format", "journal", "judge", "layer", "lighter",
	"meter", "orient", "packets", "page", "papers", "pfc", "pins", "placement", "pool", "psl", "reading", "repair", "reproduce", "results", "routing", "slurm", "spanning", "sweep", "topology", "torus2qos", "traffic", "transition", "turnlanes", "updown", "watch", "weave", "weft", "wire",
}

// Error is the text of an error, without the package names at the beginning of its
// parts.
func Error(err error) string { return Text(err.Error()) }

// FirstLine is a message without what follows its first line, such as the stack of an engine
// that broke.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Text is a text without the package names at the beginning of its parts: at its start,
// after a colon or at the start of a line. The names in except stay, because a file may
// have the same name as a package. So may an engine: a text about several engines is
// put together from their Errors.
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

// leading is the length of a package name and the colon after it, at the start of a
// text; 0 if there is none.
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

// partEnd is the length of the first part of a text, with the mark that ends it.
func partEnd(text string) int {
	end := len(text)
	for _, mark := range [...]string{": ", "\n"} {
		if i := strings.Index(text, mark); i >= 0 {
			end = min(end, i+len(mark))
		}
	}
	return end
}
