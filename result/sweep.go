package result

// Sweep is what weft sweep prints: what came of a campaign, or of a shard of one.
type Sweep struct {
	Name     string         `json:"name,omitempty"`
	Out      string         `json:"out"`
	Results  string         `json:"results"`
	Set      string         `json:"set,omitempty"` // of the SPEC
	Shard    string         `json:"shard,omitempty"`
	Points   int            `json:"points"`
	Kept     int            `json:"points_kept"`
	Rows     int            `json:"rows"`
	Others   int            `json:"rows_of_other_specs"`
	Seconds  float64        `json:"seconds"`
	CPU      float64        `json:"cpu_seconds"`
	Own      float64        `json:"cpu_seconds_of_points"`
	Expected float64        `json:"cpu_seconds_expected"`
	Measures []SweepMeasure `json:"measures"`
	Refusals []SweepReason  `json:"refusals"`
	Broken   []SweepBroken  `json:"broken"`
}

// SweepMeasure is what an engine has of a measure, over all networks.
type SweepMeasure struct {
	Engine   string  `json:"engine"`
	Options  string  `json:"options,omitempty"`
	Measure  string  `json:"measure"`
	Settings string  `json:"settings,omitempty"`
	Points   int     `json:"points"`
	Refused  int     `json:"refused"`
	Broken   int     `json:"broken"`
	Least    float64 `json:"least"`
	Mean     float64 `json:"mean"`
	Most     float64 `json:"most"`
	Unit     string  `json:"unit,omitempty"`
}

// SweepReason is why an engine refused, and how often.
type SweepReason struct {
	Engine  string `json:"engine"`
	Points  int    `json:"points"`
	Network string `json:"network"` // the first
	Reason  string `json:"reason"`
}

// SweepBroken is a point at which weft itself failed.
type SweepBroken struct {
	Point   string `json:"point"`
	Network string `json:"network"`
	Seed    uint64 `json:"seed"`
	Engine  string `json:"engine"`
	Options string `json:"options,omitempty"`
	Reason  string `json:"reason"`
}

// SweepPlan is what weft sweep --dry-run prints: the points that are left, and what they are expected to take.
type SweepPlan struct {
	Name      string       `json:"name,omitempty"`
	Set       string       `json:"set,omitempty"` // of the SPEC
	Shard     string       `json:"shard,omitempty"`
	Points    int          `json:"points"`
	Left      int          `json:"points_left"`
	Rows      int          `json:"rows"`
	CPU       float64      `json:"cpu_seconds"`
	Workers   int          `json:"workers"`
	Seconds   float64      `json:"seconds"`
	Engines   []SweepCost  `json:"engines"`
	Scheduled []SweepPoint `json:"scheduled"`
}

// SweepCost is what the points of an engine are expected to take.
type SweepCost struct {
	Engine string  `json:"engine"`
	Points int     `json:"points"`
	CPU    float64 `json:"cpu_seconds"`
}

// SweepPoint is a point that is left to take.
type SweepPoint struct {
	Point   string  `json:"point"`
	Network string  `json:"network"`
	Cables  string  `json:"missing_cables,omitempty"`   // damage: a number, or a share
	Gone    string  `json:"missing_switches,omitempty"` // likewise
	Seed    uint64  `json:"seed"`
	Engine  string  `json:"engine"`
	Options string  `json:"options,omitempty"`
	CPU     float64 `json:"cpu_seconds"`
}

// SweepMerge is what weft sweep merge prints.
type SweepMerge struct {
	Results     []string          `json:"results"`
	Out         string            `json:"out"`
	Points      int               `json:"points"`
	Rows        int               `json:"rows"`
	Differences int               `json:"differences"`
	Differ      []SweepDifference `json:"differ"` // some of them
}

// SweepDifference is two rows of one point and measure that have different values.
type SweepDifference struct {
	Point         string `json:"point"`
	Network       string `json:"network"`
	Seed          uint64 `json:"seed"`
	Engine        string `json:"engine"`
	Measure       string `json:"measure"`
	First         string `json:"first"`
	Second        string `json:"second"`
	FirstVersion  string `json:"first_version"`
	SecondVersion string `json:"second_version"`
}
