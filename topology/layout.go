package topology

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
)

// GUIDs of the n-th switch and the n-th host: the first of its kind plus
// n × guidStep. The step leaves room for a GUID for every port.
const (
	firstSwitchGUID fabric.GUID = 0x0002_c901_0000_0000
	firstHostGUID   fabric.GUID = 0x0002_c902_0000_0000
	guidStep        fabric.GUID = 0x100
)

// The hardware that every network is said to be made of: Quantum switches and
// ConnectX-6 adapters, which run at linkRate.
const (
	vendorID     = 0x2c9
	switchDevice = 0xd2f0
	hostDevice   = 0x101b
)

var linkRate = fabric.Rate{Width: 4, Speed: fabric.HDR}

// layout lays a network out, switches and hosts in the order of their numbers.
type layout struct {
	b        fabric.Builder
	switches []fabric.Ref
	hosts    int
}

// addSwitch adds the next switch and returns its number.
func (l *layout) addSwitch(name string, ports int) int {
	return l.addCrossbar(name, ports, len(l.switches))
}

// addCrossbar adds the next switch as a part of the system whose first switch
// has the number system, and returns its own.
func (l *layout) addCrossbar(name string, ports, system int) int {
	n := len(l.switches)
	l.switches = append(l.switches, l.b.Node(fabric.Node{
		GUID:       firstSwitchGUID + fabric.GUID(n)*guidStep,
		SystemGUID: firstSwitchGUID + fabric.GUID(system)*guidStep,
		Kind:       fabric.Switch,
		Ports:      ports,
		Name:       name,
		VendorID:   vendorID,
		DeviceID:   switchDevice,
	}, name))
	return n
}

// addHosts hangs the next count hosts on a switch, on the ports 1 to count.
func (l *layout) addHosts(sw, count int) {
	for port := 1; port <= count; port++ {
		guid := firstHostGUID + fabric.GUID(l.hosts)*guidStep
		name := fmt.Sprintf("host-%d", l.hosts)
		host := l.b.Node(fabric.Node{
			GUID:       guid,
			SystemGUID: guid,
			Kind:       fabric.Adapter,
			Ports:      1,
			Name:       name,
			VendorID:   vendorID,
			DeviceID:   hostDevice,
		}, name)
		l.hosts++
		l.b.Cable(host, 1, l.switches[sw], uint8(port), linkRate)
	}
}

// cable joins a port of one switch and a port of another.
func (l *layout) cable(a, aPort, z, zPort int) {
	l.b.Cable(l.switches[a], uint8(aPort), l.switches[z], uint8(zPort), linkRate)
}

// named is prefix-3-0-1 for the digits 3, 0, 1.
func named(prefix string, digits ...int) string {
	var b strings.Builder
	b.WriteString(prefix)
	for _, d := range digits {
		b.WriteByte('-')
		b.WriteString(strconv.Itoa(d))
	}
	return b.String()
}

// digitsOf writes n in a mixed radix, most significant digit first, into digits.
func digitsOf(n int, radix, digits []int) {
	for i := len(radix) - 1; i >= 0; i-- {
		digits[i] = n % radix[i]
		n /= radix[i]
	}
}

// weights is what each digit counts for in a mixed radix, most significant first.
func weights(radix []int) []int {
	w := make([]int, len(radix))
	weight := 1
	for i := len(radix) - 1; i >= 0; i-- {
		w[i] = weight
		weight *= radix[i]
	}
	return w
}

// hostsParam settles the number of hosts that each switch has.
func hostsParam(p *params, hosts *int) {
	p.number("hosts", hosts, 1, 1, fabric.MaxPorts, "hosts on each switch (default 1)")
}

// levelName is sw-l2-0-17: level 2, digits 0 and 17.
func levelName(level int, digits []int) string {
	return named("sw-l"+strconv.Itoa(level), digits...)
}
