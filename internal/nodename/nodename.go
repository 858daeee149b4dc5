// Package nodename reads the descriptions that firmware and drivers give nodes: what people call
// the node stands in the middle of them.
package nodename

import (
	"regexp"
	"strings"
)

var (
	// managed is how the firmware of managed switches writes descriptions:
	// MF0;name:MODEL/U1, in a director MF0;name:MODEL/L02/U1.
	managed = regexp.MustCompile(`^MF\d+;(.+):[^:/]*((?:/\w+)*)/U\d+$`)
	// voltaire is how Voltaire's firmware does: model, a mark, name.
	voltaire = regexp.MustCompile(`^Voltaire .*# (\S+)$`)
	// device is the name of an adapter after that of its host, as drivers write it.
	device = regexp.MustCompile(`^(HCA-\d+|[a-z]+\d*_\d+)$`)
)

// OfSwitch is the names of a switch without what its firmware adds, the most exact first; none if
// it adds nothing.
func OfSwitch(description string) []string {
	if !strings.HasPrefix(description, "MF") && !strings.HasPrefix(description, "Voltaire ") {
		return nil // neither, and told so quickly
	}
	if m := managed.FindStringSubmatch(description); m != nil {
		if m[2] == "" {
			return []string{m[1]}
		}
		unit := description[strings.LastIndexByte(description, '/'):]
		return []string{m[1] + m[2] + unit, m[1]}
	}
	if m := voltaire.FindStringSubmatch(description); m != nil {
		return []string{m[1]}
	}
	return nil
}

// OfAdapter splits the description of an adapter: "luna-0001 mlx5_0" into the host and its
// adapter, "luna-0001" into the host and nothing. A manufacturer's description such as
// "MT4129 ConnectX7   Mellanox Technologies", which an adapter has until its host sets
// one, names no host.
func OfAdapter(description string) (host, adapter string) {
	words := strings.Fields(description)
	switch {
	case len(words) == 1:
		return words[0], ""
	case len(words) == 2, len(words) > 2 && device.MatchString(words[1]):
		return words[0], words[1]
	}
	return "", ""
}
