package topology_test

import (
	"fmt"

	"github.com/weft-fabric/weft/topology"
)

func ExampleParse() {
	family, err := topology.Parse("dragonfly:p=4")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := family.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	n := f.Count()
	fmt.Println(family)
	fmt.Println(n.Switches, "switches,", n.HCA, "hosts,", n.SwitchCables, "cables between switches")
	// Output:
	// dragonfly:p=4,a=8,h=4,g=33,global=palmtree,seed=0
	// 264 switches, 1056 hosts, 1452 cables between switches
}

func ExampleParse_refused() {
	_, err := topology.Parse("karytree:k=200,n=2")
	fmt.Println(err)
	// Output:
	// karytree: k=200,n=2 makes a switch with 400 ports; InfiniBand numbers at most 254; nearest that works: k=127 or n=1
}

func ExampleBuild() {
	f, err := topology.Build("torus:4x3,hosts=2")
	if err != nil {
		fmt.Println(err)
		return
	}
	first, end := f.TrunksFrom(0)
	for _, c := range f.Channels()[first:end] {
		fmt.Printf("%s port %d to %s port %d\n", f.Label(c.From), c.FromPort, f.Label(c.To), c.ToPort)
	}
	// Output:
	// sw-0-0 port 3 to sw-1-0 port 4
	// sw-0-0 port 4 to sw-3-0 port 3
	// sw-0-0 port 5 to sw-0-1 port 6
	// sw-0-0 port 6 to sw-0-2 port 5
}
