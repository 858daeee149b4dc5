package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// layered is weft's engine of the kind of one of OpenSM's, by its name; true if its tables are free of deadlock only
// on several lanes.
func layered(name string) (engines.Engine, bool) {
	e, ok := ofOpenSM(name)
	return e, ok && e.Contract != routing.Any
}

// needsLanes is the first of some engines that puts paths on several lanes, by its options; false: none does.
func needsLanes(c *conf.Conf, names []string) (string, bool) {
	for _, e := range names {
		if vls, set := c.Int("nue_max_num_vls"); e == "nue" && (!set || vls == 1) {
			continue // one lane is the default
		}
		_, lanes := layered(e)
		if _, policy := c.Get("qos_policy_file"); lanes || e == "file" && policy {
			return e, true // a policy beside the tables gives out service levels
		}
	}
	return "", false
}

// estimateLanes estimates the number of lanes of the configured engine by weft's engine of the
// same kind, if there are no tables.
func (r *Report) estimateLanes(ctx context.Context, in *Input) error {
	name, ok := needsLanes(in.Conf, r.Engines)
	if !ok || r.Needed > 0 || in.Fabric == nil || name == "nue" || name == "file" {
		return nil
	}
	e, _ := layered(name)
	t, err := e.Route(ctx, in.Fabric, engines.Options{}, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.Adapters, Contract: routing.Directed}, nil)
	few := (*routing.TooFewLanes)(nil)
	switch {
	case errors.As(err, &few):
		r.Needed = few.Need
	case routing.Refused(err): // checkRefusals says so
	case err != nil:
		return err
	default:
		r.Needed = t.Lanes.Needed
	}
	return nil
}

// checkQoS checks whether service levels take effect at all.
func (r *Report) checkQoS(in *Input) {
	line := in.Conf.Line("qos")
	if v, ok := in.Conf.Get("qos"); ok && v != "TRUE" && v != "FALSE" {
		r.add(Finding{Level: Danger, Code: QoSOff, What: fmt.Sprintf("OpenSM takes %q for FALSE: only TRUE, in capitals, turns QoS on", v), Do: "write it as OpenSM reads it", Lines: []string{"qos TRUE"}, Line: line})
	}
	if r.QoS {
		return
	}
	e, lanes := needsLanes(in.Conf, r.Engines)
	switch {
	case lanes && r.Needed != 1:
		r.add(Finding{Level: Danger, Code: QoSOff, What: fmt.Sprintf("QoS is off: %s reports success, but no SL2VL table and no service level is set, and all paths share a lane", e),
			Do: "turn QoS on", Lines: []string{"qos TRUE"}, Line: line})
	case r.Needed > 1:
		r.add(Finding{Level: Danger, Code: QoSOff, What: fmt.Sprintf("QoS is off, and the tables need %d lanes: no SL2VL table is written", r.Needed), Do: "turn QoS on", Lines: []string{"qos TRUE"}, Line: line})
	case slices.Contains(r.Engines, PluginName) && r.Needed != 1:
		r.add(Finding{Level: Warning, Code: QoSOff, What: "QoS is off: weft can use one lane only, and refuses with engines that need more", Do: "turn QoS on", Lines: []string{"qos TRUE"}, Line: line})
	}
}

// opLanes is the number of data lanes, [code of PortInfo:OperationalVLs].
var opLanes = [...]int{1: 1, 2: 2, 3: 4, 4: 8, 5: 15}

// kinds is the prefixes of QoS options: for all ports, and for some.
var kinds = [...]string{"qos", "qos_ca", "qos_rtr", "qos_sw0", "qos_swe"}

// checkLanes computes the number of lanes that ports will have, and finds maps that use
// more.
func (r *Report) checkLanes(in *Input) {
	c := in.Conf
	r.Lanes = in.VLs
	line := c.Line("max_op_vls")
	code, set := c.Int("max_op_vls")
	v, written := c.Get("max_op_vls")
	switch {
	case written && (!set || code < 1 || code >= len(opLanes)):
		r.add(Finding{Level: Danger, Code: FewLanes, What: fmt.Sprintf("max_op_vls %s is no code of lanes: 1 is one lane, 2 is two, 3 is four, 4 is eight, 5 is fifteen", v), Do: "set the code of the lanes there are", Line: line})
	case set:
		r.Lanes = min(r.Lanes, opLanes[code])
	}
	e, layers := needsLanes(c, r.Engines)
	switch {
	case r.Needed > r.Lanes:
		f := Finding{Level: Danger, Code: FewLanes, What: fmt.Sprintf("the tables need %d lanes, the ports will have %d: higher lanes are folded onto lower ones in silence", r.Needed, r.Lanes), Line: line}
		if f.Do = "take an engine that needs fewer"; r.Needed <= in.VLs {
			f.Do, f.Lines = "let OpenSM use the lanes that the hardware has", []string{fmt.Sprintf("max_op_vls %d", codeFor(r.Needed))}
		}
		r.add(f)
	case layers && r.Needed == 0 && r.Lanes == 1:
		r.add(Finding{Level: Danger, Code: FewLanes, What: fmt.Sprintf("the ports will have one lane, and %s separates paths by lanes", e), Do: "let OpenSM use the lanes that the hardware has",
			Lines: []string{fmt.Sprintf("max_op_vls %d", codeFor(in.VLs))}, Line: line})
	}
	for _, kind := range kinds {
		key := kind + "_max_vls"
		if n, ok := c.Int(key); ok && n > 0 && r.QoS && n < r.Needed {
			r.add(Finding{Level: Danger, Code: FewLanes, What: fmt.Sprintf("%s is %d, and the tables need %d lanes", key, n, r.Needed), Do: "raise it", Lines: []string{fmt.Sprintf("%s %d", key, r.Needed)}, Line: c.Line(key)})
		}
		r.checkMap(c, kind+"_sl2vl")
	}
}

// codeFor is the code of the smallest number of lanes that suffices.
func codeFor(lanes int) int {
	code := 1
	for code < len(opLanes)-1 && opLanes[code] < lanes {
		code++
	}
	return code
}

// checkMap finds maps with lanes that ports do not have.
func (r *Report) checkMap(c *conf.Conf, key string) {
	v, ok := c.Get(key)
	if !ok || !r.QoS {
		return
	}
	var beyond []string
	entries := strings.Split(v, ",")
	for sl, entry := range entries {
		vl, err := strconv.ParseUint(strings.TrimSpace(entry), 0, 8)
		if err != nil || vl > 15 {
			r.add(Finding{Level: Danger, Code: FewLanes, What: fmt.Sprintf("%s: %q is no lane from 0 to 15", key, entry), Do: "write 16 lanes with commas between", Line: c.Line(key)})
			return
		}
		if int(vl) >= r.Lanes && vl != 15 {
			beyond = append(beyond, strconv.Itoa(sl))
		}
	}
	if len(entries) != routing.SLs {
		r.add(Finding{Level: Warning, Code: FewLanes, What: fmt.Sprintf("%s has %d lanes for 16 service levels", key, len(entries)), Do: "write 16 lanes with commas between", Line: c.Line(key)})
	}
	if len(beyond) > 0 && r.Needed > 1 {
		r.add(Finding{Level: Warning, Code: FewLanes, What: fmt.Sprintf("%s puts SL %s on lanes that the ports do not have (%d): OpenSM folds them onto others", key, strings.Join(beyond, ", "), r.Lanes),
			Do: "name lanes that there are", Line: c.Line(key)})
	}
}
