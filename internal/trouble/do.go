package trouble

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// What is to be done with a cable.
const (
	Reseat  = "reseat"
	Replace = "replace"
	Move    = "move"
	Look    = "look"
)

// replaceFrom is the multiple of its limit from which on errors are not expected to end by reseating.
const replaceFrom = 100

// settle completes an entry that has all its signs: it sorts these, the worst first, and sets how bad the cable is,
// what to do about it (the first case that applies) and the commands.
func (d *finder) settle(c *result.CableInTrouble) {
	slices.SortStableFunc(c.Signs, func(a, b result.TroubleSign) int {
		if a.Level != b.Level {
			return strings.Compare(a.Level, b.Level) // Bad is "error", which comes before "warning"
		}
		return rank(a.Kind) - rank(b.Kind)
	})
	c.Level = c.Signs[0].Level
	// has is the worst sign of any of these kinds, or nil.
	has := func(list ...string) *result.TroubleSign {
		for i := range c.Signs {
			if slices.Contains(list, c.Signs[i].Kind) {
				return &c.Signs[i]
			}
		}
		return nil
	}
	switch {
	case has(Missing) != nil:
		c.Do, c.Advice = Look, "see whether it is pulled or dead: both of its ports are free; reseat it, and replace it if it does not come back"
	case has(Miscabled) != nil:
		c.Do, c.Advice = Move, "move the end that is in the wrong port, or correct the plan"
	case has(FECModes) != nil && len(c.Signs) == 1:
		c.Do, c.Advice = Look, "set both ports to one mode of error correction (mlxlink), or replace the end that cannot"
	case has(Flaps, Downed) != nil && has(Symbol, Uncorrected, ErrorRate) != nil:
		c.Do, c.Advice = Replace, "it goes and has errors: replace it"
	case tooMuch(has(Symbol)) || tooMuch(has(Uncorrected)):
		c.Do, c.Advice = Replace, "far more errors than its limit: replace it, or the optics at its ends"
	case has(Flaps, Downed) != nil:
		c.Do, c.Advice = Reseat, "reseat both ends; replace it if it goes again"
	case has(Slow, Narrow, Mixed) != nil:
		c.Do, c.Advice = Reseat, "reseat both ends, so that the link trains again; replace it if it comes back as slow"
	case has(Symbol, Uncorrected, ErrorRate, Recovered, Integrity, Damaged, Overrun) != nil:
		c.Do, c.Advice = Reseat, "clean and reseat both ends; replace it if errors come again"
	default:
		c.Do, c.Advice = Look, "measure it (ib_write_bw over this cable alone), and look at the adapters behind it; reseat it if it is slow"
	}
	d.command(c)
}

// tooMuch reports whether errors are far over their limit, both as counted and by the hour: within less than an hour
// a few errors make a high rate, and in the course of days a low rate adds up to many.
func tooMuch(s *result.TroubleSign) bool {
	if s == nil || s.Level != Bad {
		return false
	}
	n := s.Count
	if s.PerHour != nil {
		n = min(n, *s.PerHour)
	}
	return n >= replaceFrom*s.Limit
}

// command sets what to type before a cable is pulled, and after it: to the scheduler for the cable of a host, to weft
// for one between switches.
func (d *finder) command(c *result.CableInTrouble) {
	if c.Gone {
		return // no traffic is on it
	}
	f := d.Fabric
	ch := f.Channel(f.Out(fabric.NodeID(c.Ends[0]), c.A.Port))
	for _, n := range []fabric.NodeID{ch.To, ch.From} {
		if node := f.Node(n); node.Kind != fabric.Switch {
			host, _ := names.HostOf(node)
			if host == "" {
				host = f.Label(n)
			}
			host = words.ShellWord(host)
			c.Command = fmt.Sprintf("scontrol update NodeName=%s State=DRAIN Reason=%s", host, words.ShellWord("cable "+c.Name))
			c.Then = fmt.Sprintf("scontrol update NodeName=%s State=RESUME", host)
			return
		}
	}
	port := words.ShellWord(fmt.Sprintf("%s:%d", d.name(ch.From), ch.FromPort))
	c.Command, c.Then = "weft drain --live "+port, "weft undrain "+port
}

// name is what a command takes for a switch: its label, if that finds this switch and no other, else its GUID.
func (d *finder) name(n fabric.NodeID) string {
	label := d.Fabric.Label(n)
	if found, err := d.index.Node(label); err == nil && found == n && !strings.ContainsAny(label, "*") {
		return label
	}
	return d.Fabric.Node(n).GUID.String()
}
