package e2e

import (
	"os"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
)

// soon is how long anything here may take on a busy machine: a sweep, a daemon that begins.
const soon = 5 * time.Minute

func TestMain(m *testing.M) {
	testnet.Sample("^TestStockOpenSMTakesTheFiles$/^torus$/^updn$|^TestIbdmchkAgreesOnOpenSMsEngines$/^ring$|^TestKnownVerdicts$/^x5")
	os.Exit(live.Run(m))
}
