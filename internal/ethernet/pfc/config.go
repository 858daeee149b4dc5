// Package pfc simulates packets under priority flow control, to see a credit loop stop a
// network and drain with rules that cure it.
//
// What is modelled. Switches store and forward packets of one size. A packet is counted
// against the priority group of the port it came by until it has left the device. At the
// threshold xoff the port sends a pause for the group's priority, at xon it ends it; a pause
// takes the cable and a time to react until it is heeded, and what arrives meanwhile goes
// into the headroom. A port serves its queues round robin, those that are not paused. Lossy
// packets are dropped where their queue is full. Hosts have a link of their own for each
// flow and heed pauses at once. ECMP picks a next hop by a hash of the flow, its DSCP, the device
// and the port that packets come by. Devices that may wrap packets do so with some flows.
//
// What is not: shared buffers with dynamic thresholds, cut-through, congestion control (ECN,
// DCQCN), watchdogs, and pause frames' bandwidth. Congestion control makes a deadlock rarer,
// not impossible.
//
// A run ends when no event is left. Packets that are still there then can never move: their
// queues are paused by groups that are full of packets in paused queues.
package pfc

import (
	"fmt"
	"slices"
	"strings"
)

// Time is in picoseconds.
type Time int64

// Config is the hardware, alike at every port.
type Config struct {
	Mbps   int  // of every link
	Packet int  // bytes of a packet on the wire
	Cable  int  // meters
	React  Time // from the arrival of a pause, or of its end, until it is heeded
	Xoff   int  // bytes of a priority group of a port at which it sends a pause
	Xon    int  // bytes at which the pause ends
	Queue  int  // bytes of a lossy queue
}

// Preset is a Config by name.
type Preset struct {
	Name, Summary string
	Config        Config
}

// Presets lists all presets; the first is the default.
func Presets() []Preset {
	list := []Preset{}
	for _, p := range []struct {
		name string
		mbps int
		xoff int
	}{{"roce-100g", 100_000, 80 << 10}, {"roce-400g", 400_000, 200 << 10}} {
		list = append(list, Preset{
			Name: p.name, Summary: fmt.Sprintf("RoCE, every link %d Gbit/s: packets of 4,178 bytes, 40 m of cable", p.mbps/1000),
			Config: Config{Mbps: p.mbps, Packet: 4178, Cable: 40, React: 600_000, Xoff: p.xoff, Xon: p.xoff - 16<<10, Queue: 1 << 20},
		})
	}
	return list
}

// PresetNamed finds a preset.
func PresetNamed(name string) (Config, error) {
	var names []string
	for _, p := range Presets() {
		if p.Name == name {
			return p.Config, nil
		}
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return Config{}, fmt.Errorf("no preset for Ethernet is called %q; there are %s", name, strings.Join(names, ", "))
}

// serial is how long a packet takes on a link.
func (c *Config) serial() Time { return Time(int64(c.Packet) * 8 * 1_000_000 / int64(c.Mbps)) }

// cable is how long a bit takes from end to end, at 5 ns a meter.
func (c *Config) cable() Time { return Time(c.Cable) * 5000 }

// Headroom is the bytes that can arrive behind a pause: what is on the cable and what is sent
// until the pause is heeded, the packet that the port was sending and the one before the pause.
func (c *Config) Headroom() int {
	wait := 2*c.cable() + c.React
	return int(int64(wait)*int64(c.Mbps)/8_000_000) + 3*c.Packet
}

func (c *Config) check() error {
	switch {
	case c.Mbps < 1 || c.Packet < 64 || c.Cable < 0 || c.React < 0:
		return fmt.Errorf("links of %d Mbit/s, packets of %d bytes, %d m of cable", c.Mbps, c.Packet, c.Cable)
	case c.Xon < 0 || c.Xon >= c.Xoff || c.Xoff < c.Packet:
		return fmt.Errorf("xoff %d and xon %d bytes; xon is below xoff, and xoff holds a packet of %d", c.Xoff, c.Xon, c.Packet)
	}
	return nil
}
