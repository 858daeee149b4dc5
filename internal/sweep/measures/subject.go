// Package measures is what weft sweep can take of a point: a table with a row a measure, which
// says what it is called, how it is set, what its time grows with, and how it is taken. Who adds
// a measure adds a row.
package measures

import (
	"context"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// Input is what measures are taken of: a network, and how packets are routed in it.
type Input struct {
	Fabric *fabric.Fabric
	Result *weft.Result // nil where nothing is routed, and for engines without tables
	Ways   Ways         // of these
	Lanes  int          // that packets have; 0: as the preset of the measure says
	Seed   uint64

	Spent time.Duration                                    // by paths and lanes
	Again func(ctx context.Context) (time.Duration, error) // does both once more, and says what they took
	Peak  func() float64                                   // memory of the process at most, in MiB

	sent      map[string]*packets.Result // by load, pattern and whatever else they were asked for: several measures are of one run
	delivered map[string]largest         // loads, by the settings of the measure
}

// Ways is what packets go through where there are no tables of an engine, as TPDS 2006,
// section 8, has it: those of sources or switches that choose, or tables of our own making.
type Ways struct {
	Tables   *routing.Tables
	Adaptive *adaptive.Tables
	Choice   packets.LaneChoice
}

// packetNetwork is the network with packets.
func (s *Input) packetNetwork(preset string) (*packets.Network, error) {
	config, err := packets.PresetNamed(preset)
	if err != nil {
		return nil, err
	}
	if s.Lanes > 0 {
		config.Lanes = s.Lanes
	}
	switch {
	case s.Ways.Adaptive != nil:
		config.LaneChoice = s.Ways.Choice
		return packets.NewAdaptive(s.Ways.Adaptive, config)
	case s.Ways.Tables != nil:
		return packets.New(s.Ways.Tables, config)
	}
	return packets.New(s.Result.Tables, config)
}

// hosts is the endpoints between which traffic is measured.
func (s *Input) hosts() []fabric.EndpointID { return routing.HCA.Endpoints(s.Fabric) }
