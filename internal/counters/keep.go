package counters

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// keptPort is what a port has counted, as Keep writes it.
type keptPort struct {
	GUID   fabric.GUID         `json:"guid"`
	Port   uint8               `json:"port"`
	Sent   *[2]float64         `json:"sent,omitempty"`   // bytes, ticks of waiting
	Errors map[Counter]float64 `json:"errors,omitempty"` // those that are known
}

// Keep is counters as text, from which Kept makes them again in another run of a program; error rates are not in it.
func (c *Counters) Keep(f *fabric.Fabric) ([]byte, error) {
	var all []keptPort
	for i := range f.Channels() {
		out := fabric.ChannelID(i)
		r, ok := c.Received[out]
		if !ok && !c.Known[i] {
			continue
		}
		k := keptPort{GUID: f.Node(f.Channel(out).From).GUID, Port: f.Channel(out).FromPort, Errors: map[Counter]float64{}}
		if c.Known[i] {
			k.Sent = &[2]float64{c.Bytes[i], c.Wait[i]}
		}
		for e, v := range r.Errors {
			if ok && !math.IsNaN(v) {
				k.Errors[Counter(e)] = v
			}
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b keptPort) int { return cmp.Or(cmp.Compare(a.GUID, b.GUID), cmp.Compare(a.Port, b.Port)) })
	return json.Marshal(all)
}

// Kept is the counters in a text of Keep, for the ports of a fabric that have a cable now.
func Kept(text []byte, f *fabric.Fabric) (*Counters, error) {
	var all []keptPort
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	n := len(f.Channels())
	c := &Counters{Received: map[fabric.ChannelID]Received{}, Bytes: make([]float64, n), Wait: make([]float64, n), Known: make([]bool, n)}
	for _, k := range all {
		at := f.NodeByGUID(k.GUID)
		if at == fabric.None || k.Port == 0 || int(k.Port) > f.Node(at).Ports {
			continue
		}
		out := f.Out(at, k.Port)
		if out == fabric.None {
			continue
		}
		if k.Sent != nil {
			c.Bytes[out], c.Wait[out], c.Known[out] = k.Sent[0], k.Sent[1], true
			c.Ports++
		}
		r := Unknown()
		for e, v := range k.Errors {
			if e < numCounters {
				r.Errors[e] = v
			}
		}
		c.Received[out] = r
	}
	return c, nil
}
