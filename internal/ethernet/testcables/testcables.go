// Package testcables makes small cablings for tests: devices d0, d1 and so on, with cables that a
// test names or draws at random.
package testcables

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
)

// Plan is devices, and the cables between them so far.
type Plan struct {
	devices []string
	cables  []ethernet.Cable
}

// Devices is a plan of n devices without cables.
func Devices(n int) *Plan {
	p := &Plan{}
	for i := range n {
		p.devices = append(p.devices, fmt.Sprintf("d%d", i))
	}
	return p
}

// Join adds a cable between two devices, at new interfaces; none if both are one device.
func (p *Plan) Join(a, b int) {
	if a == b {
		return
	}
	port := fmt.Sprintf("e%d", len(p.cables))
	p.cables = append(p.cables, ethernet.Cable{
		A: ethernet.End{Device: p.devices[a], Interface: port},
		B: ethernet.End{Device: p.devices[b], Interface: port},
	})
}

// Draw joins random pairs of devices, some of them twice; pairs of one device with itself count
// among the draws.
func (p *Plan) Draw(r *rand.Rand, draws int) {
	for range draws {
		a, b := r.IntN(len(p.devices)), r.IntN(len(p.devices))
		p.Join(a, b)
	}
}

// Cabling is the devices and cables of the plan.
func (p *Plan) Cabling(t testing.TB) *ethernet.Cabling {
	t.Helper()
	c, err := ethernet.NewCabling(p.devices, p.cables)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Random is a cabling of n devices with any cables, connected or not.
func Random(t testing.TB, r *rand.Rand, n int) *ethernet.Cabling {
	t.Helper()
	p := Devices(n)
	p.Draw(r, n+r.IntN(2*n))
	return p.Cabling(t)
}
