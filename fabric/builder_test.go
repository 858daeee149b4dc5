package fabric_test

import (
	"fmt"
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// Whatever a host calls itself, its name can be printed.
func TestNamesArePrintable(t *testing.T) {
	var b fabric.Builder
	for i, name := range []string{"sw-1 é 漢 \"x\"", "\x1b[31m\a", "\u009bJ\u202e\u2028", "a\x00\nb\x7f", "\xe9t\xff\ufffd"} {
		b.Node(fabric.Node{Kind: fabric.Switch, GUID: fabric.GUID(i + 1), Name: name, Ports: 1}, fmt.Sprint(i))
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"sw-1 é 漢 \"x\"", " [31m ", " J  ", "a  b ", "?t??"} {
		if got := f.Node(fabric.NodeID(i)).Name; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
