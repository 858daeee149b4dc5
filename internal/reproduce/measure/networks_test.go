package measure

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

func TestNetworks(t *testing.T) {
	for text, want := range map[string][]Drawn{
		"ring:5":                        {{"ring:5", 7}},
		"odin | odin:seed={seed}":       {{"odin", 7}, {"odin:seed=7", 7}, {"odin:seed=8", 8}},
		"ring:5 ports-shuffled={seed}":  {{"ring:5 ports-shuffled=7", 7}, {"ring:5 ports-shuffled=8", 8}},
		"deimos | deimos hosts-packed":  {{"deimos", 7}, {"deimos hosts-packed", 7}},
		"random:switches=9,seed={seed}": {{"random:switches=9,seed=7", 7}, {"random:switches=9,seed=8", 8}},
	} {
		if diff := cmp.Diff(want, Networks(text, 7, 2, false)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if got := Networks("ring:5", 7, 2, true); len(got) != 2 || got[1] != (Drawn{"ring:5", 8}) {
		t.Errorf("drawn by something else: %v", got)
	}
}

// A job of a fixed placement has the same hosts in every pattern; others are drawn.
func TestHostsOfJobs(t *testing.T) {
	f, err := Build("ring:5,hosts=2 ports-shuffled=3 hosts-apart")
	if err != nil {
		t.Fatal(err)
	}
	all := routing.HCA.Endpoints(f)
	for text, want := range map[string][]fabric.EndpointID{
		"ring:5,hosts=2 hosts-packed": {all[0], all[1], all[2], all[3]},
		"ring:5,hosts=2 hosts-apart":  {all[0], all[2], all[5], all[7]},
	} {
		if got, drawn := hostsOf(f, text, 4); drawn || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, drawn %t, want %v", text, got, drawn, want)
		}
	}
	if got, drawn := hostsOf(f, "ring:5,hosts=2", 4); !drawn || len(got) != len(all) {
		t.Errorf("a job that is drawn: of %d hosts, %t", len(got), drawn)
	}
	if got, drawn := hostsOf(f, "ring:5,hosts=2 hosts-packed", 10); drawn || len(got) != len(all) {
		t.Errorf("all hosts: %d, %t", len(got), drawn)
	}
}

// A point over several networks keeps each value, 0 where the engine refuses.
func TestEachNetwork(t *testing.T) {
	p := Point{Measure: Bandwidth, Version: 1, Network: "ring:6 | karytree:k=2,n=2 | karytree:k=2,n=3", Engine: "ftree", Patterns: 50, Seed: 1}
	r, err := NewMeter(nil).Take(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Each) != 3 || r.Each[0] != 0 || r.Each[1] == 0 || r.Each[2] == 0 || r.Count != 2 || r.Refusals != 1 {
		t.Errorf("%+v", r)
	}
	if r.Low != min(r.Each[1], r.Each[2]) || r.High != max(r.Each[1], r.Each[2]) {
		t.Errorf("%g to %g of %v", r.Low, r.High, r.Each)
	}
}
