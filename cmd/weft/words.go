package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// seconds writes a duration with the digits that matter.
func seconds(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
}

// bytesOf writes a size in MiB.
func bytesOf(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

// some counts names and lists the first few.
func some(names []string, what string) string {
	return fmt.Sprintf("%s: %s", plural(len(names), what), firstOf(names))
}

// firstOf lists the first few names and says how many more there are.
func firstOf(names []string) string {
	const most = 3
	if len(names) <= most+1 { // "and 1 more" is no shorter than the name
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:most], ", "), thousands(int64(len(names)-most)))
}

// counted is a number and the words for one or for many.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + many
}

// plural is "1 switch" or "3 switches".
func plural(n int, one string) string {
	many := one + "s"
	if strings.HasSuffix(one, "ch") {
		many = one + "es"
	}
	if n == 1 {
		many = one
	}
	return thousands(int64(n)) + " " + many
}
