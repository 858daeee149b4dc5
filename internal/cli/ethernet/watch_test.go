package ethernet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/watch"
)

// Counters of one device that cannot be read are told, and hide neither routes nor those of others.
func TestBrokenCounters(t *testing.T) {
	dir := t.TempDir()
	healthy := filepath.Join("..", "..", "..", "examples", "ethernet", "clos-healthy")
	if err := os.CopyFS(dir, os.DirFS(healthy)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"lf1.pfc.txt": "Traceback (most recent call last):\n",
		"lf2.pfc.txt": "Port Rx PFC0 PFC1 PFC2 PFC3\nlf2-sp1 0 0 0 7\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look, err := ReadLook(t.Context(), dir, watch.EthernetSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if gaps := look.Network.Gaps; len(gaps) != 1 || !strings.Contains(gaps[0], "lf1.pfc.txt:1: no table of show pfc counters") {
		t.Errorf("not covered: %q", gaps)
	}
	if len(look.Counters["lf2"]) != 4 || look.Counters["lf1"] != nil {
		t.Errorf("counters %v", look.Counters)
	}
}

// The pins of weft route --pin are read with their ways, and what is none is refused with its line.
func FuzzReadWays(f *testing.F) {
	f.Add("name,prefix,leaf,up,up2\nn,10.1.0.11/32,leaf1,spine1,\n")
	f.Add("n,10.1.0.11,leaf1,spine1\n")
	f.Add("n\n")
	f.Fuzz(func(t *testing.T, text string) {
		pins, err := readWays(strings.NewReader(text), "pins.csv")
		if err != nil && !strings.HasPrefix(err.Error(), "pins.csv") {
			t.Errorf("%v does not say where", err)
		}
		for _, p := range pins {
			if !p.Prefix.IsValid() || len(p.Way) > 3 {
				t.Errorf("%+v", p)
			}
		}
	})
}
