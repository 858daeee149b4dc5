package check

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// oneWayRound is tables for a ring of four: all packets clockwise, those that turn
// at switch 0 on SL 1. Of no SL all four turns are taken, so that there is no loop
// where each side uses its own record; on the other side's there is.
func oneWayRound(t *testing.T, f *fabric.Fabric) *routing.Tables {
	t.Helper()
	next := make([]fabric.ChannelID, f.Switches())
	order := make([]int, f.Switches()) // of switches, clockwise from switch 0
	for s, n := fabric.NodeID(0), 0; n < f.Switches(); n++ {
		order[s] = n
		first, end := f.TrunksFrom(s)
		for c := first; c < end; c++ {
			if to := f.Heads()[c]; n == 0 && c == first || n > 0 && order[to] == 0 && (to != 0 || n == f.Switches()-1) {
				next[s] = c
				break
			}
		}
		s = f.Channel(next[s]).To
	}
	w := routing.NewForwarding(f)
	l := routing.NewLanes(f, routing.LanePerSL(2))
	l.Needed = 2
	for lid, to := range f.LIDs() {
		e := f.Endpoint(to)
		row, levels := w.Row(lid), l.SLRow(lid)
		for s := range row {
			switch {
			case fabric.NodeID(s) != e.Switch:
				row[s] = f.Channel(next[s]).FromPort
			case e.Deliver != fabric.None:
				row[s] = f.Channel(e.Deliver).FromPort
			default:
				row[s] = 0
			}
			if from, dest := order[s], order[e.Switch]; from > dest && dest > 0 {
				levels[l.Row[s]] = 1 // by way of switch 0
			}
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: w, Lanes: l}
}

// shortestRound is tables for a ring of five: shortest paths, one pair of switches
// that are not neighbours on SL 1, both ways.
func shortestRound(t *testing.T) *routing.Tables {
	t.Helper()
	f := testnet.Build(t, "ring:5,hosts=1")
	l := routing.NewLanes(f, routing.LanePerSL(2))
	l.Needed = 2
	far := fabric.NodeID(1)
	for first, end := f.TrunksFrom(0); slices.Contains(f.Heads()[first:end], far); {
		far++
	}
	for lid, to := range f.LIDs() {
		switch f.Endpoint(to).Switch {
		case far:
			l.SLRow(lid)[l.Row[0]] = 1
		case 0:
			l.SLRow(lid)[l.Row[far]] = 1
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: tables(t, f, "minhop").Forwarding, Lanes: l}
}

// What is said of clients is true of the tables: never that they hold where they
// do not.
func TestClientsOfTables(t *testing.T) {
	ring := testnet.Build(t, "ring:4,hosts=1")
	directed, loop, safe := oneWayRound(t, ring), oneWayRound(t, ring), tables(t, ring, "updn")
	loop.Lanes = routing.OneSL(ring, routing.LanePerSL(2))
	layers := shortestRound(t)
	zero, one := routing.Single(0), routing.Single(1)
	const holds = "the tables hold where"
	for _, c := range []struct {
		name     string
		tables   *routing.Tables
		sls      bool
		contract *routing.Contract
		level    Level // of what is said of clients; empty: nothing is
		words    string
	}{
		{"a loop whatever they do", loop, true, nil, "", ""},
		{"a loop, records not known", loop, false, nil, "", ""},
		{"a loop under honored", loop, true, &routing.Honored, "", ""},
		{"a loop on the one SL", loop, true, &zero, "", ""},
		{"the way back", directed, true, nil, Warning, holds + " each side"},
		{"the way back, honored", directed, true, &routing.Honored, Warning, holds + " each side"},
		{"the way back, directed", directed, true, &routing.Directed, Advice, holds + " each side"},
		{"records", layers, true, nil, Warning, holds + " every client uses the PathRecord's service level"},
		{"records, honored", layers, true, &routing.Honored, Advice, "as you say yours do"},
		{"records, directed", layers, true, &routing.Directed, Advice, "as you say yours do"},
		{"records, any", layers, true, &routing.Any, Warning, holds + " every client uses the PathRecord's service level"},
		{"one SL", safe, true, &one, Advice, "SL 1"},
		{"a loop on another one SL", directed, true, &one, "", ""},
		{"safe", safe, true, nil, "", ""},
		{"safe, honored", safe, true, &routing.Honored, "", ""},
	} {
		r, err := Run(t.Context(), Input{Conf: configuration(t, plugin+"qos TRUE\n"), Fabric: c.tables.Fabric, Tables: c.tables, SLs: c.sls, Contract: c.contract})
		if err != nil {
			t.Fatal(err)
		}
		of := slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Code != Contract })
		if c.level == "" && len(of) > 0 || c.level != "" && (len(of) != 1 || !has(r, c.level, Contract, c.words)) {
			t.Errorf("%s: want %q %q, got %+v", c.name, c.level, c.words, of)
		}
	}
}

// Where packets change lanes by ports, clients may use any service level, and QoS has to be on all the same: on one lane
// there is a loop.
func TestLanesOfPorts(t *testing.T) {
	for engine, needed := range map[string]int{"dla": 2, "updn": 1} {
		f := testnet.Build(t, "dragonfly:p=2")
		r, err := Run(t.Context(), Input{Conf: configuration(t, "routing_engine file,no_fallback\nqos FALSE\n"), Fabric: f, Tables: tables(t, f, engine), VLs: 8})
		if err != nil {
			t.Fatal(err)
		}
		off := slices.ContainsFunc(r.Findings, func(x Finding) bool { return x.Code == QoSOff && x.Level == Danger })
		if r.Needed != needed || off != (needed > 1) {
			t.Errorf("%s: %d lanes are needed, want %d; that QoS is off is called dangerous: %v", engine, r.Needed, needed, off)
		}
	}
}
