package report

import (
	"fmt"
	"strings"
)

// LaneCounts is the lanes of a result. The words are the same everywhere, and so are
// those for programs; 0 is not known.
type LaneCounts struct {
	Needed    int `json:"lanes_needed,omitempty"`    // by the proof
	Used      int `json:"lanes_used,omitempty"`      // carry traffic between switches under the contract
	Available int `json:"lanes_available,omitempty"` // to the tables
}

func (l LaneCounts) String() string {
	var parts []string
	for _, n := range []struct {
		lanes int
		what  string
	}{{l.Needed, "needed"}, {l.Used, "used"}, {l.Available, "available"}} {
		if n.lanes > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.lanes, n.what))
		}
	}
	return strings.Join(parts, ", ")
}
