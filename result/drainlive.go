package result

// DrainLive is what weft drain --live and weft undrain print.
type DrainLive struct {
	Do      string    `json:"do"`
	Refused string    `json:"refused,omitempty"` // why nothing is done
	Parts   []Drained `json:"parts"`             // with their states in the end
	Steps   int       `json:"steps"`             // of the plan, when it was ordered
	Entries int       `json:"entries"`
	Cut     []string  `json:"cut"`              // endpoints that are cut off when the parts are pulled
	Kept    string    `json:"kept,omitempty"`   // why a restart of the daemon would forget the order
	Before  []Drained `json:"before,omitempty"` // of Parts, those that were drained already
	Seconds float64   `json:"seconds"`          // from the order to its end
	Done    bool      `json:"done"`             // all switches have confirmed it; false where it begins later
}
