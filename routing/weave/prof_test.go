package weave_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/paths/balance"
	"github.com/weft-fabric/weft/routing/weave"
)

type fixed struct{ fw *routing.Forwarding }

func TestProf(t *testing.T) {
	f := testnet.Build(t, os.Getenv("NET"))
	start := time.Now()
	fs := []routing.PathFinder{balance.Finder{}, balance.Finder{Regular: true}}
	balance.Finder{}.Paths(context.Background(), f, nil)
	t.Log("balance", time.Since(start))
	start = time.Now()
	var r routing.Router = weave.Any{Paths: fs}
	if os.Getenv("W") != "" {
		r = weave.Router{Paths: fs}
	}
	r.Route(context.Background(), f, routing.Budget{VLs: 8, Scope: routing.Adapters}, nil)
	t.Log("any", time.Since(start))
}
