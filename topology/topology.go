// Package topology computes networks: one file a family, with the literature's
// letters, and Build to make the fabric of a spec.
//
// A spec names a family and its parameters, in characters that no shell interprets:
//
//	torus:8x8x8,hosts=2        dragonfly:p=4        deimos
//
// The word before the colon is the family; then key=value, with a comma between
// parameters and an x between the numbers of a list. Where a family says so, its
// first parameter goes without the key. Parse reads a spec, String writes one
// with every parameter spelled out, and the two agree.
//
// What all families share:
//
//   - every link is 4xHDR, and every host is an adapter with one port; but in a patchwork
//     some links are slower, and hosts may have several adapters;
//   - switches and hosts are numbered from 0 in the order that the family's
//     comment gives, their GUIDs increase in that order, and so do the NodeIDs;
//   - names carry coordinates or levels: sw-3-0-1, sw-l2-0-17, host-12;
//   - the hosts of a switch sit on its lowest ports, host ports first;
//   - a switch has the ports that its position in the family needs. Some may stay
//     unused (at the edge of a mesh, in a dragonfly that is not full), so that a port
//     number means the same direction throughout the network;
//   - LIDs are left to fabric.Builder.
//
// Limits. A network has at most fabric.MaxLID switches and hosts together, and a switch
// at most fabric.MaxPorts ports. Both are checked, without overflow, before anything is
// built; a refusal names the parameter, the allowed values, and the nearest values that
// work. Ethernet has no LIDs: an error of Parse or Build for want of them alone has a method
// WithoutLIDs() (*fabric.Fabric, error), which makes the network; see fabric.Builder.WithoutLIDs.
package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/spell"
)

// Family is a network with its parameters.
type Family interface {
	// Build makes the fabric: equal parameters make equal fabrics. It refuses parameters
	// out of range and networks beyond the limits of InfiniBand.
	Build() (*fabric.Fabric, error)
	// String is the spec with every parameter.
	String() string
}

// Info describes a family for help texts.
type Info struct {
	Name    string
	Summary string // one line
	Example string // a spec that builds
	Keys    []Key  // in the order of the spec
}

// Key describes a parameter.
type Key struct {
	Name    string
	Meaning string // with the default, if there is one
	Bare    bool   // may be given first and without its key
}

// Families lists the families in the order of the table.
func Families() []Info {
	list := make([]Info, len(table))
	for i := range table {
		r := &table[i]
		var p params
		r.new().declare(&p)
		keys := make([]Key, len(p.seen))
		for k, s := range p.seen {
			keys[k] = Key{Name: s.key, Meaning: s.meaning, Bare: s.key == r.bare}
		}
		list[i] = Info{Name: r.name, Summary: r.summary, Example: r.example, Keys: keys}
	}
	return list
}

// IsSpec reports whether s looks like a spec: whether the word before the colon,
// or all of s where there is none, is the name of a family.
func IsSpec(s string) bool {
	name, _, _ := strings.Cut(s, ":")
	return rowNamed(name) != nil
}

// Build makes the fabric of a spec.
func Build(spec string) (*fabric.Fabric, error) {
	family, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	return family.Build()
}

// Parse reads a spec. The Family it returns has defaults filled in, and is known to be within
// the limits. Errors name the family, the key and the nearest thing that works.
func Parse(spec string) (Family, error) {
	name, rest, _ := strings.Cut(spec, ":")
	r := rowNamed(name)
	if r == nil {
		names := make([]string, len(table))
		for i := range table {
			names[i] = table[i].name
		}
		return nil, fmt.Errorf("no family %q%s (families: %s)", name, spell.Hint(name, names), strings.Join(names, ", "))
	}
	given, err := r.split(rest)
	if err != nil {
		return nil, err
	}
	f := r.new()
	if err := r.complete(f, given); err != nil {
		return nil, err
	}
	return f, nil
}

// split splits the text after the colon into values by key.
func (r *row) split(rest string) (map[string]string, error) {
	given := map[string]string{}
	if rest == "" {
		return given, nil
	}
	var known params
	r.new().declare(&known)
	keys := known.keys()
	for i, part := range strings.Split(rest, ",") {
		key, value, keyed := strings.Cut(part, "=")
		if !keyed {
			if i > 0 || r.bare == "" {
				return nil, fmt.Errorf("%s: %q is not key=value (keys: %s; example: %s)", r.name, part, listed(keys), r.example)
			}
			key, value = r.bare, part
		}
		if !slices.Contains(keys, key) {
			return nil, fmt.Errorf("%s: no key %q%s (keys: %s)", r.name, key, spell.Hint(key, keys), listed(keys))
		}
		if _, twice := given[key]; twice {
			return nil, fmt.Errorf("%s: %s is given twice", r.name, key)
		}
		given[key] = value
	}
	return given, nil
}

func listed(keys []string) string { return strings.Join(keys, ", ") }
