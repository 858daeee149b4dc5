package traffic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/spell"
)

// kind is a row of the table of patterns.
type kind struct {
	name    string
	summary string
	example string
	keys    []key
	random  bool
	byRail  bool // each rail is by itself: phases and append are about the ranks of one

	// phases is the number of phases among n ranks. Each argument was checked before, and
	// n is at least 2.
	phases func(a args, n int) (int, error)

	// append is Pattern.Append, with the arguments.
	append func(pairs []Pair, a args, n, phase int, r *rand.Rand) []Pair
}

// key is a parameter of a pattern.
type key struct {
	name    string
	meaning string
	normal  int // value if the key is not given; if that is below least, the key must be given
	least   int
}

// args is the values of the keys, in the order of the row.
type args []int

// Kind describes a kind of pattern, for lists and help.
type Kind struct {
	Name    string
	Summary string
	Example string
	Keys    map[string]string // name: meaning
	Random  bool
}

// Kinds is every kind of pattern that Parse knows, in the order of the table.
func Kinds() []Kind {
	list := make([]Kind, len(kinds))
	for i := range kinds {
		k := &kinds[i]
		list[i] = Kind{Name: k.name, Summary: k.summary, Example: k.example, Keys: map[string]string{}, Random: k.random}
		for _, p := range k.keys {
			list[i].Keys[p.name] = p.meaning
		}
	}
	return list
}

// Parse reads a pattern:  a name, and after a colon its keys, as in "bisect",
// "shift:k=3" or "incast:n=8". Several patterns joined by + run at once, as in
// "bisect+ring". Errors name the nearest pattern or key.
func Parse(spec string) (Pattern, error) {
	parts := strings.Split(spec, "+")
	var all combined
	for _, part := range parts {
		p, err := parseOne(part)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// Bisection is the pattern "bisect". The mean bandwidth of its flows is the effective
// bisection bandwidth.
func Bisection() Pattern {
	p, err := Parse("bisect")
	if err != nil {
		panic(err) // a row of the table without keys
	}
	return p
}

// parseOne reads a pattern without +.
func parseOne(spec string) (Pattern, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(spec), ":")
	name = strings.ReplaceAll(name, "neighbor", "neighbour")
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no pattern %q%s (patterns: %s)", name, spell.Hint(name, kindNames()), strings.Join(kindNames(), ", "))
	}
	p := named{kind: &kinds[i]}
	for _, k := range p.keys {
		p.args = append(p.args, k.normal)
	}
	if err := p.readArgs(rest); err != nil {
		return nil, err
	}
	for i, k := range p.keys {
		if p.args[i] < k.least {
			return nil, fmt.Errorf("%s needs %s, at least %d: %s, as in %s", name, k.name, k.least, k.meaning, p.example)
		}
	}
	return p, nil
}

func kindNames() []string {
	list := make([]string, len(kinds))
	for i := range kinds {
		list[i] = kinds[i].name
	}
	return list
}

// named is the Pattern of a row of the table with its arguments.
type named struct {
	*kind
	args  args
	rails [][]int32 // [rail] its ranks, of a pattern by rail: see OnRails; nil: all are on one
}

// readArgs reads key=value,key=value into args, where the others have their normal values.
func (p *named) readArgs(text string) error {
	if text == "" {
		return nil
	}
	var given []string
	for _, field := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(field), "=")
		if !ok {
			return fmt.Errorf("%s: %q is not key=value, as in %s", p.name, field, p.example)
		}
		var known []string
		for _, k := range p.keys {
			known = append(known, k.name)
		}
		i := slices.Index(known, name)
		switch {
		case len(known) == 0:
			return fmt.Errorf("%s has no keys; %q is given", p.name, name)
		case i < 0:
			return fmt.Errorf("%s: no key %q%s (keys: %s)", p.name, name, spell.Hint(name, known), strings.Join(known, ", "))
		case slices.Contains(given, name):
			return fmt.Errorf("%s: %s is given twice", p.name, name)
		}
		given = append(given, name)
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return fmt.Errorf("%s: %s=%q is not a whole number", p.name, name, value)
		}
		if int(n) < p.keys[i].least {
			return fmt.Errorf("%s: %s=%d is less than %d", p.name, name, n, p.keys[i].least)
		}
		p.args[i] = int(n)
	}
	return nil
}

func (p named) Phases(n int) (int, error) {
	if n < 2 {
		return 0, fmt.Errorf("%s among %d ranks: it takes two to talk", p.name, n)
	}
	if p.rails == nil {
		return p.kind.phases(p.args, n)
	}
	return p.railPhases()
}

func (p named) Append(pairs []Pair, n, phase int, r *rand.Rand) []Pair {
	if p.rails == nil {
		return p.kind.append(pairs, p.args, n, phase, r)
	}
	return p.appendRails(pairs, phase, r)
}

func (p named) Random() bool { return p.random }

func (p named) String() string {
	var b strings.Builder
	b.WriteString(p.name)
	separator := ":"
	for i, k := range p.keys {
		if p.args[i] != k.normal {
			fmt.Fprintf(&b, "%s%s=%d", separator, k.name, p.args[i])
			separator = ","
		}
	}
	return b.String()
}

// combined is patterns that run at once. A pattern with fewer phases than another
// starts again.
type combined []Pattern

func (t combined) Phases(n int) (int, error) {
	most := 0
	for _, p := range t {
		k, err := p.Phases(n)
		if err != nil {
			return 0, err
		}
		most = max(most, k)
	}
	return most, nil
}

func (t combined) Append(pairs []Pair, n, phase int, r *rand.Rand) []Pair {
	for _, p := range t {
		k, err := p.Phases(n)
		if err != nil {
			panic("Append for a number of ranks that Phases refuses: " + err.Error())
		}
		pairs = p.Append(pairs, n, phase%k, r)
	}
	return pairs
}

func (t combined) Random() bool {
	return slices.ContainsFunc(t, Pattern.Random)
}

func (t combined) String() string {
	specs := make([]string, len(t))
	for i, p := range t {
		specs[i] = p.String()
	}
	return strings.Join(specs, "+")
}
