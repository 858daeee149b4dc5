package names_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/testnet"
)

// cluster is two managed switches, two chips of a director, a Voltaire, two of one
// description, and hosts: luna-9 and luna-10 with three adapters each, one without
// a name, one whose name counts from one, and two that never got a description.
func cluster(t testing.TB) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	hub := b.Node(fabric.Node{GUID: 0x100000, Ports: 60, Name: "MF0;sw-a:MQM8700/U1"}, "")
	b.Port(hub, 0, fabric.Port{LID: 40})
	next := uint8(1)
	add := func(kind fabric.Kind, guid fabric.GUID, ports int, name string) {
		n := b.Node(fabric.Node{GUID: guid, Kind: kind, Ports: ports, Name: name}, "")
		for p := 1; p <= ports; p++ {
			if kind != fabric.Switch || p == 1 {
				b.Cable(hub, next, n, uint8(p), fabric.Rate{})
				next++
			}
		}
	}
	for i, name := range []string{
		"MF0;sw-b:MQM8700/U1", "MF0;dir-1:CS7500/L01/U1", "MF0;dir-1:CS7500/L02/U1", "Voltaire 4036 # v-1",
		"Infiniscale-IV Mellanox Technologies", "Infiniscale-IV Mellanox Technologies", "odd*name",
	} {
		add(fabric.Switch, fabric.GUID(0x200000+i*0x1000), 8, name)
	}
	for i, name := range []string{
		"luna-10 mlx5_2", "luna-10 mlx5_0", "luna-10 mlx5_1", "luna-9 HCA-1", "luna-9 HCA-3", "luna-9 HCA-2",
		"gpfs", "MT4129 ConnectX7   Mellanox Technologies", "MT4129 ConnectX7   Mellanox Technologies",
		"only one of a kind", "twin mlx5_0", "twin mlx5_0",
	} {
		add(fabric.Adapter, fabric.GUID(0x300000+i*0x1000), 1, name)
	}
	add(fabric.Adapter, 0x400000, 2, "duo mlx4_0")
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// labels is the descriptions of nodes.
func labels(f *fabric.Fabric, list []fabric.NodeID) []string {
	var out []string
	for _, n := range list {
		out = append(out, f.Node(n).Name)
	}
	return out
}

func TestSwitches(t *testing.T) {
	f := cluster(t)
	x := names.New(f)
	for name, want := range map[string][]string{
		"sw-a":                    {"MF0;sw-a:MQM8700/U1"},
		"MF0;sw-a:MQM8700/U1":     {"MF0;sw-a:MQM8700/U1"},
		"0x0000000000100000":      {"MF0;sw-a:MQM8700/U1"},
		"0x100000":                {"MF0;sw-a:MQM8700/U1"},
		"0000000000100000":        {"MF0;sw-a:MQM8700/U1"},
		"S-0000000000100000":      {"MF0;sw-a:MQM8700/U1"},
		"40":                      {"MF0;sw-a:MQM8700/U1"},
		"0x0028":                  {"MF0;sw-a:MQM8700/U1"},
		"v-1":                     {"Voltaire 4036 # v-1"},
		"dir-1/L02/U1":            {"MF0;dir-1:CS7500/L02/U1"},
		"sw-*":                    {"MF0;sw-a:MQM8700/U1", "MF0;sw-b:MQM8700/U1"},
		"*MQM*b*":                 nil,
		"*b:MQM*":                 {"MF0;sw-b:MQM8700/U1"},
		"dir-1/*":                 {"MF0;dir-1:CS7500/L01/U1", "MF0;dir-1:CS7500/L02/U1"},
		"Infiniscale*":            {"Infiniscale-IV Mellanox Technologies", "Infiniscale-IV Mellanox Technologies"},
		"odd*name":                {"odd*name"},
		"luna-9":                  nil,
		"duo mlx4_0":              nil,
		"":                        nil,
		"0x0000000000300000":      nil, // an adapter's
		"Voltaire":                nil, // the first word is for adapters
		"9000":                    nil, // nobody has the LID
		"99999999999999999999999": nil,
	} {
		got, err := x.Switches(name)
		if (err == nil) != (want != nil) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		if diff := cmp.Diff(want, labels(f, got)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
	for name, want := range map[string]string{
		"sw-c":                                 `no switch is called "sw-c", and none has that GUID or LID; nearest is "sw-a"`,
		"SW-A":                                 `nearest is "sw-a"`,
		"sw-c*":                                `no switch fits "sw-c*" (* is any text); nearest is "sw-a"`,
		"dir-1":                                `2 switches are called "dir-1"; name one of them: dir-1/L01/U1, dir-1/L02/U1`,
		"luna-9":                               `no switch is called "luna-9"`,
		"Infiniscale-IV Mellanox Technologies": `2 switches are called "Infiniscale-IV Mellanox Technologies"; name one of them: 0x0000000000204000, 0x0000000000205000`,
	} {
		if _, err := x.Switches(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// A pattern takes every cable at the ports that fit, and one between two nodes that fit once.
func TestCablesByPattern(t *testing.T) {
	f := cluster(t)
	x := names.New(f)
	for pattern, nodes := range map[string]string{"*:*": "", "sw-b:*": "MF0;sw-b:MQM8700/U1", "sw-*:1": "MF0;sw-"} {
		_, port, _ := strings.Cut(pattern, ":")
		want := map[fabric.ChannelID]bool{}
		for c, ch := range f.Channels() {
			if strings.HasPrefix(f.Node(ch.From).Name, nodes) && (port == "*" || strconv.Itoa(int(ch.FromPort)) == port) {
				want[min(fabric.ChannelID(c), ch.Reverse)] = true
			}
		}
		got, err := x.Cables(pattern)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %d cables, want %d: %v", pattern, len(got), len(want), err)
		}
		for _, c := range got {
			if !want[min(c, f.Channel(c).Reverse)] {
				t.Errorf("%s: %v does not fit", pattern, f.Channel(c))
			}
		}
	}
}

func TestNodeAndCable(t *testing.T) {
	f := cluster(t)
	x := names.New(f)
	for name, want := range map[string]string{
		"luna-10/mlx5_2": "luna-10 mlx5_2",
		"luna-10 mlx5_2": "luna-10 mlx5_2",
		"gpfs":           "gpfs",
		"only":           "only one of a kind",
		"duo":            "duo mlx4_0",
		"0x400002":       "duo mlx4_0", // of a port
	} {
		if n, err := x.Node(name); err != nil || f.Node(n).Name != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"luna-9":  `3 nodes are called "luna-9"; name one of them: luna-9/HCA-1, luna-9/HCA-2, luna-9/HCA-3`,
		"twin":    `2 nodes are called "twin"; name one of them: 0x000000000030a000 (at sw-a port 18), 0x`,
		"MT4129":  `no node is called "MT4129"`,
		"luna-11": `nearest is "luna-10"`,
	} {
		if _, err := x.Node(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	if c, err := x.Cables("sw-b:1"); err != nil || len(c) != 1 || f.Channel(c[0]).FromPort != 1 || f.Node(f.Channel(c[0]).From).Name != "MF0;sw-b:MQM8700/U1" {
		t.Error(c, err)
	}
	for name, want := range map[string]string{
		"sw-b":    "names no port",
		"sw-c:1":  `nearest is "sw-a"`,
		"sw-b:9":  `sw-b has the ports 1 to 8, not "9"`,
		"sw-b:0":  "has the ports 1 to 8",
		"sw-b:":   "has the ports 1 to 8",
		"sw-b:2":  "there is no cable at port 2 of sw-b",
		"sw-b:-1": "has the ports 1 to 8",
		"sw-*:2x": `no cable is at a port "2x" of what fits "sw-*"`,
		"sw-c:*":  `nearest is "sw-a"`,
	} {
		if _, err := x.Cables(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

func TestAdapters(t *testing.T) {
	f := cluster(t)
	x := names.New(f)
	for name, want := range map[string][]string{
		"luna-10":    {"luna-10 mlx5_0", "luna-10 mlx5_1", "luna-10 mlx5_2"},
		"*/mlx5_1":   {"luna-10 mlx5_1"},
		"luna-*HCA*": {"luna-9 HCA-1", "luna-9 HCA-3", "luna-9 HCA-2"},
		"MT4129 ConnectX7   Mellanox Technologies": {"MT4129 ConnectX7   Mellanox Technologies", "MT4129 ConnectX7   Mellanox Technologies"},
		"sw-a": nil,
	} {
		got, err := x.Adapters(name)
		if (err == nil) != (want != nil) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		if diff := cmp.Diff(want, labels(f, got)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

// hca is the endpoints of host adapters.
func hca(f *fabric.Fabric) (list []fabric.EndpointID) {
	for i := range f.Endpoints() {
		if f.Endpoint(fabric.EndpointID(i)).Class == fabric.HostAdapter {
			list = append(list, fabric.EndpointID(i))
		}
	}
	return list
}

// ends names endpoints by description and port.
func ends(f *fabric.Fabric, hosts [][]fabric.EndpointID) (out [][]string) {
	for _, host := range hosts {
		var one []string
		for _, e := range host {
			ep := f.Endpoint(e)
			one = append(one, f.Node(ep.Node).Name+":"+string('0'+rune(ep.Port)))
		}
		out = append(out, one)
	}
	return out
}

func TestHosts(t *testing.T) {
	f := cluster(t)
	n, err := names.New(f).Endpoints(hca(f))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][][]string{
		"luna-9":         {{"luna-9 HCA-1:1", "luna-9 HCA-2:1", "luna-9 HCA-3:1"}},
		"luna-9/HCA-2":   {{"luna-9 HCA-2:1"}},
		"luna-9 HCA-2":   {{"luna-9 HCA-2:1"}},
		"duo":            {{"duo mlx4_0:1", "duo mlx4_0:2"}},
		"0x400002":       {{"duo mlx4_0:2"}},
		"luna-*":         {{"luna-9 HCA-1:1", "luna-9 HCA-2:1", "luna-9 HCA-3:1"}, {"luna-10 mlx5_0:1", "luna-10 mlx5_1:1", "luna-10 mlx5_2:1"}},
		"luna-*/mlx5_*":  {{"luna-10 mlx5_0:1", "luna-10 mlx5_1:1", "luna-10 mlx5_2:1"}},
		"MT4129*":        {{"MT4129 ConnectX7   Mellanox Technologies:1"}, {"MT4129 ConnectX7   Mellanox Technologies:1"}},
		"H-000000000030": nil,
	} {
		got, err := n.Hosts(name)
		if (err == nil) != (want != nil) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		if diff := cmp.Diff(want, ends(f, got)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
	for name, want := range map[string]string{
		"twin": `2 endpoints are called "twin"; name one of them: 0x000000000030a000 (at sw-a port 18), 0x000000000030b000 (at sw-a port 19)`,
		"MT4129 ConnectX7   Mellanox Technologies": `2 endpoints are called`,
		"sw-a":    `no endpoint is called "sw-a": it is switch sw-a, with no endpoint in scope`,
		"luna-11": `no endpoint is called "luna-11"; nearest is "luna-10"`,
		"40":      `it is switch sw-a`,
	} {
		if _, err := n.Hosts(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	if _, err := n.Host("luna-*"); err == nil || !strings.Contains(err.Error(), "fits 2 hosts, and one is wanted") {
		t.Error(err)
	}
	if n, err = names.New(f).Endpoints(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Hosts("luna-9"); err == nil || !strings.Contains(err.Error(), "the fabric has none in scope") {
		t.Error(err)
	}
}

// HCA-1 and mlx5_0 are one rail, whatever else a host has.
func TestRails(t *testing.T) {
	f := cluster(t)
	x := names.New(f)
	want := []names.Rail{
		{Adapters: []string{"HCA-1", "mlx4_0", "mlx5_0"}, Port: 1, Hosts: 5}, // gpfs has it without a name
		{Adapters: []string{"mlx4_0"}, Port: 2, Hosts: 1},
		{Adapters: []string{"HCA-2", "mlx5_1"}, Port: 1, Hosts: 2},
		{Adapters: []string{"HCA-3", "mlx5_2"}, Port: 1, Hosts: 2},
	}
	if diff := cmp.Diff(want, x.Rails()); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		rails, host string
		want        [][]string
	}{
		{"3", "luna-*", [][]string{{"luna-9 HCA-2:1"}, {"luna-10 mlx5_1:1"}}},
		{"mlx5_2,HCA-1", "luna-*", [][]string{{"luna-9 HCA-1:1"}, {"luna-10 mlx5_2:1"}}},
		{"mlx*", "luna-10", [][]string{{"luna-10 mlx5_0:1", "luna-10 mlx5_1:1", "luna-10 mlx5_2:1"}}},
		{"2", "duo", [][]string{{"duo mlx4_0:2"}}},
	} {
		n, err := x.Endpoints(hca(f), strings.Split(c.rails, ",")...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := n.Hosts(c.host)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(c.want, ends(f, got)); diff != "" {
			t.Errorf("%s of %s: %s", c.rails, c.host, diff)
		}
	}
	for rail, want := range map[string]string{
		"5":      `no endpoint in scope is on rail "5" (rails: 1 (HCA-1, mlx4_0, mlx5_0), 2 (mlx4_0 port 2), 3 (HCA-2, mlx5_1), 4 (HCA-3, mlx5_2))`,
		"0":      `no endpoint in scope is on rail "0"`,
		"mlx5_3": `no endpoint in scope is on rail "mlx5_3"; nearest is "mlx5_0"`,
	} {
		if _, err := x.Endpoints(hca(f), rail); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	n, err := x.Endpoints(hca(f), "4")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Hosts("gpfs"); err == nil || !strings.Contains(err.Error(), `no endpoint is called "gpfs": it is channel adapter gpfs, with no endpoint in scope on rail 4`) {
		t.Error(err)
	}
}

// On a real cluster every host has its adapters, every switch a short name, and
// every GUID and LID stands for what has it.
func TestRealNames(t *testing.T) {
	f := testnet.Dump(t, "topograph-ndr-dgx-2025")
	x := names.New(f)
	n, err := x.Endpoints(hca(f))
	if err != nil {
		t.Fatal(err)
	}
	for host, rails := range map[string]int{"a08-p1-dgx-04-c17": 4, "a06-p1-dgx-02-c01": 4} {
		if got, err := n.Host(host); err != nil || len(got) != rails {
			t.Errorf("%s: %d rails, %v", host, len(got), err)
		}
	}
	if got, err := x.Switches("*IBSPINE*"); err != nil || len(got) != 9 {
		t.Error(len(got), err)
	}
	if got, err := x.Switches("A10-P1-IBSPINE-01"); err != nil || len(got) != 1 {
		t.Error(len(got), err)
	}
	var rails []string
	for _, r := range x.Rails() {
		rails = append(rails, r.String())
	}
	if diff := cmp.Diff([]string{"HCA-1, mlx5_0", "HCA-2, mlx5_1", "HCA-5, mlx5_4", "HCA-6, mlx5_5"}, rails); diff != "" {
		t.Error(diff)
	}
	for i := range f.Nodes() {
		if got, err := x.Node(f.Node(fabric.NodeID(i)).GUID.String()); err != nil || got != fabric.NodeID(i) {
			t.Fatal(got, err)
		}
	}
	for lid, e := range f.LIDs() {
		if f.Endpoint(e).Class != fabric.HostAdapter {
			continue
		}
		if got, err := n.Host(strconv.Itoa(int(lid))); err != nil || len(got) != 1 || got[0] != e {
			t.Fatal(got, err)
		}
	}
}

// A star is any text, and nothing else is special: the same as a regular
// expression with all but the stars quoted.
func TestPattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[ab/\[]{1,6}`).Draw(t, "name")
		pattern := rapid.StringMatching(`[ab/\[]{0,3}\*[ab/\[*]{0,3}`).Draw(t, "pattern")
		var b fabric.Builder
		b.Node(fabric.Node{GUID: 0x100000, Ports: 1, Name: name}, "")
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		twin := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
		_, err = names.New(f).Switches(pattern)
		if got, want := err == nil, twin.MatchString(name); got != want {
			t.Errorf("%q fits %q: %v, want %v", name, pattern, got, want)
		}
	})
}

// A short number is a LID, even where a GUID is as short; adapters that say only
// which host they are in are all of it.
func TestShortNumbersAndBareHosts(t *testing.T) {
	var b fabric.Builder
	sw := b.Node(fabric.Node{GUID: 0x28, Ports: 8, Name: "leaf"}, "")
	for i, name := range []string{"bare", "bare", "bare mlx5_7"} {
		h := b.Node(fabric.Node{GUID: fabric.GUID(0x300000 + i*0x1000), Kind: fabric.Adapter, Ports: 1, Name: name}, "")
		b.Port(h, 1, fabric.Port{LID: fabric.LID(40 + i)})
		b.Cable(sw, uint8(i+1), h, 1, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	x := names.New(f)
	if n, err := x.Node("0x0028"); err != nil || f.Node(n).GUID != 0x300000 {
		t.Error(n, err)
	}
	if n, err := x.Node("0x0000000000000028"); err != nil || n != 0 {
		t.Error(n, err)
	}
	hosts, err := x.Endpoints(hca(f))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hosts.Host("bare"); err != nil || len(got) != 3 {
		t.Error(got, err)
	}
}

// Routers and switches have descriptions of two words too, and are no hosts.
func TestOnlyAdaptersAreHosts(t *testing.T) {
	var b fabric.Builder
	leaf := b.Node(fabric.Node{GUID: 1, Ports: 3, Name: "leaf mlx5_0"}, "")
	for i, n := range []fabric.Node{
		{GUID: 2, Kind: fabric.Adapter, Ports: 1, Name: "luna-1 mlx5_0"},
		{GUID: 3, Kind: fabric.Router, Ports: 1, Name: "gateway skyway"},
	} {
		b.Cable(leaf, uint8(i+1), b.Node(n, ""), 1, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	x := names.New(f)
	if hosts := x.Hosts(); len(hosts) != 1 || hosts[0].Name != "luna-1" {
		t.Errorf("%+v", hosts)
	}
	if rails := x.Rails(); len(rails) != 1 || !slices.Equal(rails[0].Adapters, []string{"mlx5_0"}) {
		t.Errorf("%+v", rails)
	}
	for id, n := range f.Nodes() {
		if host, adapter := names.HostOf(&n); (host == "luna-1") != (n.Kind == fabric.Adapter) || (adapter == "") != (host == "") {
			t.Errorf("node %d names %q, %q", id, host, adapter)
		}
	}
}
