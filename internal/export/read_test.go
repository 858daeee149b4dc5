package export

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/testnet"
)

// TestGraphsComeBack: what is written as a graph is read as the fabric that it was, but
// for LIDs; as an anynet without names and rates.
func TestGraphsComeBack(t *testing.T) {
	for _, form := range []string{"dot", "graphml", "json"} {
		for _, name := range []string{"dragonfly:p=2", "xgft:m=4x4,w=2x4,hosts=2", "ring:2", "psmn-x5-2020", "ibtopotool-1"} {
			f := fabricOf(t, name)
			back, err := files.Fabric(strings.NewReader(written(t, form, networkOf(t, name, f))), "file")
			if err != nil {
				t.Errorf("%s as %s: %v", name, form, err)
				continue
			}
			if diff := cmp.Diff(described(f), described(back)); diff != "" {
				t.Errorf("%s as %s (-written +read):\n%.2000s", name, form, diff)
			}
		}
	}
	f := fabricOf(t, "dragonfly:p=2")
	back, err := files.Fabric(strings.NewReader(written(t, "anynet", networkOf(t, "d", f))), "file")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := f.Count(), back.Count(); a.Switches != b.Switches || a.HCA != b.HCA || a.SwitchCables != b.SwitchCables {
		t.Errorf("anynet: %+v, %+v", a, b)
	}
}

func fabricOf(t *testing.T, name string) *fabric.Fabric {
	t.Helper()
	if strings.Contains(name, ":") {
		return testnet.Build(t, name)
	}
	return testnet.Dump(t, name)
}

// described is nodes and cables, a line each.
func described(f *fabric.Fabric) (lines []string) {
	for i, n := range f.Nodes() {
		lines = append(lines, fmt.Sprintf("%d %s %s %q %d ports", i, n.GUID, n.Kind, n.Name, n.Ports))
	}
	for _, c := range f.Channels() {
		lines = append(lines, fmt.Sprintf("%d/%d %d/%d %s", c.From, c.FromPort, c.To, c.ToPort, c.Rate))
	}
	return lines
}

// An anynet has one channel between two routers.
func TestAnynetRefusesParallelCables(t *testing.T) {
	f := testnet.Build(t, "hyperx:2,k=2")
	for i := range Formats {
		if Formats[i].Name == "anynet" {
			err := Formats[i].Write(io.Discard, networkOf(t, "h", f))
			if err == nil || !strings.Contains(err.Error(), "are joined by several cables") {
				t.Errorf("error %v", err)
			}
			return
		}
	}
	t.Error("no anynet")
}
