package ibnet

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// same is what two fabrics hold, without warnings and the GUIDs of nodes and ports for which known says no.
func same(t *testing.T, name string, got, want *fabric.Fabric, known func(fabric.GUID) bool) {
	t.Helper()
	if len(got.Nodes()) != len(want.Nodes()) || !slices.Equal(got.Channels(), want.Channels()) {
		t.Fatalf("%s: %d nodes and channels %v, want %d and %v", name, len(got.Nodes()), got.Channels(), len(want.Nodes()), want.Channels())
	}
	for i := range got.Nodes() {
		a, b := *got.Node(fabric.NodeID(i)), *want.Node(fabric.NodeID(i))
		if !known(b.GUID) {
			a.GUID, a.SystemGUID = b.GUID, b.SystemGUID
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %+v, want %+v", name, a, b)
		}
	}
	for i := range got.Endpoints() {
		a, b := *got.Endpoint(fabric.EndpointID(i)), *want.Endpoint(fabric.EndpointID(i))
		if !known(b.PortGUID) {
			a.PortGUID = b.PortGUID
		}
		if a != b {
			t.Errorf("%s: %+v, want %+v", name, a, b)
		}
	}
}

// What stands in place of a LID counts as none, with a warning; the rest of its line is read.
func TestNoLID(t *testing.T) {
	t.Parallel()
	all := func(fabric.GUID) bool { return true }
	want := mustRead(t, strings.ReplaceAll(plain, "lid 3 ", "lid 0 "))
	for in, shown := range map[string]string{"lid -1 ": `"-1"`, "lid -4\t": `"-4"`, "lid ": "nothing", "lid  ": "nothing", "lid N/A ": `"N/A"`, "lid 0xfffff ": ""} {
		got, err := Read(strings.NewReader(strings.ReplaceAll(plain, "lid 3 ", in)), "net")
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if shown == "" {
			continue
		}
		same(t, in, got, want, all)
		w := "4 records have no LID from 0 to 65535 behind \"lid\" but " + shown + ", the first in line 8: it counts as none"
		if n := strings.Count(plain, "lid 3 "); n != 4 || !slices.Contains(got.Warnings(), w) {
			t.Errorf("%q, which occurs %d times: %q, want %q", in, n, got.Warnings(), w)
		}
	}
	for in, lid := range map[string]string{"lid 0xffff ": "lid 65535 ", "lid 0x3 ": "lid 3 ", "lid 0X0003 ": "lid 3 "} {
		got, want := mustRead(t, strings.ReplaceAll(plain, "lid 3 ", in)), mustRead(t, strings.ReplaceAll(plain, "lid 3 ", lid))
		same(t, in, got, want, all)
		if !slices.Equal(got.Warnings(), want.Warnings()) {
			t.Errorf("%q: %q", in, got.Warnings())
		}
	}
	// The LID of the peer is missing at one end, and the other has it.
	if got := mustRead(t, strings.Replace(plain, "\"left # 1\" lid 3 4xHDR", "\"left # 1\" lid  4xHDR", 1)); got.Endpoint(0).LID != 3 || len(got.Warnings()) != 1 {
		t.Errorf("%+v, %q", got.Endpoint(0), got.Warnings())
	}
}

// GUIDs of which digits were overwritten count as not known, wherever they stand, and identifiers tell nodes apart.
func TestOverwrittenGUIDs(t *testing.T) {
	t.Parallel()
	want := mustRead(t, director)
	of := func(guid fabric.GUID) bool { return guid>>16 != 0xb8599f0300c1 }
	for name, tc := range map[string]struct {
		old, new string
		warned   string
	}{
		"one host":       {"b8599f0300c10000", "b8599f0300xxxxxx", `4 lines have a GUID that is no hexadecimal number but "b8599f0300xxxxxx", the first in line 12`},
		"all of it":      {"b8599f0300c10000", "xxxxxxxxxxxxxxxx", `4 lines have a GUID`},
		"a name":         {"b8599f0300c10000", "22222222222host2", `4 lines have a GUID`},
		"stars":          {"b8599f0300c10000", "b8599f**********", `4 lines have a GUID`},
		"port alone":     {"[1](1)(b8599f0300c10000)", "[1](1)(0xhost1)", `1 line has a GUID that is no hexadecimal number but "0xhost1", the first in line 26`},
		"peer alone":     {"[1](b8599f0300c10000)", "[1](host1)", `1 line has a GUID that is no hexadecimal number but "host1", the first in line 12`},
		"node alone":     {"caguid=0xb8599f0300c10000", "caguid=0xabhost", `1 line has a GUID that is no hexadecimal number but "0xabhost", the first in line 24`},
		"brackets alone": {"(fc6a1c0300a10080)", "(leaf)", `1 line has a GUID that is no hexadecimal number but "leaf", the first in line 17`},
	} {
		got := mustRead(t, strings.ReplaceAll(director, tc.old, tc.new))
		same(t, name, got, want, of)
		if !strings.Contains(strings.Join(got.Warnings(), "\n"), tc.warned) {
			t.Errorf("%s: %q, want %q", name, got.Warnings(), tc.warned)
		}
	}
	// Without a record of its own it is an adapter all the same.
	text := strings.ReplaceAll(director[:strings.LastIndex(director, "\nvendid")], "b8599f0300c10000", "b8599f0300xxxxxx")
	if got := mustRead(t, text); len(got.Nodes()) != 3 || got.Node(2).Kind != fabric.Adapter {
		t.Errorf("%+v", got.Nodes())
	}
}
