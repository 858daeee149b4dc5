package result

import (
	"fmt"

	"github.com/weft-fabric/weft/internal/words"
)

// Survival is how single failures of a kind are mended.
type Survival struct {
	Failures  string         `json:"failures"` // links or switches
	Tried     int            `json:"tried"`
	OneStep   int            `json:"mended_in_one_step"`
	Mended    int            `json:"mended"`
	Rebuilt   int            `json:"mended_by_rebuilding"`
	NotMended int            `json:"not_mended"`
	Worst     []SurvivalCase `json:"worst"`
}

// SurvivalCase is a failure that takes more than one step, or leaves destinations.
type SurvivalCase struct {
	Without string `json:"without"`
	Steps   int    `json:"steps"`
	Entries int    `json:"entries_changed"`
	Due     int    `json:"entries_due"`
	Rebuilt bool   `json:"rebuilt"`
	Left    int    `json:"destinations_left"`
}

// Candidate is tables that weft route --survive compared, and what failures take under them.
type Candidate struct {
	Engine    string  `json:"engine"`
	Seed      uint64  `json:"seed"`
	Root      string  `json:"root,omitempty"` // where the engine has one and another was tried
	Bandwidth float64 `json:"bandwidth"`
	Tried     int     `json:"tried"`
	OneStep   int     `json:"mended_in_one_step"`
	Rebuilt   int     `json:"mended_by_rebuilding"`
	NotMended int     `json:"not_mended"`
	Taken     bool    `json:"taken"`
}

// Text is the same for people.
func (s *Survival) Text() string {
	one := map[string]string{"links": "cable", "switches": "switch"}[s.Failures]
	text := fmt.Sprintf("the loss of any %s (%s tried): %s mended in one step, %s in several, for %s others make way, %s not mended", one,
		words.Thousands(s.Tried), words.Thousands(s.OneStep), words.Thousands(s.Mended+s.Rebuilt-s.OneStep), words.Thousands(s.Rebuilt), words.Thousands(s.NotMended))
	for _, w := range s.Worst {
		text += fmt.Sprintf("\n  %s: %s, %s of which %s had to change", w.Without, words.Plural(w.Steps, "step"), words.Counted(w.Entries, "entry", "entries"), words.Thousands(w.Due))
		if w.Rebuilt {
			text += "; others make way"
		}
		if w.Left > 0 {
			text += fmt.Sprintf("; %s cannot be reached from everywhere", words.Plural(w.Left, "destination"))
		}
	}
	return text
}
