package outputs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// AbsentLaneText says on which cable a lane is missing.
func AbsentLaneText(a result.AbsentLane) string {
	return fmt.Sprintf("SL %d takes VL %d on the cable %s, which runs %s", a.SL, a.VL, a.Channel, words.Plural(int(a.DataVLs), "data lane"))
}

// ProofText is what weft-proof says of a certificate.
func ProofText(p *result.Proof) string {
	switch {
	case p.Holds && p.Delivers != nil && !*p.Delivers:
		return fmt.Sprintf("%s accepts the certificate, but not all packets arrive: %s", p.Checker, p.Why)
	case p.Holds:
		return fmt.Sprintf("%s accepts the certificate", p.Checker)
	}
	return fmt.Sprintf("%s does not accept the certificate: %s", p.Checker, p.Why)
}

// GroupText says how many entries let packets choose among ports.
func GroupText(s *result.Group) string {
	text := fmt.Sprintf("%s of %s let packets choose, among up to %s", words.Counted(s.Chosen, "entry", "entries"), words.Thousands(s.Entries), words.Plural(s.Largest, "port"))
	if s.File != "" {
		text = s.File + ": " + text
	}
	if s.Hashed > 0 {
		text += fmt.Sprintf("; in %s of them a hash decides", words.Thousands(s.Hashed))
	}
	if s.Tables > 1 {
		text += fmt.Sprintf("; up to %d private forwarding tables", s.Tables)
	}
	return text
}

// EscapeText says whether packets that wait can always leave, and by which ports; once: it was taken for granted that switches choose again while a packet waits.
func EscapeText(e *result.Escape, once bool) string {
	if !e.Found {
		return "none: even if switches choose again while packets wait, packets can fill lanes that all of them wait for"
	}
	text := "free of deadlock if switches choose again while a packet waits: each can then go on by a port that leads to a lower rank of lanes, until it arrives;\n"
	if e.Other == nil {
		text += fmt.Sprintf("the static port is such a port wherever packets choose (%s places)", words.Thousands(e.Choices))
	} else {
		text += fmt.Sprintf("the static port is one at %s of the %s places where packets choose, another port of the group at the rest, such as port %d of %s for LID %d from port %d",
			words.Thousands(e.Static), words.Thousands(e.Choices), e.Other.Port, e.Other.Switch, e.Other.LID, e.Other.In)
	}
	if once {
		text += "\n(--choose again takes that for granted; ask the vendor whether it is so)"
	}
	return text
}

// MulticastText is the groups of a file, and those whose trees are no trees.
func MulticastText(s *result.Multicast) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s on SL %s (--multicast-sl)", s.File, words.Counted(s.Groups, "group", "groups"), strings.Trim(strings.Join(strings.Fields(fmt.Sprint(s.SLs)), ", "), "[]"))
	if len(s.Circling) > 0 {
		fmt.Fprintf(&b, "\npackets of %s circle for ever: their trees have a ring: %s", words.Counted(len(s.Circling), "group", "groups"), words.FirstOf(s.Circling))
	}
	if len(s.Split) > 0 {
		fmt.Fprintf(&b, "\nthe trees of %s are in pieces: some members do not reach others: %s", words.Counted(len(s.Split), "group", "groups"), words.FirstOf(s.Split))
	}
	if len(s.OneSided) > 0 {
		fmt.Fprintf(&b, "\nthe trees of %s lead to switches that are not in them: the file is cut short, or of another time: %s", words.Counted(len(s.OneSided), "group", "groups"), words.FirstOf(s.OneSided))
	}
	return b.String()
}

// LanesText is the counts that are known.
func LanesText(l result.LaneCounts) string {
	var parts []string
	for _, n := range []struct {
		lanes int
		what  string
	}{{l.Needed, "needed"}, {l.Used, "used"}, {l.Available, "available"}} {
		if n.lanes > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.lanes, n.what))
		}
	}
	return strings.Join(parts, ", ")
}

// GoneText is the parts that are taken away, a line a kind.
func GoneText(g *result.GoneParts) string {
	return strings.Join(words.Lists(
		words.Kind{Names: g.Switches, What: "switch"}, words.Kind{Names: list.Of(g.Links, result.RemovedLink.String), What: "cable"}, words.Kind{Names: g.Hosts, What: "adapter"},
	), "\n")
}

// LeastText is that in brackets, to be appended to what a plan writes; empty where nobody is cut off.
func LeastText(l result.Least) string {
	if l.LeastEntries == 0 {
		return ""
	}
	return fmt.Sprintf(" (any one step that mends all: %s of %s at least)", words.Counted(l.LeastEntries, "entry", "entries"), words.Counted(l.LeastBlocks, "block", "blocks"))
}

// HeldBackText says whose links have to stay down; empty: nobody's.
func HeldBackText(w result.HeldBack) string {
	if len(w.Waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("until step %d is confirmed, the links of these have to stay down, or they could close a credit loop: %s", w.Waits, words.FirstOf(w.Waiting))
}

// BandwidthsText is the bandwidth before and after; among says of which endpoints.
func BandwidthsText(b *result.Bandwidths, among string) string {
	if b.Before == nil || b.After == nil {
		return "there are fewer than two " + among
	}
	return fmt.Sprintf("%.3f of full before, %.3f after, random pairs of the %s", *b.Before, *b.After, among)
}

// SurvivalText counts how failures are mended, and names the worst.
func SurvivalText(s *result.Survival) string {
	one := map[string]string{"links": "cable", "switches": "switch"}[s.Failures]
	text := fmt.Sprintf("the loss of any %s (%s tried): %s mended in one step, %s in several, for %s others make way, %s not mended", one,
		words.Thousands(s.Tried), words.Thousands(s.OneStep), words.Thousands(s.Mended+s.Rebuilt-s.OneStep), words.Thousands(s.Rebuilt), words.Thousands(s.NotMended))
	for _, w := range s.Worst {
		text += fmt.Sprintf("\n  %s: %s, %s of which %s had to change", w.Without, words.Plural(w.Steps, "step"), words.Counted(w.Entries, "entry", "entries"), words.Thousands(w.Due))
		if w.Rebuilt {
			text += "; others make way"
		}
		if w.Left > 0 {
			text += fmt.Sprintf("; %s cannot be reached from everywhere", words.Plural(w.Left, "destination"))
		}
	}
	return text
}

// MeasuredText says what a channel does that its routes do not explain.
func MeasuredText(f *result.MeasuredFinding) string {
	switch f.Kind {
	case "slow":
		return fmt.Sprintf("%s is where waiting ends: ports wait up to %.0f %% of the time to send to its switch, and no cable out of it waits or is full: this one, or another of the same switch, is slower than the fabric says", f.Channel, 100*f.Factor)
	case "waits":
		return fmt.Sprintf("%s waits %.0f times as long for each byte as cables with as many routes: a slow cable behind it, or a wrong rate", f.Channel, f.Factor)
	case "no route":
		return fmt.Sprintf("%s carries %s, and no route leads over it: switches have other tables", f.Channel, words.Bytes(int64(f.Bytes)))
	case "idle":
		return fmt.Sprintf("%s carries nothing, and %s lead over it", f.Channel, words.Counted(f.Routes, "route", "routes"))
	}
	return fmt.Sprintf("%s carries %.1f times what its routes explain", f.Channel, f.Factor)
}

// ByLaneText is the switch and the service levels.
func ByLaneText(b result.ByLane) string {
	return fmt.Sprintf("%s (SL %s)", b.Switch, strings.Join(list.Of(b.SLs, strconv.Itoa), ", "))
}
