package plugin_test

import (
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// OpenSM keeps back what it logs until there are 4 KiB, unless force_log_flush is set, which few do. That tables of the
// daemon are proven stands in the log at once all the same: weft watch goes by it.
func TestLogWritten(t *testing.T) {
	t.Parallel()
	d, _ := serveRoutes(t, "nue", routing.Any)
	c := conf(d, enough)
	c["force_log_flush"] = "FALSE"
	r := start(t, testnet.Build(t, testnet.Small), d, c)
	r.Await(t, "proven; ", soon)
	for range 2 { // else it may have been the last of the 4 KiB
		r.Sweep(t)
		r.Await(t, "proven; ", soon)
	}
}
