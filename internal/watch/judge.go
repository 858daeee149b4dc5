package watch

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/inspect"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// hotLinks is how many of the fullest links a look names.
const hotLinks = 10

// judge fills in what a look says about its network and tables by themselves, without what is expected of them, and sets
// now.loads. m is the memory of the verdict before.
func (s *settings) judge(ctx context.Context, l *result.WatchLook, now *Snapshot, m *deadlock.Memory) (*deadlock.Verdict, error) {
	f := now.Tables.Fabric
	n := f.Count()
	l.Switches, l.Hosts, l.Cables = f.Switches(), n.HCA, len(f.Channels())/2
	contract := routing.Single(0)
	switch {
	case s.contract != nil:
		contract = *s.contract
	case now.SLs:
		contract = routing.Honored
	}
	v, err := deadlock.Verify(ctx, now.Tables, deadlock.Options{Contract: contract, Scope: s.scope, Memory: m})
	if err != nil {
		return nil, err
	}
	l.Verdict, l.Contract, l.Endpoints, l.SLsKnown, l.MapsKnown = result.DeadlockFree, contract.String(), s.scope.String(), now.SLs, now.Maps
	if !v.Free() {
		l.Verdict = result.CreditLoop
	}
	l.Apart = s.scope.Disconnected(f)
	l.Lanes, l.Pairs, l.CutOff, l.Circles, l.Dropped = v.VLs, v.Pairs, max(0, v.Unreachable-l.Apart), v.Loops, v.Dropped
	l.Cycle, l.Covers = stepsOf(f, v.Cycle), "unicast"
	for _, a := range v.Absent {
		ch := f.Channel(a.Channel)
		l.Absent = append(l.Absent, result.LookAbsent{From: outputs.Node(f, ch.From, ch.FromPort), SL: a.SL, VL: a.VL, DataVLs: ch.DataVLs})
	}
	if m := v.Multicast; m != nil {
		l.Covers = "unicast and multicast"
		l.Multicast = &result.LookTrees{Groups: m.Groups, Circling: list.Of(m.Circling, outputs.MLID), Split: list.Of(m.Split, outputs.MLID), OneSided: list.Of(m.OneSided, outputs.MLID)}
	}
	loads, err := congestion.CountTables(ctx, now.Tables, s.scope)
	if err != nil {
		return nil, err
	}
	now.loads = loads
	l.MaxLoad, l.Hot = loads.Max, hottest(f, loads)
	l.Degraded = degraded(f)
	return v, nil
}

// stepsOf is the steps of a credit loop with names.
func stepsOf(f *fabric.Fabric, cycle []deadlock.LoopStep) []result.LookStep {
	all := make([]result.LookStep, len(cycle))
	for i, s := range cycle {
		c := f.Channel(s.Trunk)
		to := result.Node{Name: "multicast group " + outputs.MLID(s.Dst)}
		if !s.Multicast {
			to = outputs.Endpoint(f, f.Owner(s.Dst))
		}
		all[i] = result.LookStep{From: outputs.Node(f, c.From, c.FromPort), To: outputs.Node(f, c.To, c.ToPort), VL: s.VL, SL: s.SL, Src: outputs.Endpoint(f, s.Src), Dst: to}
	}
	return all
}

// hottest is the fullest links, equal ones by number.
func hottest(f *fabric.Fabric, loads *congestion.Loads) []result.LookHot {
	order := fabric.All[fabric.ChannelID](f.Trunks())
	slices.SortStableFunc(order, func(a, b fabric.ChannelID) int { return cmp.Compare(loads.Routes[b], loads.Routes[a]) })
	hot := []result.LookHot{}
	for _, c := range order[:min(hotLinks, len(order))] {
		if loads.Routes[c] > 0 {
			ch := f.Channel(c)
			hot = append(hot, result.LookHot{From: outputs.Node(f, ch.From, ch.FromPort), To: outputs.Node(f, ch.To, ch.ToPort), Routes: loads.Routes[c]})
		}
	}
	return hot
}

// degraded is the links that are slower or narrower than others of their kind.
func degraded(f *fabric.Fabric) []result.LookDegraded {
	all := []result.LookDegraded{}
	for _, a := range inspect.Anomalies(f) {
		if a.Kind != inspect.SlowLink && a.Kind != inspect.NarrowLink && a.Kind != inspect.MixedRates {
			continue
		}
		for _, k := range a.Links {
			ends := result.CableEnds{A: outputs.Node(f, k.A, k.APort), B: outputs.Node(f, k.B, k.BPort)}
			all = append(all, result.LookDegraded{Kind: string(a.Kind), Rate: k.Rate.String(), CableEnds: ends})
		}
	}
	return all
}

// compare is what changed between two looks.
func compare(before, now *Snapshot) (*result.LookChanges, error) {
	old, next := before.Tables, now.Tables
	acting, err := transition.On(next.Fabric, old, next)
	if err != nil {
		return nil, err
	}
	parts, cost := transition.PartsOf(old.Fabric, next.Fabric), transition.CostOf(acting, next)
	return &result.LookChanges{
		Gone: partsOf(old.Fabric, &parts.Gone), New: partsOf(next.Fabric, &parts.New), Recabled: recabled(old.Fabric, next.Fabric, &parts),
		Entries: cost.Entries, Due: cost.Due, Blocks: cost.Blocks, Touched: cost.Switches, SLs: cost.SLs, Maps: cost.Maps,
	}, nil
}

// partsOf is parts of a fabric with names.
func partsOf(f *fabric.Fabric, p *transition.Part) result.LookParts {
	cables := make([]result.CableEnds, len(p.Cables))
	for i, c := range p.Cables {
		ch := f.Channel(c)
		cables[i] = result.CableEnds{A: outputs.Node(f, ch.From, ch.FromPort), B: outputs.Node(f, ch.To, ch.ToPort)}
	}
	return result.LookParts{Switches: outputs.Nodes(f, p.Switches), Adapters: outputs.Nodes(f, p.Others), Cables: cables}
}

// recabled is the ports of switches that have a cable in both fabrics, to different ports. It leaves out ports that
// led to a host and lead to another one: who swaps two hosts means it.
func recabled(old, next *fabric.Fabric, parts *transition.Parts) []result.Node {
	type end struct {
		switchGUID fabric.GUID
		port       uint8
	}
	ends := func(f *fabric.Fabric, cables []fabric.ChannelID) map[end]bool { // whether its cable leads to another switch
		all := map[end]bool{}
		for _, c := range cables {
			ch := f.Channel(c)
			from, to := f.Node(ch.From), f.Node(ch.To)
			if from.Kind == fabric.Switch {
				all[end{switchGUID: from.GUID, port: ch.FromPort}] = to.Kind == fabric.Switch
			}
			if to.Kind == fabric.Switch {
				all[end{switchGUID: to.GUID, port: ch.ToPort}] = from.Kind == fabric.Switch
			}
		}
		return all
	}
	was, all := ends(old, parts.Gone.Cables), []result.Node{}
	for e, trunk := range ends(next, parts.New.Cables) {
		if before, ok := was[e]; ok && (before || trunk) {
			all = append(all, outputs.Node(next, next.NodeByGUID(e.switchGUID), e.port))
		}
	}
	slices.SortFunc(all, func(a, b result.Node) int { return cmp.Or(cmp.Compare(a.GUID, b.GUID), cmp.Compare(a.Port, b.Port)) })
	return all
}
