// Package papers holds the experiments of the papers that weft is built on, as data:
// each figure or table of theirs is a row of one literal table (All), with its lines
// over networks and the sentences that the text states about it. What is measured, and how
// often, says a SPEC of weft sweep of the same name (folder specs): a line at a place
// is a selection of its rows.
//
// The papers:
//
//   - O. Lysne, T. Skeie, S.-A. Reinemo, I. Theiss: Layered Routing in Irregular
//     Networks, IEEE TPDS 17(1), 2006;
//   - T. Hoefler, T. Schneider, A. Lumsdaine: Optimized Routing for Large-Scale
//     InfiniBand Networks, HOTI 2009;
//   - J. Domke, T. Hoefler, W. E. Nagel: Deadlock-Free Oblivious Routing for
//     Arbitrary Topologies, IPDPS 2011;
//   - T. Schneider, O. Bibartiu, T. Hoefler: Ensuring Deadlock-Freedom in
//     Low-Diameter InfiniBand Networks, HOTI 2016;
//   - J. Gliksberg, A. Capra, A. Louvet, P. J. García, D. Sohier: High-Quality
//     Fault-Resiliency in Fat-Tree Networks, IEEE Micro 40(1), 2020.
//
// Deviations from the papers that hold for all experiments:
//
//   - The engines are those of this repository. Where a paper means OpenSM's, it
//     is ours of the same name, which may balance or assign lanes better.
//   - The real systems of the papers are not public, but for the plans of Deimos
//     and Odin. Fat trees of the same kind and size stand in for others, and are
//     called so; real fabrics at hand are taken where there are any.
//   - Hosts count as endpoints, nothing else; every link has the same rate.
//   - Packets are those of package packets, whose switches are not the ones of the
//     papers' simulators, which are not described to that detail.
package papers

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/spell"
)

// Experiment is one figure or table of a paper.
type Experiment struct {
	ID     string // for the command line and file names
	Paper  string // short: HOTI 2009
	Figure string // as the paper numbers it
	Title  string
	Shows  string // what the figure shows, and how ours differs in set-up; Markdown

	Measure Measure
	X       string // what the places are, with the unit
	Curves  bool   // places are numbers; else they are names in a row
	LogX    bool   // of Curves
	Lines   []claims.Line
	Real    bool // the real fabrics at hand are further places

	Claims []claims.Claim

	// Sweep is the campaign whose rows the lines are made of: a SPEC of weft sweep, with a
	// quick and a full set unless it is quick as it is. None for examples that are counted out.
	Sweep []byte
}

//go:embed specs/*.yaml
var specs embed.FS

// spec is the SPEC of an experiment; nothing where there is none.
func spec(id string) []byte {
	text, err := specs.ReadFile("specs/" + id + ".yaml")
	if err != nil {
		return nil
	}
	return text
}

// All is the table of experiments, in the order in which to show them.
func All() []Experiment {
	var all []Experiment
	for _, paper := range []struct {
		name        string
		experiments []Experiment
	}{{"HOTI 2009", hoti2009}, {"IPDPS 2011", ipdps2011}, {"HOTI 2016", hoti2016}, {"TPDS 2006", tpds2006}, {"TPDS 2006", throughput()}, {"IEEE Micro 2020", micro2020}} {
		for _, e := range paper.experiments {
			e.Paper, e.Sweep = paper.name, spec(e.ID)
			all = append(all, e)
		}
	}
	return all
}

// paper is the first word of an id, which all experiments of a paper share.
func (e *Experiment) paper() string {
	paper, _, _ := strings.Cut(e.ID, "-")
	return paper
}

// Select finds experiments by a list of words: an id, the start of ids up to a
// hyphen, which is all of a paper, or all. Each is taken once, in the order of the
// table.
func Select(words []string) (list []Experiment, err error) {
	wanted, known := map[string]bool{}, map[string]bool{"all": true}
	for _, word := range words {
		wanted[word] = true
	}
	names := []string{"all"}
	for _, e := range All() {
		if wanted["all"] || wanted[e.ID] || wanted[e.paper()] {
			list = append(list, e)
		}
		known[e.ID], known[e.paper()] = true, true
		names = append(names, e.paper(), e.ID)
	}
	for _, word := range words {
		if !known[word] {
			return nil, fmt.Errorf("no experiment is called %q%s (weft reproduce --list shows all)", word, spell.Hint(word, names))
		}
	}
	return list, nil
}

// each is a line for every engine, all over the same networks.
func each(engines []string, networks []claims.Place) []claims.Line {
	lines := make([]claims.Line, len(engines))
	for i, name := range engines {
		lines[i] = claims.Line{Name: name, Engine: name, Places: networks}
	}
	return lines
}

// variants is each, with a line as printed before that of every engine that has one.
func variants(engines []string, networks []claims.Place) (lines []claims.Line) {
	for _, l := range each(engines, networks) {
		lines = append(lines, withPrinted(l)...)
	}
	return lines
}

// withPrinted is a line behind the one for its engine as printed, if there is one.
func withPrinted(l claims.Line) []claims.Line {
	printed := l
	printed.Name, printed.Engine = l.Name+claims.AsPrinted, l.Engine+claims.AsPrinted
	if _, ok := engines[printed.Engine]; !ok {
		return []claims.Line{l}
	}
	l.Like = printed.Name
	return []claims.Line{printed, l}
}

// ours is the engines of weft that no paper has, and those of OpenSM that came later or that
// a figure leaves out.
var ours = []string{"balance", "weave-any", "ftree", "nue"}

// beside is lines followed by one for each of our engines, paler, over the same networks.
// Those that have a line already are left out, and so are those in except.
func beside(lines []claims.Line, except ...string) []claims.Line {
	for _, l := range each(ours, lines[0].Places) {
		if slices.ContainsFunc(lines, func(o claims.Line) bool { return o.Engine == l.Engine }) || slices.Contains(except, l.Engine) {
			continue
		}
		l.Beside = true
		lines = append(lines, l)
	}
	return lines
}

// swept is a band for every engine over what a paper leaves open at places that have
// several networks. Of curves only those of sssp, minhop and dor are drawn, so that they can be told
// apart.
func swept(engines []string, places []claims.Place) []claims.Line {
	lines := each(engines, places)
	for i := range lines {
		l := &lines[i]
		l.Name, l.Like, l.Band = l.Name+claims.Swept, l.Name, true
		l.Unseen = places[0].X != 0 && !slices.Contains([]string{"minhop", "dor", "sssp"}, l.Engine)
	}
	return lines
}

// without is a list without one of its names.
func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return n == name })
}
