package result

// Survival is how single failures of a kind are mended.
type Survival struct {
	Failures  string         `json:"failures"` // links or switches
	Tried     int            `json:"tried"`
	OneStep   int            `json:"mended_in_one_step"`
	Mended    int            `json:"mended"`
	Rebuilt   int            `json:"mended_by_rebuilding"`
	NotMended int            `json:"not_mended"`
	Worst     []SurvivalCase `json:"worst"`
}

// SurvivalCase is a failure that takes more than one step, or leaves destinations.
type SurvivalCase struct {
	Without string `json:"without"`
	Steps   int    `json:"steps"`
	Entries int    `json:"entries_changed"`
	Due     int    `json:"entries_due"`
	Rebuilt bool   `json:"rebuilt"`
	Left    int    `json:"destinations_left"`
}

// Candidate is tables that weft route --survive compared, and what failures take under them.
type Candidate struct {
	Engine    string  `json:"engine"`
	Seed      uint64  `json:"seed"`
	Root      string  `json:"root,omitempty"` // where the engine has one and another was tried
	Bandwidth float64 `json:"bandwidth"`
	Tried     int     `json:"tried"`
	OneStep   int     `json:"mended_in_one_step"`
	Rebuilt   int     `json:"mended_by_rebuilding"`
	NotMended int     `json:"not_mended"`
	Taken     bool    `json:"taken"`
}
