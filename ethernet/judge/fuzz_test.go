package judge

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/internal/testcables"
	"github.com/weft-fabric/weft/format"
)

// What is read of a certificate holds only if the network has a proof.
func FuzzReadCertificate(f *testing.F) {
	var networks []*ethernet.Network
	var free []bool
	for i := range uint64(20) {
		n := testcables.Network(f, rand.New(rand.NewPCG(17, i)))
		v, err := Verify(context.Background(), n, Options{})
		if err != nil {
			f.Fatal(err)
		}
		networks, free = append(networks, n), append(free, v.Free())
		if v.Free() {
			var b bytes.Buffer
			if err := WriteCertificate(&b, n, v.Certificate); err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), b.String())
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		i := int(which) % len(networks)
		c, err := ReadCertificate(strings.NewReader(text), "f", networks[i])
		var at *format.ParseError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a line: %v", err)
		}
		if err == nil && c.Scope == ethernet.HostScope && Check(context.Background(), networks[i], c) == nil && !free[i] {
			t.Fatalf("a proof for network %d, which has a loop:\n%s", i, text)
		}
	})
}
