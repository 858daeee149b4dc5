package sweep

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/internal/sweep/measures"
)

// MostPoints is how many points a SPEC may have.
const MostPoints = 5_000_000

// Spec is a SPEC file, read and multiplied out.
type Spec struct {
	File   string
	Name   string
	Sets   []string // that it can be read as; empty: there is one and it has no name
	Set    string   // as which it was read
	Parts  []Part
	Points []Point // of all parts, network by network; each once, with all its measures
}

// Part is one of several parts of a SPEC, or all of it.
type Part struct {
	Name   string
	Points []Point // network by network; each once
}

// Files finds out about the fabrics that a SPEC names: where a file is that it names, and
// the digest of what is in it.
type Files func(name string) (path, digest string, err error)

// Read reads a SPEC, as the last of its sets. What it does not know, and what cannot be, is
// an error with file and line: unknown keys, families, engines, measures and settings.
func Read(r io.Reader, file string, files Files) (*Spec, error) {
	return ReadSet(r, file, files, "")
}

// ReadSet reads a SPEC as one of its sets; an empty name is the last.
func ReadSet(r io.Reader, file string, files Files, set string) (*Spec, error) {
	text, err := reading.ReadUTF8(r, file, reading.MaxSettings)
	if err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, format.Errorf(file, 1, "the file is empty; it begins with networks:, a list")
	case err != nil:
		return nil, yamlError(file, err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, format.Errorf(file, document.Line, "a SPEC is one YAML document, and there is more behind it")
	}
	s := &reader{file: file, files: files}
	if n := alias(document.Content[0]); n != nil {
		return nil, s.errorf(n, "*%s: a SPEC has no aliases; write out what it stands for", n.Value)
	}
	return s.spec(document.Content[0], set)
}

// yamlError says where the text is not YAML.
func yamlError(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if n, why, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(n); err == nil {
				return format.Errorf(file, line, "%s", why)
			}
		}
	}
	return format.Errorf(file, 1, "%s", text)
}

// alias is the first alias at or below a node, nil if there is none.
func alias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, part := range n.Content {
		if found := alias(part); found != nil {
			return found
		}
	}
	return nil
}

// reader reads the parts of a SPEC.
type reader struct {
	file  string
	files Files
}

// errorf is an error at a place of the file.
func (r *reader) errorf(at *yaml.Node, text string, args ...any) error {
	return format.Errorf(r.file, at.Line, text, args...)
}

// ofPart is the keys of a part, which a SPEC without parts has itself, and ofPartLists those
// of them that must be there.
var (
	ofPartLists = []string{"networks", "engines", "measures"}
	ofPart      = append([]string{"name", "seeds"}, ofPartLists...)
)

// spec is the SPEC below a root, read as one of its sets.
func (r *reader) spec(root *yaml.Node, set string) (*Spec, error) {
	s := &Spec{File: r.file}
	var err error
	if s.Sets, s.Set, err = r.pick(root, set); err != nil {
		return nil, err
	}
	top, err := r.mapping(root, "a SPEC", append([]string{"sets", "parts"}, ofPart...)...)
	if err != nil {
		return nil, err
	}
	if n := top.get("name"); n != nil {
		if s.Name, err = r.text(n); err != nil {
			return nil, err
		}
	}
	parts := []*yaml.Node{root}
	if list := top.get("parts"); list != nil {
		if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
			return nil, r.errorf(list, "parts: is no list with something in it")
		}
		parts = list.Content
	}
	for _, n := range parts {
		p, err := r.part(n, top)
		if err != nil {
			return nil, err
		}
		s.Parts = append(s.Parts, p)
	}
	s.Points = joined(s.Parts)
	return s, nil
}

// part is a part of a SPEC; what it does not say is as at the top.
func (r *reader) part(n *yaml.Node, top *fields) (p Part, err error) {
	own := top
	if top.get("parts") != nil {
		if own, err = r.mapping(n, "a part", ofPart...); err != nil {
			return p, err
		}
		if name := own.get("name"); name != nil {
			if p.Name, err = r.text(name); err != nil {
				return p, err
			}
		}
	}
	get := func(key string) *yaml.Node { return cmp.Or(own.get(key), top.get(key)) }
	for _, key := range ofPartLists {
		if list := get(key); list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
			return p, r.errorf(cmp.Or(list, n), "%s: is missing, or no list with something in it", key)
		}
	}
	seeds := []uint64{1}
	if n := get("seeds"); n != nil {
		if seeds, err = r.seeds(n); err != nil {
			return p, err
		}
	}
	networks, err := r.networks(get("networks"), seeds)
	if err != nil {
		return p, err
	}
	engines, err := r.engines(get("engines"))
	if err != nil {
		return p, err
	}
	taken, err := r.measures(get("measures"))
	if err != nil {
		return p, err
	}
	if err := r.checkMeasures(get("measures"), engines, taken); err != nil {
		return p, err
	}
	if len(networks)*len(engines) > MostPoints {
		return p, r.errorf(n, "%d networks with %d engines are more than %d points", len(networks), len(engines), MostPoints)
	}
	p.Points = multiplied(networks, engines, taken)
	return p, nil
}

// checkMeasures refuses measures of tables where an engine has none.
func (r *reader) checkMeasures(at *yaml.Node, engines []Engine, taken []measures.Measure) error {
	for i := range taken {
		k, err := measures.Named(taken[i].Name)
		if err != nil {
			return err
		}
		for _, e := range engines {
			switch {
			case e.Name == NoEngine && !k.OfNetwork:
				return r.errorf(at, "%s is a measure of routes, and engine %s makes none", k.Name, NoEngine)
			case IsSimulated(e.Name) && !k.OfNetwork && !k.OfPackets:
				return r.errorf(at, "%s is a measure of tables, and %s has none: switches or sources choose among several ways as packets come", k.Name, e.Name)
			}
		}
	}
	return nil
}

// joined is the points of all parts, each once, with its measures in all of them.
func joined(parts []Part) (all []Point) {
	at := map[string]int{}
	for _, part := range parts {
		for _, p := range part.Points {
			i, again := at[p.ID]
			if !again {
				at[p.ID] = len(all)
				all = append(all, p)
				continue
			}
			all[i].Measures = inOrder(withMeasures(all[i].Measures, p.Measures))
		}
	}
	return all
}

// withMeasures is measures and more of them, each once.
func withMeasures(all, more []measures.Measure) []measures.Measure {
	all = slices.Clone(all)
	for _, m := range more {
		if !slices.ContainsFunc(all, func(o measures.Measure) bool { return o.Key() == m.Key() }) {
			all = append(all, m)
		}
	}
	return all
}

// multiplied is every network with every engine, each once.
func multiplied(networks []drawn, engines []Engine, taken []measures.Measure) []Point {
	points := make([]Point, 0, len(networks)*len(engines))
	seen := make(map[string]bool, len(networks)*len(engines))
	for _, n := range networks {
		for _, e := range engines {
			p := Point{Network: n.Network, Seed: n.seed, Engine: e, Measures: taken}
			p.ID = idOf(&p)
			if !seen[p.ID] {
				seen[p.ID] = true
				points = append(points, p)
			}
		}
	}
	return points
}

// fields is a mapping by its keys, in the order of the file.
type fields struct {
	keys   []*yaml.Node
	values []*yaml.Node
}

// get is the value of a key; nil: there is none.
func (f *fields) get(key string) *yaml.Node {
	for i, k := range f.keys {
		if k.Value == key {
			return f.values[i]
		}
	}
	return nil
}

// mapping reads a mapping whose keys are among some; with none named, all are allowed. what is the
// mapping for people.
func (r *reader) mapping(n *yaml.Node, what string, allowed ...string) (*fields, error) {
	if n.Kind != yaml.MappingNode {
		return nil, r.errorf(n, "%s is lines of the form key: value (keys: %s)", what, strings.Join(allowed, ", "))
	}
	f := &fields{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, r.errorf(key, "a key is one word")
		case f.get(key.Value) != nil:
			return nil, r.errorf(key, "%s is given twice", key.Value)
		case len(allowed) > 0 && !slices.Contains(allowed, key.Value):
			return nil, r.errorf(key, "%s has no key %q%s (keys: %s)", what, key.Value, spell.Hint(key.Value, allowed), strings.Join(allowed, ", "))
		}
		f.keys, f.values = append(f.keys, key), append(f.values, value)
	}
	return f, nil
}

// text is a scalar as it is written.
func (r *reader) text(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", r.errorf(n, "a single value is wanted here")
	}
	return n.Value, nil
}

// scalar is one of the values of a key, and where it stands.
type scalar struct {
	text string
	at   *yaml.Node
}

// values is a value, each of a list, or each of a range of whole numbers such as 1..20.
func (r *reader) values(n *yaml.Node) (all []scalar, err error) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		if items = n.Content; len(items) == 0 {
			return nil, r.errorf(n, "the list is empty")
		}
	}
	for _, item := range items {
		text, err := r.text(item)
		if err != nil {
			return nil, err
		}
		first, last, isRange := strings.Cut(text, "..")
		if !isRange {
			all = append(all, scalar{text, item})
			continue
		}
		from, err1 := strconv.ParseUint(first, 10, 63)
		to, err2 := strconv.ParseUint(last, 10, 63)
		if err1 != nil || err2 != nil || from > to || to-from >= MostPoints {
			return nil, r.errorf(item, "%q is no range; it is FROM..TO, whole numbers, as in 1..20, of at most %d", text, MostPoints)
		}
		for v := from; v <= to; v++ {
			all = append(all, scalar{strconv.FormatUint(v, 10), item})
		}
	}
	return all, nil
}

// seeds reads the seeds of a key seeds:.
func (r *reader) seeds(n *yaml.Node) ([]uint64, error) {
	values, err := r.values(n)
	if err != nil {
		return nil, err
	}
	seeds := make([]uint64, len(values))
	for i, v := range values {
		if seeds[i], err = strconv.ParseUint(v.text, 10, 64); err != nil || seeds[i] == 0 {
			return nil, r.errorf(v.at, "%q is no seed; seeds are whole numbers from 1 to %d", v.text, uint64(math.MaxUint64))
		}
	}
	return seeds, nil
}

// choice is one combination of the values of several keys.
type choice []scalar

// combinations is every combination of values, a list for each key, the last key changing fastest.
// A combination has a value for each key, in their order; at is where too many are told.
func (r *reader) combinations(at *yaml.Node, values [][]scalar) ([]choice, error) {
	n := 1
	for _, v := range values {
		if n *= len(v); n > MostPoints {
			return nil, r.errorf(at, "more than %d combinations", MostPoints)
		}
	}
	all := []choice{nil}
	for _, v := range values {
		longer := make([]choice, 0, len(all)*len(v))
		for _, c := range all {
			for _, s := range v {
				longer = append(longer, append(c[:len(c):len(c)], s))
			}
		}
		all = longer
	}
	return all, nil
}
