package result

// Place is what weft place prints.
type Place struct {
	Fabric    string       `json:"fabric"`
	Tables    string       `json:"tables"`
	Pattern   string       `json:"pattern"`
	Ranks     int          `json:"ranks"`
	Exchanged int          `json:"ranks_exchanged"`
	Tried     int          `json:"exchanges_tried"`
	Before    PlacedFigure `json:"before"`
	After     PlacedFigure `json:"after"`
	Gain      float64      `json:"gain"` // by how much shorter the job is, a fraction
	Hosts     []string     `json:"hosts"`
	Seed      uint64       `json:"seed"`
	Seconds   float64      `json:"seconds"`
}

// PlacedFigure is what an order of ranks is worth.
type PlacedFigure struct {
	Slowdown      float64 `json:"slowdown"` // time of the job, without other flows 1
	Bandwidth     float64 `json:"bandwidth"`
	MaxCongestion int     `json:"max_congestion"`
}
