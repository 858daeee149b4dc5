package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/lft"
)

// verifySummary is the verdict for programs.
type verifySummary struct {
	Verdict    string         `json:"verdict"`
	Contract   string         `json:"contract"`
	Endpoints  string         `json:"endpoints"`
	Assumed    assumedSummary `json:"assumed"`
	NotCovered []string       `json:"not_covered"` // by any verdict of these endpoints
	VLs        int            `json:"vls"`         // as lanes_used
	laneCounts
	SLs          int             `json:"sls"`
	Dependencies int             `json:"dependencies"`
	Pairs        int64           `json:"pairs"`
	Unreachable  int64           `json:"unreachable"`
	Loops        int64           `json:"forwarding_loops"`
	Dropped      int64           `json:"dropped_turns"`
	Stray        int64           `json:"stray"` // (switch without endpoints in scope, LID) without a route
	Misfits      *misfits        `json:"misfits,omitempty"`
	CutOff       *cutOff         `json:"cut_off,omitempty"`
	Lost         []lostSummary   `json:"lost,omitempty"`
	Cycle        []stepSummary   `json:"cycle"`
	JoinedBy     string          `json:"joined_by"`
	Rechecked    bool            `json:"certificate_checked"`
	Next         string          `json:"next,omitempty"`
	Seconds      verifyStageTime `json:"seconds"`
}

// assumedSummary is where the service levels and lanes come from: a file, or what
// is taken for want of one.
type assumedSummary struct {
	ServiceLevels string `json:"service_levels"`
	Lanes         string `json:"lanes"`
}

type verifyStageTime struct {
	Read   float64 `json:"read"`
	Verify float64 `json:"verify"`
}

// lostSummary is a switch and a LID that its endpoints do not reach.
type lostSummary struct {
	Switch     string      `json:"switch"`
	Dst        string      `json:"dst"`
	SwitchNode nodeSummary `json:"switch_node"`
	DstNode    nodeSummary `json:"dst_node"`
	LID        fabric.LID  `json:"lid"`
	Why        string      `json:"why"`
	Pairs      int64       `json:"pairs"` // endpoints in scope on the switch that it concerns
}

func (j *verifyJob) summary() *verifySummary {
	f, v := j.tables.Fabric, j.verdict
	s := &verifySummary{
		Verdict: verdictWord(v), Contract: v.Contract.String(), Endpoints: v.Scope.String(), NotCovered: deadlock.Outside(v.Scope),
		VLs: v.VLs, laneCounts: laneCounts{Used: v.VLs}, SLs: v.SLs, Dependencies: v.Dependencies, Pairs: v.Pairs, Unreachable: v.Unreachable,
		Loops: v.Loops, Dropped: v.Dropped, Stray: v.Stray, Cycle: cycleSummary(f, v.Cycle),
		Assumed: j.o.tableFiles.assumed(), Misfits: j.misfits, CutOff: cutOffBy(j.tables, v), JoinedBy: j.rule.String(), Rechecked: j.checked, Next: j.next(),
		Seconds: verifyStageTime{j.spent.read.Seconds(), j.spent.verify.Seconds()},
	}
	for _, l := range v.Lost {
		s.Lost = append(s.Lost, lostSummary{
			f.Label(l.Switch), endpointName(f, f.Owner(l.LID)), nodeOf(f, l.Switch, 0), endpointNode(f, f.Owner(l.LID)), l.LID, l.Why.String(), l.Pairs,
		})
	}
	return s
}

// report prints the verdict, and turns findings into the exit code.
func (j *verifyJob) report() error {
	s := j.summary()
	return j.answer(j.o.json, s, func() error { return j.show(j.screen(s)) }, !j.verdict.Free() || !j.verdict.Complete() || j.misfits != nil)
}

func (j *verifyJob) screen(s *verifySummary) *page {
	p := j.newPage()
	f, v := j.tables.Fabric, j.verdict
	n := f.Count()
	p.fact("fabric", "%s: %s, %s", j.name, plural(n.Switches, "switch"), describeEndpoints(f))
	p.fact("tables", "%s, destinations found by %s", j.o.lfts, j.rule)
	p.fact("assumed", "%s", j.assumedText())
	if j.misfits != nil {
		p.fact("differs", "%s", j.misfits.text())
	}
	switch {
	case !v.Free():
		p.fact("verdict", "%s (contract %s, endpoints %s), a shortest one of %d steps:\n%s", creditLoop, v.Contract, v.Scope, len(v.Cycle), cycleText(j.console, f, v.Cycle))
	case j.checked:
		p.fact("verdict", "%s (contract %s, endpoints %s): the ranks of %s rise along all %s dependencies", deadlockFree, v.Contract, v.Scope, j.o.readCert, thousands(int64(v.Dependencies)))
	default:
		p.fact("verdict", "%s (contract %s, endpoints %s): %s dependencies, a rank that rises along each", deadlockFree, v.Contract, v.Scope, thousands(int64(v.Dependencies)))
	}
	if v.Free() {
		p.fact("outside", "%s", outsideText(v.Scope))
	}
	p.fact("lanes", "%s; %s", laneCounts{Used: v.VLs}, plural(v.SLs, "service level"))
	p.fact("routes", "%s", j.routesText())
	if s.CutOff != nil {
		p.fact("cut off", "%s", s.CutOff.text(j.console))
	}
	p.fact("time", "read %s, verify %s", seconds(j.spent.read), seconds(j.spent.verify))
	if j.o.writeCertificate != "" && v.Free() {
		p.fact("proof", "%s", j.o.writeCertificate)
	}
	if next := j.next(); next != "" {
		p.fact("next", "%s", next)
	}
	return p
}

// assumed is where the service levels and lanes of tables come from.
func (o *tableFiles) assumed() assumedSummary {
	return assumedSummary{
		ServiceLevels: cmp.Or(o.psl, "0 everywhere"),
		Lanes:         cmp.Or(o.sl2vl, "of the same number as the service level"),
	}
}

// assumedText says under which assumptions the tables are judged, and what changes
// them.
func (j *verifyJob) assumedText() string {
	lines := []string{"every packet has SL 0 (--psl FILE gives service levels)"}
	if j.o.psl != "" {
		lines[0] = "service levels are those of " + j.o.psl
	}
	switch {
	case j.o.sl2vl != "":
		lines = append(lines, "lanes are those of "+j.o.sl2vl)
	case j.o.psl != "":
		lines = append(lines, "SL n rides VL n (--sl2vl FILE gives the maps of the switches, such as opensm-sl2vl.dump)")
	default:
		lines[0] = "every packet has SL 0 and rides VL 0 (--psl FILE gives service levels, --sl2vl FILE lanes)"
	}
	lines = append(lines, fmt.Sprintf("clients keep contract %s, endpoints are %s (--contract, --endpoints)", j.options.Contract, j.options.Scope))
	if j.rule == lft.ByLID {
		lines = append(lines, "the tables speak of the LIDs of the fabric (--lst FILE gives the opensm-subnet.lst of their OpenSM)")
	}
	return strings.Join(lines, "\n")
}

// routesText says how many pairs have a route.
func (j *verifyJob) routesText() string {
	v := j.verdict
	var b strings.Builder
	fmt.Fprintf(&b, "%s pairs of endpoints, %s without a route", thousands(v.Pairs), thousands(v.Unreachable))
	if v.Loops > 0 {
		fmt.Fprintf(&b, "; packets circle for ever from %s (switch, LID)", thousands(v.Loops))
	}
	if v.Dropped > 0 {
		fmt.Fprintf(&b, "; packets are dropped at %s turns, their SL being mapped to VL 15", thousands(v.Dropped))
	}
	if v.Stray > 0 {
		fmt.Fprintf(&b, "; %s more from switches without endpoints in this scope (harmless)", thousands(v.Stray))
	}
	return b.String()
}

// next says what to do about findings; empty if there are none.
func (j *verifyJob) next() string {
	var do []string
	if !j.verdict.Free() {
		switch without := "if these tables come with %s: the loop may not be there"; {
		case j.verdict.Loops > 0: // a loop on any service level
		case j.o.psl == "" && j.o.sl2vl == "":
			do = append(do, fmt.Sprintf(without, "service levels and SL2VL maps, give both (--psl, --sl2vl)"))
		case j.o.psl == "":
			do = append(do, fmt.Sprintf(without, "service levels, give them too (--psl)"))
		case j.o.sl2vl == "":
			do = append(do, fmt.Sprintf(without, "SL2VL maps, give them too (--sl2vl)"))
		}
		do = append(do, fmt.Sprintf("weft route %s computes tables that are proven", j.name))
	}
	switch {
	case j.misfits != nil:
		do = append(do, "take both dumps again, close together; if they still differ, OpenSM has not routed since: SIGHUP to opensm makes it")
		if j.verdict.Free() && !j.verdict.Complete() {
			do = append(do, fmt.Sprintf("weft route %s --keep TABLES mends tables with the fewest changes, in steps that are safe", j.name))
		}
	case j.verdict.Loops > 0:
		do = append(do, "the forwarding tables send packets round in circles: route the fabric again, or SIGHUP to opensm makes it route")
	case !j.verdict.Complete():
		do = append(do, "the tables leave out what the fabric has: route it again, or SIGHUP to opensm makes it route")
	}
	return strings.Join(do, "\n")
}
