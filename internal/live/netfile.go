package live

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// netFile is the numbers that ibsim needs to know of a net file.
type netFile struct {
	path                   string // absolute
	nodes, switches, ports int    // ports with port 0
	host                   string // node id of an adapter with a cable, for the manager to run on
}

var (
	nodeLine  = regexp.MustCompile(`(?m)^(Switch|Ca|Hca|Rt)[ \t]+(\d+)[ \t]+"([^"]+)"`)
	firstHost = regexp.MustCompile(`(?m)^(?:Ca|Hca)[ \t]+\d+[ \t]+"([^"]+)".*\n\[\d+\]`)
)

func readNetFile(path string) (*netFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := &netFile{}
	if n.path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	for _, m := range nodeLine.FindAllSubmatch(text, -1) {
		ports, err := strconv.Atoi(string(m[2]))
		if err != nil {
			return nil, fmt.Errorf("%s: %q has %s ports", path, m[3], m[2])
		}
		n.nodes++
		n.ports += ports + 1
		if string(m[1]) == "Switch" {
			n.switches++
		}
	}
	host := firstHost.FindSubmatch(text)
	if host == nil {
		return nil, fmt.Errorf("%s has no adapter with a cable for OpenSM to run on", path)
	}
	n.host = string(host[1])
	return n, nil
}
