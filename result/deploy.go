package result

// Deploy is the output of weft deploy files --json.
type Deploy struct {
	Fabric   Fabric `json:"fabric"`
	Engine   string `json:"engine"`
	Verdict  string `json:"verdict"`
	Contract string `json:"contract"`
	VLs      int    `json:"vls"` // for the service levels that destinations have; lanes_used counts those of the contract
	LaneCounts
	Levels      []int    `json:"service_levels"`
	Classes     int      `json:"classes,omitempty"` // as of weft route
	ClassLevels int      `json:"class_service_levels,omitempty"`
	Dir         string   `json:"dir"` // where opensm.conf says the files are
	Files       []string `json:"files"`
}

// DeployRefusal is the output of weft deploy files --json of a routing that files cannot express.
type DeployRefusal struct {
	Engine  string   `json:"engine"`
	Refused string   `json:"refused"`
	Limit   string   `json:"limit"`
	Fits    []string `json:"fits"` // other engines that were tried and can be expressed
	Ways    []string `json:"ways"` // flags that make tables which files can express
}

// DeployCheck is the output of weft deploy check --json.
type DeployCheck struct {
	Conf       string   `json:"conf"`
	Engines    []string `json:"engines"`
	NoFallback bool     `json:"no_fallback"`
	QoS        bool     `json:"qos"`
	VLs        int      `json:"vls_available"`        // as lanes_available
	VLsNeeded  int      `json:"vls_needed,omitempty"` // as lanes_needed
	LaneCounts
	Findings []Danger `json:"findings"`
	Bad      bool     `json:"bad"`
}

// Danger is what opensm.conf says that endangers tables, or could be better.
type Danger struct {
	Level string   `json:"level"` // danger, warning or advice
	Code  string   `json:"code"`
	What  string   `json:"what"`
	Do    string   `json:"do"`
	Lines []string `json:"lines,omitempty"`
	Line  int      `json:"line,omitempty"` // of opensm.conf
}
