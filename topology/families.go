package topology

import "reflect"

// row is what the package knows of a family beyond its own file.
type row struct {
	name    string
	bare    string // key of the parameter that may be given without it; empty: none
	example string
	summary string
	new     func() form
}

// table is every family. A new family is a file with its struct, and a row here.
var table = []row{
	{"ring", "n", "ring:8,hosts=1", "switches in a circle", func() form { return new(Ring) }},
	{"mesh", "dims", "mesh:4x4x4,hosts=2", "a grid of any number of dimensions", func() form { return new(Mesh) }},
	{"torus", "dims", "torus:8x8x8,hosts=2", "a mesh whose ends are joined", func() form { return new(Torus) }},
	{"hypercube", "n", "hypercube:6,hosts=1", "2^n switches, joined where one bit differs", func() form { return new(Hypercube) }},
	{"karytree", "", "karytree:k=18,n=3", "k-ary n-tree: a fat tree of n levels of 2k-port switches", func() form { return new(KaryTree) }},
	{"xgft", "", "xgft:m=18x36,w=18x18,hosts=18", "extended generalized fat tree", func() form { return new(XGFT) }},
	{"dragonfly", "", "dragonfly:p=4", "groups of routers, every two groups joined", func() form { return new(Dragonfly) }},
	{"random", "", "random:switches=64,links=128,hosts=16,seed=1", "a connected random network", func() form { return new(Random) }},
	{"deimos", "", "deimos", "the cluster of the DFSSSP paper: three 288-port directors in a chain", func() form { return new(Deimos) }},
}

func rowNamed(name string) *row {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// rowOf finds the row of a family by its type, so that a family need not repeat
// its name.
func rowOf(f form) *row {
	for i := range table {
		if reflect.TypeOf(table[i].new()) == reflect.TypeOf(f) {
			return &table[i]
		}
	}
	panic("topology: a family without a row in the table")
}
