package sweep

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/engine/setting"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// This file reads the entries of a SPEC: networks, engines and measures, each multiplied out to
// the list of what it stands for; the part of a SPEC (reader.part) makes points of these lists.

// drawn is a network with a seed.
type drawn struct {
	Network
	seed uint64
}

// networks is all entries of a list of networks; seeds is for those without seeds of their own.
func (r *reader) networks(list *yaml.Node, seeds []uint64) (all []drawn, err error) {
	for _, n := range list.Content {
		if n.Kind == yaml.ScalarNode { // the spec alone
			n = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "spec", Line: n.Line}, n}}
		}
		some, err := r.network(n, seeds)
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); len(all) > MostPoints {
			return nil, r.errorf(n, "these are more than %d networks", MostPoints)
		}
	}
	return all, nil
}

// network is one entry of the networks: a spec with its parameters, or a file, with
// damage and seeds.
func (r *reader) network(n *yaml.Node, seeds []uint64) (all []drawn, err error) {
	f, err := r.mapping(n, "a network")
	if err != nil {
		return nil, r.errorf(n, "a network is the spec of a computed one, or lines such as spec: torus:4x4 or file: NAME")
	}
	if own := f.get("seeds"); own != nil {
		if seeds, err = r.seeds(own); err != nil {
			return nil, err
		}
	}
	damages := []Damage{{}}
	if d := f.get("damage"); d != nil {
		if damages, err = r.damages(d); err != nil {
			return nil, err
		}
	}
	var kinds []Network
	switch spec, file := f.get("spec"), f.get("file"); {
	case (spec == nil) == (file == nil):
		return nil, r.errorf(n, "a network has either spec: or file:")
	case spec != nil:
		kinds, err = r.computed(spec, f)
	default:
		kinds, err = r.dumps(file, f)
	}
	if err != nil {
		return nil, err
	}
	if len(kinds)*len(damages)*len(seeds) > MostPoints {
		return nil, r.errorf(n, "these are more than %d networks", MostPoints)
	}
	ports := ""
	if n := f.get("ports"); n != nil {
		if ports, err = r.text(n); err != nil {
			return nil, err
		}
		if ports != Shuffled {
			return nil, r.errorf(n, "ports: %q; it is %s, or left out", ports, Shuffled)
		}
	}
	for _, k := range kinds {
		for _, d := range damages {
			for _, seed := range seeds {
				k.Damage, k.Ports = d, ports
				all = append(all, drawn{k.with(seed), seed})
			}
		}
	}
	return all, nil
}

// ofNetworks is the keys of a network that are no parameters of its spec.
var ofNetworks = []string{"spec", "file", "seeds", "damage", "ports"}

// parameter is a word in braces.
var parameter = regexp.MustCompile(`\{([^{}]*)\}`)

const seedWord = "seed"

// computed is the networks of a spec, one for each combination of its parameters.
func (r *reader) computed(spec *yaml.Node, f *fields) (all []Network, err error) {
	template, err := r.text(spec)
	if err != nil {
		return nil, err
	}
	var names []string
	var values [][]scalar
	for i, key := range f.keys {
		if slices.Contains(ofNetworks, key.Value) {
			continue
		}
		if !strings.Contains(template, "{"+key.Value+"}") {
			return nil, r.errorf(key, "a network has no key %q, and its spec no {%s} (keys: %s, and the words in braces of the spec)", key.Value, key.Value, strings.Join(ofNetworks, ", "))
		}
		v, err := r.values(f.values[i])
		if err != nil {
			return nil, err
		}
		for _, one := range v {
			if strings.ContainsAny(one.text, ",=") {
				return nil, r.errorf(one.at, "%q: a parameter is one value; commas and equals signs stand in the spec", one.text)
			}
		}
		names, values = append(names, key.Value), append(values, v)
	}
	for _, word := range parameter.FindAllStringSubmatch(template, -1) {
		if word[1] != seedWord && !slices.Contains(names, word[1]) {
			return nil, r.errorf(spec, "the spec has {%s}, and there is no line %s: with its values", word[1], word[1])
		}
	}
	choices, err := r.combinations(spec, values)
	if err != nil {
		return nil, err
	}
	for _, c := range choices {
		n := Network{Kind: template}
		for i, name := range names {
			n.Given = append(n.Given, measures.Setting{Name: name, Value: c[i].text})
			n.Kind = strings.ReplaceAll(n.Kind, "{"+name+"}", c[i].text)
		}
		one := n.with(1)
		if _, err := topology.Parse(one.Spec); err != nil {
			return nil, r.errorf(spec, "%s", err.Error())
		}
		all = append(all, n)
	}
	return all, nil
}

// with is the network with a seed filled in.
func (n Network) with(seed uint64) Network {
	if n.File == "" {
		n.Spec = strings.ReplaceAll(n.Kind, "{"+seedWord+"}", formatSeed(seed))
	}
	return n
}

// dumps is the networks in files.
func (r *reader) dumps(file *yaml.Node, f *fields) (all []Network, err error) {
	for _, key := range f.keys {
		if !slices.Contains(ofNetworks, key.Value) {
			return nil, r.errorf(key, "a network in a file has no key %q (keys: file, seeds, damage, ports)", key.Value)
		}
	}
	names, err := r.values(file)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path, digest, err := r.files(name.text)
		if err != nil {
			return nil, r.errorf(name.at, "%s", err.Error())
		}
		all = append(all, Network{File: path, Digest: digest, Kind: digest})
	}
	return all, nil
}

// ofDamage is the keys of damage.
var ofDamage = []string{"cables", "switches"}

// damages is what damage: says, one mapping or a list of them.
func (r *reader) damages(n *yaml.Node) (all []Damage, err error) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		f, err := r.mapping(item, "damage", ofDamage...)
		if err != nil {
			return nil, err
		}
		amounts := [2][]scalar{{{"0", item}}, {{"0", item}}}
		for i, key := range ofDamage {
			if v := f.get(key); v != nil {
				if amounts[i], err = r.values(v); err != nil {
					return nil, err
				}
			}
		}
		choices, err := r.combinations(item, amounts[:])
		if err != nil {
			return nil, err
		}
		for _, c := range choices {
			var of [2]Amount
			for i := range of {
				if of[i], err = parseAmount(c[i].text); err != nil {
					return nil, r.errorf(c[i].at, "%v", err)
				}
			}
			all = append(all, Damage{Cables: of[0], Switches: of[1]})
		}
	}
	return all, nil
}

// ofEngines is the keys of an engine. A choice of their values is indexed as this list is, so that
// choice[3] is a contract.
var ofEngines = []string{"engine", "vls", "sls", "contract", "endpoints", "aim", "order", "prefer", "lmc", "lanes-of", "exact"}

// engines is all engines of a list, one for each combination of the values of an entry's keys.
func (r *reader) engines(list *yaml.Node) (all []Engine, err error) {
	for _, n := range list.Content {
		if n.Kind == yaml.ScalarNode { // the name alone
			n = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "engine", Line: n.Line}, n}}
		}
		f, err := r.mapping(n, "an engine", ofEngines...)
		if err != nil {
			return nil, err
		}
		if f.get("engine") == nil {
			return nil, r.errorf(n, "an engine has a line engine: NAME")
		}
		values := make([][]scalar, len(ofEngines))
		for i, key := range ofEngines {
			values[i] = []scalar{{"", n}}
			if v := f.get(key); v != nil {
				if values[i], err = r.values(v); err != nil {
					return nil, err
				}
			}
		}
		choices, err := r.combinations(n, values)
		if err != nil {
			return nil, err
		}
		for _, c := range choices {
			e, err := r.engine(c)
			if err != nil {
				return nil, err
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// engine is the engine of one combination of the values of ofEngines.
func (r *reader) engine(c choice) (e Engine, err error) {
	e = Engine{Name: c[0].text, Contract: c[3].text, Scope: c[4].text, Aim: c[5].text, Order: c[6].text, Prefer: c[7].text, LanesOf: c[9].text, Exact: c[10].text == Yes}
	if e.VLs, err = within(c[1].text, routing.MaxDataVLs); err != nil {
		return e, r.errorf(c[1].at, "vls: %v", err)
	}
	if e.SLs, err = within(c[2].text, routing.SLs); err != nil {
		return e, r.errorf(c[2].at, "sls: %v", err)
	}
	if e.LMC, err = within(c[8].text, 7); err != nil {
		return e, r.errorf(c[8].at, "lmc: %v", err)
	}
	switch {
	case c[10].text != "" && !e.Exact:
		return e, r.errorf(c[10].at, "exact: %q; it is %s, or left out", c[10].text, Yes)
	case e.LanesOf != "" && !slices.Contains(LanesOf, e.LanesOf):
		return e, r.errorf(c[9].at, "lanes-of: %q%s (there are %s)", e.LanesOf, spell.Hint(e.LanesOf, LanesOf), strings.Join(LanesOf, ", "))
	case e.LanesOf != "" && e.VLs > 0:
		return e, r.errorf(c[9].at, "an engine has either vls: or lanes-of:")
	case e.Name == NoEngine:
		return e, r.checkTold(c, NoEngine+" routes nothing")
	case IsSimulated(e.Name):
		return e, r.checkTold(c, e.Name+" has no tables", "vls", "lanes-of")
	}
	return e, r.checkOptions(c, &e)
}

// checkTold refuses to tell an engine anything except the keys that it takes; why is the engine and
// the reason.
func (r *reader) checkTold(c choice, why string, takes ...string) error {
	for i, v := range c[1:] {
		if key := ofEngines[1+i]; v.text != "" && !slices.Contains(takes, key) {
			return r.errorf(v.at, "%s: engine %s, so that says nothing to it", key, why)
		}
	}
	return nil
}

// checkOptions refuses what an engine with tables cannot be told.
func (r *reader) checkOptions(c choice, e *Engine) error {
	uses := setting.OfAuto()
	if e.Name != auto.Name {
		found, err := engines.Named(e.Name)
		if err != nil {
			return r.errorf(c[0].at, "%s", err.Error())
		}
		uses = found.Uses
	}
	if _, _, err := e.Promises(); err != nil {
		return r.errorf(c[3].at, "%s", err.Error())
	}
	o, err := e.Told()
	if err != nil {
		return r.errorf(c[0].at, "%s", err.Error())
	}
	if err := setting.FirstUnused(e.Name, uses, o.Given()); err != nil {
		return r.errorf(c[0].at, "%s", err.Error())
	}
	return nil
}

// measures is all measures of a list, each once, in the order of the table of measures.
func (r *reader) measures(list *yaml.Node) (all []measures.Measure, err error) {
	seen := map[string]bool{}
	for _, n := range list.Content {
		some, err := r.measure(n)
		if err != nil {
			return nil, err
		}
		for _, m := range some {
			if key := m.Key(); !seen[key] {
				seen[key] = true
				all = append(all, m)
			}
		}
	}
	return inOrder(all), nil
}

// measure is an entry of the measures: a name, or measure: NAME with settings.
func (r *reader) measure(n *yaml.Node) (all []measures.Measure, err error) {
	if n.Kind == yaml.ScalarNode {
		k, err := measures.Named(n.Value)
		if err != nil {
			return nil, r.errorf(n, "%v", err)
		}
		return []measures.Measure{k.With(nil)}, nil
	}
	f, err := r.mapping(n, "a measure")
	if err != nil {
		return nil, r.errorf(n, "a measure is its name, or lines such as measure: bandwidth and patterns: 1000")
	}
	of := f.get("measure")
	if of == nil {
		return nil, r.errorf(n, "a measure has a line measure: NAME")
	}
	names, err := r.values(of)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		k, err := measures.Named(name.text)
		if err != nil {
			return nil, r.errorf(name.at, "%v", err)
		}
		some, err := r.settings(n, f, &k)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// settings is a kind of measure with every combination of the settings that an entry n gives; f is
// the entry's keys.
func (r *reader) settings(n *yaml.Node, f *fields, k *measures.Kind) (all []measures.Measure, err error) {
	var keys []*measures.Key
	var values [][]scalar
	for i, word := range f.keys {
		if word.Value == "measure" {
			continue
		}
		key, err := k.Key(word.Value)
		if err != nil {
			return nil, r.errorf(word, "%v", err)
		}
		v, err := r.values(f.values[i])
		if err != nil {
			return nil, err
		}
		keys, values = append(keys, key), append(values, v)
	}
	choices, err := r.combinations(n, values)
	if err != nil {
		return nil, err
	}
	for _, c := range choices {
		given := map[string]string{}
		for i, key := range keys {
			if given[key.Name], err = key.Check(c[i].text); err != nil {
				return nil, r.errorf(c[i].at, "%s: %s", key.Name, err.Error())
			}
		}
		all = append(all, k.With(given))
	}
	return all, nil
}
