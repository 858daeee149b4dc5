package weft

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/routing"
)

// NoTree is the error where no spanning tree for multicast was found beside the paths.
type NoTree struct {
	*spanning.None
	Loop *deadlock.Verdict // of the tables with the tree that one would take first; nil: not known
}

func (e *NoTree) Error() string {
	text := "weft: " + e.None.Error()
	if e.Loop != nil && len(e.Loop.Cycle) > 0 {
		f, first := e.Tree.Fabric, e.Loop.Cycle[0]
		c := f.Channel(first.Trunk)
		text += fmt.Sprintf("; the shortest one would close a credit loop of %d links, one of them %s port %d on VL %d", len(e.Loop.Cycle), f.Label(c.From), c.FromPort, first.VL)
	}
	return text
}

// AnySL is all service levels, as bits.
const AnySL uint16 = 1<<routing.SLs - 1

// WithMulticast is a result whose tables have a spanning tree for multicast, and whose verdicts
// are about unicast and multicast together: the trees of all groups are to be parts of that
// one. sls is service levels that groups may use, as bits; of several sets the first is taken
// for which there is a tree. The error is a *NoTree where there is none.
func (s *Result) WithMulticast(ctx context.Context, sls ...uint16) (*Result, error) {
	o := spanning.Options{Contract: s.Contract, Scope: s.Scope}
	if s.Wider != nil && s.Wider.Free() {
		o.Scope = s.Wider.Scope
	}
	var err error
	for _, o.SLs = range sls {
		var m *routing.Multicast
		if m, err = spanning.Tree(ctx, s.Tables, o); err == nil {
			return s.judgedWith(ctx, m)
		}
		if none := (*spanning.None)(nil); !errors.As(err, &none) {
			return nil, err
		}
	}
	no := &NoTree{}
	errors.As(err, &no.None)
	if no.Tree != nil {
		if no.Loop, err = deadlock.Verify(ctx, no.Tree, deadlock.Options{Contract: s.Contract, Scope: o.Scope}); err != nil {
			return nil, err
		}
	}
	return nil, no
}

// judgedWith has the tables judged once more with a tree.
func (s *Result) judgedWith(ctx context.Context, m *routing.Multicast) (*Result, error) {
	with, tables := *s, *s.Tables
	tables.Multicast = m
	with.Tables = &tables
	for _, v := range []**deadlock.Verdict{&with.Verdict, &with.Wider} {
		if *v == nil {
			continue
		}
		was := (*v).Free()
		now, err := deadlock.Verify(ctx, &tables, deadlock.Options{Contract: s.Contract, Scope: (*v).Scope})
		if err != nil {
			return nil, err
		}
		if *v = now; was && !now.Free() || len(now.Multicast.Circling)+len(now.Multicast.Split) > 0 {
			return nil, errors.New("weft: the spanning tree for multicast is not what it was said to be")
		}
	}
	return &with, nil
}
