package files_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/scramble"
)

// Whatever is read as a network is written as ibnetdiscover writes it, and read back as the
// same; an error names a line.
func FuzzFabric(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 7))
	p := randomPlan(r)
	for _, text := range scramble.Of(p.gml(r), p.ndt(r), p.links(r),
		"MQM8700 sw1\n   P2 -4x-50G-> HCA_mlx5_3 h4 mlx5_0/P1\n   P40 -4x-50G-> MQM9700 sw2 P1/1\nMQM9700 sw2\n   P1/1 -4x-50G-> MQM8700 sw1 P40\n",
		"router 0 node 0 node 1 router 1 15\nnode 2 router 1\n", "graph { node [kind=switch] a; b; node [kind=host] c; a -- b -- c }",
		`{"nodes": [{"id": 1, "kind": "switch", "ports": 36}, {"id": 2, "kind": "host"}], "links": [{"source": 2, "target": 1, "port_b": 36, "rate": "2xEDR"}]}`) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := files.Fabric(strings.NewReader(text), "no folder/text")
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Fatalf("%v names no line", err)
		}
		if err != nil {
			return
		}
		again := func(g *fabric.Fabric) (*fabric.Fabric, string) {
			var b bytes.Buffer
			if err := ibnet.Write(&b, g); err != nil {
				t.Fatal(err)
			}
			back, err := files.Fabric(bytes.NewReader(b.Bytes()), "written")
			if err != nil {
				t.Fatalf("%v\n%s", err, b.String())
			}
			return back, b.String()
		}
		back, written := again(g)
		if _, twice := again(back); written != twice {
			t.Fatalf("written as\n%sand, read back, as\n%s", written, twice)
		}
	})
}
