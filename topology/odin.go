package topology

import (
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
)

// odin is the 128-node cluster of Indiana University: T. Hoefler, T. Schneider, A.
// Lumsdaine: Optimized Routing for Large-Scale InfiniBand Networks, HOTI 2009,
// section V: "connected to a single 144 port InfiniBand switch which is an internal
// fat tree with 12 leaf-switches and full bisection bandwidth".
//
//	┌──────────────────┐
//	│  6 spines        │  sw-d0-spine-0 … 5
//	│  ║ 2 cables each │
//	│ 12 leaves        │  sw-d0-leaf-0 … 11
//	└──┬───────────────┘
//	  128 hosts on 144 ports: 11 on the leaves 0 to 7, 10 on the others
//
// It is director:144,hosts=128. The paper does not say which 16 ports are unused: Hosts does,
// as in Deimos. Links are 4xHDR, as in this whole package; those of the machine were slower.
type odin struct {
	Hosts string // spread, packed or drawn; empty: spread
	Seed  uint64 // of the random stream, for drawn
}

// odinStream is the second half of the PCG seed: "weft" and "odin" in ASCII.
const odinStream = 0x77656674_6f64696e

func (o *odin) declare(p *params) size {
	p.word("hosts", &o.Hosts, seatings, "outer ports of the hosts: spread over the leaves (default), packed or drawn")
	p.seed(&o.Seed, "of the random stream, for drawn (default 0)")
	return o.director().declare(new(params))
}

func (odin) director() *directors { return &directors{Ports: 144, Radix: 24, Hosts: 128} }

func (o *odin) lay(l *layout) {
	d := o.director()
	in := d.inside()
	has := make([]int, in.leaves)
	for _, leaf := range seat(o.Hosts, in.outerPorts(), d.Hosts, rand.New(rand.NewPCG(o.Seed, odinStream))) {
		has[leaf]++
	}
	in.add(l, 0, has)
}

// Build makes the fabric.
func (o odin) Build() (*fabric.Fabric, error) { return built(&o) }

func (o odin) String() string { return specOf(&o) }
