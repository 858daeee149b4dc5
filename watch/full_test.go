package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
)

// A state folder that cannot be written is said to be that, not the files that are looked at;
// the watch goes on, and the next look is kept once it can be.
func TestStateCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{})
	files := filepath.Join(w.State, filesFolder)
	if err := os.Remove(files); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files, nil, 0o600); err != nil { // in place of the folder: root may write everywhere
		t.Fatal(err)
	}
	w.shown["look"] = &Snapshot{Tables: tablesBy(t, testnet.Build(t, "ring:n=5"), "updn", 1)}
	w.write("look")
	if l, err := w.look(t.Context()); err == nil || l != nil {
		t.Fatalf("%+v, %v", l, err)
	}
	if a := w.status.Alarms; len(a) != 1 || a[0].Kind != Unreadable || !strings.HasPrefix(a[0].Do, "see that the state folder can be written") {
		t.Errorf("%+v", a)
	}
	// What is wrong with the fabric is said all the same.
	w.shown["loop"] = &Snapshot{Tables: tablesBy(t, testnet.Build(t, "ring:n=5"), "minhop", 1)}
	w.write("loop")
	if l, err := w.look(t.Context()); err == nil || l != nil {
		t.Fatalf("%+v, %v", l, err)
	}
	if kinds := kindsOf(w.status.Alarms); !slices.Equal(kinds, []Kind{CreditLoop, Unreadable}) {
		t.Errorf("alarms %v", kinds)
	}
	w.write("look")
	if err := os.Remove(files); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(files, 0o700); err != nil {
		t.Fatal(err)
	}
	if l, err := w.look(t.Context()); err != nil || l == nil || len(w.status.Alarms) > 0 {
		t.Errorf("%+v, %v, %+v", l, err, w.status.Alarms)
	}
}
