package topology

import "github.com/weft-fabric/weft/fabric"

// Odin is the 128-node cluster of Indiana University: T. Hoefler, T. Schneider, A.
// Lumsdaine: Optimized Routing for Large-Scale InfiniBand Networks, HOTI 2009,
// section V: "connected to a single 144 port InfiniBand switch which is an internal
// fat tree with 12 leaf-switches and full bisection bandwidth". It has no
// parameters.
//
//	┌──────────────────┐
//	│  6 spines        │  sw-d0-spine-0 … 5
//	│  ║ 2 cables each │
//	│ 12 leaves        │  sw-d0-leaf-0 … 11
//	└──┬───────────────┘
//	  128 hosts on 144 ports: 11 on the leaves 0 to 7, 10 on the others
//
// It is Director with 144 ports and 128 hosts; the paper does not say which 16 ports
// are unused. Links are 4xHDR, as in this whole package; those of the machine were
// slower.
type Odin struct{}

func (Odin) director() *Director { return &Director{Ports: 144, Radix: 24, Hosts: 128} }

func (o *Odin) declare(*params) size { return o.director().declare(new(params)) }

func (o *Odin) lay(l *layout) { o.director().lay(l) }

// Build makes the fabric.
func (o Odin) Build() (*fabric.Fabric, error) { return built(&o) }

func (o Odin) String() string { return specOf(&o) }
