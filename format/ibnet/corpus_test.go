package ibnet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// corpus is the folder of real dumps; the test is skipped without it.
func corpus(t testing.TB) string {
	dir := os.Getenv("WEFT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, "fabrics")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no real dumps: set WEFT_CORPUS")
	}
	return dir
}

func readFile(path string) (*fabric.Fabric, error) {
	r, err := reading.Open(context.Background(), path, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return Read(r, filepath.Base(path))
}

func TestRealDumps(t *testing.T) {
	dir := corpus(t)
	for _, tc := range []struct {
		file                                   string
		switches, adapters, aggregation, cable int
		self, endpoints                        int
		warnings                               string
	}{
		{file: "topograph-ndr-dgx-2025", switches: 40, adapters: 582, aggregation: 40, cable: 532, endpoints: 622},
		{file: "kalcher-stage-2014", switches: 8, adapters: 144, cable: 47, endpoints: 153},
		{file: "psmn-x5-2020", switches: 11, adapters: 89, cable: 70, endpoints: 100},
		{file: "ibtopotool-1", switches: 2, adapters: 4, cable: 2, endpoints: 7, warnings: "1xSDR by line 26"},
		{file: "ibtopotool-2", switches: 1, adapters: 2, endpoints: 3},
		{file: "ibtopotool-3", switches: 2, adapters: 6, cable: 1, self: 3, endpoints: 8, warnings: "line 1: src/query_smp.c"},
		{file: "ibtopotool-4", switches: 1, adapters: 1, endpoints: 2},
	} {
		t.Run(tc.file, func(t *testing.T) {
			f, err := readFile(filepath.Join(dir, tc.file+".ibnetdiscover"))
			if err != nil {
				t.Fatal(err)
			}
			c := f.Count()
			if c.Switches != tc.switches || c.Adapters != tc.adapters || c.Aggregation != tc.aggregation || c.SwitchCables != tc.cable ||
				c.SelfCables != tc.self || len(f.Endpoints()) != tc.endpoints {
				t.Errorf("counts: %+v, %d endpoints; want %+v", c, len(f.Endpoints()), tc)
			}
			warnings := strings.Join(f.Warnings(), "\n")
			if (warnings != "") != (tc.warnings != "") || !strings.Contains(warnings, tc.warnings) {
				t.Errorf("warnings %q, want one about %q", warnings, tc.warnings)
			}
			var text bytes.Buffer
			if err := Write(&text, f); err != nil {
				t.Fatal(err)
			}
			again, err := Read(&text, "again")
			if err != nil {
				t.Fatal(err)
			}
			if diff := compare(partsOf(f), again); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRealTruncatedDump(t *testing.T) {
	_, err := readFile(filepath.Join(corpus(t), "topograph-bad.ibnetdiscover"))
	if err == nil || !strings.HasPrefix(err.Error(), "topograph-bad.ibnetdiscover:10: truncated") {
		t.Fatalf("error is %v, want truncated in line 10", err)
	}
}
