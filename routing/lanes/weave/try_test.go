package weave_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/lanes/weave"
	"github.com/weft-fabric/weft/routing/paths/shortest"
	"github.com/weft-fabric/weft/routing/paths/sssp"
)

func nets(t *testing.T) map[string]*fabric.Fabric {
	m := map[string]*fabric.Fabric{}
	for _, s := range []string{"dragonfly:p=2", "dragonfly:p=4", "dragonfly:p=6", "deimos", "torus:4x4x4,hosts=2", "torus:6x5x5,hosts=7", "torus:8x8x8,hosts=2",
		"random:switches=64,links=128,hosts=16,seed=1", "random:switches=128,links=256,hosts=16,seed=1", "random:switches=128,links=512,hosts=16,seed=1", "random:switches=128,links=1024,hosts=16,seed=1"} {
		m[s] = testnet.Build(t, s)
	}
	m["kautz"], _ = testnet.Kautz(5, 3, 7)
	m["slimfly5"], _ = testnet.SlimFly(5, 7)
	m["slimfly13"], _ = testnet.SlimFly(13, 9)
	for _, d := range []string{"psmn-x5-2020", "topograph-ndr-dgx-2025", "kalcher-stage-2014"} {
		m[d] = testnet.Dump(t, d)
	}
	return m
}

func TestTry(t *testing.T) {
	all := nets(t)
	for _, name := range []string{"dragonfly:p=2", "dragonfly:p=4", "dragonfly:p=6", "deimos", "torus:4x4x4,hosts=2", "torus:6x5x5,hosts=7", "torus:8x8x8,hosts=2",
		"random:switches=64,links=128,hosts=16,seed=1", "random:switches=128,links=256,hosts=16,seed=1", "random:switches=128,links=512,hosts=16,seed=1", "random:switches=128,links=1024,hosts=16,seed=1",
		"kautz", "slimfly5", "slimfly13", "psmn-x5-2020", "topograph-ndr-dgx-2025", "kalcher-stage-2014"} {
		f := all[name]
		for pf, finder := range []routing.PathFinder{sssp.Finder{}, shortest.Finder{Pick: shortest.Lowest}} {
			if pf == 1 && os.Getenv("LOW") == "" {
				continue
			}
			fw, err := finder.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			l, err := weave.Assigner{}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 8, Scope: routing.Adapters}, nil)
			if err != nil {
				t.Logf("%-50s %d %v %v", name, pf, err, time.Since(start))
				continue
			}
			took := time.Since(start)
			v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{Scope: routing.Adapters})
			if err != nil || !v.Free() || !v.Complete() {
				t.Errorf("%s: %+v %v", name, v, err)
				continue
			}
			t.Logf("%-50s %d lanes %d (judge %d) SLs %d load %d  %v", name, pf, l.Needed, v.VLs, v.SLs, congestion.Count(f, fw, routing.HCA).Max, took)
		}
	}
}
