package result

import (
	"github.com/weft-fabric/weft/fabric"
)

// BadCertificate is what weft verify prints where a proof does not hold.
type BadCertificate struct {
	Verdict string `json:"verdict"`
	Why     string `json:"why"`
}

// Verify is what weft verify prints.
type Verify struct {
	Verdict
	Assumed Assumed `json:"assumed"`
	VLs     int     `json:"vls"` // as lanes_used
	LaneCounts
	Loops     int64      `json:"forwarding_loops"`
	Dropped   int64      `json:"dropped_turns"`
	Covers    string     `json:"covers"`
	Groups    *Group     `json:"adaptive_groups,omitempty"`
	Multicast *Multicast `json:"multicast,omitempty"`
	Stray     int64      `json:"stray"` // (switch without endpoints in scope, LID) without a route
	Fit
	Findings  []Doubt         `json:"findings,omitempty"`
	ByLane    []ByLane        `json:"lanes_by_lanes,omitempty"` // switches that look up lanes by lanes
	CutOff    *CutOff         `json:"cut_off,omitempty"`
	Lost      []Lost          `json:"lost,omitempty"`
	JoinedBy  string          `json:"joined_by"`
	Rechecked bool            `json:"certificate_checked"`
	Proof     *Proof          `json:"proof_checker,omitempty"`
	Next      string          `json:"next,omitempty"`
	Seconds   VerifyStageTime `json:"seconds"`
}

// VerifyStageTime is the time of each stage of a verdict.
type VerifyStageTime struct {
	Read   float64 `json:"read"`
	Verify float64 `json:"verify"`
}

// Lost is a switch and a LID that endpoints on it do not reach.
type Lost struct {
	Switch     string     `json:"switch"`
	Dst        string     `json:"dst"`
	SwitchNode Node       `json:"switch_node"`
	DstNode    Node       `json:"dst_node"`
	LID        fabric.LID `json:"lid"`
	Why        string     `json:"why"`
	Pairs      int64      `json:"pairs"` // number of endpoints in scope on the switch that do not reach it
}

// Group counts what switches of adaptive routing choose from.
type Group struct {
	File    string  `json:"file,omitempty"`
	Choose  string  `json:"choose,omitempty"`
	Tables  int     `json:"private_tables"` // the most that a switch has, table 0 included
	Entries int64   `json:"entries"`        // number of entries of all switches for LIDs in use
	Chosen  int64   `json:"with_choice"`    // number of these that have two ports or more
	Hashed  int64   `json:"hashed"`         // number of with_choice where a hash decides
	Largest int     `json:"largest_group"`
	Escape  *Escape `json:"escape,omitempty"` // only if every choice together has a loop
}

// Escape reports whether packets that wait can always leave.
type Escape struct {
	Found   bool       `json:"found"`
	Choices int64      `json:"choices"`        // number of places where packets choose
	Static  int64      `json:"by_static_port"` // number of these where the static port is an escape
	Other   *OtherPort `json:"first_other,omitempty"`
}

// OtherPort is an escape port that is not the static one.
type OtherPort struct {
	Switch string     `json:"switch"`
	LID    fabric.LID `json:"lid"`
	In     uint8      `json:"in_port"`
	Port   uint8      `json:"port"`
}

// Multicast is what was found of the trees of multicast groups.
type Multicast struct {
	File     string   `json:"file"`
	Groups   int      `json:"groups"`
	SLs      []int    `json:"sls"`
	Circling []string `json:"circling,omitempty"`  // MLIDs
	Split    []string `json:"split,omitempty"`     // likewise
	OneSided []string `json:"one_sided,omitempty"` // likewise
}

// Proof is what weft-proof, the checker that is extracted from the proofs, says of the
// certificate of a verdict (docs/proof.md).
type Proof struct {
	Checker  string `json:"checker"`
	Holds    bool   `json:"holds"`
	Delivers *bool  `json:"delivers"` // all packets arrive; nil: not asked, since it does not hold
	Why      string `json:"why"`      // empty: nothing is wrong
}
