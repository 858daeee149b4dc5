// Package words says numbers, times and lists of names to people, and words to a shell.
package words

import (
	"fmt"
	"strconv"
	"strings"
)

// integer is what can be counted.
type integer interface {
	~int | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Thousands writes a number, which is not negative, with commas.
func Thousands[N integer](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Seconds writes a time with the digits that matter.
func Seconds(s float64) string {
	if s >= 1 {
		return fmt.Sprintf("%.2f s", s)
	}
	return fmt.Sprintf("%.1f ms", s*1000)
}

// Bytes writes a size in MiB.
func Bytes(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

// Size writes a size in the unit that fits it.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return Counted(n, "byte", "bytes")
	case n < 1<<20:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return Bytes(n)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Some counts names and lists the first few.
func Some(names []string, what string) string {
	return fmt.Sprintf("%s: %s", Plural(len(names), what), FirstOf(names))
}

// Kind is some names and what they are the names of.
type Kind struct {
	Names []string
	What  string
}

// Lists is Some for each kind that has any names.
func Lists(kinds ...Kind) []string {
	var lines []string
	for _, k := range kinds {
		if len(k.Names) > 0 {
			lines = append(lines, Some(k.Names, k.What))
		}
	}
	return lines
}

// MostNames is how many names FirstOf lists at most.
const MostNames = 4

// FirstOf lists the first few names and says how many more there are.
func FirstOf(names []string) string {
	if len(names) <= MostNames {
		return strings.Join(names, ", ")
	}
	const most = MostNames - 1 // "and 1 more" is no shorter than the name
	return fmt.Sprintf("%s and %s more", strings.Join(names[:most], ", "), Thousands(len(names)-most))
}

// FirstWith is FirstOf with where the whole list is, if there are more.
func FirstWith(names []string, where string) string {
	text := FirstOf(names)
	if len(names) > MostNames {
		text += " (" + where + ")"
	}
	return text
}

// Counted is a number and the words for one or for many.
func Counted[N integer](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Plural is "1 switch" or "3 switches".
func Plural[N integer](n N, one string) string {
	many := one + "s"
	if strings.HasSuffix(one, "ch") {
		many = one + "es"
	}
	if n == 1 {
		many = one
	}
	return Thousands(n) + " " + many
}

// Figure writes a figure with the digits that matter.
func Figure(v float64) string {
	switch {
	case v >= 1000:
		return Thousands(int64(v + 0.5))
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// FirstLine is a message without what follows its first line, such as the stack of an engine
// that broke.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
