package meter

import (
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
)

// shuffleStream is the second half of the PCG seed: "weft" and "port" in ASCII.
const shuffleStream = 0x77656674_706f7274

// shufflePorts is the same network with the cables of every switch in other ports, drawn
// by lot: who is joined to whom stays, and so do GUIDs and LIDs. Whoever goes by port
// numbers finds another order, as where nobody cared which port a cable went into.
func shufflePorts(f *fabric.Fabric, seed uint64) (*fabric.Fabric, error) {
	rng := rand.New(rand.NewPCG(seed, shuffleStream))
	ports := make([][]int, f.Switches()) // [switch][port-1] its new port, less one
	for s := range ports {
		ports[s] = rng.Perm(f.Node(fabric.NodeID(s)).Ports)
	}
	replug := func(n fabric.NodeID, port uint8) uint8 {
		if int(n) < len(ports) {
			port = uint8(ports[n][port-1] + 1)
		}
		return port
	}
	var b fabric.Builder
	refs := make([]fabric.Ref, len(f.Nodes()))
	for n := range refs {
		refs[n] = b.Node(*f.Node(fabric.NodeID(n)), "")
	}
	for _, e := range f.Endpoints() {
		b.Port(refs[e.Node], e.Port, fabric.Port{GUID: e.PortGUID, LID: e.LID, LMC: e.LMC})
	}
	for i, c := range f.Channels() {
		if int(c.Reverse) > i {
			b.Cable(refs[c.From], replug(c.From, c.FromPort), refs[c.To], replug(c.To, c.ToPort), c.Rate)
			b.DataVLs(refs[c.From], replug(c.From, c.FromPort), c.DataVLs)
		}
	}
	return b.Build()
}
