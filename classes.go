package weft

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// TooFewForClasses is the refusal of more classes of traffic than there are lanes, or service
// levels, for. It wraps a *routing.TooFewLanes or *routing.TooFewLevels about all of them.
type TooFewForClasses struct {
	Classes int
	Fit     int   // how many classes there is room for; 0: not even for one
	Err     error // about all classes together
}

func (e *TooFewForClasses) Error() string {
	return fmt.Sprintf("weft: %d classes of traffic: %v", e.Classes, e.Err)
}

func (e *TooFewForClasses) Unwrap() error { return e.Err }

// forClass is the part of a budget that an engine may use where every class of traffic
// gets as much.
func (r *Request) forClass(b routing.Budget) (routing.Budget, error) {
	if r.Classes <= 1 {
		return b, nil
	}
	if b.Contract != routing.Any {
		return b, fmt.Errorf("weft: classes of traffic are told apart by service levels, so clients may use any: contract %s does not go with them", b.Contract)
	}
	b, err := b.WithDefaults()
	if err != nil {
		return b, err
	}
	vls, sls := b.VLs, b.SLs
	b.VLs, b.SLs = vls/r.Classes, sls/r.Classes
	switch {
	case b.VLs == 0:
		return b, &TooFewForClasses{r.Classes, vls, &routing.TooFewLanes{Need: r.Classes, AtLeast: true, Have: vls}}
	case b.SLs == 0:
		return b, &TooFewForClasses{r.Classes, sls, &routing.TooFewLevels{Need: r.Classes, Have: sls}}
	}
	return b, nil
}

// inClasses is tables with a copy of their lanes for each class, or a refusal of those
// whose lanes hang on service levels themselves.
func (r *Request) inClasses(t *routing.Tables, e engines.Engine) (*routing.Tables, error) {
	if r.Classes <= 1 {
		return t, nil
	}
	if t.Lanes.Needed != 1 && !t.Lanes.SL2VL.IgnoresSL() {
		return nil, &routing.Refusal{
			Rule: "classes of traffic are told apart by service levels, so the lanes of an engine may not be", Node: -1,
			Why: fmt.Sprintf("%s needs a service level for each of its lanes here; weave-any, nue on one lane, updn and df-d2 do without", e.Name),
		}
	}
	return t.InClasses(r.Classes)
}

// forAll is the refusal of an engine that was given the lanes of one class, in terms of all.
func (r *Request) forAll(err error) error {
	if r.Classes <= 1 {
		return err
	}
	lanes, levels := (*routing.TooFewLanes)(nil), (*routing.TooFewLevels)(nil)
	switch {
	case errors.As(err, &lanes):
		have := cmp.Or(r.VLs, routing.DefaultVLs)
		return &TooFewForClasses{r.Classes, have / lanes.Need, &routing.TooFewLanes{Need: r.Classes * lanes.Need, AtLeast: lanes.AtLeast, Have: have}}
	case errors.As(err, &levels):
		have := cmp.Or(r.SLs, routing.SLs)
		return &TooFewForClasses{r.Classes, have / levels.Need, &routing.TooFewLevels{Need: r.Classes * levels.Need, Have: have}}
	}
	return err
}
