package e2e

import (
	"os"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/live"
)

// soon is how long anything here may take on a busy machine: a sweep, a daemon that begins.
const soon = 5 * time.Minute

func TestMain(m *testing.M) { os.Exit(live.Run(m)) }
