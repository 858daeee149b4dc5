package cli

import (
	"io"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/testnet"
)

// nothingProven is what auto answers as JSON where the one engine that it tried has a credit loop.
func nothingProven(t *testing.T, out io.Writer) error {
	j := routeJob{judged: judged{Console: &console.Console{Stdout: out, Outputs: schemas}, fabric: testnet.Build(t, "ring:4"), vls: 8}}
	return j.noneProven(&weft.NoneProven{Trials: []weft.Trial{{Engine: "minhop", Outcome: weft.Loop}}}, true)
}
