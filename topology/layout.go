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

// All generated networks consist of this hardware: Quantum switches and ConnectX-6
// adapters, at linkRate.
const (
	vendorID     = 0x2c9
	switchDevice = 0xd2f0
	hostDevice   = 0x101b
)

var linkRate = fabric.Rate{Width: 4, Speed: fabric.HDR}

// layout collects switches and hosts in the order of their numbers.
type layout struct {
	b        fabric.Builder
	switches []fabric.Ref
	hosts    int
}

// addSwitch adds the next switch and returns its number.
func (l *layout) addSwitch(name string, ports int) int {
	return l.addCrossbar(name, ports, len(l.switches))
}

// addCrossbar adds the next switch as part of the system (a director) whose first
// switch has number system, and returns its own number.
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

// addHosts connects the next count hosts to a switch, on ports 1 to count.
func (l *layout) addHosts(sw, count int) {
	for port := 1; port <= count; port++ {
		host := l.adapter(fmt.Sprintf("host-%d", l.hosts), hostDevice)
		l.b.Cable(host, 1, l.switches[sw], uint8(port), linkRate)
	}
}

// adapter adds the next adapter.
func (l *layout) adapter(name string, device uint32) fabric.Ref {
	guid := firstHostGUID + fabric.GUID(l.hosts)*guidStep
	l.hosts++
	return l.b.Node(fabric.Node{
		GUID:       guid,
		SystemGUID: guid,
		Kind:       fabric.Adapter,
		Ports:      1,
		Name:       name,
		VendorID:   vendorID,
		DeviceID:   device,
	}, fmt.Sprintf("adapter %d", l.hosts))
}

// cable joins a port of one switch and a port of another.
func (l *layout) cable(a, aPort, z, zPort int) {
	l.b.Cable(l.switches[a], uint8(aPort), l.switches[z], uint8(zPort), linkRate)
}

// named joins a prefix and digits: prefix-3-0-1.
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

// weights is the place values of a mixed radix, most significant first.
func weights(radix []int) []int {
	w := make([]int, len(radix))
	weight := 1
	for i := len(radix) - 1; i >= 0; i-- {
		w[i] = weight
		weight *= radix[i]
	}
	return w
}

// hostsParam declares the parameter for hosts on each switch.
func hostsParam(p *params, hosts *int) {
	p.number("hosts", hosts, 1, 1, fabric.MaxPorts, "hosts on each switch (default 1)")
}

// levelName is sw-l2-0-17: level 2, digits 0 and 17.
func levelName(level int, digits []int) string {
	return named("sw-l"+strconv.Itoa(level), digits...)
}
