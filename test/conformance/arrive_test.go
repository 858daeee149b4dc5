package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// pathless is the lane assigners that look at no path: their lanes hold for whatever
// arrives.
var pathless = []string{"single", "address", "address-one"}

// Paths that do not arrive: every lane assigner that looks at paths refuses them by the
// same switch, port, LID and words. Missing ones all of them leave out.
func TestPathsThatDoNotArrive(t *testing.T) {
	const lid, other = 7, 6 // of host-2 on sw-2, and host-1 on sw-1
	for _, c := range []struct {
		name, want string // empty: not refused
		spoil      func(f *fabric.Fabric, row []uint8)
	}{
		{"nothing spoilt", "", func(*fabric.Fabric, []uint8) {}},
		{"no path at all", "", func(_ *fabric.Fabric, row []uint8) {
			for s := range row {
				row[s] = routing.NoPort
			}
		}},
		{"no path from one switch", "", func(f *fabric.Fabric, row []uint8) {
			row[0], row[1], row[3] = routing.NoPort, toward(f, 1, 2), toward(f, 3, 2)
		}},
		{"two switches send to each other", "sw-0, port 2: packets to LID 7 (host-2) circle over 2 switches",
			func(f *fabric.Fabric, row []uint8) { row[0], row[1] = toward(f, 0, 1), toward(f, 1, 0) }},
		{"a circle over all, the owner's among them", "sw-2, port 2: packets to LID 7 (host-2) leave by this port, to sw-3", func(f *fabric.Fabric, row []uint8) {
			for s := range row {
				row[s] = toward(f, fabric.NodeID(s), fabric.NodeID((s+1)%4))
			}
		}},
		{"no entry on the way", "sw-1: packets to LID 7 (host-2) come here, and it has no entry for them",
			func(f *fabric.Fabric, row []uint8) { row[0], row[1] = toward(f, 0, 1), routing.NoPort }},
		{"no entry at the end", "sw-2: packets to LID 7 (host-2) come here, and it has no entry for them",
			func(_ *fabric.Fabric, row []uint8) { row[2] = routing.NoPort }},
		{"a port that is not there", "sw-1, port 200: packets to LID 7 (host-2) leave by this port, which has no cable",
			func(_ *fabric.Fabric, row []uint8) { row[1] = 200 }},
		{"the switch itself", "sw-1: packets to LID 7 (host-2) are delivered to the switch itself",
			func(_ *fabric.Fabric, row []uint8) { row[1] = 0 }},
		{"another adapter on the way", "sw-1, port 1: packets to LID 7 (host-2) leave by this port, to host-1",
			func(f *fabric.Fabric, row []uint8) { row[1] = f.LastPort(f.Endpoint(f.Owner(other))) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := testnet.Build(t, "ring:4")
			for _, a := range engines.Assigners() {
				fw, err := minhop.Finder{}.Paths(context.Background(), f, nil)
				if err != nil {
					t.Fatal(err)
				}
				c.spoil(f, fw.Row(lid))
				for _, contract := range []routing.Contract{routing.Honored, routing.Directed} {
					err := lanesWithin(2*time.Minute, a, f, fw, contract)
					refused := (*routing.Refusal)(nil)
					switch {
					case c.want == "" || slices.Contains(pathless, a.Name):
						if err != nil {
							t.Errorf("%s, %s: %v", a.Name, contract, err)
						}
					case !errors.As(err, &refused) || refused.Brief() != c.want:
						t.Errorf("%s, %s: %v", a.Name, contract, err)
					}
				}
			}
		})
	}
}

// toward is the port by which one switch is joined to another.
func toward(f *fabric.Fabric, from, to fabric.NodeID) uint8 {
	for c, end := f.TrunksFrom(from); c < end; c++ {
		if f.Heads()[c] == to {
			return f.Channel(c).FromPort
		}
	}
	return routing.NoPort
}

// lanesWithin asks an assigner for lanes. One that takes too long ends the tests: it
// cannot be stopped, and may go on taking memory.
func lanesWithin(limit time.Duration, a engines.Assigner, f *fabric.Fabric, fw *routing.Forwarding, contract routing.Contract) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("panic: %v", r)
			}
		}()
		_, err := a.New(engines.Options{}).Lanes(context.Background(), f, fw, routing.Budget{VLs: routing.DefaultVLs, Contract: contract}, nil)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		panic(fmt.Sprintf("%s does not return", a.Name))
	}
}
