package judge

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// A certificate that is cut, or has more behind its end, is not read; one that is whole is, whatever its
// lines end with.
func TestReadCertificate(t *testing.T) {
	n := testcables.Network(t, rand.New(rand.NewPCG(17, 1)))
	v, err := Verify(context.Background(), n, Options{})
	if err != nil || !v.Free() {
		t.Fatal("no proof", err)
	}
	var b bytes.Buffer
	if err := WriteCertificate(&b, n, v.Certificate); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		b.String(): "",
		strings.ReplaceAll(b.String(), "\n", "\r\n"): "",
		b.String() + "more\n":                        "a certificate ends with the line before",
		b.String()[:b.Len()-6]:                       "f:",
		"":                                           "f:1: truncated",
	} {
		c, err := ReadCertificate(strings.NewReader(text), "f", n)
		switch {
		case want == "" && (err != nil || Check(context.Background(), n, c) != nil):
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v", text, err)
		}
	}
}

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
