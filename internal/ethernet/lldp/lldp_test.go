package lldp

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

func FuzzRead(f *testing.F) {
	for _, text := range scramble.Of(
		`{"lldp":{"interface":[{"eth0":{"via":"LLDP","chassis":{"b":{"id":{"type":"mac","value":"aa"}}},"port":{"id":{"type":"ifname","value":"e1"},"descr":"to a"}}}]}}`,
		`{"lldp":[{"interface":[{"name":"eth0","chassis":[{"name":[{"value":"b"}]}],"port":[{"id":[{"type":"ifname","value":"eth0"}]}]}]}]}`,
		`{"lldp":{"interface":{"eth0":{"chassis":{"id":{"value":"aa"}},"port":{}}}}}`,
	) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Read(strings.NewReader(text), "f")
		var at *format.ParseError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a line: %v", err)
		}
		for _, n := range list {
			if n.Device == "" || n.Port == "" && n.Descr == "" || n.Line < 1 {
				t.Fatalf("%+v", n)
			}
		}
	})
}
