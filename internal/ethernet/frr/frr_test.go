package frr

import (
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

// seeds adds files of the examples, and parts of them.
func seeds(f *testing.F, names ...string) {
	f.Helper()
	for _, name := range names {
		text, err := os.ReadFile("../../../examples/ethernet/clos-two-links-down/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for _, text := range scramble.Of(string(text)) {
			f.Add(text)
		}
	}
}

// located fails a test if an error does not say the line.
func located(t *testing.T, err error) {
	t.Helper()
	var at *format.ParseError
	if err != nil && !errors.As(err, &at) {
		t.Fatalf("an error without a line: %v", err)
	}
}

func FuzzReadRoutes(f *testing.F) {
	seeds(f, "lf1.route.json")
	f.Add(`{"default":{"10.0.0.0/8":[{"selected":true,"nexthops":[{"fib":true,"recursive":true},{"fib":true,"interfaceName":"e","ip":"fe80::1","labels":[3]}]}]}}`)
	f.Add(`{"10.0.0.0/8":[{"destSelected":true,"queued":true,"vrfName":"red","nexthops":[{"blackhole":true}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		list, err := ReadRoutes(strings.NewReader(text), "f", "default", seen)
		located(t, err)
		known := map[netip.Prefix]bool{}
		for _, r := range list {
			if !r.Prefix.IsValid() || r.Prefix != r.Prefix.Masked() || r.Line < 1 || !seen["default"] {
				t.Fatalf("%+v", r)
			}
			known[r.Prefix] = true
			for _, h := range r.Hops {
				if h.Interface == "" {
					t.Fatalf("%+v", r)
				}
			}
		}
		if err == nil && len(list) > 0 && len(known) == 0 {
			t.Fatal("routes without prefixes")
		}
	})
}

func FuzzReadInterfaces(f *testing.F) {
	seeds(f, "lf1.interface.json")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadInterfaces(strings.NewReader(text), "f")
		located(t, err)
		for _, in := range list {
			for _, a := range in.Addresses {
				if !a.IsValid() {
					t.Fatalf("%+v", in)
				}
			}
		}
	})
}

func FuzzReadAS(f *testing.F) {
	for _, text := range scramble.Of("hostname lf1\nrouter bgp 65101\n bgp router-id 8.8.8.1\n", "router bgp 65001\r\nrouter bgp 65002 vrf red\n") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ReadAS(strings.NewReader(text), "f")
		located(t, err)
	})
}

// An AS number that nobody can mean is refused, with its line.
func TestReadAS(t *testing.T) {
	for text, want := range map[string]uint32{"router bgp 65001\r\n": 65001, "!\nrouter bgp 65001 vrf red\n": 0, "": 0} {
		if as, err := ReadAS(strings.NewReader(text), "f"); as != want || err != nil {
			t.Errorf("%q: AS %d, %v", text, as, err)
		}
	}
	if _, err := ReadAS(strings.NewReader("!\nrouter bgp 4294967296\n"), "f"); err == nil || !strings.HasPrefix(err.Error(), "f:2: ") {
		t.Error(err)
	}
}
