package topology

import "reflect"

// row is a family in the table: what its own file does not say.
type row struct {
	name    string
	bare    string // key of the parameter that may be given without its key; empty: none
	example string
	summary string
	new     func() form
}

// table lists every family, in the order of help texts; columns are the fields of row. A new
// family is a file with its struct, and a row here.
var table = []row{
	{"ring", "n", "ring:8,hosts=1", "switches in a circle", func() form { return new(ring) }},
	{"mesh", "dims", "mesh:4x4x4,hosts=2", "a grid of any number of dimensions", func() form { return new(mesh) }},
	{"torus", "dims", "torus:8x8x8,hosts=2", "a mesh whose ends are joined", func() form { return new(torus) }},
	{"hypercube", "n", "hypercube:6,hosts=1", "2^n switches, joined where one bit differs", func() form { return new(hypercube) }},
	{"karytree", "", "karytree:k=18,n=3", "k-ary n-tree: a fat tree of n levels of 2k-port switches", func() form { return new(karyTree) }},
	{"xgft", "", "xgft:m=18x36,w=18x18,hosts=18", "extended generalized fat tree", func() form { return new(xgft) }},
	{"fattree", "", "fattree:ports=24,hosts=16", "two or three levels of p-port switches, with any oversubscription", func() form { return new(fatTree) }},
	{"planes", "", "planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2", "groups of leaves on separate planes of spines, with tails: trees as they are grown", func() form { return new(planes) }},
	{"patchwork", "seed", "patchwork:7", "machine rooms as they come about: pods of different size, date and oversubscription, odd tails, missing cables, drawn by a seed", func() form { return new(patchwork) }},
	{"director", "ports", "director:288", "the inside of a director switch: 288 ports from 24-port crossbars", func() form { return new(directors) }},
	{"dragonfly", "", "dragonfly:p=4", "groups of routers, every two groups joined", func() form { return new(dragonfly) }},
	{"slimfly", "", "slimfly:q=5,hosts=7", "McKay-Miller-Širáň graphs: 2q² switches, two hops at most", func() form { return new(slimFly) }},
	{"polarfly", "", "polarfly:q=7", "polarity graphs of projective planes: q²+q+1 switches, two hops at most", func() form { return new(polarFly) }},
	{"polarstar", "", "polarstar:q=3,d=3", "a supernode for each switch of a PolarFly: three hops at most", func() form { return new(polarStar) }},
	{"bundlefly", "", "bundlefly:q=3,p=5", "a supernode for each switch of a Slim Fly: three hops at most", func() form { return new(bundlefly) }},
	{"oft", "", "oft:k=4", "two-level Orthogonal Fat-Tree: leaves are the points of a projective plane", func() form { return new(oft) }},
	{"kautz", "", "kautz:b=3,n=3,hosts=7", "words of n letters, joined where one follows another", func() form { return new(kautz) }},
	{"hyperx", "dims", "hyperx:4x4,hosts=4", "a grid joined all to all along each dimension: Hamming graphs", func() form { return new(hyperX) }},
	{"jellyfish", "", "jellyfish:switches=43,degree=12,hosts=12,seed=1", "a random network with a fixed number of cables per switch", func() form { return new(jellyfish) }},
	{"random", "", "random:switches=64,links=128,hosts=16,seed=1", "a connected random network", func() form { return new(random) }},
	{"deimos", "", "deimos", "the cluster of the DFSSSP paper: three 288-port directors in a chain", func() form { return new(deimos) }},
	{"odin", "", "odin", "the cluster of the SSSP paper: one 144-port director, 128 hosts", func() form { return new(odin) }},
	{"table1", "", "table1:family=xgft,endpoints=1024", "the networks of Table I of the DFSSSP paper", func() form { return new(tableOne) }},
}

// rowNamed finds the row of a family; nil if no family has the name.
func rowNamed(name string) *row {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// rowOf finds the row of a family by its type, so that the family's file need not
// repeat its name.
func rowOf(f form) *row {
	for i := range table {
		if reflect.TypeOf(table[i].new()) == reflect.TypeOf(f) {
			return &table[i]
		}
	}
	panic("a family without a row in the table")
}
