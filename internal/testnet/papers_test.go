package testnet_test

import (
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// The sizes that the papers give, and the diameters.
func TestNetworks(t *testing.T) {
	for _, c := range []struct {
		name                        string
		build                       func() (*fabric.Fabric, error)
		switches, hosts, cables     int
		diameter, least, neighbours int // least and most of them at a switch are the same but in Kautz graphs
	}{
		{"Slim Fly q=5", func() (*fabric.Fabric, error) { return testnet.SlimFly(5, 7) }, 50, 350, 175, 2, 7, 7},
		{"Slim Fly q=13", func() (*fabric.Fabric, error) { return testnet.SlimFly(13, 9) }, 338, 3042, 3211, 2, 19, 19},
		{"Kautz b=5 n=3", func() (*fabric.Fabric, error) { return testnet.Kautz(5, 3, 7) }, 150, 1050, 750, 3, 9, 10},
	} {
		f, err := c.build()
		if err != nil {
			t.Fatal(err)
		}
		n := f.Count()
		if n.Switches != c.switches || n.HCA != c.hosts || n.SwitchCables != c.cables {
			t.Errorf("%s: %+v", c.name, n)
		}
		for s := range fabric.NodeID(f.Switches()) {
			near := map[fabric.NodeID]bool{}
			for first, end := f.TrunksFrom(s); first < end; first++ {
				near[f.Heads()[first]] = true
			}
			if len(near) < c.least || len(near) > c.neighbours || near[s] {
				t.Errorf("%s: switch %d has neighbours %v", c.name, s, near)
			}
		}
		if d := diameter(f); d != c.diameter {
			t.Errorf("%s: diameter %d, want %d", c.name, d, c.diameter)
		}
	}
}

func diameter(f *fabric.Fabric) int {
	most := 0
	for root := range fabric.NodeID(f.Switches()) {
		hops := map[fabric.NodeID]int{root: 0}
		queue := []fabric.NodeID{root}
		for i := 0; i < len(queue); i++ {
			most = max(most, hops[queue[i]])
			for c, end := f.TrunksFrom(queue[i]); c < end; c++ {
				if v := f.Heads()[c]; v != root && hops[v] == 0 {
					hops[v] = hops[queue[i]] + 1
					queue = append(queue, v)
				}
			}
		}
	}
	return most
}
