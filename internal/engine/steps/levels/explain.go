package levels

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/internal/engine/steps/regrow"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

// The rules of path finders for trees.
const (
	ruleLevels = "every cable joins switches of neighbouring levels, counted from the switches with hosts"
	ruleJoined = "most pairs of hosts have a switch above both"
	ruleTurns  = "what has no switch above both is joined by turns from down to up that keep all paths free of cycles"
)

// Join completes the paths of a tree in t, which go up by an orientation and then down: where they
// leave some switches apart, by turns from down to up (orient.Join). It adds notes to t about
// the levels and what it did. It refuses trees in which that would close a cycle.
func (l *Levels) Join(ctx context.Context, o *orient.Orientation, t *routing.Forwarding) error {
	joined := ""
	if o.Apart(l.Fabric) {
		turns, err := orient.Join(ctx, l.Fabric, o, t)
		if lost := (*orient.NotJoined)(nil); errors.As(err, &lost) {
			return routing.Refuse(l.Fabric, ruleTurns, lost.From, 0, "no way up and down to %s, and no turn that would make one", l.Fabric.Label(lost.To))
		}
		if err != nil {
			return err
		}
		joined = "; " + turns
	}
	l.note(t, joined)
	return nil
}

// Complete is Join, and where that refuses it routes some destinations anew, so that turns
// from down to up join the rest and close no cycle (package regrow).
func (l *Levels) Complete(ctx context.Context, o *orient.Orientation, t *routing.Forwarding) error {
	err := l.Join(ctx, o, t)
	if !routing.Refused(err) {
		return err
	}
	note, err := regrow.Paths(ctx, l.Fabric, t, o.UpThenDown(l.Fabric))
	if err == nil {
		l.note(t, "; "+note)
	}
	return err
}

// note adds notes to t: the levels, what joined them, and how many pairs of hosts go down and up again.
func (l *Levels) note(t *routing.Forwarding, joined string) {
	t.Notes = append(t.Notes, l.summary()+joined)
	if apart := l.apart(); apart > 0 {
		t.Notes = append(t.Notes, words.Plural(apart, "pair")+" of hosts "+goDown(apart))
	}
}

// goDown says what pairs of hosts without a switch above both do.
func goDown(pairs int64) string {
	if pairs == 1 {
		return "has no switch above both and goes down and up again on its way"
	}
	return "have no switch above both and go down and up again on their way"
}

// Explain reports whether f keeps the rules of a path finder for trees.
func Explain(f *fabric.Fabric, finder routing.PathFinder) []routing.Finding {
	l, refusal := measureAll(f)
	if refusal != nil {
		return []routing.Finding{{Rule: ruleLevels, Why: why(refusal)}}
	}
	findings := []routing.Finding{{Rule: ruleLevels, OK: true, Why: l.summary()}}
	if refusal = l.tooFewJoined(); refusal != nil {
		return append(findings, routing.Finding{Rule: ruleJoined, Why: why(refusal)})
	}
	joined := "all do"
	if apart := l.apart(); apart > 0 {
		joined = "all but " + words.Plural(apart, "pair") + " do"
		if percent := fmt.Sprintf("%.1f %%", 100*share(l.common)); percent != "100.0 %" {
			joined = percent + " do"
		}
	}
	findings = append(findings, routing.Finding{Rule: ruleJoined, OK: true, Why: joined})
	t, err := finder.Paths(context.Background(), f, nil)
	if errors.As(err, &refusal) {
		return append(findings, routing.Finding{Rule: ruleTurns, Why: why(refusal)})
	}
	return append(findings, routing.Finding{Rule: ruleTurns, OK: true, Why: strings.Join(t.Notes, "; ")})
}

// summary says how many switches are on each level, the lowest first.
func (l *Levels) summary() string {
	var count []int
	for i := len(l.Order) - 1; i >= 0; i-- {
		h := int(l.Height[l.Order[i]])
		for h >= len(count) {
			count = append(count, 0)
		}
		count[h]++
	}
	if len(count) == 1 {
		return "1 level"
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(count), "[]"), " ", ", ")
	return fmt.Sprintf("%d levels with %s switches, from the lowest up", len(count), text)
}

// why is a refusal without its rule.
func why(r *routing.Refusal) string {
	switch {
	case r.Node == fabric.None:
		return r.Why
	case r.Port == 0:
		return r.Label + ": " + r.Why
	}
	return fmt.Sprintf("%s, port %d: %s", r.Label, r.Port, r.Why)
}
