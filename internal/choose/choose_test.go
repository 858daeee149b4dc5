package choose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// nobody is a router that is told of trials and does nothing.
type nobody struct{}

func (nobody) Route(context.Context, engines.Engine, bool) (Judged, error) { return Judged{}, nil }
func (nobody) Accept(string) error                                         { return nil }
func (nobody) Found(string, *Choice)                                       {}
func (nobody) Drop(string)                                                 {}

// ranked is a trial as rank sees it.
func ranked(engine string, lambda, bySwitch, byName float64, lanes int, load uint32) Trial {
	return Trial{
		Engine: engine, Figures: Figures{Lambda: lambda, Shifts: []Shift{{"switch", bySwitch}, {"name", byName}}},
		VLs: lanes, MaxLoad: load, simple: simplicity(engine), safe: engine != "minhop", held: true,
	}
}

// What is taken for each aim, and why.
func TestRank(t *testing.T) {
	pairs, phases := ranked("weave-any", .702, 5.5, 5.5, 3, 40), ranked("weave", .690, 2, 2, 2, 50)
	type trials []Trial
	wider := func(x Trial) Trial { x.Wider = true; return x }
	for _, c := range []struct {
		aim    balance.Aim
		trials trials
		want   string
		why    string
	}{
		{balance.Bisection, trials{pairs, phases}, "weave-any", "weave-any has the most bandwidth for random pairs; the next is weave, with 1.7 % less"},
		{balance.Mixed, trials{pairs, phases}, "weave", "weave is best for random pairs and phases together; the next is weave-any"},
		{balance.Shifts, trials{pairs, phases}, "weave", "weave takes the least time for phases; the next is weave-any, which takes 175 % longer"},
		{balance.AllToAll, trials{pairs, phases}, "weave-any", "weave-any has the least on its fullest channel; the next is weave, with 25 % more"},
		// Bandwidth is not bought dearly with phases.
		{balance.Mixed, trials{ranked("updn", .70, 6, 6, 1, 1), ranked("nue", .58, 1, 1, 1, 1)}, "updn", "updn is best for random pairs and phases together; the next is nue"},
		// Equal bandwidth: shifts, then lanes, then the simplest.
		{balance.Bisection, trials{ranked("updn", .7015, 4, 4, 1, 1), ranked("nue", .7, 3, 3, 2, 2), ranked("weave", .701, 3.02, 3, 1, 3), ranked("lash", .7, 3, 3.02, 1, 9)},
			"lash", "lash is as good as updn, nue, weave, and of these it takes less time for phases, needs fewer lanes, is the simplest"},
		{balance.Shifts, trials{ranked("updn", .7, 3, 3, 1, 1), ranked("nue", .71, 3.02, 3, 1, 2)},
			"nue", "nue is as good as updn, and of these it has more bandwidth for random pairs"},
		{balance.Mixed, trials{ranked("minhop", .7, 3, 3, 1, 1), ranked("nue", .7, 3, 3, 1, 1), ranked("ftree", .7, 3, 3, 1, 1)},
			"ftree", "ftree is as good as minhop, nue, and of these it makes no credit loop on any network, is the simplest"},
		// The wider proof first.
		{balance.Mixed, trials{ranked("updn", .7, 3, 3, 1, 1), wider(ranked("nue", .7, 3, 3, 2, 2))},
			"nue", "nue is as good as updn, and of these it is proven for aggregation nodes and routers too"},
		// Lanes that gain nothing are saved, whatever they are worth to the aim only.
		{balance.Bisection, trials{pairs, ranked("ftree", .6951, 8, 8, 1, 90)}, "ftree",
			"ftree is at most 1 % behind weave-any, which has the most bandwidth for random pairs, and needs fewer lanes, 1 in place of 3"},
		{balance.Mixed, trials{pairs, ranked("ftree", .6951, 5.55, 5.55, 1, 90)}, "ftree",
			"ftree is at most 1 % behind weave-any, which is best for random pairs and phases together, and needs fewer lanes, 1 in place of 3"},
		{balance.Mixed, trials{pairs, ranked("ftree", .6951, 5.6, 5.4, 1, 90)}, "weave-any", "weave-any is best for random pairs and phases together; the next is ftree"},
		{balance.AllToAll, trials{ranked("weave", .7, 3, 3, 2, 200), ranked("updn", .1, 9, 9, 1, 202)}, "updn",
			"updn is at most 1 % behind weave, which has the least on its fullest channel, and needs fewer lanes, 1 in place of 2"},
		{balance.Bisection, trials{pairs, wider(pairs), ranked("ftree", .6951, 8, 8, 1, 90)}, "weave-any", ""},
		// What is nowhere worse and somewhere better is not passed over for a simpler one that is
		// as good on the whole.
		{balance.Mixed, trials{ranked("updn", .7, 3, 3.05, 1, 1), ranked("nue", .7, 3, 3, 1, 1)}, "nue",
			"nue is nowhere behind updn, and ahead in some of random pairs, phases and lanes"},
		{balance.Mixed, trials{ranked("updn", .7, 3, 3.05, 1, 1), ranked("nue", .7, 3, 3, 2, 1)}, "updn", ""},
		{balance.AllToAll, trials{ranked("updn", .5, 9, 9, 1, 100), ranked("nue", .6, 3, 3, 1, 101)}, "updn", ""},
	} {
		s := &Search{Request: Request{Contract: routing.Honored}, router: nobody{}, aimed: []int{0, 1}, meter: Meter{Endpoints: make([]fabric.EndpointID, 2)}}
		s.Options.Aim = c.aim
		for i, x := range c.trials {
			x.place = i
			s.add(x)
		}
		got, chosen := s.choice()
		if got != c.want {
			t.Errorf("%v: %s was taken of %+v, want %s", c.aim, got, c.trials, c.want)
		}
		if why := fmt.Sprintf("of the %d engines proven under contract honored, %s", len(c.trials), c.why); c.why != "" && chosen.Why != why {
			t.Errorf("why: %s\nwant %s", chosen.Why, why)
		}
	}
}

// Every engine that makes tables for any fabric is a candidate or left out for a
// reason that the table's comment gives.
func TestCandidates(t *testing.T) {
	leftOut := []string{"dnup", "sssp", "p2sssp", "dfsssp-online", "df-d2-minhop", "df-dn-minhop", "mroots", "d-mroots", "mp-lash", "fatpaths", "parx", "dla", "d3r"}
	for _, e := range engines.All() {
		candidate := slices.ContainsFunc(Candidates(), func(c engines.Engine) bool { return c.Name == e.Name })
		if out := slices.Contains(leftOut, e.Name); out == candidate {
			t.Errorf("%s: candidate %v, left out %v", e.Name, candidate, out)
		}
	}
}

// Times are told as exactly as they are worth.
func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234 * time.Microsecond: "0s", 987 * time.Millisecond: "990ms", time.Second: "1s", 1260 * time.Millisecond: "1.3s",
		19940 * time.Millisecond: "19.9s", 20 * time.Second: "20s", 20400 * time.Millisecond: "20s", 61500 * time.Millisecond: "1m2s",
	} {
		if got := round(d).String(); got != want {
			t.Errorf("%v is told as %s, not %s", d, got, want)
		}
	}
}

// On large trees with balanced paths on one lane, what picks paths without a search is not
// tried, and leaves its time to nobody; what searches is.
func TestOutdone(t *testing.T) {
	f := testnet.Build(t, "ring:3")
	search := func() *Search {
		s := &Search{Request: Request{Contract: routing.Any, Table: Candidates(), Time: time.Hour}, fabric: f, router: nobody{}, left: time.Hour, aimed: []int{0, 1}}
		s.meter.Endpoints = make([]fabric.EndpointID, manyHosts)
		s.limit = time.Now().Add(time.Hour)
		for _, name := range []string{"weave-any", "ftree"} {
			x := ranked(name, .7, 3, 3, 1, 1)
			x.Wider = true
			x.place = s.place(name)
			s.add(x)
		}
		return s
	}
	for name, want := range map[string]bool{
		"updn": true, "dor": true, "torus-2qos": true, "df-d2": true, "minhop": true,
		"nue": false, "lash": false, "dfsssp": false, "balance": false, "weave": false, "dmodc": true,
	} {
		if s := search(); s.outdone(s.Table[s.place(name)]) != want {
			t.Errorf("%s outdone: %v", name, !want)
		}
	}
	s := search()
	if err := s.take(context.Background(), s.place("updn")); err != nil {
		t.Fatal(err)
	}
	x := s.trials[slices.IndexFunc(s.trials, func(x Trial) bool { return x.Engine == "updn" })]
	if x.Outcome != Skipped || !strings.Contains(x.Why, "balanced paths") || s.left >= time.Hour {
		t.Errorf("updn: %v, %s, and %s are left", x.Outcome, x.Why, s.left)
	}
	for what, change := range map[string]func(*Search){
		"who asks sets a time": func(s *Search) { s.timed = true },
		"few hosts":            func(s *Search) { s.meter.Endpoints = s.meter.Endpoints[1:] },
		"another aim":          func(s *Search) { s.Options.Aim = engines.Bisection },
		"no tree":              func(s *Search) { s.trial("ftree").Outcome = Refused },
		"two lanes":            func(s *Search) { s.trial("weave-any").VLs = 2 },
		"not for all adapters": func(s *Search) { s.trial("weave-any").Wider = false },
		"not proven":           func(s *Search) { s.trial("weave-any").held = false },
	} {
		s := search()
		if change(s); s.outdone(s.Table[s.place("updn")]) {
			t.Errorf("%s: updn is outdone all the same", what)
		}
	}
	s = search()
	if s.regular = true; s.outdone(s.Table[s.place("dmodc")]) || !s.outdone(s.Table[s.place("updn")]) {
		t.Error("of a regular tree, dmodc is outdone or updn is not")
	}
}

// prover is a router that notes what is tried, and finds everything proven.
type prover struct {
	nobody
	tried *[]string
}

func (p prover) Route(_ context.Context, e engines.Engine, _ bool) (Judged, error) {
	*p.tried = append(*p.tried, e.Name)
	proven := &deadlock.Verdict{Certificate: &deadlock.Certificate{}}
	return Judged{Tables: &routing.Tables{Lanes: &routing.Lanes{}}, Verdict: proven, Loads: &congestion.Loads{}}, nil
}

// On a regular tree all engines for these come first, elsewhere one that is proven.
func TestQuickEnginesComeFirst(t *testing.T) {
	for spec, want := range map[string][]string{
		"xgft:m=2,w=1,hosts=1": {"ftree", "dmodc", "balance"},
		"mesh:3,hosts=1":       {"ftree", "balance", "weave-any"},
	} {
		var tried []string
		s, err := New(testnet.Build(t, spec), Request{Contract: routing.Any, Table: Candidates(), Time: time.Hour}, prover{tried: &tried})
		if err != nil {
			t.Fatal(err)
		}
		s.meter.Endpoints = nil // nothing is measured
		if _, _, err := s.Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		if got := tried[:len(want)]; !slices.Equal(got, want) {
			t.Errorf("%s: %v come first, want %v", spec, got, want)
		}
	}
}

// place is where an engine is in the table of a search.
func (s *Search) place(name string) int {
	return slices.IndexFunc(s.Table, func(e engines.Engine) bool { return e.Name == name })
}

// trial is what became of an engine.
func (s *Search) trial(name string) *Trial {
	return &s.trials[slices.IndexFunc(s.trials, func(t Trial) bool { return t.Engine == name })]
}
