package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/sweep/measures"
)

// Point is a network routed by an engine, and what is measured of it. It travels as JSON
// to the process that measures it.
type Point struct {
	ID       string             `json:"id"`
	Network  Network            `json:"network"`
	Seed     uint64             `json:"seed"` // of everything that is drawn: network, damage, engine, patterns
	Engine   Engine             `json:"engine"`
	Measures []measures.Measure `json:"measures"`
}

// Network is a network as a SPEC has it, with its parameters filled in.
type Network struct {
	Spec   string             `json:"spec,omitempty"` // of package topology; or
	File   string             `json:"file,omitempty"` // where to read it
	Digest string             `json:"digest,omitempty"`
	Damage Damage             `json:"damage"`
	Ports  string             `json:"ports,omitempty"` // Shuffled: cables of switches are in ports drawn by lot; empty: as they come
	Given  []measures.Setting `json:"given,omitempty"` // the parameters of the SPEC that Spec was made of, in its order
	Kind   string             `json:"kind"`            // Spec with everything but the seed filled in, or the file: networks of one kind are about as large
}

// Shuffled says that the cables of every switch are in other ports, drawn by the seed of the
// point: what a routing makes of the numbers of ports is then chance.
const Shuffled = "shuffled"

// String is the network as results have it.
func (n *Network) String() string { return cmp.Or(n.Spec, n.File) }

// Parameters is what the words in braces stood for, as name=value with commas between.
func (n *Network) Parameters() string { return measures.Joined(n.Given) }

// Damage is what is taken away from a network, drawn by the seed of the point, so that the
// rest stays connected.
type Damage struct {
	Cables   Amount `json:"cables"` // between switches
	Switches Amount `json:"switches"`
}

// Amount is a number of things, or a share of those there are: 12, or 5%.
type Amount string

// parseAmount reads an amount; zero of either kind is the empty one.
func parseAmount(text string) (Amount, error) {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		p, err := strconv.ParseFloat(share, 64)
		if err != nil || !(p >= 0 && p < 100) {
			return "", fmt.Errorf("%q is no share; it is from 0%% to below 100%%", text)
		}
		if p == 0 {
			return "", nil
		}
		return Amount(strconv.FormatFloat(p, 'g', -1, 64) + "%"), nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return "", fmt.Errorf("%q is neither a number, such as 12, nor a share, such as 5%%", text)
	}
	if n == 0 {
		return "", nil
	}
	return Amount(strconv.FormatUint(n, 10)), nil
}

// Of is how many of so many things the amount is, a share rounded to the nearest.
func (a Amount) Of(all int) int {
	share, ok := strings.CutSuffix(string(a), "%")
	if !ok {
		n, _ := strconv.Atoi(string(a)) // nothing is the empty amount
		return n
	}
	p, _ := strconv.ParseFloat(share, 64) // Read has read it
	return int(p/100*float64(all) + 0.5)
}

// NoEngine is the engine of points that are not routed, for measures of networks.
const NoEngine = "none"

// Engine is an engine with what it is told. Zero values are the defaults of weft route.
type Engine struct {
	Name     string `json:"name"`
	VLs      int    `json:"vls,omitempty"`
	SLs      int    `json:"sls,omitempty"`
	Contract string `json:"contract,omitempty"`
	Scope    string `json:"endpoints,omitempty"`
	Aim      string `json:"aim,omitempty"`
	Order    string `json:"order,omitempty"`
	Prefer   string `json:"prefer,omitempty"`
	LMC      int    `json:"lmc,omitempty"`      // 2^LMC addresses for each adapter port; zero: as the network has them
	Exact    bool   `json:"exact,omitempty"`    // lanes are planned for the endpoints of the proof only, and not for all adapters
	LanesOf  string `json:"lanes_of,omitempty"` // one of the list LanesOf: as many lanes as this engine needs on the network at hand, in place of VLs
}

// Options is what the engine is told, as key=value with commas between; empty where it is
// told nothing.
func (e *Engine) Options() string {
	var list []string
	exact := ""
	if e.Exact {
		exact = Yes
	}
	for _, o := range []struct{ key, value string }{
		{"vls", number(e.VLs)}, {"sls", number(e.SLs)}, {"contract", e.Contract}, {"endpoints", e.Scope},
		{"aim", e.Aim}, {"order", e.Order}, {"prefer", e.Prefer}, {"lmc", number(e.LMC)},
		{"lanes-of", e.LanesOf}, {"exact", exact},
	} {
		if o.value != "" {
			list = append(list, o.key+"="+o.value)
		}
	}
	return strings.Join(list, ",")
}

// Yes is what exact: may be.
const Yes = "yes"

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// idOf is the ID of a point: 16 hexadecimal digits that follow from network, damage, ports,
// seed, engine and what it is told. What is measured is not part of it: a point may get further
// measures. The form of what is hashed must never change.
func idOf(p *Point) string {
	of := struct {
		Spec     string `json:"spec,omitempty"`
		Digest   string `json:"digest,omitempty"`
		Cables   Amount `json:"cables,omitempty"`
		Switches Amount `json:"switches,omitempty"`
		Seed     uint64 `json:"seed"`
		Engine   string `json:"engine"`
		Options  string `json:"options,omitempty"`
		Ports    string `json:"ports,omitempty"`
	}{p.Network.Spec, p.Network.Digest, p.Network.Damage.Cables, p.Network.Damage.Switches, p.Seed, p.Engine.Name, p.Engine.Options(), p.Network.Ports}
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // texts and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// String is the damage for people; empty if there is none.
func (d Damage) String() string {
	var parts []string
	if d.Switches != "" {
		parts = append(parts, string(d.Switches)+" switches")
	}
	if d.Cables != "" {
		parts = append(parts, string(d.Cables)+" cables")
	}
	return strings.Join(parts, ", ")
}

// On is the point on another network, or with another seed.
func (p Point) On(n Network, seed uint64) Point {
	p.Network, p.Seed = n.with(seed), seed
	p.ID = idOf(&p)
	return p
}
