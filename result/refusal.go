package result

// Refusal is why there are no tables, or no plan.
type Refusal struct {
	Engine    string `json:"engine"`
	Refused   string `json:"refused"`
	Need      int    `json:"vls_needed,omitempty"`    // as lanes_needed, where it is for want of lanes
	Available int    `json:"vls_available,omitempty"` // as lanes_available
	LaneCounts
	ClassesFit int             `json:"classes_fit,omitempty"` // of --classes: how many of them there is room for
	Fits       []FittingEngine `json:"fits"`                  // engines that were tried and fit
	Left       []LeftOver      `json:"left,omitempty"`        // of weft repair: destinations that no repair reaches
}

// FittingEngine is an engine that routes where another refuses.
type FittingEngine struct {
	Engine string `json:"engine"`
	VLs    int    `json:"vls"` // as lanes_needed
	Needed int    `json:"lanes_needed"`
}

// NoneProven is the answer where no engine of those tried is proven.
type NoneProven struct {
	Refusal
	Tried []Trial `json:"tried"`
}
