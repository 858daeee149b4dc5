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
	const most = 3
	list := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		list += ", …"
	}
	return fmt.Sprintf("%s: %s", plural(len(names), what), list)
}

// page collects what fits one screen: a label and lines for each fact.
type page struct{ b strings.Builder }

// fact prints a label and text; further lines are indented alike.
func (p *page) fact(label, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(&p.b, "%-10s %s\n", label, line)
	}
}

func (p *page) String() string { return p.b.String() }
