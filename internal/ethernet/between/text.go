package between

import (
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/words"
)

// CableText names a cable by its interfaces.
func CableText(c ethernet.Cable) string { return c.A.String() + " – " + c.B.String() }

// HopsText names the neighbors among next hops, and counts the links where several lead to one.
func HopsText(hops []ethernet.End) string {
	if len(hops) == 0 {
		return "none"
	}
	var names []string
	for _, h := range hops {
		if !slices.Contains(names, h.Device) {
			names = append(names, h.Device)
		}
	}
	text := words.FirstOf(names)
	if len(hops) > len(names) {
		text += " (" + words.Plural(len(hops), "link") + ")"
	}
	return text
}

// Text says how a route was and is.
func (r *Route) Text() string {
	prefixes := make([]string, len(r.Prefixes))
	for i, p := range r.Prefixes {
		prefixes[i] = p.String()
	}
	return r.Device + " to " + words.FirstOf(prefixes) + ": " + HopsText(r.After) + ", was " + HopsText(r.Before)
}
