package result

// Lanes is what weft lanes prints.
type Lanes struct {
	Fabric    string      `json:"fabric"`
	Paths     string      `json:"paths"`
	Contract  string      `json:"contract"`      // under which assigners and exact plan; all_paths: directed
	Endpoints string      `json:"endpoints"`     // for whom lanes are planned
	Offered   int         `json:"vls_available"` // an older word for lanes_available, the same number
	Available int         `json:"lanes_available"`
	Limit     *LaneLimit  `json:"lanes_limit,omitempty"` // as of weft route
	Assigners []LaneCount `json:"assigners"`
	Exact     *Exact      `json:"exact,omitempty"`
	AllPaths  *AllPaths   `json:"all_paths,omitempty"`
}

// LaneCount is how many lanes something needs, or why it refused, and how long it took.
type LaneCount struct {
	Name    string  `json:"name"`
	Variant string  `json:"variant,omitempty"` // order or heuristic
	VLs     int     `json:"vls,omitempty"`     // an older word for lanes_needed, the same number
	Needed  int     `json:"lanes_needed,omitempty"`
	AtLeast bool    `json:"at_least,omitempty"` // they are a lower bound
	Refused string  `json:"refused,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Exact is between which numbers the fewest layers are; equal, if they are known.
type Exact struct {
	Lower   int     `json:"lower,omitempty"`
	Upper   int     `json:"upper,omitempty"`
	Refused string  `json:"refused,omitempty"`
	Seconds float64 `json:"seconds"`
}

// AllPaths is what it takes to open all shortest paths, however many lanes --vls
// offers.
type AllPaths struct {
	ALASH    LaneCount `json:"a_lash"`
	MPLASH   LaneCount `json:"mp_lash"`
	Pairs    int64     `json:"pairs,omitempty"`            // of switches with endpoints
	Paths    int64     `json:"paths,omitempty"`            // all their shortest paths
	Most     int       `json:"most_paths,omitempty"`       // of one pair
	PerLayer []int64   `json:"per_layer,omitempty"`        // paths in each layer of MP-LASH
	Spread   []int64   `json:"per_layer_spread,omitempty"` // likewise, with a path in every layer that takes it
}
