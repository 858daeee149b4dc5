// Package clab reads the cabling of a Containerlab topology file (*.clab.yml).
package clab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/ethernet/lined"
	"github.com/weft-fabric/weft/internal/reading"
)

// Topology is the devices of a file, and the cables between them.
type Topology struct {
	Name    string
	Devices []string // those that forward
	Hosts   []string // devices with a host or more behind them, one entry for each host
	Cables  []ethernet.Cable
}

// file has the two parts of a topology that say how devices are cabled; all else is skipped.
type file struct {
	Name     string `yaml:"name"`
	Topology struct {
		Nodes map[string]yaml.Node `yaml:"nodes"`
		Links []yaml.Node          `yaml:"links"`
	} `yaml:"topology"`
}

type node struct {
	Kind string `yaml:"kind"`
}

type link struct {
	Endpoints []yaml.Node `yaml:"endpoints"`
	Type      string      `yaml:"type"`
}

// Read reads a topology. Nodes with a single cable are taken for hosts where they are of
// kind linux or of none; bridges and links out of the laboratory are left out.
func Read(r io.Reader, name string) (*Topology, error) {
	text, err := reading.ReadUTF8(r, name, reading.MaxSettings)
	if err != nil {
		return nil, err
	}
	var f file
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, lined.YAML(name, err, "")
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, format.Errorf(name, 1, "more than one YAML document")
	}
	if len(f.Topology.Nodes) == 0 {
		return nil, format.Errorf(name, 1, "no topology: nodes: this is not a Containerlab file")
	}
	kinds := map[string]string{}
	for label, y := range f.Topology.Nodes {
		var n node
		if err := y.Decode(&n); err != nil {
			return nil, format.Errorf(name, y.Line, "node %s is not a mapping", label)
		}
		if err := ethernet.Printable(label, label); err != nil {
			return nil, format.Errorf(name, y.Line, "%v", err)
		}
		kinds[label] = n.Kind
	}
	t := &Topology{Name: f.Name}
	used := map[ethernet.End]int{}
	degree := map[string]int{}
	for i := range f.Topology.Links {
		c, err := cable(name, &f.Topology.Links[i], kinds, used)
		if err != nil {
			return nil, err
		}
		if c != nil {
			t.Cables = append(t.Cables, *c)
			degree[c.A.Device]++
			degree[c.B.Device]++
		}
	}
	isHost := func(device string) bool {
		return degree[device] == 1 && (kinds[device] == "linux" || kinds[device] == "")
	}
	for label := range kinds {
		if !isHost(label) && kinds[label] != "bridge" {
			t.Devices = append(t.Devices, label)
		}
	}
	slices.SortFunc(t.Devices, ethernet.Natural)
	t.Cables = slices.DeleteFunc(t.Cables, func(c ethernet.Cable) bool {
		switch a, b := isHost(c.A.Device), isHost(c.B.Device); {
		case a && !b:
			t.Hosts = append(t.Hosts, c.B.Device)
		case b && !a:
			t.Hosts = append(t.Hosts, c.A.Device)
		case !a:
			return false
		}
		return true
	})
	return t, nil
}

// cable reads a link; nil for one out of the laboratory.
func cable(name string, y *yaml.Node, kinds map[string]string, used map[ethernet.End]int) (*ethernet.Cable, error) {
	var l link
	if err := y.Decode(&l); err != nil {
		return nil, format.Errorf(name, y.Line, "a link has endpoints: [\"a:eth1\", \"b:eth1\"]")
	}
	if len(l.Endpoints) != 2 {
		return nil, format.Errorf(name, y.Line, "a link has %d endpoints, not 2", len(l.Endpoints))
	}
	var ends [2]ethernet.End
	for i := range l.Endpoints {
		e, err := end(&l.Endpoints[i])
		if err == nil {
			err = ethernet.Printable(e.Device, e.Interface)
		}
		if err != nil {
			return nil, format.Errorf(name, y.Line, "%v", err)
		}
		if e.Device == "host" || e.Device == "mgmt-net" || e.Device == "macvlan" || kinds[e.Device] == "bridge" {
			return nil, nil
		}
		if _, ok := kinds[e.Device]; !ok {
			return nil, format.Errorf(name, y.Line, "a link to %s, and there is no node %s", e, e.Device)
		}
		if before := used[e]; before > 0 {
			return nil, format.Errorf(name, y.Line, "two cables at %s: line %d too", e, before)
		}
		used[e] = y.Line
		ends[i] = e
	}
	if ends[0].Device == ends[1].Device {
		return nil, format.Errorf(name, y.Line, "a cable from %s to itself", ends[0].Device)
	}
	return &ethernet.Cable{A: ends[0], B: ends[1]}, nil
}

// end reads "node:interface", or the mapping that newer files have.
func end(y *yaml.Node) (ethernet.End, error) {
	if y.Kind == yaml.ScalarNode {
		device, port, ok := strings.Cut(y.Value, ":")
		if !ok || device == "" || port == "" {
			return ethernet.End{}, fmt.Errorf("the endpoint %q is not NODE:INTERFACE", y.Value)
		}
		return ethernet.End{Device: device, Interface: port}, nil
	}
	var e struct {
		Node      string `yaml:"node"`
		Interface string `yaml:"interface"`
	}
	if err := y.Decode(&e); err != nil || e.Node == "" || e.Interface == "" {
		return ethernet.End{}, errors.New("an endpoint lacks node or interface")
	}
	return ethernet.End{Device: e.Node, Interface: e.Interface}, nil
}
