package cli

import (
	"io"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/testnet"
)

// nothingProven is what auto answers as JSON where the one engine that it tried has a credit loop.
func nothingProven(t *testing.T, out io.Writer) error {
	j := routed.Job{Judged: routed.Judged{Console: &console.Console{Stdout: out, Outputs: schemas}, Fabric: testnet.Build(t, "ring:4"), VLs: 8}}
	return j.NoneProven(&weft.NoneProven{Trials: []choose.Trial{{Engine: "minhop", Outcome: choose.Loop}}}, true)
}
