package report

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// mostCut is how many places, and how many groups of endpoints, are shown on a
// terminal.
const mostCut = 5

// CutOffText describes the pairs that are cut off, for a terminal.
func CutOffText(on *console.Console, c *result.CutOff) string {
	var b strings.Builder
	places := c.Merged
	lines := list.Of(places, func(p result.CutPlace) string { return "  " + placeText(&p) })
	fmt.Fprintf(&b, "routes end too early at %s:\n%s", words.Plural(len(places), "place"),
		on.First(mostCut, lines, func(n int) string { return fmt.Sprintf("  and %s more (--json has all)", words.Thousands(n)) }))
	fmt.Fprintf(&b, "\n%s concerned:", words.Counted(len(c.Endpoints), "endpoint is", "endpoints are"))
	left := len(c.Endpoints)
	groups := groupsOf(c.Endpoints)
	for i, g := range groups {
		if i == on.AtMost(mostCut, len(groups)) {
			fmt.Fprintf(&b, "\n  and %s more with no more than %s (--json has all)", words.Thousands(left), words.Plural(g[0].From+g[0].To, "pair"))
			break
		}
		left -= len(g)
		fmt.Fprintf(&b, "\n  %s", groupText(g))
	}
	return b.String()
}

// CutOffInShort is the worst place where routes end, and who is concerned most.
func CutOffInShort(c *result.CutOff) string {
	places, groups := c.Merged, groupsOf(c.Endpoints)
	text := "nowhere"
	if len(places) > 0 {
		p := &places[0]
		where := p.Switch
		if p.Port > 0 {
			where += fmt.Sprintf(", port %d", p.Port)
		}
		text = fmt.Sprintf("most at %s: %s, %s", where, whyWords[p.Why], words.Counted(p.Pairs, "pair", "pairs"))
		if n := len(places) - 1; n > 0 {
			text += "; " + words.Plural(n, "other place")
		}
	}
	var names []string
	for _, g := range groups {
		names = append(names, list.Of(g, func(e result.CutEndpoint) string { return e.Endpoint })...)
	}
	return fmt.Sprintf("%s\n%s: %s", text, words.Plural(len(names), "endpoint"), words.FirstOf(names))
}

// whyWords is why a route ends, in fewer words than Loss.String.
var whyWords = map[string]string{
	deadlock.NoEntry.String(): "no entry", deadlock.DeadPort.String(): "no cable", deadlock.WrongNode.String(): "leads to another node",
	deadlock.Circles.String(): "in a circle for ever", deadlock.NoAddress.String(): "no LID that may be used",
}

// placeText is a place where routes end, with whose they are.
func placeText(p *result.CutPlace) string {
	where := p.Switch
	if p.Others > 0 {
		where = fmt.Sprintf("%s and %s", where, words.Counted(p.Others, "other switch", "other switches"))
	}
	if p.Port > 0 {
		where += fmt.Sprintf(", port %d", p.Port)
	}
	switches := words.FirstOf(p.Switches)
	if len(p.Switches) > 4 {
		switches = words.Plural(len(p.Switches), "switch")
	}
	to := words.FirstOf(p.Destinations)
	if p.On != "" {
		to += ", on " + p.On
	}
	return fmt.Sprintf("%s: %s: %s\n    from %s on %s\n    to %s", where, whyWords[p.Why], words.Counted(p.Pairs, "pair", "pairs"), words.Plural(p.Sources, "endpoint"), switches, to)
}

// groupText is endpoints of one switch that are cut off alike: whom they do not reach, and who does
// not reach them.
func groupText(g []result.CutEndpoint) string {
	names := list.Of(g, func(e result.CutEndpoint) string { return e.Endpoint })
	e, it, reaches, does := g[0], "it", "it reaches", "it does"
	if len(g) > 1 {
		it, reaches, does = "them", "they reach", "they do"
	}
	var what []string
	switch {
	case e.From == e.FromOf:
		what = append(what, "nobody reaches "+it)
	case e.From > 0:
		what = append(what, fmt.Sprintf("%s of %s do not reach %s", words.Thousands(e.From), words.Thousands(e.FromOf), it))
	}
	switch {
	case e.To == e.ToOf:
		what = append(what, reaches+" nobody")
	case e.To > 0:
		what = append(what, fmt.Sprintf("%s not reach %s of %s", does, words.Thousands(e.To), words.Thousands(e.ToOf)))
	}
	return fmt.Sprintf("%s, on %s: %s", words.FirstOf(names), e.Switch, strings.Join(what, "; "))
}

// groupsOf is the endpoints concerned, those of a switch together that have lost as many pairs.
func groupsOf(all []result.CutEndpoint) [][]result.CutEndpoint {
	var groups [][]result.CutEndpoint
	for _, e := range all {
		if n := len(groups); n > 0 {
			if last := groups[n-1][0]; last.SwitchNode == e.SwitchNode && last.From == e.From && last.To == e.To && last.FromOf == e.FromOf {
				groups[n-1] = append(groups[n-1], e)
				continue
			}
		}
		groups = append(groups, []result.CutEndpoint{e})
	}
	return groups
}
