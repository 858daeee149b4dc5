package result

import (
	"github.com/weft-fabric/weft/fabric"
)

// Mismatches is what the tables and the fabric do not have in common: one of the two
// is older.
type Mismatches struct {
	NoTable         []string       `json:"switches_without_table,omitempty"`
	NoTableOf       []Node         `json:"switches_without_table_nodes,omitempty"`
	NoEntry         []string       `json:"endpoints_without_entry,omitempty"` // no switch has one
	NoEntryOf       []Node         `json:"endpoints_without_entry_nodes,omitempty"`
	UnknownSwitches []AbsentSwitch `json:"tables_of_absent_switches,omitempty"`
	Gone            []AbsentLID    `json:"entries_for_absent_endpoints,omitempty"`
	Beyond          []AbsentLID    `json:"lids_beyond_lmc,omitempty"`
	Dead            []DeadPort     `json:"entries_into_nothing,omitempty"` // by port without a cable
	SL2VL           *FileMisfit    `json:"sl2vl,omitempty"`
	PSL             *FileMisfit    `json:"psl,omitempty"`
	OtherLIDs       []OtherLID     `json:"other_lids,omitempty"`
	OtherOwners     []OtherOwner   `json:"other_owners,omitempty"`
}

// AbsentSwitch is a switch that has a table and is not in the fabric.
type AbsentSwitch struct {
	GUID string `json:"guid"`
	Name string `json:"name,omitempty"`
	Line int    `json:"line"` // where its table begins
}

// AbsentLID is a LID of the tables that belongs to nothing in the fabric.
type AbsentLID struct {
	LID  fabric.LID `json:"lid"`
	GUID string     `json:"port_guid,omitempty"`
	Name string     `json:"name,omitempty"`
	Line int        `json:"line"`
	Why  string     `json:"why"`
}

// DeadPort is a port without a cable that entries lead to.
type DeadPort struct {
	Switch     string `json:"switch"`
	SwitchNode Node   `json:"switch_node"` // and the port
	Port       uint8  `json:"port"`
	Entries    int    `json:"entries"`
}

// FileMisfit is how a file of service levels or SL2VL maps does not fit the fabric: lines about what the fabric does not
// have, and pairs that no line is about.
type FileMisfit struct {
	File         string `json:"file"`
	Skipped      int64  `json:"lines_left_out,omitempty"`
	FirstSkipped string `json:"first_left_out,omitempty"`
	Missing      int64  `json:"missing,omitempty"`
	FirstMissing string `json:"first_missing,omitempty"`
}

// OtherLID is an endpoint that has another LID in the tables than in the fabric.
type OtherLID struct {
	Endpoint     string     `json:"endpoint"`
	EndpointNode Node       `json:"endpoint_node"`
	Tables       fabric.LID `json:"tables"`
	Fabric       fabric.LID `json:"fabric"`
}

// OtherOwner is a LID that is another port's in the fabric than in the tables. Its entries count for
// that port: switches forward by LIDs.
type OtherOwner struct {
	LID          fabric.LID `json:"lid"`
	GUID         string     `json:"port_guid"` // in the tables
	Name         string     `json:"name,omitempty"`
	Line         int        `json:"line"`
	Endpoint     string     `json:"endpoint"` // in the fabric
	EndpointNode Node       `json:"endpoint_node"`

	Replaced bool `json:"-"` // the fabric has no port with the GUID
}

// Renumbered says that the fabric has other LIDs throughout than the tables, so that these are of another
// subnet manager. What is judged is the same routes under the LIDs of the fabric.
type Renumbered struct {
	LIDs   int  `json:"lids"`   // number of LIDs of the tables whose endpoints have others in the fabric
	Of     int  `json:"of"`     // number of LIDs of the tables whose endpoints the fabric has
	Stated bool `json:"stated"` // the fabric states its LIDs; else weft gave it LIDs
}

// Fit is how tables fit the fabric, as every summary and screen has it.
type Fit struct {
	Misfits    *Mismatches `json:"misfits,omitempty"`
	Renumbered *Renumbered `json:"renumbered,omitempty"`
}

// Doubt is a reason for which switches may not do what a verdict about tables takes for
// granted, though tables and fabric are of one time.
type Doubt struct {
	Kind string `json:"kind"`
	What string `json:"what"`
}

// ByLane is a switch that looks up the lane of packets on some service levels by the lane they came
// on.
type ByLane struct {
	Switch string `json:"switch"`
	SLs    []int  `json:"sls"`
}

// Assumed is where the service levels and lanes come from: a file, or what
// is taken for want of one.
type Assumed struct {
	ServiceLevels string `json:"service_levels"`
	Lanes         string `json:"lanes"`
}
