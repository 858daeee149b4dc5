package page

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/loads"
	"github.com/weft-fabric/weft/internal/page/layout"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// Given is tables that were judged, to be added to a network.
type Given struct {
	Name      string
	Source    string
	Tables    *routing.Tables
	Verdict   *deadlock.Verdict
	Available int      // lanes; 0: not known
	Next      []string // what to do about what the caller found
	Notes     []string
}

// Options says what is measured, and how well.
type Options struct {
	Seed      uint64
	Precision float64 // standard error of the bandwidth
	Jobs      []Job
	PathBytes int // what the entries may take; zero: PathBytes
	Progress  routing.Progress
}

// Job is endpoints that belong together.
type Job struct {
	Name      string
	Placement traffic.Placement
}

// hottest is how many channels with the most routes are listed.
const hottest = 50

// Add adds tables, with their loads and what random pairs get.
func Add(ctx context.Context, n *result.ReportNetwork, g *Given, o Options) error {
	f, v := g.Tables.Fabric, g.Verdict
	t := &result.ReportTables{
		Name: g.Name, Source: g.Source, Contract: v.Contract.String(), Endpoints: v.Scope.String(), Verdict: result.DeadlockFree,
		NotCovered: v.Outside(), Next: append([]string{}, g.Next...), Notes: append([]string{}, g.Notes...),
		Dependencies: v.Dependencies, Needed: g.Tables.Lanes.Needed, Used: v.VLs, Available: g.Available, SLs: v.SLs,
		Pairs: v.Pairs, Unreachable: v.Unreachable, Circling: v.Loops, Dropped: v.Dropped, Absent: len(v.Absent),
		Cycle: []result.ReportStep{}, Lost: []result.ReportLost{}, Tiers: []result.ReportTier{}, Lanes: []result.ReportLane{}, Levels: []result.ReportServiceLevel{}, Jobs: []result.ReportJob{},
	}
	t.Apart = v.Scope.Disconnected(f)
	if !v.Free() {
		t.Verdict = result.CreditLoop
	}
	t.Why = sentences(f, v, t.Apart)
	at := cablesOf(f)
	addCycle(t, f, at, v)
	for _, l := range v.Lost[:min(len(v.Lost), mostLost)] {
		t.Lost = append(t.Lost, result.ReportLost{
			Switch: int(l.Switch), Name: f.Label(l.Switch), LID: int(l.LID), Dst: endpointName(f, f.Owner(l.LID)), Why: l.Why.String(), Pairs: l.Pairs,
		})
	}
	loads, err := congestion.CountTables(ctx, g.Tables, v.Scope)
	if err != nil {
		return err
	}
	if err := addLoads(ctx, t, g, at, loads, n.Cables.Trunks); err != nil {
		return err
	}
	if n.Shape == string(layout.Groups) {
		t.Tiers = groupTiers(n, &t.Load)
	}
	countPairs(t, g.Tables, v.Scope)
	sim, err := addBandwidth(ctx, t, g, o)
	if err != nil {
		return err
	}
	addHottest(t, f, at, loads, sim)
	t.Paths = entriesOf(g.Tables, v, cmp.Or(o.PathBytes, PathBytes))
	n.Tables = append(n.Tables, t)
	return nil
}

// mostLost is how many pairs of a switch and a destination are listed.
const mostLost = 500

// sentences is what a verdict says, in sentences; apart is how many pairs no cable joins.
func sentences(f *fabric.Fabric, v *deadlock.Verdict, apart int64) []string {
	var why []string
	if v.Free() {
		why = append(why, fmt.Sprintf("Packets cannot deadlock as long as clients keep contract %s, for endpoints %s: %s, and a rank that rises along each of them (the certificate).",
			v.Contract, v.Scope, words.Counted(v.Dependencies, "dependency between lanes", "dependencies between lanes")))
	} else {
		why = append(why, fmt.Sprintf("Packets can deadlock under contract %s, endpoints %s: each of %d lanes can wait for the next, in a circle.", v.Contract, v.Scope, len(v.Cycle)))
	}
	if v.Unreachable > 0 {
		text := fmt.Sprintf("%s of %s pairs have no route", words.Thousands(v.Unreachable), words.Thousands(v.Pairs))
		switch {
		case v.Unreachable == apart:
			text += ", as no cable joins them"
		case apart > 0:
			text += fmt.Sprintf("; %s of these no cable joins", words.Thousands(apart))
		}
		why = append(why, text+".")
	}
	if v.Loops > 0 {
		why = append(why, fmt.Sprintf("Packets circle for ever from %s.", words.Counted(v.Loops, "pair of switch and destination", "pairs of switch and destination")))
	}
	if v.Dropped > 0 {
		why = append(why, fmt.Sprintf("Packets are dropped at %s, where their service level is mapped to VL 15.", words.Counted(v.Dropped, "turn", "turns")))
	}
	if len(v.Absent) > 0 {
		why = append(why, fmt.Sprintf("Packets are dropped for want of a lane: %s.", words.FirstOf(absentTexts(f, v))))
	}
	return why
}

// absentTexts names the lanes for want of which packets are dropped.
func absentTexts(f *fabric.Fabric, v *deadlock.Verdict) []string {
	var list []string
	for _, a := range v.Absent {
		list = append(list, a.Text(f))
	}
	return list
}

// cableOf is the cable of a channel, and whether the channel leads from its end b to its
// end a.
type cableOf struct {
	cable int32
	back  bool
}

// cablesOf is the cable of every channel, numbered as Network.addCables does.
func cablesOf(f *fabric.Fabric) []cableOf {
	at := make([]cableOf, len(f.Channels()))
	next := int32(0)
	for i := range f.Channels() {
		if r := f.Channel(fabric.ChannelID(i)).Reverse; r < fabric.ChannelID(i) {
			at[i] = cableOf{at[r].cable, true}
			continue
		}
		at[i].cable = next
		next++
	}
	return at
}

// addCycle adds the credit loop of a verdict; at is cablesOf.
func addCycle(t *result.ReportTables, f *fabric.Fabric, at []cableOf, v *deadlock.Verdict) {
	for _, s := range v.Cycle {
		c := f.Channel(s.Trunk)
		dst := f.Owner(s.Dst)
		by := fmt.Sprintf("%s → %s", endpointName(f, s.Src), endpointName(f, dst))
		if s.Answer {
			by += fmt.Sprintf(", answering on the request's SL %d", s.SL)
		}
		t.Cycle = append(t.Cycle, result.ReportStep{
			Cable: int(at[s.Trunk].cable), Back: at[s.Trunk].back, VL: int(s.VL), SL: int(s.SL), LID: int(s.Dst), Answer: s.Answer, By: by,
			From: fmt.Sprintf("%s, port %d", f.Label(c.From), c.FromPort), To: fmt.Sprintf("%s, port %d", f.Label(c.To), c.ToPort),
			Src: max(-1, int(s.Src)-f.Switches()), Dst: max(-1, int(dst)-f.Switches()),
		})
	}
}

// addLoads adds the routes over every cable between switches, of which there are so many, and by which
// lanes they go, the loads of lanes and tiers, and the mean of hops. at is cablesOf.
func addLoads(ctx context.Context, t *result.ReportTables, g *Given, at []cableOf, counted *congestion.Loads, cables int) error {
	f := g.Tables.Fabric
	c := &t.Load
	c.Most, c.There, c.Back, c.LanesA, c.LanesB = counted.Max, make([]uint32, cables), make([]uint32, cables), make([]int32, cables), make([]int32, cables)
	lanes, err := congestion.CountLanes(ctx, g.Tables, g.Verdict.Scope)
	if err != nil {
		return err
	}
	c.Scale = max(counted.Max, uint32(2*counted.Hops/int64(max(1, len(counted.Routes)))))
	for i, n := range counted.Routes {
		routes, mask := c.There, c.LanesA
		if at[i].back {
			routes, mask = c.Back, c.LanesB
		}
		routes[at[i].cable] = n
		for vl := range routing.MaxDataVLs {
			if loads.On(lanes, vl)[i] > 0 {
				mask[at[i].cable] |= 1 << vl
			}
		}
	}
	for _, l := range loads.Lanes(lanes) {
		t.Lanes = append(t.Lanes, result.ReportLane{VL: int(l.VL), Trunks: l.Trunks, Hops: l.Hops, Pairs: l.Pairs, Most: l.Most})
	}
	for _, v := range loads.Tiers(counted, f, g.Verdict.Scope) {
		t.Tiers = append(t.Tiers, result.ReportTier{Name: tierName(v.From, v.To), From: v.From, To: v.To, Trunks: v.Trunks, Least: v.Least, Mean: v.Mean, Most: v.Most, Loads: slices.Clone(v.Loads[:])})
	}
	t.Hops.Mean, t.Hops.Most = counted.MeanHops(), counted.MaxHops
	return nil
}

// tierName is a tier in words.
func tierName(from, to int) string {
	switch {
	case from < to:
		return fmt.Sprintf("up, level %d to %d", from, to)
	case from > to:
		return fmt.Sprintf("down, level %d to %d", from, to)
	}
	return fmt.Sprintf("within level %d", from)
}

// groupTiers is the loads of channels within groups, and of those between them.
func groupTiers(n *result.ReportNetwork, c *result.ReportLoads) []result.ReportTier {
	tiers := []result.ReportTier{{Name: "within groups"}, {Name: "between groups"}}
	for k := range tiers {
		tiers[k].Loads = make([]int, loads.Bins)
	}
	for i := range c.There {
		k := 0
		if n.Nodes.Group[n.Cables.A[i]] != n.Nodes.Group[n.Cables.B[i]] {
			k = 1
		}
		t := &tiers[k]
		for _, routes := range []uint32{c.There[i], c.Back[i]} {
			if t.Trunks == 0 {
				t.Least = routes
			}
			t.Trunks++
			t.Least, t.Most = min(t.Least, routes), max(t.Most, routes)
			t.Mean += float64(routes)
			t.Loads[min(loads.Bins-1, int(routes)*loads.Bins/int(max(1, c.Most)))]++
		}
	}
	tiers = slices.DeleteFunc(tiers, func(t result.ReportTier) bool { return t.Trunks == 0 })
	for k := range tiers {
		tiers[k].Mean /= float64(tiers[k].Trunks)
	}
	return tiers
}

// countPairs counts pairs by hops and by service level.
func countPairs(t *result.ReportTables, tables *routing.Tables, scope routing.Scope) {
	f := tables.Fabric
	sources := scope.PerSwitch(f)
	t.Hops.Pairs = make([]int64, t.Hops.Most+1)
	inRow := make([]int64, tables.Lanes.Rows)
	for _, e := range scope.Endpoints(f) {
		inRow[tables.Lanes.Row[e]]++
	}
	var bySL [256]int64
	var tree routing.Tree
	for lid, id := range f.LIDs() {
		e := f.Endpoint(id)
		row := tables.Forwarding.Row(lid)
		if e.Switch == fabric.None || !scope.Includes(e.Class) || row[e.Switch] != f.LastPort(e) {
			continue // nothing arrives
		}
		tree.Build(f, row, e.Switch)
		for _, s := range tree.Order {
			count := int64(sources[s])
			if s == e.Switch {
				count--
			}
			if count > 0 {
				t.Hops.Pairs[tree.Depth(s)] += count
			}
		}
		if sls := tables.Lanes.SLRow(lid); sls != nil {
			for r, sl := range sls {
				bySL[sl] += inRow[r]
			}
			bySL[sls[tables.Lanes.Row[id]]]-- // nobody sends to himself
		} else {
			bySL[0] += int64(len(scope.Endpoints(f))) - 1
		}
	}
	for sl, pairs := range bySL[:routing.SLs] {
		if pairs > 0 {
			t.Levels = append(t.Levels, result.ReportServiceLevel{SL: sl, Pairs: pairs})
		}
	}
}

// addBandwidth measures what random pairs get, and the flows of jobs. It returns the former; nil
// without two endpoints, where there is nothing to measure.
func addBandwidth(ctx context.Context, t *result.ReportTables, g *Given, o Options) (*congestion.Result, error) {
	f := g.Tables.Fabric
	among := g.Verdict.Scope.Endpoints(f)
	if len(among) < 2 {
		return nil, nil
	}
	r, err := congestion.Simulate(ctx, g.Tables, congestion.Options{
		Pattern: traffic.Bisection(), Placement: among, Seed: o.Seed, Precision: o.Precision, Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	t.Bandwidth = &result.ReportFlows{
		Mean: r.Lambda, StdErr: r.StdErr, Runs: r.Runs, Most: r.MaxCongestion, Congestion: r.Congestion, Flows: slices.Clone(r.Bandwidth[:]),
		Worst: fmt.Sprintf("%s → %s", endpointName(f, r.Worst.From), endpointName(f, r.Worst.To)), Least: r.Worst.Bandwidth,
	}
	for _, j := range o.Jobs {
		if len(j.Placement) < 2 {
			continue
		}
		s, err := congestion.Simulate(ctx, g.Tables, congestion.Options{Pattern: traffic.Bisection(), Placement: j.Placement, Seed: o.Seed, Precision: o.Precision})
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.Name, err)
		}
		flows := result.ReportJob{Name: j.Name, Ranks: len(j.Placement), Mean: s.Lambda, StdErr: s.StdErr}
		if hot := s.Hot(1); len(hot) > 0 {
			flows.Hottest = f.ChannelLabel(hot[0])
		}
		t.Jobs = append(t.Jobs, flows)
	}
	return r, nil
}

// addHottest lists the channels with the most routes; sim, which may be nil, is what random pairs
// made of them.
func addHottest(t *result.ReportTables, f *fabric.Fabric, at []cableOf, loads *congestion.Loads, sim *congestion.Result) {
	order := make([]fabric.ChannelID, 0, len(loads.Routes))
	for c, n := range loads.Routes {
		if n > 0 {
			order = append(order, fabric.ChannelID(c))
		}
	}
	slices.SortFunc(order, func(a, b fabric.ChannelID) int {
		return cmp.Or(cmp.Compare(loads.Routes[b], loads.Routes[a]), cmp.Compare(a, b))
	})
	t.Load.Hottest = []result.ReportHot{}
	for _, c := range order[:min(len(order), hottest)] {
		h := result.ReportHot{Cable: int(at[c].cable), Back: at[c].back, Channel: f.ChannelLabel(c), Routes: loads.Routes[c], Rate: f.Channel(c).Rate.String()}
		if sim != nil {
			h.Flows = uint32(math.Ceil(sim.Most[c]))
		}
		t.Load.Hottest = append(t.Load.Hottest, h)
	}
}
