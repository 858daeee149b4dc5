package chart

import (
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/sweep/results"
)

// part is the rows of a point that count, and in a chart over settings of measures those of them
// with the same settings.
type part struct {
	rows []*results.Row
	at   []string // [Chart.settings] their values
}

// settings is which of X, Y and By are settings of measures. A name that is also one of a column,
// parameter or measure stands for these; MEASURE.SETTING is always the setting.
func (c *Chart) settings(rows []results.Row) (names []string) {
	for _, name := range append([]string{c.X, c.Y}, c.By...) {
		if isSetting(name, rows) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// isSetting reports whether a name of an axis is a setting.
func isSetting(name string, rows []results.Row) bool {
	if measure, key, dotted := strings.Cut(name, "."); dotted {
		return !slices.Contains(ofMeasures, key) && slices.ContainsFunc(rows, func(r results.Row) bool {
			_, ok := r.Setting(key)
			return ok && r.Measure == measure
		})
	}
	return !known(name, rows) && !isMeasure(name, rows) && hasSetting(name, rows)
}

func isMeasure(name string, rows []results.Row) bool {
	return slices.ContainsFunc(rows, func(r results.Row) bool { return r.Measure == name })
}

// hasSetting reports whether a measure of some row has a setting.
func hasSetting(name string, rows []results.Row) bool {
	return slices.ContainsFunc(rows, func(r results.Row) bool { _, ok := r.Setting(name); return ok })
}

// split divides the rows of a point by settings. Measures without one of these settings, such as
// lanes, count in every part.
func split(rows []*results.Row, names []string) (parts []part) {
	if len(names) == 0 {
		return []part{{rows: rows}}
	}
	all := make([][]string, len(rows)) // [row] values of the settings; "": the measure has none
	for i, r := range rows {
		all[i] = make([]string, len(names))
		for k, name := range names {
			_, key, dotted := strings.Cut(name, ".")
			if !dotted {
				key = name
			}
			all[i][k], _ = r.Setting(key)
		}
	}
	for _, at := range all {
		if !slices.Contains(at, "") && !slices.ContainsFunc(parts, func(p part) bool { return slices.Equal(p.at, at) }) {
			parts = append(parts, part{at: at})
		}
	}
	for n := range parts {
		p := &parts[n]
		for i, r := range rows {
			fits := true
			for k, v := range all[i] {
				fits = fits && (v == "" || v == p.at[k])
			}
			if fits {
				p.rows = append(p.rows, r)
			}
		}
	}
	return parts
}
