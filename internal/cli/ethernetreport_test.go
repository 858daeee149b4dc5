package cli

import (
	"testing"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
)

// The same network gives the same bytes of a page, also where many adapters have next hops of their own.
func TestEthernetReportIsTheSame(t *testing.T) {
	var first string
	for range 3 {
		code, out, errs := runWeft("report", "fattree:ports=8", "--routes", "bgp", "--json", "-o", "-")
		if code != exit.OK {
			t.Fatal(errs)
		}
		if first == "" {
			first = out
		}
		if out != first {
			t.Fatal("two runs of weft report --json differ")
		}
	}
}
