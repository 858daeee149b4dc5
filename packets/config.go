package packets

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Block is the bytes of one credit: InfiniBand's flow control counts blocks of 64
// bytes, and what other simulators call a flit is one here.
const Block = 64

// maxBlocks is how far ahead the 12-bit counters of InfiniBand's flow-control
// packets can promise space.
const maxBlocks = 2048

// AddressChoice says how a source takes one of several addresses of a destination for a
// packet.
type AddressChoice uint8

// With either, packets of one flow may overtake each other.
const (
	AtRandom AddressChoice = iota
	InTurn
)

// LaneChoice says who chooses among the lanes that adaptive routing allows a packet.
type LaneChoice uint8

// The switches take the lane with the most credits, or the source takes one at random and
// the packet keeps to it.
const (
	BySwitches LaneChoice = iota
	BySource
)

// Config describes the hardware: links, switches, buffers. Start from a preset.
type Config struct {
	MTU    int // bytes of payload in a packet at most
	Header int // bytes added to each packet on the wire

	Rate     fabric.Rate // of every link; zero: each link its own, 4xHDR where that is not known
	FlitTime Time        // if not zero, every link takes this long for a Block, whatever Rate says
	Cable    Time        // from one end of a cable to the other, at least 1
	Forward  Time        // from the arrival of a packet's head at a switch to the earliest time it can leave
	Gap      Time        // between two packets that leave a port, and between two that leave a buffer
	Credit   Time        // from the tail that freed the space until the credit enters the cable back

	Buffer        int  // bytes of input buffer for each lane of a port
	OutBuffer     int  // bytes of output buffer likewise; 0: switches have input buffers only
	Speedup       int  // see the package comment; 0: 1
	StoreWhole    bool // store and forward instead of virtual cut-through
	Lanes         int  // number of lanes; 0: as many as the tables use
	Arbitration   *Arbitration
	Lottery       bool          // ports pick a random request for a lane instead of the oldest
	Lifetime      Time          // a packet that is the head of its queue in a switch for longer is dropped; 0: never
	AddressChoice AddressChoice // how sources use several addresses of a destination
	Flits         bool          // wormhole switching, flit by flit: a packet begins with space for one flit, and lanes share a cable
	AnyLane       bool          // with Flits: endpoints have one queue for all lanes, send on the next in turn that has space, and are sent to on any that is free; not where switches look up lanes by lanes
	LaneChoice    LaneChoice    // of adaptive routing, who chooses among several lanes of a packet
	Counters      bool          // ports count what they send and how long they wait: Result.Counters
}

// Preset is a Config by name.
type Preset struct {
	Name    string
	Summary string
	Config  Config
}

// infiniBand has what the presets of InfiniBand share: 5 m of cable, a switch that
// takes 90 ns, and the headers and checksums of a packet of a reliable connection.
func infiniBand(rate fabric.Rate) Config {
	return Config{
		MTU: 2048, Header: 8 + 12 + 4 + 2, Rate: rate, Cable: 25_000, Forward: 90_000, Credit: 10_000, Buffer: 8192,
	}
}

// Presets lists all presets. The first is the default.
func Presets() []Preset {
	list := []Preset{{Name: "ib", Summary: "InfiniBand, every link at its own rate (4xHDR where none is known)", Config: infiniBand(fabric.Rate{})}}
	for _, speed := range []fabric.Speed{fabric.QDR, fabric.FDR, fabric.EDR, fabric.HDR, fabric.NDR, fabric.XDR} {
		rate := fabric.Rate{Width: 4, Speed: speed}
		list = append(list, Preset{Name: "ib-" + strings.ToLower(string(speed)), Summary: "InfiniBand, every link " + rate.String(), Config: infiniBand(rate)})
	}
	return append(list, Preset{Name: "unit", Summary: "one flit of 64 bytes per time unit, packets of 32 flits; a time unit is written as 1 ps",
		Config: Config{MTU: 32 * Block, FlitTime: 1, Cable: 1, Forward: 1, Buffer: 128 * Block}})
}

// PresetNamed finds a preset.
func PresetNamed(name string) (Config, error) {
	list := Presets()
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Name
		if p.Name == name {
			return p.Config, nil
		}
	}
	return Config{}, fmt.Errorf("no preset is called %q; there are %s", name, strings.Join(names, ", "))
}

// check fills in defaults and says what is wrong with a Config.
func (c *Config) check() error {
	if c.Speedup == 0 {
		c.Speedup = 1
	}
	packet := c.MTU + c.Header
	switch {
	case c.MTU < 1 || c.MTU > 1<<20 || c.Header < 0 || c.Header > 1<<10:
		return fmt.Errorf("packets of %d + %d bytes; payload is 1 to %d, the header 0 to %d", c.MTU, c.Header, 1<<20, 1<<10)
	case c.Cable < 1 || c.Forward < 0 || c.Credit < 0 || c.Gap < 0 || c.FlitTime < 0 || c.Lifetime < 0:
		return fmt.Errorf("a cable takes at least 1 ps, and no other time is negative (cable %d, forward %d, credit %d)", c.Cable, c.Forward, c.Credit)
	case blocksOf(packet) > c.Buffer/Block:
		return fmt.Errorf("a buffer of %d bytes holds %d blocks of %d; a packet of %d bytes needs %d: give larger buffers or a smaller MTU",
			c.Buffer, c.Buffer/Block, Block, packet, blocksOf(packet))
	case c.OutBuffer != 0 && blocksOf(packet) > c.OutBuffer/Block:
		return fmt.Errorf("an output buffer of %d bytes is smaller than a packet of %d", c.OutBuffer, packet)
	case c.OutBuffer != 0 && c.Forward < 1:
		return fmt.Errorf("a switch with output buffers takes at least 1 ps to forward")
	case max(c.Buffer, c.OutBuffer)/Block > maxBlocks:
		return fmt.Errorf("a buffer of %d bytes; InfiniBand's flow control reaches to %d", max(c.Buffer, c.OutBuffer), maxBlocks*Block)
	case c.Speedup < 0 || c.Speedup > 16:
		return fmt.Errorf("a speed-up of %d; it is 1 to 16", c.Speedup)
	case c.Lanes < 0 || c.Lanes > routing.MaxDataVLs:
		return fmt.Errorf("%d lanes; there are 1 to %d", c.Lanes, routing.MaxDataVLs)
	case c.Rate != fabric.Rate{} && !c.Rate.Known():
		return fmt.Errorf("links at %s, a rate that is not known", c.Rate)
	}
	if c.Flits {
		return c.checkFlits()
	}
	if c.AnyLane {
		return fmt.Errorf("endpoints take any lane flit by flit only: packets as a whole have the one of their service level")
	}
	return c.Arbitration.check()
}

// checkFlits refuses what is modelled for whole packets only.
func (c *Config) checkFlits() error {
	for what, given := range map[string]bool{
		"output buffers": c.OutBuffer > 0, "store and forward": c.StoreWhole, "arbitration tables": c.Arbitration != nil,
		"ports that draw lots": c.Lottery, "a lifetime of packets": c.Lifetime > 0, "counters of ports": c.Counters,
	} {
		if given {
			return fmt.Errorf("flit by flit there are no %s: they are modelled for packets as a whole", what)
		}
	}
	return nil
}

// blocksOf is the number of credits that a packet takes.
func blocksOf(bytes int) int { return (bytes + Block - 1) / Block }

// wire is the bytes of a packet on the wire: with its header, and rounded up to whole
// flits where time is counted in flits.
func (c *Config) wire(payload int64) int32 {
	bytes := int(payload) + c.Header
	if c.FlitTime > 0 {
		bytes = blocksOf(bytes) * Block
	}
	return int32(bytes)
}

// rateShift is the number of binary digits after the point in a time per byte.
const rateShift = 24

// perByte is the time of a byte on a link in ps, with rateShift binary digits after the
// point.
func (c *Config) perByte(own fabric.Rate) int64 {
	if c.FlitTime > 0 {
		return int64(c.FlitTime) << rateShift / Block
	}
	rate := c.Rate
	if !rate.Known() {
		rate = own
	}
	if !rate.Known() {
		rate = fabric.Rate{Width: 4, Speed: fabric.HDR}
	}
	return (8_000_000 << rateShift) / int64(rate.Mbps()) // 8 bits at 1 Mbit/s take 8,000,000 ps
}

// serial is how long so many bytes take on a link, rounded to the nearest picosecond
// and at least one.
func serial(bytes int32, perByte int64) Time {
	return max(1, Time((int64(bytes)*perByte+1<<(rateShift-1))>>rateShift))
}
