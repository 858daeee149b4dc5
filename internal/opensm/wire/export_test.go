package wire

import (
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Constants is what wire.h must say.
var Constants = map[string]string{
	"MAGIC":   fmt.Sprintf("%q", magic),
	"VERSION": fmt.Sprint(Version),

	"REQUEST": fmt.Sprint(kindRequest),
	"TABLES":  fmt.Sprint(kindTables),
	"REFUSAL": fmt.Sprint(kindRefusal),

	"HEADER_SIZE":  fmt.Sprint(headerSize),
	"REQUEST_SIZE": fmt.Sprint(requestSize),
	"NODE_SIZE":    fmt.Sprint(nodeSize),
	"NAME_SIZE":    fmt.Sprint(nameSize),
	"PORT_SIZE":    fmt.Sprint(portSize),
	"BLOCK_SIZE":   fmt.Sprint(blockSize),
	"BLOCK_LIDS":   fmt.Sprint(blockLIDs),
	"TABLES_SIZE":  fmt.Sprint(tablesSize),
	"ENGINE_SIZE":  fmt.Sprint(engineSize),
	"REFUSAL_SIZE": fmt.Sprint(refusalSize),
	"REASON_MAX":   fmt.Sprint(reasonMax),

	"QOS":                fmt.Sprint(flagQoS),
	"IMPROVES":           fmt.Sprint(flagImproves),
	"AGAIN":              fmt.Sprint(flagAgain),
	"FILLED":             fmt.Sprint(flagFilled),
	"SO_FAR":             fmt.Sprint(flagSoFar),
	"DIRECTED":           fmt.Sprint(flagDirected),
	"STEP":               fmt.Sprint(flagStep),
	"DROPS":              fmt.Sprint(flagDrops),
	"NEW_TREE":           fmt.Sprint(flagNewTree),
	"STANDS":             fmt.Sprint(flagStands),
	"ORDERS":             fmt.Sprint(flagOrders),
	"NO_PEER":            fmt.Sprintf("0x%X", uint32(noPeer)),
	"NO_PORT":            fmt.Sprint(routing.NoPort),
	"SLS":                fmt.Sprint(routing.SLs),
	"MAX_LANES":          fmt.Sprint(routing.MaxDataVLs),
	"DROPPED":            fmt.Sprint(routing.MaxDataVLs),
	"AGGREGATION_VENDOR": fmt.Sprintf("0x%x", fabric.AggregationVendor),
	"AGGREGATION_DEVICE": fmt.Sprintf("0x%x", fabric.AggregationDevice),
	"UNUSED":             fmt.Sprintf("(%d)", deadlock.Unused),
}
