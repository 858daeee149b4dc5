package watch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Where the tables that OpenSM dumped are those expected, their service levels are known by what is expected, over a
// restart too: tables that are free of deadlocks with them are called so. Of other tables they are not known.
func TestServiceLevelsOfExpected(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:4x4")
	full, other := tablesBy(t, f, "dfsssp", 1), tablesBy(t, f, "minhop", 1)
	maps := full.Lanes.SL2VL
	dump := func(fw *routing.Forwarding) *Snapshot {
		return &Snapshot{Tables: &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, maps)}, Maps: true}
	}
	lacking := full.Forwarding.Clone()
	lid := f.Endpoints()[len(f.Endpoints())-1].LID
	lacking.Row(lid)[0] = routing.NoPort
	state := t.TempDir() // of weft serve, between two steps
	expect, before := filepath.Join(state, "last-good"), filepath.Join(state, "before")
	if err := errors.Join(os.Mkdir(expect, 0o700), os.Mkdir(before, 0o700)); err != nil {
		t.Fatal(err)
	}
	earlier := &routing.Tables{Fabric: f, Forwarding: full.Forwarding.Clone(), Lanes: full.Lanes}
	mixed, moved := full.Forwarding.Clone(), 0
	for lid := range f.LIDs() { // two entries, of which one is as in either
		for s, port := range full.Forwarding.Row(lid) {
			if to := other.Forwarding.Row(lid)[s]; to != port && moved < 2 {
				earlier.Forwarding.Row(lid)[s] = to
				if moved++; moved == 1 {
					mixed.Row(lid)[s] = to
				}
			}
		}
	}
	if moved < 2 {
		t.Fatal("both engines route alike")
	}
	s := newScene(t, Config{Expect: expect})
	read := func(network, tables string, trees uint16) (*Snapshot, error) {
		if tables == expect {
			return &Snapshot{Tables: full, SLs: true, Maps: true}, nil
		}
		if tables == before {
			return &Snapshot{Tables: earlier, SLs: true, Maps: true}, nil
		}
		return s.read(network, tables, trees)
	}
	s.Watcher.Read = read
	for _, c := range []struct {
		now    *Snapshot
		known  bool
		alarms []string
	}{
		{dump(full.Forwarding), true, nil},
		{dump(lacking), true, []string{CutOff, OtherTables}},
		{dump(other.Forwarding), false, []string{CreditLoop, OtherTables}},
		{dump(mixed), true, nil},
		{dump(full.Forwarding), true, nil},
	} {
		l := s.show(c.now)
		if l.SLsKnown != c.known || !slices.Equal(kindsOf(l.Alarms), c.alarms) || l.Contract != map[bool]string{true: "honored", false: "single:0"}[c.known] {
			t.Errorf("%v, contract %s: %+v, want %v, %v", l.SLsKnown, l.Contract, l.Alarms, c.known, c.alarms)
		}
	}
	endWhole(s.running)
	s.running = begun(t, &Watcher{Config: s.Watcher.Config, Log: s.Watcher.Log, Read: read, proc: s.proc})
	if !s.before.SLs {
		t.Error("a restart forgets them")
	}
}
