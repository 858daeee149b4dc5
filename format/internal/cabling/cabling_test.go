package cabling

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// network is cables as "a 1 — b 2 rate", each as a line of a file.
func network(t *testing.T, lines ...string) *fabric.Fabric {
	t.Helper()
	l := List{File: "f"}
	for i, text := range lines {
		w := strings.Fields(text)
		var ends [2]End
		for side := range ends {
			at, err := l.Node(Node{Key: w[3*side]}, i+1)
			if err != nil {
				t.Fatal(err)
			}
			port, ok := ParsePort(w[3*side+1])
			if !ok {
				t.Fatal(text)
			}
			ends[side] = End{at, port}
		}
		rate, _ := ParseRate(w[5])
		if err := l.Cable(ends[0], ends[1], rate, i+1); err != nil {
			t.Fatal(err)
		}
	}
	f, err := l.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func kinds(f *fabric.Fabric) string {
	var b strings.Builder
	for _, n := range f.Nodes() {
		fmt.Fprintf(&b, "%s:%d:%d ", n.Name, n.Kind, n.Ports)
	}
	return b.String()
}

// Either end may state the rate; if they differ, the slower counts and it is said.
func TestRates(t *testing.T) {
	f := network(t, "sw-1 1 — sw-2 1 HDR", "sw-2 1 — sw-1 1 EDR", "sw-1 2 — sw-2 2 ?", "sw-1 2 — sw-2 2 NDR", "sw-1 3 — sw-2 3 NDR", "sw-1 3 — sw-2 3 ?")
	var rates []string
	for c := range fabric.ChannelID(3) {
		rates = append(rates, f.Channel(c).Rate.String())
	}
	if !slices.Equal(rates, []string{"4xEDR", "4xNDR", "4xNDR"}) {
		t.Error(rates)
	}
	if w := f.Warnings(); !slices.Contains(w, "1 cable has different rates at their ends, the first at 4xHDR by line 1 and 4xEDR by line 2; the slower counts") || len(w) != 2 {
		t.Errorf("%q", w)
	}
}

// By name if the name says it, by ports if it does not.
func TestKinds(t *testing.T) {
	if got := kinds(network(t, "node7 9 — x 1 ?", "x 2 — y 1 ?", "x 3 — spine-1 1 ?", "z 7 — x 4 ?")); got != "spine-1:0:1 x:0:4 z:0:7 node7:1:9 y:1:1 " {
		t.Error(got)
	}
}

// Labels count two to a cage if all ports of a device have such, else in their order, where
// ports are free.
func TestLabels(t *testing.T) {
	f := network(t, "sw-a 1/3/1 — sw-b 2 ?", "sw-a 1/2/2 — sw-b 1/9/9 ?", "sw-a 1/1/1 — sw-b 1 ?", "sw-b 1/10/1 — sw-c 5 ?", "sw-c 1/3/1 — sw-c 1/3/2 ?")
	var got []string
	for _, c := range f.Channels() {
		got = append(got, fmt.Sprintf("%s%d%s%d", f.Node(c.From).Name[3:], c.FromPort, f.Node(c.To).Name[3:], c.ToPort))
	}
	if want := "a1b1 a4b3 a5b2 b1a1 b2a5 b3a4 b4c5 c5b4 c1c2 c2c1"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}
