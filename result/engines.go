package result

// Engine is a row of weft engines.
type Engine struct {
	Name      string `json:"name"`
	Paths     string `json:"paths"`
	Lanes     string `json:"lanes"`
	Paper     string `json:"paper"`
	Contract  string `json:"contract"`
	Safe      bool   `json:"deadlock_free_everywhere"`
	Guarantee string `json:"guarantee"`
	Needs     string `json:"vls_needed"`
	Refuses   string `json:"refuses"`
}

// Explain is what weft explain prints.
type Explain struct {
	Engine  string    `json:"engine"`
	Rules   []Finding `json:"rules"`
	Routes  bool      `json:"routes"`
	Refusal string    `json:"refusal,omitempty"`
	VLs     int       `json:"vls,omitempty"` // as lanes_needed
	Needed  int       `json:"lanes_needed,omitempty"`
	Verdict string    `json:"verdict,omitempty"`

	How   string   `json:"-"` // the contract of the verdict, in words
	Notes []string `json:"-"` // remarks of the engine, in words
}

// Finding is a rule of an engine, and whether a network keeps it.
type Finding struct {
	Rule string `json:"rule"`
	OK   bool   `json:"ok"`
	Why  string `json:"why"`
}
