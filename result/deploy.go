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
