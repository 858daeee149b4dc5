package routing

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
)

// Progress is told how much of a stage is done; it may be nil. It is called from one
// goroutine at a time and must return quickly.
type Progress func(done, total int)

// Report calls p if there is one.
func (p Progress) Report(done, total int) {
	if p != nil {
		p(done, total)
	}
}

// PathFinder decides which way. It finds a path to every LID from every switch that can
// reach it, and leaves NoPort elsewhere: each connected part of a fabric is routed by
// itself. It refuses rather than return something weaker than it guarantees, and
// returns ctx.Err() when cancelled.
type PathFinder interface {
	Paths(ctx context.Context, f *fabric.Fabric, p Progress) (*Forwarding, error)
}

// Budget is what a lane assigner or a router may use. The zero Budget is DefaultVLs
// lanes and all service levels, for host adapters.
type Budget struct {
	VLs   int   // data lanes, 1 … MaxDataVLs; zero: DefaultVLs
	SLs   int   // service levels, which count from 0, 1 … SLs; zero: all. Held to by engines.Engine.Route.
	Scope Scope // endpoints whose traffic must be free of deadlock

	// Contract is what clients do with service levels, so which lanes are safe. Zero:
	// Honored.
	Contract Contract
}

// LaneAssigner decides which lane. It covers every path between endpoints in
// the budget's scope or refuses with *TooFewLanes.
type LaneAssigner interface {
	Lanes(ctx context.Context, f *fabric.Fabric, paths *Forwarding, b Budget, p Progress) (*Lanes, error)
}

// Engine decides both at once, which way and which lane. Otherwise it promises
// what a PathFinder and a LaneAssigner do.
type Engine interface {
	Route(ctx context.Context, f *fabric.Fabric, b Budget, p Progress) (*Tables, error)
}

// Explainer is implemented by path finders, lane assigners and engines that do not
// route every fabric: their rules, and whether a fabric keeps each.
type Explainer interface {
	Explain(f *fabric.Fabric) []Finding
}

// Finding reports whether a fabric keeps one rule of an engine.
type Finding struct {
	Rule string // the rule, as a sentence
	OK   bool
	Why  string // where the rule is broken, or the figures that show that it is kept
}

// Refusal says why an engine does not route a fabric: which rule the fabric breaks, and
// where.
type Refusal struct {
	Rule  string        // the rule, as a sentence
	Node  fabric.NodeID // fabric.None: no particular node
	Port  uint8         // 0: no particular port
	Label string        // the node's name, for messages
	Why   string        // what was found there, a sentence
}

// Refuse makes a Refusal.
func Refuse(f *fabric.Fabric, rule string, node fabric.NodeID, port uint8, why string, args ...any) *Refusal {
	r := &Refusal{Rule: rule, Node: node, Port: port, Why: fmt.Sprintf(why, args...)}
	if node != fabric.None {
		r.Label = f.Label(node)
	}
	return r
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s (rule: %s)", r.Brief(), r.Rule)
}

// Brief is where the rule is broken and what was found there, without the rule.
func (r *Refusal) Brief() string {
	switch {
	case r.Node != fabric.None && r.Port != 0:
		return fmt.Sprintf("%s, port %d: %s", r.Label, r.Port, r.Why)
	case r.Node != fabric.None:
		return r.Label + ": " + r.Why
	}
	return r.Why
}

// TooFewLanes is the refusal of a lane assigner.
type TooFewLanes struct {
	Need    int
	AtLeast bool // Need is a lower bound: the search was ended early
	Have    int
	Where   string // the cable that has no more lanes; empty: no cable is known to set the limit
}

// Refused reports whether an error is a refusal of any kind, and not a failure.
func Refused(err error) bool {
	lanes, levels, rule := (*TooFewLanes)(nil), (*TooFewLevels)(nil), (*Refusal)(nil)
	return errors.As(err, &lanes) || errors.As(err, &levels) || errors.As(err, &rule)
}

// TooFewLevels is the refusal of an engine that needs more service levels than there
// are.
type TooFewLevels struct {
	Need, Have int
}

func (e *TooFewLevels) Error() string {
	return fmt.Sprintf("needs %d service levels; %s available", e.Need, are(e.Have))
}

// are is a number with its verb.
func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

func (e *TooFewLanes) Error() string {
	least := ""
	if e.AtLeast {
		least = "at least "
	}
	text := fmt.Sprintf("needs %s%d lanes; %s available", least, e.Need, are(e.Have))
	if e.Where != "" {
		text += ": " + e.Where
	}
	return text
}
