package sweep

import (
	"os"
	"testing"

	"github.com/weft-fabric/weft/internal/live"
)

func TestMain(m *testing.M) { os.Exit(live.Run(m)) }
