package topology

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// tableOne is the networks of Table I of J. Domke, T. Hoefler and W. E. Nagel:
// Deadlock-Free Oblivious Routing for Arbitrary Topologies, IPDPS 2011, by their
// name in it, the number of endpoints and the family:
//
//	endpoints   xgft                       kautz         karytree
//	       64   XGFT(1; 6; 3)              Kautz(2, 2)    6-ary 2-tree
//	      128   XGFT(1; 10; 5)             Kautz(2, 2)   10-ary 2-tree
//	      256   XGFT(1; 16; 8)             Kautz(2, 3)   16-ary 2-tree
//	      512   XGFT(2; 6,6; 3,3)          Kautz(3, 3)    6-ary 3-tree
//	     1024   XGFT(2; 10,10; 5,5)        Kautz(3, 3)   10-ary 3-tree
//	     2048   XGFT(2; 14,14; 7,7)        Kautz(4, 3)   14-ary 3-tree
//	     4096   XGFT(2; 18,18; 9,9)        Kautz(6, 3)   18-ary 3-tree
//
// The endpoints are not multiples of the number of switches, nor k^n of a k-ary n-tree;
// the paper does not say which switch has how many. Here they are distributed evenly
// over all switches of a Kautz graph and over the leaves of a tree; the first switches
// get the remainder. No switch then needs more than the 36 ports of the paper's. (The
// paper's "6-ary 2-tree" with 64 endpoints has more than 6 hosts on a leaf.)
//
// Order, ports and names are those of XGFT and Kautz. A k-ary n-tree is made as
// XGFT(n-1; k, …; k, …), which has the same cables; its leaves are level 0.
type tableOne struct {
	Family    string // xgft, kautz or karytree; empty: xgft
	Endpoints int    // 64, 128, 256, … 4096
}

// tableRow is the parameters that make each family of the size in that row of Table I.
type tableRow struct {
	endpoints int
	m, w      []int // of the XGFT
	kautz     kautz
	tree      karyTree
}

var table1 = []tableRow{
	{64, []int{6}, []int{3}, kautz{B: 2, N: 2}, karyTree{K: 6, N: 2}},
	{128, []int{10}, []int{5}, kautz{B: 2, N: 2}, karyTree{K: 10, N: 2}},
	{256, []int{16}, []int{8}, kautz{B: 2, N: 3}, karyTree{K: 16, N: 2}},
	{512, []int{6, 6}, []int{3, 3}, kautz{B: 3, N: 3}, karyTree{K: 6, N: 3}},
	{1024, []int{10, 10}, []int{5, 5}, kautz{B: 3, N: 3}, karyTree{K: 10, N: 3}},
	{2048, []int{14, 14}, []int{7, 7}, kautz{B: 4, N: 3}, karyTree{K: 14, N: 3}},
	{4096, []int{18, 18}, []int{9, 9}, kautz{B: 6, N: 3}, karyTree{K: 18, N: 3}},
}

// dealt is a family that can be laid with any number of hosts, distributed evenly.
type dealt interface {
	form
	layDealt(l *layout, hosts int)
}

func (t *tableOne) declare(p *params) size {
	p.word("family", &t.Family, []string{"xgft", "kautz", "karytree"}, "xgft (default), kautz or karytree")
	rows := make([]int, len(table1))
	for i := range table1 {
		rows[i] = table1[i].endpoints
	}
	p.choice("endpoints", &t.Endpoints, 0, rows, "it is a row of the table: 64, 128, 256, 512, 1024, 2048 or 4096", "hosts in all: a row of the table")
	if p.fault != nil {
		return size{}
	}
	need := t.network().declare(new(params))
	need.hosts = t.Endpoints
	return need
}

// network is the entry of the table; its Hosts is the largest number of hosts on a
// switch.
func (t *tableOne) network() dealt {
	row := &table1[slices.IndexFunc(table1, func(r tableRow) bool { return r.endpoints == t.Endpoints })]
	switch t.Family {
	case "kautz":
		k := row.kautz
		k.Hosts = ceilDiv(t.Endpoints, k.switches())
		return &k
	case "karytree":
		k := slices.Repeat([]int{row.tree.K}, row.tree.N-1)
		return &xgft{M: k, W: k, Hosts: ceilDiv(t.Endpoints, product(k...))}
	}
	return &xgft{M: row.m, W: row.w, Hosts: ceilDiv(t.Endpoints, product(row.m...))}
}

// Build makes the fabric.
func (t tableOne) Build() (*fabric.Fabric, error) { return built(&t) }

func (t *tableOne) lay(l *layout) { t.network().layDealt(l, t.Endpoints) }

func (t tableOne) String() string { return specOf(&t) }
