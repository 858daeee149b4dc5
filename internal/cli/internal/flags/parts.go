package flags

import (
	"github.com/spf13/pflag"
)

// Parts names parts of a network.
type Parts struct {
	Switches, Cables, Hosts []string
}

// AddTo declares the flags.
func (o *Parts) AddTo(f *pflag.FlagSet) {
	f.StringArrayVar(&o.Switches, "switch", nil, "take the switch of this name, or all that fit, as in 'spine-*'; may be repeated")
	f.StringArrayVar(&o.Cables, "cable", nil, "take the cable at this port, NAME:PORT, or all that fit, as in 'leaf-7:*'; may be repeated")
	f.StringArrayVar(&o.Hosts, "host", nil, "take the host or adapter of this name, or all that fit; may be repeated")
}

// None reports whether no part is named.
func (o *Parts) None() bool { return len(o.Switches)+len(o.Cables)+len(o.Hosts) == 0 }
