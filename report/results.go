package report

// Result is what another command found, taken from its JSON.
type Result struct {
	Command string         `json:"command"` // that printed it, such as weft compare
	File    string         `json:"file"`
	Title   string         `json:"title"`
	Facts   []ResultFact   `json:"facts"`
	Tables  []ResultTable  `json:"tables"`
	Curves  []ResultCurves `json:"curves"`
	Marks   *MarkedParts   `json:"marks,omitempty"` // on the map
	Loop    []ResultStep   `json:"loop"`            // a credit loop
	Network int            `json:"network"`         // that it is about, from 0; -1: none of the report
}

// ResultFact is a line of a result.
type ResultFact struct {
	What string `json:"what"`
	Text string `json:"text"`
}

// ResultTable is a table of a result.
type ResultTable struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// ResultCurves is curves of a result over one number.
type ResultCurves struct {
	Title  string        `json:"title"`
	X      string        `json:"x"`
	Y      string        `json:"y"`
	Series []CurvePoints `json:"series"`
}

// CurvePoints is a curve.
type CurvePoints struct {
	Name string    `json:"name"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
}

// MarkedParts is what a result is about: nodes and cables by their numbers in the network.
type MarkedParts struct {
	GoneNodes  []int32 `json:"gone_nodes"`
	GoneCables []int32 `json:"gone_cables"`
	NewNodes   []int32 `json:"new_nodes"`
	NewCables  []int32 `json:"new_cables"`
	BySwitch   []int32 `json:"by_switch"` // [switch] entries that change
}

// ResultStep is a step of a loop in words.
type ResultStep struct {
	Text string `json:"text"`
}
