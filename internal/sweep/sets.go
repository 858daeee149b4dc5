package sweep

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/internal/sweep/measures"
)

// A SPEC may be several: sets: [quick, full] says that it can be read as quick or as full, and
// wherever a value stands, a mapping by these names says what it is in each:
//
//	sets: [quick, full]
//	seeds: {quick: 1..4, full: 1..100}
//	networks:
//	  - torus:4x4
//	  - full: torus:16x16       # not there in quick
//
// A list in a list is its items.

// pick reduces a SPEC to one of its sets, the last if none is named: in the tree below root it
// puts in place of every mapping by names of sets what the mapping has for this one. It returns
// the names of all sets and the one picked.
func (r *reader) pick(root *yaml.Node, set string) (sets []string, picked string, err error) {
	if root.Kind == yaml.MappingNode {
		for i := 0; i < len(root.Content); i += 2 {
			if root.Content[i].Value != "sets" {
				continue
			}
			names, err := r.values(root.Content[i+1])
			if err != nil {
				return nil, "", err
			}
			for _, n := range names {
				switch {
				case slices.Contains(sets, n.text):
					return nil, "", r.errorf(n.at, "sets: %s is named twice", n.text)
				case isKey(n.text):
					return nil, "", r.errorf(n.at, "sets: %s is a key of SPECs, so no set can be called that", n.text)
				}
				sets = append(sets, n.text)
			}
		}
	}
	switch {
	case sets == nil && set == "":
		return nil, "", nil
	case sets == nil:
		return nil, "", r.errorf(root, "there is no set %q: this SPEC has no line sets:, so there is one only, which is read without a name", set)
	case set == "":
		set = sets[len(sets)-1]
	case !slices.Contains(sets, set):
		return nil, "", r.errorf(root, "there is no set %q%s (sets: %s)", set, spell.Hint(set, sets), strings.Join(sets, ", "))
	}
	return sets, set, r.pickIn(root, sets, set)
}

// pickIn is pick below a node; items of lists that are nothing in the set are taken out.
func (r *reader) pickIn(n *yaml.Node, sets []string, set string) error {
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	var kept []*yaml.Node
	for i := 0; i+step <= len(n.Content); i += step {
		key, value := n.Content[i:i+step-1], n.Content[i+step-1]
		was := value
		for value != nil {
			named, err := r.bySet(value, sets)
			if err != nil {
				return err
			}
			if !named {
				break
			}
			from := value
			if value = in(from, set); value == nil && n.Kind == yaml.MappingNode {
				return r.errorf(from, "%s: this does not say what it is in the set %s (only items of lists may be left out of a set)", key[0].Value, set)
			}
		}
		if value == nil {
			continue
		}
		if err := r.pickIn(value, sets, set); err != nil {
			return err
		}
		if value != was && n.Kind == yaml.SequenceNode && value.Kind == yaml.SequenceNode {
			kept = append(kept, value.Content...)
			continue
		}
		kept = append(append(kept, key...), value)
	}
	n.Content = kept
	return nil
}

// bySet reports whether a node is a mapping by names of sets. One that has such names, or what
// looks like them, beside others that are no keys either is an error.
func (r *reader) bySet(n *yaml.Node, sets []string) (bool, error) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return false, nil
	}
	var names []string
	var other *yaml.Node // the first that is no set
	near := false
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		isSet := slices.Contains(sets, key.Value)
		switch {
		case isKey(key.Value):
			return false, nil
		case isSet && slices.Contains(names, key.Value):
			return false, r.errorf(key, "%s is given twice", key.Value)
		case !isSet && other == nil:
			other = key
		}
		near = near || isSet || spell.Hint(key.Value, sets) != ""
		names = append(names, key.Value)
	}
	if other != nil && near {
		return false, r.errorf(other, "there is no set %q%s (sets: %s)", other.Value, spell.Hint(other.Value, sets), strings.Join(sets, ", "))
	}
	return other == nil, nil
}

// isKey reports whether a word is a key of SPECs, somewhere.
func isKey(word string) bool {
	for _, keys := range [][]string{{"sets", "parts", "measure"}, ofPart, ofNetworks, ofDamage, ofEngines} {
		if slices.Contains(keys, word) {
			return true
		}
	}
	return slices.ContainsFunc(measures.Kinds(), func(k measures.Kind) bool {
		return slices.ContainsFunc(k.Keys, func(key measures.Key) bool { return key.Name == word })
	})
}

// in is the value that a mapping has for a name; nil if it has none.
func in(n *yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}
