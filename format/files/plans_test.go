package files_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/testnet"
)

// device is a chip of a system, or an adapter of a host; a cable joins two of them.
type device struct {
	system, part string // part is empty for the only chip of a system
	adapter      bool
	guid         uint64
	next         int // port
}

type joint struct {
	a, b         int
	aPort, bPort int
	rate         string
}

// plan is a network as people would plan it.
type plan struct {
	devices []device
	joints  []joint
}

func (d *device) name() string {
	switch {
	case d.part == "":
		return d.system
	case d.adapter:
		return d.system + " " + d.part
	}
	return d.system + "/" + d.part
}

// randomPlan has systems of one to three chips, hosts with one to three adapters, and cables
// between any of them, with parallel ones.
func randomPlan(r *rand.Rand) *plan {
	p := &plan{}
	rates := []string{"4xEDR", "4xHDR", "2xHDR", "4xNDR", "unknown"}
	port := func(i int) int {
		p.devices[i].next += 1 + r.IntN(3)
		return p.devices[i].next
	}
	join := func(a, b int) {
		p.joints = append(p.joints, joint{a, b, port(a), port(b), rates[r.IntN(len(rates))]})
	}
	for s := range 1 + r.IntN(5) {
		chips := 1 + r.IntN(3)
		for c := range chips {
			d := device{system: fmt.Sprintf("sw-%d", s), guid: r.Uint64() >> 4, next: r.IntN(4)}
			if chips > 1 {
				d.part = fmt.Sprintf("U%d", c+1)
			}
			p.devices = append(p.devices, d)
			for range r.IntN(3) {
				if at := len(p.devices) - 1; at > 0 {
					join(at, r.IntN(at))
				}
			}
		}
	}
	switches := len(p.devices)
	for h := range 1 + r.IntN(8) {
		adapters := 1 + r.IntN(3)
		for a := range adapters {
			p.devices = append(p.devices, device{system: fmt.Sprintf("h%d", h), part: fmt.Sprintf("mlx5_%d", a), adapter: true, guid: r.Uint64() >> 4})
			i := len(p.devices) - 1
			for range 1 + r.IntN(2) {
				j := r.IntN(switches)
				p.joints = append(p.joints, joint{i, j, len(p.ends(i)) + 1, port(j), rates[r.IntN(len(rates))]})
			}
		}
	}
	return p
}

func (p *plan) ends(i int) (cables []int) {
	for k, j := range p.joints {
		if j.a == i || j.b == i {
			cables = append(cables, k)
		}
	}
	return cables
}

// of is the devices and cables of the plan, or of a fabric, by name.
func (p *plan) of(rates bool) []string {
	var all []string
	for i := range p.devices {
		if d := &p.devices[i]; len(p.ends(i)) > 0 {
			all = append(all, fmt.Sprint("adapter ", d.adapter, " ", d.name()))
		}
	}
	for _, j := range p.joints {
		all = append(all, line(p.devices[j.a].name(), j.aPort, p.devices[j.b].name(), j.bPort, j.rate, rates))
	}
	slices.Sort(all)
	return all
}

func line(a string, aPort int, b string, bPort int, rate string, rates bool) string {
	ends := []string{fmt.Sprint(a, " ", aPort), fmt.Sprint(b, " ", bPort)}
	slices.Sort(ends)
	if !rates {
		rate = ""
	}
	return strings.Join(append(ends, rate), " — ")
}

func of(f *fabric.Fabric, rates bool) []string {
	var all []string
	used := map[fabric.NodeID]bool{}
	for i, c := range f.Channels() {
		used[c.From] = true
		if int(c.Reverse) > i {
			all = append(all, line(f.Node(c.From).Name, int(c.FromPort), f.Node(c.To).Name, int(c.ToPort), c.Rate.String(), rates))
		}
	}
	for i, n := range f.Nodes() {
		if used[fabric.NodeID(i)] {
			all = append(all, fmt.Sprint("adapter ", n.Kind == fabric.Adapter, " ", n.Name))
		}
	}
	slices.Sort(all)
	return all
}

// shuffled is the cables in any order, each from either end and some from both.
func (p *plan) shuffled(r *rand.Rand) []joint {
	all := slices.Clone(p.joints)
	for _, j := range p.joints {
		if r.IntN(3) == 0 {
			all = append(all, j)
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range all {
		if j := all[i]; r.IntN(2) == 0 {
			all[i] = joint{j.b, j.a, j.bPort, j.aPort, j.rate}
		}
	}
	return all
}

func (p *plan) gml(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("graph [\n  multigraph 1\n")
	for _, i := range r.Perm(len(p.devices)) {
		if d := &p.devices[i]; len(p.ends(i)) > 0 {
			kind := "switch"
			if d.adapter {
				kind = "adapter"
			}
			fmt.Fprintf(&b, "  node [\n    id %d\n    label \"%s\"\n    kind \"%s\"\n    guid \"0x%x\"\n  ]\n", i, strings.Replace(d.name(), "-", "&#45;", 1), kind, d.guid)
		}
	}
	for _, k := range r.Perm(len(p.joints)) {
		j := p.joints[k]
		fmt.Fprintf(&b, "  edge [ source %d target %d port_a %d port_b %d rate \"%s\" key %d ]\n", j.a, j.b, j.aPort, j.bPort, j.rate, k)
	}
	b.WriteString("]\n")
	return b.String()
}

func (p *plan) ndt(r *rand.Rand) string {
	names := []string{"EndPort", "Speed", "Rack", "StartType", "EndDevice", "StartPort", "EndType", "#StartDevice"}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	comma := []string{",", ";", "\t"}[r.IntN(3)]
	text := strings.Join(names, comma) + "\n"
	for _, j := range p.shuffled(r) {
		row := map[string]string{"Rack": strconv.Itoa(r.IntN(40)), "Speed": strings.Replace(j.rate, "unknown", "", 1)}
		for _, side := range []struct {
			name string
			i    int
			port int
		}{{"Start", j.a, j.aPort}, {"End", j.b, j.bPort}} {
			d := &p.devices[side.i]
			if d.adapter {
				row[side.name+"Device"], row[side.name+"Port"] = d.system, fmt.Sprintf("%s/P%d", d.part, side.port)
				continue
			}
			row[side.name+"Device"], row[side.name+"Type"] = d.name(), "Switch"
			row[side.name+"Port"] = []string{"Port %d", "P%d", "%d", "IB1/%d", "port%03d"}[r.IntN(5)]
			row[side.name+"Port"] = fmt.Sprintf(row[side.name+"Port"], side.port)
		}
		fields := make([]string, len(names))
		for k, name := range names {
			fields[k] = row[strings.TrimPrefix(name, "#")]
		}
		text += strings.Join(fields, comma) + "\n"
	}
	return text
}

func (p *plan) links(r *rand.Rand) string {
	var all []string
	for _, j := range p.shuffled(r) {
		text, name := "", ""
		for side, i := range []int{j.a, j.b} {
			d, port, end := &p.devices[i], []int{j.aPort, j.bPort}[side], []string{"source", "destination"}[side]
			desc, dname := fmt.Sprintf("%s:%d", d.name(), port), strconv.Itoa(port)
			if d.adapter {
				desc, dname = d.name(), "HCA-1/"+dname
			}
			text += fmt.Sprintf(`"%s_guid": "%016x", "%s_port": "%d", "%s_port_dname": %q, "%s_port_node_description": %q, `, end, d.guid, end, port, end, dname, end, desc)
			name += fmt.Sprintf("%016x_%d:", d.guid, port)
		}
		all = append(all, fmt.Sprintf(`{%s"name": %q, "width": "4x", "severity": "Info"}`, text, strings.TrimSuffix(name, ":")))
	}
	return "[" + strings.Join(all, ",\n ") + "]"
}

// topo writes a .topo file and a definition for each system of several chips into a folder.
func (p *plan) topo(t *testing.T, r *rand.Rand, dir string) string {
	sections, inside := map[string][]string{}, map[string][]string{}
	seen := map[joint]bool{}
	arrow := func(rate string) string {
		speed := map[string]string{"EDR": "25G", "HDR": "50G", "NDR": "100G"}
		width, name, _ := strings.Cut(rate, "x")
		if rate == "unknown" {
			return "->"
		}
		return fmt.Sprintf("-%sx-%s->", width, speed[name])
	}
	for _, j := range p.shuffled(r) {
		a, b := &p.devices[j.a], &p.devices[j.b]
		if a.system == b.system {
			straight, back := joint{j.a, j.b, j.aPort, j.bPort, j.rate}, joint{j.b, j.a, j.bPort, j.aPort, j.rate}
			if !seen[straight] && !seen[back] {
				inside[a.name()] = append(inside[a.name()], fmt.Sprintf("  %d %s %s %d", j.aPort, arrow(j.rate), b.part, j.bPort))
			}
			seen[straight] = true
			continue
		}
		port := func(d *device, n int) string {
			if d.part != "" {
				return fmt.Sprintf("%s/P%d", d.part, n)
			}
			return fmt.Sprintf("P%d", n)
		}
		sections[a.system] = append(sections[a.system], fmt.Sprintf("   %s %s %s %s %s", port(a, j.aPort), arrow(j.rate), p.kind(j.b), b.system, port(b, j.bPort)))
	}
	text := "# planned\n"
	for i := range p.devices {
		d := &p.devices[i]
		if lines := sections[d.system]; len(lines) > 0 {
			text += p.kind(i) + " " + d.system + "\n" + strings.Join(lines, "\n") + "\n\n"
			delete(sections, d.system)
		}
		if d.adapter || d.part == "" {
			continue
		}
		file := filepath.Join(dir, p.kind(i)+".ibnl")
		definition, err := os.ReadFile(file)
		if err != nil {
			definition = []byte("TOPSYSTEM " + p.kind(i) + "\n")
		}
		ports := map[int]bool{}
		for _, k := range p.ends(i) {
			if j := p.joints[k]; p.devices[j.a].system == p.devices[j.b].system {
				ports[map[bool]int{true: j.aPort, false: j.bPort}[j.a == i]] = true
			}
		}
		definition = fmt.Appendf(definition, "\nNODE SW 64 MT54000 %s\n%s\n", d.part, strings.Join(inside[d.name()], "\n"))
		for n := 1; n <= 64; n++ {
			if !ports[n] {
				definition = fmt.Appendf(definition, "  %d -> %s/P%d\n", n, d.part, n)
			}
		}
		if err := os.WriteFile(file, definition, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// kind is the type of a system: one of its own if it has several chips.
func (p *plan) kind(i int) string {
	switch d := &p.devices[i]; {
	case d.adapter:
		return "HCA_2"
	case d.part != "":
		return "BOX-" + d.system
	}
	return "MQM8700"
}

// TestPlans writes random networks in the forms that list cables, in any order, from one end or
// both and with ports as people call them, and reads the same networks.
func TestPlans(t *testing.T) {
	rounds := testnet.Of(300, 60)
	if testing.Short() {
		rounds = 30
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := randomPlan(r)
		dir := t.TempDir()
		forms := []struct {
			name, text string
			rates      bool
		}{{"a.gml", p.gml(r), true}, {"a.ndt", p.ndt(r), true}, {"links.json", p.links(r), false}, {"a.topo", p.topo(t, r, dir), true}}
		for _, form := range forms {
			name := filepath.Join(dir, form.name)
			if err := os.WriteFile(name, []byte(form.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if form.name == "a.topo" && !strings.Contains(form.text, "->") {
				continue // all cables are inside of systems
			}
			f, err := files.Open(name)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, form.text)
			}
			want := p.of(form.rates)
			if diff := cmp.Diff(want, of(f, form.rates)); diff != "" {
				t.Fatalf("seed %d, %s: %s\n%s", seed, form.name, diff, form.text)
			}
			for i, n := range f.Nodes() {
				if form.name == "a.gml" || form.name == "links.json" {
					if k := slices.IndexFunc(p.devices, func(d device) bool { return d.name() == n.Name }); uint64(n.GUID) != p.devices[k].guid {
						t.Fatalf("seed %d, %s: node %d: %+v", seed, form.name, i, n)
					}
				}
			}
		}
	}
}

// TestTopoAsIBDM reads the .topo files that ibutils brings, with its system definitions, and has
// the same links as ibutils itself.
func TestTopoAsIBDM(t *testing.T) {
	if _, err := exec.LookPath("ibdmsh"); err != nil {
		t.Skip("ibdmsh is missing (Debian: ibutils): make test installs it as root on Debian")
	}
	all, err := filepath.Glob("/usr/lib/*/ibdm*/ibnl/*.topo")
	if err != nil || len(all) == 0 {
		t.Skip("no .topo files of ibutils here")
	}
	script := filepath.Join(t.TempDir(), "links.tcl")
	if err := os.WriteFile(script, []byte(`set f [new_IBFabric]
IBFabric_parseTopology $f [lindex $argv 0]
foreach n [IBFabric_NodeByName_get $f] {
  set node [lindex $n 1]
  for {set i 1} {$i <= [IBNode_numPorts_get $node]} {incr i} {
    set p [IBNode_getPort $node $i]
    if {$p == ""} continue
    set r [IBPort_p_remotePort_get $p]
    if {$r != ""} { puts "LINK [lindex $n 0] $i [IBNode_name_get [IBPort_p_node_get $r]] [IBPort_num_get $r]" }
  }
}
exit
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		out, err := exec.Command("ibdmsh", script, file).Output()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var want, got []string
		for text := range strings.Lines(string(out)) {
			if rest, ok := strings.CutPrefix(text, "LINK "); ok {
				want = append(want, strings.TrimSpace(rest))
			}
		}
		f, err := files.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		chip := func(n fabric.NodeID) string {
			if name := f.Node(n).Name; strings.Contains(name, "/") {
				return name
			}
			return f.Node(n).Name + "/U1"
		}
		for _, c := range f.Channels() {
			got = append(got, fmt.Sprintf("%s %d %s %d", chip(c.From), c.FromPort, chip(c.To), c.ToPort))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
			t.Errorf("%s: %d links: %s", file, len(got), diff)
		}
	}
}
