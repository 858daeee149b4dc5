package deploy

import "github.com/weft-fabric/weft/fabric"

// Tops is the switches to name as roots to OpenSM's updn and ftree: those without
// host adapters whose neighbours are all nearer to host adapters than they are,
// which are the spines of a fat tree. In a network that has none it is the one
// switch from which the farthest is nearest, the lowest GUID of several.
func Tops(f *fabric.Fabric) []fabric.NodeID {
	var leaves []fabric.NodeID
	for s := range fabric.NodeID(f.Switches()) {
		for _, e := range f.Attached(s) {
			if f.Endpoint(e).Class == fabric.HostAdapter {
				leaves = append(leaves, s)
				break
			}
		}
	}
	height := hops(f, leaves)
	var tops []fabric.NodeID
	for s := range fabric.NodeID(f.Switches()) {
		top := height[s] > 0
		first, end := f.TrunksFrom(s)
		for _, v := range f.Heads()[first:end] {
			top = top && height[v] < height[s]
		}
		if top {
			tops = append(tops, s)
		}
	}
	if len(tops) > 0 {
		return tops
	}
	best, bestFar := fabric.NodeID(0), int32(-1)
	for s := range fabric.NodeID(f.Switches()) {
		far := int32(0)
		for _, h := range hops(f, []fabric.NodeID{s}) {
			far = max(far, h)
		}
		if bestFar < 0 || far < bestFar {
			best, bestFar = s, far
		}
	}
	return []fabric.NodeID{best}
}

// hops is the distance of every switch to the nearest of some, -1 where no cable
// leads to one.
func hops(f *fabric.Fabric, from []fabric.NodeID) []int32 {
	d := make([]int32, f.Switches())
	for i := range d {
		d[i] = -1
	}
	queue := append([]fabric.NodeID(nil), from...)
	for _, s := range from {
		d[s] = 0
	}
	for i := 0; i < len(queue); i++ {
		first, end := f.TrunksFrom(queue[i])
		for _, v := range f.Heads()[first:end] {
			if d[v] < 0 {
				d[v] = d[queue[i]] + 1
				queue = append(queue, v)
			}
		}
	}
	return d
}
