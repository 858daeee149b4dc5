package folder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/scramble"
)

// Whatever one file of a folder says, reading ends with a network that can be judged or with an
// error.
func FuzzFolder(f *testing.F) {
	names := []string{"a.route.json", "a.interface.json", "a.lldp.json", "a.config_db.json", "qos.yaml", "a.frr.conf", "a.route6.json"}
	files := pair()
	files["a.lldp.json"] = heard("eth0", "b", "eth0")
	files["qos.yaml"] = qos
	tunnel, err := os.ReadFile("../../examples/ethernet/dual-tor-remapped/tor-a/config_db.json")
	if err != nil {
		f.Fatal(err)
	}
	for i, name := range names {
		for _, text := range scramble.Of(files[name]) {
			f.Add(uint8(i), text, i%2 == 0)
		}
	}
	f.Add(uint8(3), string(tunnel), true)
	f.Add(uint8(4), "lossless:\n  - 3\n  - &a 4\n", false)
	dir := f.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	for name, text := range files {
		put(name, text)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string, partial bool) {
		name := names[int(which)%len(names)]
		put(name, text)
		defer func() {
			if put(name, files[name]); files[name] == "" {
				os.Remove(filepath.Join(dir, name))
			}
		}()
		n, err := Read(t.Context(), dir, Options{Partial: partial})
		if err != nil {
			return
		}
		if len(n.Gaps) > 0 && !partial {
			t.Fatalf("read with gaps: %q", n.Gaps)
		}
		verify(t, n, ethernet.HostScope)
		verify(t, n, ethernet.AllScope)
	})
}
