package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/spell"
)

// MostPoints is how many points a SPEC may have.
const MostPoints = 5_000_000

// Spec is a SPEC file, read and multiplied out.
type Spec struct {
	File   string
	Name   string
	Points []Point // network by network; each once
}

// Files finds out about the fabrics that a SPEC names: where a file is that it names, and
// the digest of what is in it.
type Files func(name string) (path, digest string, err error)

// Read reads a SPEC. What it does not know, and what cannot be, is an error with file and
// line: unknown keys, families, engines, measures and settings.
func Read(r io.Reader, file string, files Files) (*Spec, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
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
	return s.spec(document.Content[0])
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

// reader reads the parts of a SPEC.
type reader struct {
	file  string
	files Files
}

// errorf is an error at a place of the file.
func (r *reader) errorf(at *yaml.Node, text string, args ...any) error {
	return format.Errorf(r.file, at.Line, text, args...)
}

func (r *reader) spec(root *yaml.Node) (*Spec, error) {
	top, err := r.mapping(root, "a SPEC", "name", "seeds", "networks", "engines", "measures")
	if err != nil {
		return nil, err
	}
	s := &Spec{File: r.file}
	if n := top.get("name"); n != nil {
		if s.Name, err = r.text(n); err != nil {
			return nil, err
		}
	}
	for _, key := range []string{"networks", "engines", "measures"} {
		if n := top.get(key); n == nil || n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
			if n == nil {
				n = root
			}
			return nil, r.errorf(n, "%s: is missing, or no list with something in it", key)
		}
	}
	seeds := []uint64{1}
	if n := top.get("seeds"); n != nil {
		if seeds, err = r.seeds(n); err != nil {
			return nil, err
		}
	}
	networks, err := r.networks(top.get("networks"), seeds)
	if err != nil {
		return nil, err
	}
	engines, err := r.engines(top.get("engines"))
	if err != nil {
		return nil, err
	}
	measures, err := r.measures(top.get("measures"))
	if err != nil {
		return nil, err
	}
	if len(networks)*len(engines) > MostPoints {
		return nil, r.errorf(root, "%d networks with %d engines are more than %d points", len(networks), len(engines), MostPoints)
	}
	s.Points = multiplied(networks, engines, measures)
	return s, nil
}

// multiplied is every network with every engine, each once.
func multiplied(networks []drawn, engines []Engine, measures []Measure) []Point {
	points := make([]Point, 0, len(networks)*len(engines))
	seen := make(map[string]bool, len(networks)*len(engines))
	for _, n := range networks {
		for _, e := range engines {
			p := Point{Network: n.Network, Seed: n.seed, Engine: e, Measures: measures}
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

func (f *fields) get(key string) *yaml.Node {
	for i, k := range f.keys {
		if k.Value == key {
			return f.values[i]
		}
	}
	return nil
}

// mapping is a mapping whose keys are among some; without any, all are allowed.
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
		case len(allowed) > 0 && !has(allowed, key.Value):
			return nil, r.errorf(key, "%s has no key %q%s (keys: %s)", what, key.Value, spell.Hint(key.Value, allowed), strings.Join(allowed, ", "))
		}
		f.keys, f.values = append(f.keys, key), append(f.values, value)
	}
	return f, nil
}

func has(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
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

// combinations is every combination of the values of some keys, the last key changing
// fastest.
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
