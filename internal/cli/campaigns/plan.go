package campaigns

import (
	"fmt"
	"runtime"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/reproduce"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

const notKnown = "not known"

// planReproduce is weft reproduce --dry-run: it lists what the experiments are expected to take; a
// point that several have counts for the first.
func planReproduce(a *console.Console, list []papers.Experiment, o *reproduceFlags) error {
	real, err := realFabrics(a, o)
	if err != nil {
		return err
	}
	all, err := reproduce.Plan(list, reproduce.Options{Quick: o.quick, Seed: o.seed, Real: real})
	if err != nil {
		return err
	}
	s := result.ReproducePlan{Quick: o.quick, Cores: runtime.GOMAXPROCS(0), Experiments: []result.ExperimentPlan{}}
	t := a.NewTable("experiment", "figure", "title", "points", "processor time")
	t.AtMost(2, 60)
	for _, x := range all {
		s.Points, s.CPU = s.Points+x.Points, s.CPU+x.Seconds
		s.Experiments = append(s.Experiments, result.ExperimentPlan{ID: x.ID, Points: x.Points, CPU: x.Seconds})
		took := ""
		switch {
		case x.Adds && x.Seconds == 0:
			took = notKnown
			s.Unknown += x.Points
		case x.Adds:
			took = words.Seconds(x.Seconds)
		}
		t.Row(x.ID, x.Paper+", "+x.Figure, x.Title, x.Points, took)
	}
	s.Seconds = s.CPU / float64(s.Cores)
	return a.Answer(o.json, s, func() error {
		sum := words.Seconds(s.CPU)
		if s.CPU == 0 && s.Unknown > 0 {
			sum = notKnown
		}
		t.Footer("", "", "all", s.Points, sum)
		t.Render()
		if s.CPU == 0 && s.Unknown > 0 {
			_, err := fmt.Fprintf(a.Stdout, "how long these take is not known; points that are kept take no time\n")
			return err
		}
		more := ""
		if s.Unknown > 0 {
			more = fmt.Sprintf(", and %s of which no time is known", words.Plural(s.Unknown, "point"))
		}
		_, err := fmt.Fprintf(a.Stdout, "about %s on %s with nothing else to do, by what they took before%s; points that are kept take no time\n",
			words.Seconds(s.Seconds), words.Plural(s.Cores, "core"), more)
		return err
	}, false)
}
