package chart_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/sweep/chart"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

// rows is lanes and bandwidth, by two settings, of two engines on networks with a
// parameter.
func rows() (all []results.Row) {
	for _, engine := range []string{"lash", "nue"} {
		for links := 10; links <= 30; links += 10 {
			for seed := uint64(1); seed <= 2; seed++ {
				r := results.Row{Point: fmt.Sprint(engine, links, seed), Network: fmt.Sprintf("random:links=%d", links), Parameters: fmt.Sprintf("links=%d", links), Seed: seed, Engine: engine, Cables: int64(links), Status: results.OK}
				for i, m := range []struct{ measure, settings, unit string }{{"lanes", "", ""}, {"bandwidth", "pattern=bisect", "fraction of full"}, {"bandwidth", "pattern=shifts", "fraction of full"}} {
					v := float64(links) + float64(seed) + float64(i)/10
					less := v - 1
					r.Measure, r.Settings, r.Unit, r.Value, r.Low, r.Seconds = m.measure, m.settings, m.unit, &v, &less, v/1000
					all = append(all, r)
				}
			}
		}
	}
	return all
}

func TestChartsOfAnyColumn(t *testing.T) {
	bisect := chart.Filter{Name: "pattern", Values: []string{"bisect"}}
	for _, c := range []struct {
		name  string
		chart chart.Chart
		want  []string
		not   []string
	}{
		{"parameter and measure", chart.Chart{X: "links", Y: "lanes", By: []string{"engine"}, Title: "a title"}, []string{"lash", "nue", "a title", ">links<", ">lanes<"}, nil},
		{"two measures", chart.Chart{X: "lanes", Y: "bandwidth", Where: []chart.Filter{bisect}}, []string{">bandwidth, fraction of full<", ">all<"}, []string{"nue"}},
		{"column and time", chart.Chart{X: "cables", Y: "bandwidth.seconds", By: []string{"engine", "seed"}, Where: []chart.Filter{bisect}}, []string{"lash 1", "nue 2", "seconds, s<"}, nil},
		{"the least of runs", chart.Chart{X: "links", Y: "bandwidth.low", Where: []chart.Filter{bisect}}, []string{">bandwidth.low, fraction of full<"}, nil},
		{"some engines", chart.Chart{X: "links", Y: "lanes", By: []string{"engine"}, Where: []chart.Filter{{Name: "engine", Values: []string{"nue"}}}}, []string{"nue"}, []string{"lash"}},
		{"setting", chart.Chart{X: "pattern", Y: "bandwidth", By: []string{"engine"}}, []string{"bisect", "shifts", "lash", ">pattern<"}, nil},
		{"setting and a measure without it", chart.Chart{X: "bandwidth.pattern", Y: "lanes"}, []string{"bisect", "shifts", ">bandwidth.pattern<"}, nil},
		{"a line for each setting", chart.Chart{X: "links", Y: "bandwidth", By: []string{"engine", "pattern"}}, []string{"lash bisect", "lash shifts", "nue shifts"}, nil},
		{"bars", chart.Chart{X: "network", Y: "lanes", By: []string{"engine"}}, []string{"random:links=20", "lash"}, nil},
	} {
		var b strings.Builder
		if err := c.chart.SVG(&b, rows()); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: there is no %q", c.name, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(b.String(), not) {
				t.Errorf("%s: there is a %q", c.name, not)
			}
		}
	}
}

func TestChartsSayWhatIsMissing(t *testing.T) {
	refused := rows()
	for i := range refused {
		refused[i].Value, refused[i].Status = nil, results.Refused
	}
	for _, c := range []struct {
		chart chart.Chart
		rows  []results.Row
		want  string
	}{
		{chart.Chart{X: "link", Y: "lanes"}, rows(), `called "link"; nearest is "links"`},
		{chart.Chart{X: "links", Y: "lane"}, rows(), `called "lane"; nearest is "lanes"`},
		{chart.Chart{X: "links", Y: "lanes", By: []string{"engin"}}, rows(), `nearest is "engine"`},
		{chart.Chart{X: "links", Y: "lanes", Where: []chart.Filter{{Name: "engines"}}}, rows(), `nearest is "engine"`},
		{chart.Chart{X: "links", Y: "bandwidth"}, rows(), "several settings (pattern=bisect; pattern=shifts): choose by --where SETTING=VALUE, or take the setting as an axis"},
		{chart.Chart{X: "links", Y: "seconds"}, rows(), "say of which, as in bandwidth.seconds"},
		{chart.Chart{X: "links", Y: "high"}, rows(), "say of which, as in bandwidth.high"},
		{chart.Chart{X: "patern", Y: "lanes"}, rows(), `called "patern"; nearest is "pattern"`},
		{chart.Chart{X: "links", Y: "lanes.secnds"}, rows(), `nearest is "seconds"`},
		{chart.Chart{X: "links", Y: "engine"}, rows(), `engine is no number: "lash"`},
		{chart.Chart{X: "links", Y: "lanes"}, refused, "no point has both values"},
		{chart.Chart{X: "links", Y: "lanes", Where: []chart.Filter{{Name: "engine", Values: []string{"none"}}}}, rows(), "no point has both values"},
	} {
		var b strings.Builder
		if err := c.chart.SVG(&b, c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.chart, err, c.want)
		}
	}
	if _, err := chart.ParseFilter("engine"); err == nil {
		t.Error("a filter without values")
	}
}
