package result

import (
	"fmt"

	"github.com/weft-fabric/weft/internal/words"
)

// Measured is what counters of ports say beside what routes predict.
type Measured struct {
	Files    []string          `json:"files"`
	Ports    int               `json:"ports"`  // with counters and a cable
	Trunks   int               `json:"trunks"` // channels between switches among them
	Row      string            `json:"row"`    // whose routes the findings are about
	Findings []MeasuredFinding `json:"findings,omitempty"`
}

// MeasuredFinding is a channel that is otherwise than its routes explain.
type MeasuredFinding struct {
	Kind    string  `json:"kind"`
	Channel string  `json:"channel"`
	Factor  float64 `json:"factor,omitempty"`
	Bytes   float64 `json:"bytes"`
	Routes  uint32  `json:"routes"`
	ChannelNodes
}

// Received is how well ports receive, by the files of --measured.
type Received struct {
	Files    []string       `json:"files"`
	Ports    int            `json:"ports"`              // with a cable, of which something is known
	NoBytes  bool           `json:"no_bytes,omitempty"` // the files say nothing of what ports have sent
	Source   string         `json:"limits_from"`
	Limits   []RateLimit    `json:"limits"`
	Bad      int            `json:"error_ports"`
	Warnings int            `json:"warning_ports"`
	Rates    []ReceivedPort `json:"by_rate,omitempty"`
	FEC      []DifferentFEC `json:"fec_differs,omitempty"`
}

// RateLimit is the values from which on a rate of errors is a warning, and an error.
type RateLimit struct {
	Rate    string  `json:"rate"`
	Resends bool    `json:"resends"` // of links that send again what was wrong
	Warning float64 `json:"warning"`
	Bad     float64 `json:"error"`
}

// ReceivedPort is how well a port receives.
type ReceivedPort struct {
	Level           string   `json:"level,omitempty"`
	Channel         string   `json:"channel"` // that it receives over
	Symbol          *float64 `json:"symbol,omitempty"`
	Effective       *float64 `json:"effective,omitempty"`
	Raw             *float64 `json:"raw,omitempty"`
	SymbolErrors    *float64 `json:"symbol_errors,omitempty"`
	EffectiveErrors *float64 `json:"effective_errors,omitempty"`
	FEC             string   `json:"fec,omitempty"`
	Retransmission  string   `json:"retransmission,omitempty"`
	ChannelNodes
}

// DifferentFEC is a cable whose ends correct errors in two ways.
type DifferentFEC struct {
	Channel string `json:"channel"`
	From    string `json:"from_fec"`
	To      string `json:"to_fec"`
	ChannelNodes
}

// Text is the same for people.
func (f *MeasuredFinding) Text() string {
	switch f.Kind {
	case "slow":
		return fmt.Sprintf("%s is where waiting ends: ports wait up to %.0f %% of the time to send to its switch, and no cable out of it waits or is full: this one, or another of the same switch, is slower than the fabric says", f.Channel, 100*f.Factor)
	case "waits":
		return fmt.Sprintf("%s waits %.0f times as long for each byte as cables with as many routes: a slow cable behind it, or a wrong rate", f.Channel, f.Factor)
	case "no route":
		return fmt.Sprintf("%s carries %s, and no route leads over it: switches have other tables", f.Channel, words.Bytes(int64(f.Bytes)))
	case "idle":
		return fmt.Sprintf("%s carries nothing, and %s lead over it", f.Channel, words.Counted(f.Routes, "route", "routes"))
	}
	return fmt.Sprintf("%s carries %.1f times what its routes explain", f.Channel, f.Factor)
}

// Finding reports whether cables are not as routes explain in a way that traffic alone does
// not make.
func (m *Measured) Finding() bool {
	if m == nil {
		return false
	}
	for _, f := range m.Findings {
		if f.Kind == "slow" || f.Kind == "waits" || f.Kind == "no route" {
			return true
		}
	}
	return false
}

// Finding reports whether a rate is at the limit, or a cable has two modes.
func (s *Received) Finding() bool { return s != nil && (s.Bad > 0 || len(s.FEC) > 0) }
