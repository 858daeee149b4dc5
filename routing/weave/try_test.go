package weave_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/nue"
	"github.com/weft-fabric/weft/routing/paths/balance"
	"github.com/weft-fabric/weft/routing/paths/shortest"
	"github.com/weft-fabric/weft/routing/paths/sssp"
	"github.com/weft-fabric/weft/routing/weave"
)

var names = []string{"ring:9", "dragonfly:p=2", "dragonfly:p=4", "dragonfly:p=6", "deimos", "torus:4x4x4,hosts=2", "torus:6x5x5,hosts=7", "torus:8x8x8,hosts=2",
	"random:switches=64,links=128,hosts=16,seed=1", "random:switches=128,links=256,hosts=16,seed=1", "random:switches=128,links=512,hosts=16,seed=1", "random:switches=128,links=1024,hosts=16,seed=1",
	"kautz", "slimfly5", "slimfly13", "psmn-x5-2020", "topograph-ndr-dgx-2025", "kalcher-stage-2014"}

func TestTry(t *testing.T) {
	vls, _ := strconv.Atoi(os.Getenv("VLS"))
	for _, name := range names {
		var f *fabric.Fabric
		switch {
		case name == "kautz":
			f, _ = testnet.Kautz(5, 3, 7)
		case name == "slimfly5":
			f, _ = testnet.SlimFly(5, 7)
		case name == "slimfly13":
			f, _ = testnet.SlimFly(13, 9)
		case strings.Contains(name, "20"):
			f = testnet.Dump(t, name)
		default:
			f = testnet.Build(t, name)
		}
		if n := os.Getenv("NET"); n != "" && !strings.Contains(name, n) {
			continue
		}
		finder := routing.PathFinder(balance.Finder{})
		if os.Getenv("SSSP") != "" {
			finder = sssp.Finder{}
		}
		fw, _ := finder.Paths(context.Background(), f, nil)
		b := congestion.Count(f, fw, routing.HCA)
		t.Logf("%-50s sssp  load %d hops %.3f", name, b.Max, b.MeanHops())
		for i, r := range []routing.Router{nue.Router{}, weave.Any{Paths: []routing.PathFinder{finder, balance.Finder{Regular: true}}}, weave.Router{Paths: []routing.PathFinder{finder, balance.Finder{Regular: true}}}, weave.Router{Prefer: weave.Lanes, Paths: []routing.PathFinder{finder, balance.Finder{Regular: true}, shortest.Finder{Pick: shortest.Lowest}}}} {
			start := time.Now()
			v := vls
			if i == 0 {
				v = 1
			}
			tables, err := r.Route(context.Background(), f, routing.Budget{VLs: v, Scope: routing.Adapters}, nil)
			if err != nil {
				t.Errorf("%-50s %v %v", name, err, time.Since(start))
				continue
			}
			took := time.Since(start)
			contract := routing.Any
			if i >= 2 {
				contract = routing.Honored
			}
			ver, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Scope: routing.Adapters, Contract: contract})
			if err != nil || !ver.Free() || !ver.Complete() {
				t.Errorf("%s: %+v %v", name, ver, err)
				continue
			}
			c := congestion.Count(f, tables.Forwarding, routing.HCA)
			t.Logf("%-50s %d lanes %d SLs %d load %d hops %.3f  %v", name, i, ver.VLs, ver.SLs, c.Max, c.MeanHops(), took)
		}
	}
}
