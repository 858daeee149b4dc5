// Package prove is weft verify: tables that exist, ours or anyone's, before the judge.
package prove

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/result"
)

// Outputs is what the command prints for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/verify/1", Command: "weft verify", Form: result.Verify{}},
		{Schema: "weft/verify-certificate/1", Command: "weft verify --certificate, where the proof does not hold", Form: result.BadCertificate{}},
	}
}
