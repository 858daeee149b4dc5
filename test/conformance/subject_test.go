package conformance

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// subject is a fabric that engines are tried on, and what is the same for many of them: the
// paths of each finder are found once, and held against its promises once; an assigner is asked
// once about paths that several finders have found.
type subject struct {
	*fabric.Fabric
	options engines.Options
	far     [][]int                    // hops
	paths   map[string]found           // by finder
	checked map[[sha256.Size]byte]bool // by digest of paths, see checkPaths
	lanes   map[asked]assigned
	judged  map[installed]verified
}

// asked is what a lane assigner is asked about, and with what budget.
type asked struct {
	assigner string
	paths    [sha256.Size]byte
	apart    bool
	budget   routing.Budget
}

// assigned is what it says.
type assigned struct {
	lanes *routing.Lanes
	err   error
}

// installed is tables as switches have them, and what they are judged by.
type installed struct {
	digest   string
	rows     int // of service levels
	contract routing.Contract
	scope    routing.Scope
}

// verified is what verify says.
type verified struct {
	verdict *deadlock.Verdict
	twin    *findings
	err     error
}

// found is what a path finder makes of a fabric.
type found struct {
	paths  *routing.Forwarding
	digest [sha256.Size]byte // of paths, whoever found them
	err    error
}

func newSubject(f *fabric.Fabric) *subject {
	return &subject{f, engines.Options{}.Sharing(), hops(f), map[string]found{}, map[[sha256.Size]byte]bool{}, map[asked]assigned{}, map[installed]verified{}}
}

// by is the paths of a finder.
func (on *subject) by(finder engines.Finder) found {
	p, ok := on.paths[finder.Name]
	if !ok {
		if p.paths, p.err = finder.New(on.options).Paths(context.Background(), on.Fabric, nil); p.err == nil {
			p.digest = on.digest("", p.paths)
		}
		on.paths[finder.Name] = p
	}
	return p
}

// digest tells paths apart, and finders that promise different things.
func (on *subject) digest(finder string, paths *routing.Forwarding) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintln(h, finder)
	for lid := range on.TopLID() + 1 {
		h.Write(paths.Row(lid))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// verify judges tables once, of whatever engines have made them: many lane assigners give one
// lane to paths that need no more.
func (on *subject) verify(t *routing.Tables, contract routing.Contract, scope routing.Scope) (*deadlock.Verdict, *findings, error) {
	key := installed{digest(t), t.Lanes.Rows, contract, scope}
	v, ok := on.judged[key]
	if !ok {
		v.verdict, v.twin, v.err = verify(t, contract, scope)
		if v.err == nil && v.verdict.Free() {
			v.err = accepted(t, v.verdict)
		}
		on.judged[key] = v
	}
	return v.verdict, v.twin, v.err
}

// route runs an engine with 8 lanes, or as many as it says it needs. No lanes at
// all come back where 15 do not suffice.
func (on *subject) route(e engines.Engine, scope routing.Scope, contract routing.Contract) (*routing.Tables, error) {
	finder, assigner, pair := parts(e)
	if !pair {
		return e.Route(context.Background(), on.Fabric, on.options, routing.Budget{VLs: routing.DefaultVLs, Scope: scope, Contract: contract}, nil)
	}
	p := on.by(finder)
	if p.err != nil {
		return nil, p.err
	}
	t, err := on.withLanes(e, p, assigner, scope, contract)
	if on.digest("", p.paths) != p.digest {
		return nil, errors.New("the lane assigner changed the paths")
	}
	return t, err
}

// withLanes is paths with the lanes of an assigner, tried with as many lanes as there are, as
// are needed, and with one fewer.
func (on *subject) withLanes(e engines.Engine, p found, assigner engines.Assigner, scope routing.Scope, contract routing.Contract) (*routing.Tables, error) {
	t := &routing.Tables{Fabric: on.Fabric, Forwarding: p.paths}
	var err error
	lanes := func(vls int) (*routing.Lanes, error) {
		return on.assign(assigner, p, routing.Budget{VLs: vls, Scope: scope, Contract: contract})
	}
	var few *routing.TooFewLanes
	t.Lanes, err = lanes(routing.DefaultVLs)
	if errors.As(err, &few) {
		if few.Need <= few.Have || few.Have != routing.DefaultVLs {
			return nil, fmt.Errorf("a refusal that makes no sense: %w", err)
		}
		if few.AtLeast || few.Need > routing.MaxDataVLs {
			return t, nil
		}
		t.Lanes, err = lanes(few.Need)
	}
	if err != nil {
		return nil, err
	}
	need := t.Lanes.Needed
	if need < 1 || few != nil && need != few.Need {
		return nil, fmt.Errorf("needs %d lanes, said %v", need, few)
	}
	exact, err := lanes(need)
	if err != nil || exact.Needed != need {
		return nil, fmt.Errorf("needs %d lanes, but with these: %w", need, err)
	}
	if fussy(e) {
		return t, nil
	}
	return t, scarce(lanes, need, few != nil)
}

// assign asks an assigner for the lanes of paths.
func (on *subject) assign(assigner engines.Assigner, p found, b routing.Budget) (*routing.Lanes, error) {
	key := asked{assigner.Name, p.digest, p.paths.Apart, b}
	said, ok := on.lanes[key]
	if !ok {
		said.lanes, said.err = assigner.New(engines.Options{}).Lanes(context.Background(), on.Fabric, p.paths, b, nil)
		on.lanes[key] = said
	}
	return said.lanes, said.err
}

// scarce tries with one lane fewer than needed. An assigner may try harder then,
// and succeed, unless it said before that it cannot.
func scarce(lanes func(int) (*routing.Lanes, error), need int, refused bool) error {
	if need == 1 {
		return nil
	}
	l, err := lanes(need - 1)
	var few *routing.TooFewLanes
	switch {
	case err == nil && !refused && l.Needed < need:
		return nil
	case errors.As(err, &few) && few.Need == need && few.Have == need-1:
		return nil
	case err == nil:
		return fmt.Errorf("needs %d lanes, but does with one fewer", need)
	}
	return fmt.Errorf("needs %d lanes, but with one fewer: %w", need, err)
}
