package result

// Reproduce is what weft reproduce prints.
type Reproduce struct {
	Out         string       `json:"out"`
	Index       string       `json:"index"`
	Quick       bool         `json:"quick"`
	Seed        uint64       `json:"seed"`
	Points      int          `json:"points"`
	Kept        int          `json:"points_kept"`
	Seconds     float64      `json:"seconds"`
	FullSeconds float64      `json:"full_set_seconds,omitempty"` // of quick runs: an estimate
	Agree       int          `json:"claims_agree"`
	Differ      int          `json:"claims_differ"`
	Open        int          `json:"claims_open"`
	Experiments []Experiment `json:"experiments"`
}

// Experiment is a figure or table of a paper that can be measured again, of which weft reproduce --list
// prints a list; after a run, also what the paper's claims came to.
type Experiment struct {
	ID      string       `json:"id"`
	Paper   string       `json:"paper"`
	Figure  string       `json:"figure"`
	Title   string       `json:"title"`
	Measure string       `json:"measure"`
	Quick   int          `json:"points_quick"`
	Full    int          `json:"points_full"`
	CPU     float64      `json:"cpu_seconds,omitempty"` // that its measures took, those aside that an experiment before it shows
	Claims  []PaperClaim `json:"claims,omitempty"`
}

// PaperClaim is a sentence of a paper about a figure, beside what came out here.
type PaperClaim struct {
	Section   string `json:"section"`
	Paper     string `json:"paper_says"`
	Ours      string `json:"ours"`
	Agreement string `json:"agreement"`    // agrees, differs, open; as printed, where there are variants
	By        string `json:"by,omitempty"` // of lines as printed and as improved: both (they answer alike), printed or improved, whichever agrees alone
	Reason    string `json:"reason,omitempty"`
}

// ReproducePlan is what weft reproduce --dry-run prints.
type ReproducePlan struct {
	Quick       bool             `json:"quick"`
	Points      int              `json:"points"`
	Unknown     int              `json:"points_of_unknown_time,omitempty"` // of experiments of which no time is known
	CPU         float64          `json:"cpu_seconds"`                      // of the others
	Cores       int              `json:"cores"`
	Seconds     float64          `json:"seconds"` // on these
	Experiments []ExperimentPlan `json:"experiments"`
}

// ExperimentPlan is what an experiment is expected to take.
type ExperimentPlan struct {
	ID     string  `json:"id"`
	Points int     `json:"points"`
	CPU    float64 `json:"cpu_seconds,omitempty"`
}
