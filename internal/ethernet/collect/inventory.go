package collect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/ethernet/lined"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
)

// Device is a device of an inventory, and how ssh finds it.
type Device struct {
	Name    string
	Address string // host name or address; empty: the name
	Port    uint16 // 0: as ssh is configured
	User    string // empty: likewise
	Key     string // file of a private key; empty: likewise
	Line    int
}

// variables is what the variables of a host set, by name: ours, and those of Ansible, which may have any others beside them.
var variables = map[string]string{
	"address": "address", "port": "port", "user": "user", "key": "key",
	"ansible_host": "address", "ansible_port": "port", "ansible_ssh_port": "port", "ansible_ssh_host": "address",
	"ansible_user": "user", "ansible_ssh_user": "user", "ansible_ssh_private_key_file": "key", "ansible_private_key_file": "key",
}

// ReadInventory reads an inventory of devices: hosts, each with an address or with variables, below user, port and
// key for all; or one of Ansible in YAML, groups of hosts, children and vars.
func ReadInventory(r io.Reader, file string) ([]Device, error) {
	text, err := reading.ReadUTF8(r, file, reading.MaxSettings)
	if err != nil {
		return nil, err
	}
	const hint = "it says for example hosts: {leaf1: 10.0.0.1}"
	var document yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, lined.YAML(file, err, hint)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, format.Errorf(file, 1, "more than one YAML document")
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, format.Errorf(file, 1, "no inventory; %s", hint)
	}
	top := document.Content[0]
	i := inventory{file: file, known: map[string]*entry{}}
	if member(top, "hosts") != nil {
		err = i.group(top, nil, "the inventory", 0, true)
	} else {
		for k := 0; k < len(top.Content) && err == nil; k += 2 {
			err = i.group(top.Content[k+1], nil, "group "+top.Content[k].Value, 0, false)
		}
	}
	if err != nil {
		return nil, err
	}
	var list []Device
	for _, name := range slices.SortedFunc(maps.Keys(i.known), words.Natural) {
		device, err := i.device(name, i.known[name])
		if err != nil {
			return nil, err
		}
		list = append(list, device)
	}
	if len(list) == 0 {
		return nil, format.Errorf(file, 1, "no host; %s", hint)
	}
	return list, nil
}

// entry is what an inventory says of a host, in several places maybe.
type entry struct {
	line int
	own  map[string]string // its own variables
	from map[string]string // those of its groups
}

// inventory is a file that is being read.
type inventory struct {
	file  string
	known map[string]*entry // by host
}

// maxGroups is how deep groups may be inside each other: aliases of YAML can close a circle.
const maxGroups = 32

// member is the value of a key of a mapping; nil if it is not there.
func member(n *yaml.Node, key string) *yaml.Node {
	for k := 0; k < len(n.Content)-1 && n.Kind == yaml.MappingNode; k += 2 {
		if n.Content[k].Value == key {
			return n.Content[k+1]
		}
	}
	return nil
}

// set puts a variable into to, if it is one that counts. strict, in an inventory of ours, refuses others except Ansible's.
func (i *inventory) set(to map[string]string, key, value *yaml.Node, strict bool) error {
	name := variables[key.Value]
	switch {
	case name == "" && strict && !strings.HasPrefix(key.Value, "ansible_"):
		return format.Errorf(i.file, key.Line, "what is %q? There are hosts, address, port, user and key, and those of Ansible", key.Value)
	case name == "":
		return nil
	case value.Kind != yaml.ScalarNode:
		return format.Errorf(i.file, value.Line, "%s is a text", key.Value)
	case strings.Contains(value.Value, "{{"):
		return format.Errorf(i.file, value.Line, "%s is a template of Ansible's; give what it stands for: ansible-inventory --list --yaml writes it", key.Value)
	}
	to[name] = value.Value
	return nil
}

// group reads a group of hosts, called what in errors. from is the variables of the groups around it, which its own go before. strict says
// that it is an inventory of ours, not Ansible's.
func (i *inventory) group(g *yaml.Node, from map[string]string, what string, depth int, strict bool) error {
	if g.Kind == yaml.AliasNode {
		g = g.Alias
	}
	if depth > maxGroups {
		return format.Errorf(i.file, g.Line, "groups inside each other, %d deep", depth)
	}
	if g.Tag == "!!null" {
		return nil
	}
	if g.Kind != yaml.MappingNode {
		return format.Errorf(i.file, g.Line, "%s has hosts, children or vars", what)
	}
	vars := maps.Clone(from)
	if vars == nil {
		vars = map[string]string{}
	}
	read := func(n *yaml.Node, each func(key, value *yaml.Node) error) error {
		if n == nil || n.Tag == "!!null" {
			return nil
		}
		if n.Kind != yaml.MappingNode {
			return format.Errorf(i.file, n.Line, "%s: a name is followed by a colon, and what belongs to it", what)
		}
		for k := 0; k < len(n.Content); k += 2 {
			if err := each(n.Content[k], n.Content[k+1]); err != nil {
				return err
			}
		}
		return nil
	}
	for k := 0; k < len(g.Content); k += 2 {
		switch key := g.Content[k]; key.Value {
		case "hosts", "children", "vars":
		default:
			if err := i.set(vars, key, g.Content[k+1], strict); err != nil {
				return err
			}
		}
	}
	if err := read(member(g, "vars"), func(key, value *yaml.Node) error { return i.set(vars, key, value, false) }); err != nil {
		return err
	}
	if err := read(member(g, "hosts"), func(key, value *yaml.Node) error { return i.host(key, value, vars, strict) }); err != nil {
		return err
	}
	return read(member(g, "children"), func(key, value *yaml.Node) error {
		return i.group(value, vars, "group "+key.Value, depth+1, false)
	})
}

// host notes a host, or a range of them, with the variables of its group and its own.
func (i *inventory) host(key, value *yaml.Node, vars map[string]string, strict bool) error {
	own := map[string]string{}
	switch {
	case value.Tag == "!!null":
	case value.Kind == yaml.ScalarNode && strict:
		own["address"] = value.Value
	case value.Kind == yaml.MappingNode:
		for k := 0; k < len(value.Content); k += 2 {
			if err := i.set(own, value.Content[k], value.Content[k+1], strict); err != nil {
				return err
			}
		}
	default:
		return format.Errorf(i.file, value.Line, "%s is followed by its variables", reading.Printable(key.Value))
	}
	names, err := expand(key.Value)
	if err != nil {
		return format.Errorf(i.file, key.Line, "%s", err.Error())
	}
	for _, name := range names {
		e := i.known[name]
		if e == nil {
			e = &entry{line: key.Line, own: map[string]string{}, from: map[string]string{}}
			i.known[name] = e
		} else if strict {
			return format.Errorf(i.file, key.Line, "%s a second time, first in line %d", reading.Printable(name), e.line)
		}
		maps.Copy(e.own, own)
		maps.Copy(e.from, vars)
	}
	return nil
}

// ranged is the first range of a name, as Ansible writes them: leaf[01:32].
var ranged = regexp.MustCompile(`^(.*?)\[(\d+):(\d+)\](.*)$`)

// maxRange is how many hosts a name may stand for.
const maxRange = 1 << 16

// expand is the hosts that a name stands for.
func expand(name string) ([]string, error) {
	m := ranged.FindStringSubmatch(name)
	if m == nil {
		return []string{name}, nil
	}
	first, err1 := strconv.Atoi(m[2])
	last, err2 := strconv.Atoi(m[3])
	if err1 != nil || err2 != nil || last < first || last-first >= maxRange {
		return nil, fmt.Errorf("%q is no range of up to %d hosts", reading.Printable(name), maxRange)
	}
	rest, err := expand(m[4])
	if err != nil {
		return nil, err
	}
	if (last-first+1)*len(rest) > maxRange {
		return nil, fmt.Errorf("%q is more than %d hosts", reading.Printable(name), maxRange)
	}
	var list []string
	for n := first; n <= last; n++ {
		for _, after := range rest {
			list = append(list, fmt.Sprintf("%s%0*d%s", m[1], len(m[2]), n, after))
		}
	}
	return list, nil
}

// Names that are allowed: of devices, which are folders too; of hosts and users, which ssh must not take for options.
var (
	deviceName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:+-]*$`)
	hostName   = regexp.MustCompile(`^[A-Za-z0-9_:][A-Za-z0-9_.:%-]*$`)
	userName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@\\+-]*$`)
)

// device is a host of the inventory, checked.
func (i *inventory) device(name string, e *entry) (Device, error) {
	vars := maps.Clone(e.from)
	maps.Copy(vars, e.own)
	d := Device{Name: name, Address: vars["address"], User: vars["user"], Key: vars["key"], Line: e.line}
	if d.Address == "" {
		d.Address = name
	}
	if text := vars["port"]; text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return d, format.Errorf(i.file, e.line, "%s: %q is not a port", reading.Printable(name), text)
		}
		d.Port = uint16(port)
	}
	switch {
	case !deviceName.MatchString(name):
		return d, format.Errorf(i.file, e.line, "%q cannot be the name of a device: its files are in a folder of that name", reading.Printable(name))
	case !hostName.MatchString(d.Address):
		return d, format.Errorf(i.file, e.line, "%s: %q is not an address", reading.Printable(name), reading.Printable(d.Address))
	case d.User != "" && !userName.MatchString(d.User):
		return d, format.Errorf(i.file, e.line, "%s: %q is not a user", reading.Printable(name), reading.Printable(d.User))
	}
	return d, nil
}

var vrfName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// IsVRF reports whether a text can be the name of a VRF.
func IsVRF(name string) bool { return vrfName.MatchString(name) }
