package wire_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// That better tables may follow is told to those only who know what that means; and
// what means nothing is malformed.
func TestSoFar(t *testing.T) {
	f := testnet.Build(t, "ring:n=5")
	tables, proof := routed(t, f, "updn")
	for _, knows := range []bool{false, true} {
		q := wire.Of(f, 9)
		q.Improves = knows
		for _, write := range []func(io.Writer, *wire.Request, string, *routing.Tables, *deadlock.Certificate) error{wire.WriteTables, wire.WriteSoFar} {
			var b bytes.Buffer
			if err := write(&b, q, "updn", tables, proof); err != nil {
				t.Fatal(err)
			}
			message := bytes.Clone(b.Bytes())
			a, err := wire.ReadAnswer(&b, q)
			if err != nil {
				t.Fatal(err)
			}
			if soFar := message[16+30] == 1; soFar != a.SoFar {
				t.Errorf("the flag is %v and is read as %v", soFar, a.SoFar)
			}
			sameTables(t, q, a, tables, proof)
			message[16+30] |= 2
			if _, err := wire.ReadAnswer(bytes.NewReader(message), q); err == nil {
				t.Error("flags may be anything")
			}
		}
		var last bytes.Buffer
		if err := wire.WriteSoFar(&last, q, "updn", tables, proof); err != nil {
			t.Fatal(err)
		}
		if a, err := wire.ReadAnswer(&last, q); err != nil || a.SoFar != knows {
			t.Errorf("knows %v, and is told %v, %v", knows, a.SoFar, err)
		}
	}
	for _, stands := range []bool{false, true} {
		q := wire.Of(f, 9)
		q.Stands = stands
		var b bytes.Buffer
		if err := wire.WriteAnswer(&b, q, "updn", tables, proof, wire.Manner{Orders: true}); err != nil {
			t.Fatal(err)
		}
		if a, err := wire.ReadAnswer(&b, q); err != nil || a.Orders != stands || a.SoFar {
			t.Errorf("stands %v, and is told %+v, %v", stands, a, err)
		}
	}
	var b bytes.Buffer
	if err := wire.Of(f, 9).Write(&b); err != nil {
		t.Fatal(err)
	}
	b.Bytes()[16+21] |= 32
	if _, err := wire.ReadRequest(&b); err == nil {
		t.Error("a request may have any flag")
	}
}
