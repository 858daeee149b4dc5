package lldp

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

var others = map[string]string{
	"EOS":            `{"lldpNeighbors":{"eth0":{"lldpNeighborInfo":[{"systemName":"b","neighborInterfaceInfo":{"interfaceId":"\"e1\""}}]}}}`,
	"EOS, no detail": `{"tablesInserts":1,"lldpNeighbors":[{"port":"eth0","neighborDevice":"b","neighborPort":"e1","ttl":120}]}`,
	"NVUE":           `{"lo":{},"eth0":{"lldp":{"neighbor":{"x":{"chassis":{"system-name":"b"},"port":{"name":"e1"}}}}}}`,
	"lldpd":          `{"lldp":{"interface":[{"eth0":{"chassis":{"b":{}},"port":{"id":{"type":"ifname","value":"e1"}}}}]}}`,
}

// The same neighbor in the words of each system; and without a name or a port an error.
func TestDialects(t *testing.T) {
	for name, text := range others {
		list, err := Read(strings.NewReader(text), "f")
		if err != nil || len(list) != 1 || list[0].Interface != "eth0" || list[0].Device != "b" || list[0].Port != "e1" {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		less := strings.Replace(strings.Replace(text, `e1`, ``, 1), `\"\"`, ``, 1)
		if list, err := Read(strings.NewReader(less), "f"); err == nil {
			t.Errorf("%s, without a port: %+v", name, list)
		}
	}
}

// Adapters whose firmware speaks LLDP say no name: they are called by the address of their chassis, and others are still heard.
func TestWithoutName(t *testing.T) {
	for name, text := range map[string]string{
		"lldpd":        `{"lldp":{"interface":[{"eth0":{"chassis":{"id":{"type":"mac","value":"b8:ce:f6:00:00:01"}},"port":{"id":{"type":"mac","value":"b8:ce:f6:00:00:02"}}}}]}}`,
		"lldpd, json0": `{"lldp":[{"interface":[{"name":"eth0","chassis":[{"id":[{"type":"mac","value":"b8:ce:f6:00:00:01"}]}],"port":[{"id":[{"type":"mac","value":"b8:ce:f6:00:00:02"}]}]}]}]}`,
		"EOS":          `{"lldpNeighbors":{"eth0":{"lldpNeighborInfo":[{"chassisIdType":"macAddress","chassisId":"b8:ce:f6:00:00:01","neighborInterfaceInfo":{"interfaceId":"b8:ce:f6:00:00:02"}}]}}}`,
	} {
		list, err := Read(strings.NewReader(text), "f")
		if err != nil || len(list) != 1 || list[0].Device != "b8:ce:f6:00:00:01" || list[0].Port != "b8:ce:f6:00:00:02" {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range scramble.Of(
		`{"lldp":{"interface":[{"eth0":{"via":"LLDP","chassis":{"b":{"id":{"type":"mac","value":"aa"}}},"port":{"id":{"type":"ifname","value":"e1"},"descr":"to a"}}}]}}`,
		`{"lldp":[{"interface":[{"name":"eth0","chassis":[{"name":[{"value":"b"}]}],"port":[{"id":[{"type":"ifname","value":"eth0"}]}]}]}]}`,
		`{"lldp":{"interface":{"eth0":{"chassis":{"id":{"value":"aa"}},"port":{}}}}}`,
		others["EOS"], others["EOS, no detail"], others["NVUE"],
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
