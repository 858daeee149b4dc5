package orient_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// What breaks on one core of many breaks in the goroutine of the caller, who may
// recover: a daemon lives on.
func TestJoinPanicsWhereItIsCalled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	f := testnet.Build(t, "ring:5")
	o := orient.New(f, orient.ByRank(f, []fabric.NodeID{0}))
	fw := routing.NewForwarding(testnet.Build(t, "torus:4x4"))
	defer func() {
		if recover() == nil {
			t.Error("takes the forwarding of another network")
		}
	}()
	_, _ = orient.Join(context.Background(), f, o, fw)
}
