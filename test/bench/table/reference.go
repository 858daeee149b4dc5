package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
)

// reference is OpenSM's figures: the cells of a Markdown table by the beginning
// of their row and the beginning of their column's head.
type reference struct {
	columns []string
	rows    [][]string
}

// cell is one of OpenSM's figures.
type cell struct {
	text    string
	seconds float64 // zero: none
	bound   string  // ">" where the figure is a lower bound
}

// readReference reads the first table of a file that has a column for dfsssp.
func readReference(name string) (reference, error) {
	var r reference
	if name == "" {
		return r, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "*", ""))
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			if r.columns != nil {
				return r, nil
			}
		case r.columns == nil && strings.Contains(line, "dfsssp"):
			r.columns = cells
		case r.columns != nil:
			r.rows = append(r.rows, cells)
		}
	}
	return r, nil
}

var number = regexp.MustCompile(`^(>?)([0-9.]+)`)

// cell finds a figure; the zero cell where there is none.
func (r reference) cell(row, engine string) cell {
	for _, cells := range r.rows {
		if row == "" || !strings.HasPrefix(cells[0], row) {
			continue
		}
		for i, column := range r.columns {
			if i == 0 || i >= len(cells) || strings.Fields(column)[0] != engine {
				continue
			}
			c := cell{text: cells[i]}
			if m := number.FindStringSubmatch(c.text); m != nil {
				c.bound = m[1]
				c.seconds, _ = strconv.ParseFloat(m[2], 64)
			}
			return c
		}
	}
	return cell{}
}
