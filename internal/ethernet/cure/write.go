package cure

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/reading"
)

// Named is a rule with the names of its device and interfaces.
type Named struct {
	Device   string   `json:"device"`
	In       []string `json:"in"`  // interfaces by which packets come
	Out      []string `json:"out"` // interfaces by which they leave
	Priority uint8    `json:"priority"`
	Becomes  string   `json:"becomes"` // a priority, or lossy
}

// Names is the rules with devices and interfaces by name, as files have them.
func (c *Cure) Names() []Named {
	n := c.Network
	list := make([]Named, 0, len(c.Rules))
	for _, r := range c.Rules {
		named := Named{Device: n.Names[r.Device], Priority: r.Priority, Becomes: "lossy"}
		if r.Becomes != ethernet.Lossy {
			named.Becomes = strconv.Itoa(int(r.Becomes))
		}
		for _, l := range r.In {
			named.In = append(named.In, n.Links[l].ToInterface)
		}
		for _, l := range r.Out {
			named.Out = append(named.Out, n.Links[l].FromInterface)
		}
		list = append(list, named)
	}
	return list
}

// WriteCSV writes the rules as a table.
func (c *Cure) WriteCSV(w io.Writer) error {
	table := reading.NewCSVWriter(w)
	rows := [][]string{{"device", "in", "out", "priority", "becomes"}}
	for _, r := range c.Names() {
		rows = append(rows, []string{r.Device, strings.Join(r.In, " "), strings.Join(r.Out, " "), strconv.Itoa(int(r.Priority)), r.Becomes})
	}
	return table.WriteAll(rows)
}

// WriteJSON writes the rules as JSON.
func (c *Cure) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Ladders [][]uint8 `json:"ladders"` // for each priority that hosts send with, those that its packets can get to
		Rules   []Named   `json:"rules"`
	}{c.Ladders, c.Names()})
}
