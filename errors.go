package weft

import (
	"fmt"

	"github.com/weft-fabric/weft/routing"
)

// CreditLoop is the error for tables that can deadlock. It contains them, for
// inspection.
type CreditLoop struct{ *Result }

func (e *CreditLoop) Error() string {
	text := fmt.Sprintf("weft: a credit loop under contract %s", e.Contract)
	if len(e.Verdict.Cycle) > 0 {
		f, first := e.Tables.Fabric, e.Verdict.Cycle[0]
		c := f.Channel(first.Trunk)
		text = fmt.Sprintf("weft: a credit loop of %d links under contract %s, one of them %s port %d on VL %d",
			len(e.Verdict.Cycle), e.Contract, f.Label(c.From), c.FromPort, first.VL)
	}
	return text
}

// EngineDefect is the error for tables that break the promise of their engine: it left
// out connected pairs, packets circle or take a lane that a cable does not run, or there is
// a credit loop although the engine is one that cannot have any.
type EngineDefect struct{ *Result }

func (e *EngineDefect) Error() string {
	if v := e.Verdict; v.Unreachable > e.Disconnected || v.Loops > 0 {
		return fmt.Sprintf("weft: %s left %d pairs without a route where %d are in different parts, and %d forwarding loops", e.Engine.Name, v.Unreachable, e.Disconnected, v.Loops)
	}
	if absent := e.Verdict.Absent; len(absent) > 0 && e.Verdict.Free() {
		return fmt.Sprintf("weft: %s sends packets on VL %d over %s, which runs %d", e.Engine.Name, absent[0].VL, e.Tables.Fabric.ChannelLabel(absent[0].Channel), e.Tables.Fabric.Channel(absent[0].Channel).DataVLs)
	}
	return fmt.Sprintf("weft: the tables of %s have a credit loop, which it promises never to make", e.Engine.Name)
}

// NoneProven is the error of Auto if no engine is proven.
type NoneProven struct {
	Contract routing.Contract
	Trials   []Trial
}

func (e *NoneProven) Error() string {
	return fmt.Sprintf("weft: none of %d engines is proven under contract %s within the lanes and service levels given", len(e.Trials), e.Contract)
}
