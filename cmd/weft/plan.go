package main

import (
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/cmd/weft/internal/list"
	"github.com/weft-fabric/weft/cmd/weft/internal/report"
	"github.com/weft-fabric/weft/cmd/weft/internal/words"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/repair"
)

func planError(err error, source string, contract routing.Contract) error {
	var rejected *change.Rejected
	switch {
	case errors.Is(err, repair.ErrLoop):
		return exit.Finding("the tables (%s) have a credit loop under contract %s: there is nothing safe to keep.\nweft verify shows the loop; weft route makes tables without one.", source, contract)
	case errors.As(err, &rejected):
		return exit.Internal("%w", err)
	}
	return err
}

type stepOfPlan struct {
	Mended  int   `json:"entries_mended"`
	Follow  int   `json:"entries_that_follow"`
	Dropped int   `json:"entries_dropped"`
	Rebuilt bool  `json:"rebuilt"`
	Due     int   `json:"entries_due"`
	Blocks  int   `json:"blocks"`
	Touched int   `json:"switches"`
	Cut     int64 `json:"pairs_cut_after"`
}

func stepsOf(p *change.Proven) []stepOfPlan {
	return list.Of(p.Steps, func(s change.Step) stepOfPlan {
		return stepOfPlan{s.Mended, s.Follow, s.Drops, s.Rebuilt, s.Union.Due, s.Union.Blocks, s.Union.Switches, s.Union.CutAfter()}
	})
}

type leftOver struct {
	LID      fabric.LID  `json:"lid"`
	Endpoint string      `json:"endpoint"`
	Node     report.Node `json:"endpoint_node"`
}

func leftOf(p *change.Proven) []leftOver {
	f := p.After.Fabric
	return list.Of(p.Left, func(l repair.Left) leftOver {
		e := f.Owner(l.LID)
		return leftOver{l.LID, report.Endpoint(f, e), report.EndpointNode(f, e)}
	})
}

func leftText(left []leftOver) string {
	return words.FirstOf(list.Of(left, func(l leftOver) string { return fmt.Sprintf("LID %d (%s)", l.LID, l.Endpoint) }))
}

func cutText(p *change.Proven) string {
	text := fmt.Sprintf("%s of %s pairs until the first step is written, %s after the last", words.Thousands(p.CutBefore), words.Thousands(p.Pairs), words.Thousands(p.CutAfter))
	if p.Disconnected > 0 {
		text += fmt.Sprintf(" (%s that no cable joins any more)", words.Thousands(p.Disconnected))
	}
	return text
}

// stepsText is a plan for people, a step a line.
func stepsText(p *change.Proven, none string) string {
	if len(p.Steps) == 0 {
		return none
	}
	entries, blocks := p.Entries()
	text := fmt.Sprintf("%s in %s, %s; each is free of credit loops in any mixture while it is written, and so are its tables",
		words.Counted(entries, "entry", "entries"), words.Plural(len(p.Steps), "step"), words.Counted(blocks, "block of 64 LIDs", "blocks of 64 LIDs"))
	for i, s := range p.Steps {
		text += fmt.Sprintf("\n  %d  %s on %s; %s cut off after it", i+1, mendedText(&s), words.Plural(s.Union.Switches, "switch"), words.Counted(int(s.Union.CutAfter()), "pair", "pairs"))
		if s.Rebuilt {
			text += "; some belong to destinations that lost nothing and make way for others"
		}
	}
	return text
}

func mendedText(s *change.Step) string {
	what := words.Counted(s.Mended, "entry", "entries") + " for traffic"
	if s.Mended == 0 {
		what = words.Counted(s.Follow, "entry", "entries") + " that no traffic needs"
	}
	if s.Drops > 0 {
		what += fmt.Sprintf(", %d taken out for a step", s.Drops)
	}
	return what
}
