package ibnet

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// parts is what a fabric is made of.
type parts struct {
	nodes     []fabric.Node
	channels  []fabric.Channel
	endpoints []fabric.Endpoint
}

func partsOf(f *fabric.Fabric) *parts {
	return &parts{slices.Clone(f.Nodes()), f.Channels(), f.Endpoints()}
}

// compare tells where two fabrics differ, warnings aside. (cmp tells it well but slowly.)
func compare(want *parts, got *fabric.Fabric) string {
	if reflect.DeepEqual(want, partsOf(got)) {
		return ""
	}
	return cmp.Diff(want.nodes, got.Nodes()) + cmp.Diff(want.channels, got.Channels()) + cmp.Diff(want.endpoints, got.Endpoints())
}

// randomFabric draws switches, adapters and routers, and cables between ports
// that are free: parallel, self-loops and adapter to adapter included.
func randomFabric(t *rapid.T) *fabric.Fabric {
	var b fabric.Builder
	type port struct {
		node fabric.Ref
		port uint8
	}
	var free []port
	guid := fabric.GUID(0)
	for range rapid.IntRange(1, 12).Draw(t, "nodes") {
		guid += fabric.GUID(rapid.IntRange(1, 1<<20).Draw(t, "guid step"))
		n := fabric.Node{
			GUID:       guid,
			Kind:       rapid.SampledFrom([]fabric.Kind{fabric.Switch, fabric.Adapter, fabric.Router}).Draw(t, "kind"),
			Ports:      rapid.IntRange(0, 8).Draw(t, "ports"),
			Name:       rapid.StringMatching(`([ -~é]|[[:space:]"#\[\]'{}]){0,20}`).Draw(t, "name"),
			SystemGUID: fabric.GUID(rapid.Uint64().Draw(t, "system")),
			VendorID:   rapid.Uint32().Draw(t, "vendor"),
			DeviceID:   rapid.Uint32().Draw(t, "device"),
		}
		n.Name = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, n.Name)
		ref := b.Node(n, "")
		for p := range n.Ports + 1 {
			b.Port(ref, uint8(p), fabric.Port{
				GUID: fabric.GUID(rapid.Uint64().Draw(t, "port GUID")),
				LID:  fabric.LID(rapid.Uint16().Draw(t, "LID")),
				LMC:  uint8(rapid.IntRange(0, 7).Draw(t, "LMC")),
			})
			if p > 0 {
				free = append(free, port{ref, uint8(p)})
			}
		}
	}
	free = rapid.Permutation(free).Draw(t, "order")
	for range rapid.IntRange(0, len(free)/2).Draw(t, "cables") {
		rate := rapid.SampledFrom([]fabric.Rate{{}, {Width: 4, Speed: fabric.NDR}, {Width: 12, Speed: fabric.SDR}, {Width: 2, Speed: fabric.FDR10}, {Width: 8, Speed: "ZDR"}}).Draw(t, "rate")
		b.Cable(free[0].node, free[0].port, free[1].node, free[1].port, rate)
		free = free[2:]
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWriteReadIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFabric(t)
		var text bytes.Buffer
		if err := Write(&text, f); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(text.Bytes()), "f")
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.Bytes())
		}
		if diff := compare(partsOf(f), again); diff != "" {
			t.Fatalf("%s\n%s", diff, text.Bytes())
		}
	})
}

func TestWriteMakesControlCharactersBlank(t *testing.T) {
	var b fabric.Builder
	b.Node(fabric.Node{GUID: 1, Name: "two\nlines\x00\"#"}, "")
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Write(&text, f); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&text, "f")
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Node(0).Name; got != "two lines \"#" {
		t.Errorf("name reads back as %q", got)
	}
}

// fatTree is a two-level tree: leaves with half of their ports down.
func fatTree(leaves, spines, hosts int) *fabric.Fabric {
	var b fabric.Builder
	rate := fabric.Rate{Width: 4, Speed: fabric.NDR}
	spine := make([]fabric.Ref, spines)
	for s := range spine {
		spine[s] = b.Node(fabric.Node{GUID: fabric.GUID(0x1000_0000 + s*0x100), Ports: leaves, Name: fmt.Sprintf("spine-%d", s), VendorID: 0x2c9, DeviceID: 0xd2f2}, "")
	}
	for l := range leaves {
		leaf := b.Node(fabric.Node{GUID: fabric.GUID(0x2000_0000 + l*0x100), Ports: hosts + spines, Name: fmt.Sprintf("leaf-%d", l), VendorID: 0x2c9, DeviceID: 0xd2f2}, "")
		for s := range spine {
			b.Cable(leaf, uint8(hosts+1+s), spine[s], uint8(l+1), rate)
		}
		for h := range hosts {
			host := b.Node(fabric.Node{GUID: fabric.GUID(0x3000_0000 + (l*hosts+h)*0x100), Kind: fabric.Adapter, Ports: 1, Name: fmt.Sprintf("host-%d-%d mlx5_0", l, h), VendorID: 0x2c9, DeviceID: 0x1021, SystemGUID: 7}, "")
			b.Cable(leaf, uint8(h+1), host, 1, rate)
		}
	}
	f, err := b.Build()
	if err != nil {
		panic(err)
	}
	return f
}

func BenchmarkRead5000(b *testing.B) {
	var text bytes.Buffer
	if err := Write(&text, fatTree(160, 32, 32)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(text.Bytes()), "bench"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite5000(b *testing.B) {
	f := fatTree(160, 32, 32)
	for b.Loop() {
		if err := Write(new(bytes.Buffer), f); err != nil {
			b.Fatal(err)
		}
	}
}
