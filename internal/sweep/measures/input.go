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

// Input is what measures are taken of: a network, and how packets are routed in it. Package meter
// fills in one for each point and takes all measures of the point from it (Take), so that what
// several of them need is done once.
type Input struct {
	Fabric *fabric.Fabric
	Result *weft.Result // nil where nothing is routed, and for engines without tables
	Ways   Ways         // for engines without tables
	Lanes  int          // that packets have; 0: as the preset of the measure says
	Seed   uint64

	Spent      time.Duration                                                     // by paths and lanes
	Again      func(ctx context.Context) (time.Duration, error)                  // does both once more, and says what they took
	Route      func(ctx context.Context, f *fabric.Fabric) (*weft.Result, error) // another network, likewise
	Processors func() time.Duration                                              // of the process, so far
	Peak       func() float64                                                    // memory of the process at most, in MiB

	// What was done so far, by the settings of the measure: several measures are of one run.
	sent      map[string]*packets.Result
	delivered map[string]largest
	repaired  map[string]*repaired
}

// Ways is what packets go through where there are no tables of an engine, as TPDS 2006,
// section 8, has it: those of sources or switches that choose, or tables of our own making.
type Ways struct {
	Tables   *routing.Tables
	Adaptive *adaptive.Tables
	Choice   packets.LaneChoice
}

// packetNetwork makes the simulator of packets on the network as it is routed.
func (in *Input) packetNetwork(preset string) (*packets.Network, error) {
	config, err := packets.PresetNamed(preset)
	if err != nil {
		return nil, err
	}
	if in.Lanes > 0 {
		config.Lanes = in.Lanes
	}
	switch {
	case in.Ways.Adaptive != nil:
		config.LaneChoice = in.Ways.Choice
		return packets.NewAdaptive(in.Ways.Adaptive, config)
	case in.Ways.Tables != nil:
		return packets.New(in.Ways.Tables, config)
	}
	return packets.New(in.Result.Tables, config)
}

// hosts is the endpoints between which traffic is measured.
func (in *Input) hosts() []fabric.EndpointID { return routing.HCA.Endpoints(in.Fabric) }
