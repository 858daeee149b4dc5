package testnet

import (
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// Ring is n switches in a circle with a host each: port 1 is the host, port 2 leads on,
// port 3 back. Hosts have LIDs n+1 to 2n.
func Ring(t testing.TB, n int) *fabric.Fabric {
	t.Helper()
	return RingInto(t, n, new(fabric.Builder))
}

// RingInto is a ring with what is in the builder already.
func RingInto(t testing.TB, n int, b *fabric.Builder) *fabric.Fabric {
	t.Helper()
	var sw []fabric.Ref
	for i := range n {
		sw = append(sw, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 3}, ""))
	}
	for i := range n {
		h := b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Kind: fabric.Adapter, Ports: 1}, "")
		b.Cable(h, 1, sw[i], 1, fabric.Rate{})
		b.Cable(sw[i], 2, sw[(i+1)%n], 3, fabric.Rate{})
	}
	return built(t, b)
}

// Mesh is n switches with one cable between every two and a host on each: port i+1 leads
// to switch i, a switch's own port to its host.
func Mesh(t testing.TB, n int) *fabric.Fabric {
	var b fabric.Builder
	sw := make([]fabric.Ref, n)
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: n}, "")
	}
	for i := range sw {
		h := b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Kind: fabric.Adapter, Ports: 1}, "")
		b.Cable(sw[i], uint8(i+1), h, 1, fabric.Rate{})
		for j := range i {
			b.Cable(sw[i], uint8(j+1), sw[j], uint8(i+1), fabric.Rate{})
		}
	}
	return built(t, &b)
}

func built(t testing.TB, b *fabric.Builder) *fabric.Fabric {
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}
