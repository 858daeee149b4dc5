// Package capacity has the rates of channels relative to each other, for whoever counts flows.
package capacity

import (
	"cmp"

	"github.com/weft-fabric/weft/fabric"
)

// Of is the rate of every channel, [ChannelID], as a fraction of the fastest of those between
// switches and of some endpoints, and that rate in Mbit/s. A link without a known rate gets
// the most common of the known ones; all are 1 (alike) where no two differ, or if uniform.
func Of(f *fabric.Fabric, endpoints []fabric.EndpointID, uniform bool) (capacity []float64, mbps int, alike bool) {
	used := make([]bool, len(f.Channels()))
	for c := range f.Trunks() {
		used[c] = true
	}
	for _, e := range endpoints {
		for _, c := range [2]fabric.ChannelID{f.Endpoint(e).Inject, f.Endpoint(e).Deliver} {
			if c != fabric.None {
				used[c] = true
			}
		}
	}
	count := map[int]int{}
	for c := range used {
		if rate := f.Channel(fabric.ChannelID(c)).Rate.Mbps(); used[c] && rate > 0 {
			count[rate]++
			mbps = max(mbps, rate)
		}
	}
	common := mbps
	for rate, n := range count {
		if n > count[common] || n == count[common] && rate > common {
			common = rate
		}
	}
	alike = uniform || len(count) < 2
	capacity = make([]float64, len(used))
	for c := range capacity {
		capacity[c] = 1
		if !alike && used[c] {
			rate := cmp.Or(f.Channel(fabric.ChannelID(c)).Rate.Mbps(), common)
			capacity[c] = float64(rate) / float64(mbps)
		}
	}
	return capacity, mbps, alike
}
