package files

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// What was written reads back as it was; another port, service level or rank does not.
func TestReadBack(t *testing.T) {
	f := testnet.Build(t, "torus:5x5,hosts=1")
	tables := routed.Of(t, f, "lash", routing.Budget{VLs: 8, Contract: routing.Honored})
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Honored})
	if err != nil || !v.Free() {
		t.Fatal(v, err)
	}
	d := &Folder{Tables: tables, Certificate: v.Certificate}
	written := map[string]string{}
	for _, file := range d.Files() {
		var b bytes.Buffer
		if err := file.Write(&b); err != nil {
			t.Fatal(err)
		}
		written[file.Name] = b.String()
	}
	open := func(name string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(written[name])), nil }
	if err := d.ReadBack(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	if len(written) != 4 {
		t.Errorf("%d files, want 4", len(written))
	}
	other := tables.Forwarding.Clone()
	lid := f.Endpoint(0).LID
	other.Row(lid)[0]++
	for what, d := range map[string]*Folder{
		"the ports for LID":      {Tables: &routing.Tables{Fabric: f, Forwarding: other, Lanes: tables.Lanes}},
		"the service level from": {Tables: &routing.Tables{Fabric: f, Forwarding: tables.Forwarding, Lanes: routing.OneSL(f, tables.Lanes.SL2VL)}},
	} {
		if err := d.ReadBack(t.Context(), open); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	written[tablefiles.CertificateFile] = strings.Replace(written[tablefiles.CertificateFile], "honored", "any", 1)
	if err := d.ReadBack(t.Context(), open); err == nil {
		t.Error("a certificate of another contract reads back")
	}
}
