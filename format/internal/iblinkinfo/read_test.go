package iblinkinfo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
	"github.com/weft-fabric/weft/internal/testnet"
)

// speedOf is the inverse of speeds.
func speedOf(s fabric.Speed) string {
	for text, name := range speeds {
		if name == string(s) {
			return text
		}
	}
	return "undefined (0)"
}

// written is what iblinkinfo prints of a network; byLine: with -l. Lengths and blanks are those of infiniband-diags 44.
func written(f *fabric.Fabric, byLine bool) string {
	var b strings.Builder
	port := func(n fabric.NodeID, number uint8) (guid fabric.GUID, lid fabric.LID) {
		for i := range f.Endpoints() {
			if e := f.Endpoint(fabric.EndpointID(i)); e.Node == n && (e.Port == number || e.Class == fabric.SwitchPort) {
				return e.PortGUID, e.LID
			}
		}
		return f.Node(n).GUID + fabric.GUID(number), 0
	}
	for i := range f.Nodes() {
		id := fabric.NodeID(i)
		n := f.Node(id)
		if !byLine {
			head := map[fabric.Kind]string{fabric.Switch: fmt.Sprintf("Switch: %s ", n.GUID), fabric.Adapter: "CA: ", fabric.Router: "Router: "}[n.Kind]
			fmt.Fprintf(&b, "%s%s:\n", head, n.Name)
		}
		for p := range uint8(n.Ports) {
			p++
			guid, lid := port(id, p)
			switch {
			case byLine:
				fmt.Fprintf(&b, "%s \"%30s\" ", guid, n.Name)
			case n.Kind == fabric.Switch:
				b.WriteString("      ")
			default:
				fmt.Fprintf(&b, "      %s ", guid)
			}
			fmt.Fprintf(&b, "%6d %4d[  ] ", lid, p)
			c := f.Out(id, p)
			if c == fabric.None {
				b.WriteString("==(                Down/ Polling)==>             [  ] \"\" ( )\n")
				continue
			}
			ch := f.Channel(c)
			fmt.Fprintf(&b, "==(%3s %18s %6s/%8s)==>  ", fmt.Sprintf("%dX", ch.Rate.Width), speedOf(ch.Rate.Speed), "Active", "LinkUp")
			guid, lid = port(ch.To, ch.ToPort)
			if byLine {
				fmt.Fprintf(&b, "%s ", guid)
			}
			fmt.Fprintf(&b, "%6d %4d[  ] \"%s\" (Could be 12X )\n", lid, ch.ToPort, f.Node(ch.To).Name)
		}
	}
	return b.String()
}

func read(t *testing.T, text string) *fabric.Fabric {
	t.Helper()
	f, err := Read(strings.NewReader(text), "links")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

// contents is what a network has, by names; without GUIDs, if guids is false.
func contents(f *fabric.Fabric, guids bool) []string {
	var all []string
	for i := range f.Nodes() {
		n := f.Node(fabric.NodeID(i))
		ports, guid := "", ""
		if n.Kind == fabric.Switch {
			ports = fmt.Sprint(n.Ports)
			if guids {
				guid = n.GUID.String()
			}
		}
		all = append(all, fmt.Sprintf("%s %s %s %s", n.Kind, n.Name, ports, guid))
	}
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		guid := ""
		if guids {
			guid = e.PortGUID.String()
		}
		all = append(all, fmt.Sprintf("%s:%d LID %d %s", f.Node(e.Node).Name, e.Port, e.LID, guid))
	}
	for i := range f.Channels() {
		ch := f.Channel(fabric.ChannelID(i))
		all = append(all, fmt.Sprintf("%s:%d %s:%d %s", f.Node(ch.From).Name, ch.FromPort, f.Node(ch.To).Name, ch.ToPort, ch.Rate))
	}
	slices.Sort(all)
	return all
}

// What iblinkinfo prints of a network is read as the network that it is, node by node and by line, with CR LF, with -p
// and in any order of its nodes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	networks := map[string]*fabric.Fabric{"odd": odd(t)}
	for _, spec := range []string{"fattree:ports=8,hosts=4", "dragonfly:p=2", "torus:4x4,hosts=2", "patchwork:7", "ring:5,hosts=1", "mesh:2,hosts=1"} {
		networks[spec] = testnet.Build(t, spec)
	}
	for name, f := range networks {
		want := contents(f, true)
		for form, text := range map[string]string{"by node": written(f, false), "by line": written(f, true)} {
			if got := contents(read(t, text), true); !slices.Equal(got, want) {
				t.Fatalf("%s %s:\n%s\nwant\n%s", name, form, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			for change, text := range map[string]string{
				"CR LF": strings.ReplaceAll(text, "\n", "\r\n"), "-p": strings.ReplaceAll(text, "LinkUp)==>", "LinkUp) (HOQ:0 VL_Stall:7)==>"),
				"a terminal": "[root@head ~]# iblinkinfo\n" + text + "[root@head ~]# \n", "old heads": strings.ReplaceAll(text, "Switch: 0x", "Switch 0x"), "in UTF-8 with a mark": "\ufeff" + text,
			} {
				if got := contents(read(t, text), true); !slices.Equal(got, want) {
					t.Errorf("%s %s, %s: other contents", name, form, change)
				}
			}
		}
	}
}

// odd is a network with names of all kinds, two cables between two switches, one from a switch to itself, adapters with two
// ports, a router, and rates of all speeds.
func odd(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	x := b.Node(fabric.Node{GUID: 0x1000, Kind: fabric.Switch, Ports: 36, Name: `MF0;core "a":MQM8700/U1`}, "")
	y := b.Node(fabric.Node{GUID: 0x2000, Kind: fabric.Switch, Ports: 40, Name: "größer (é) [3] ==> 7:"}, "")
	h := b.Node(fabric.Node{GUID: 0x3001, Kind: fabric.Adapter, Ports: 2, Name: "host' mlx5_0"}, "")
	g := b.Node(fabric.Node{GUID: 0x4001, Kind: fabric.Adapter, Ports: 1, Name: "host' mlx5_1"}, "")
	r := b.Node(fabric.Node{GUID: 0x5001, Kind: fabric.Adapter, Ports: 1, Name: `"`}, "")
	rate := func(text string) fabric.Rate {
		r, err := fabric.ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	b.Cable(x, 1, y, 1, rate("4xXDR"))
	b.Cable(x, 2, y, 2, rate("2xNDR"))
	b.Cable(x, 3, x, 4, rate("4xFDR10"))
	b.Cable(x, 5, h, 1, rate("4xSDR"))
	b.Cable(y, 36, h, 2, rate("1xDDR"))
	b.Cable(y, 40, g, 1, rate("8xQDR"))
	b.Cable(y, 7, r, 1, rate("12xFDR"))
	b.Port(h, 1, fabric.Port{GUID: 0x3001, LID: 9})
	b.Port(h, 2, fabric.Port{GUID: 0x3002, LID: 7})
	b.Port(g, 1, fabric.Port{GUID: 0x4001, LID: 11})
	b.Port(r, 1, fabric.Port{GUID: 0x5001, LID: 12})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Where nodes have no rows of their own, the cables say what they are.
func TestNodesWithoutRows(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "fattree:ports=8,hosts=4")
	text := written(f, false)
	hosts := strings.Index(text, "CA: ")
	if got := contents(read(t, text[:hosts]), false); !slices.Equal(got, contents(f, false)) {
		t.Errorf("--switches-only: %s", strings.Join(got, "\n"))
	}
	of := read(t, text[hosts:])
	if of.Switches() != 8 || of.Count().Adapters != 32 || !slices.ContainsFunc(of.Warnings(), func(w string) bool {
		return strings.HasPrefix(w, "8 nodes have no rows and are known only from the cables of others; the first is ")
	}) {
		t.Errorf("--cas-only: %+v, %q", of.Count(), of.Warnings())
	}
}

const pair = `CA: a mlx5_0:
      0x0000000000000031      3    1[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>       1    1[  ] "s" ( )
CA: b mlx5_0:
      0x0000000000000041      4    1[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>       1    2[  ] "s" ( )
Switch: 0x0000000000000010 s:
           1    1[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>       3    1[  ] "a mlx5_0" ( )
           1    2[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>       4    1[  ] "b mlx5_0" ( )
           1    3[  ] ==(                Down/ Polling)==>             [  ] "" ( )
`

func TestErrors(t *testing.T) {
	t.Parallel()
	heads, _, _ := strings.Cut(pair, "           1    1[")
	for _, tc := range []struct{ name, text, old, new, want string }{
		{"nothing", "hello\n", "", "", "links:1: no port in the whole file"},
		{"no port", pair, pair, "CA: a mlx5_0:\n", "links:1: truncated: this node is followed by no port"},
		{"cut behind a head", pair, pair[len(heads):], "", "links:5: truncated: this node is followed by no port"},
		{"cut in a link", pair, "Down/ Polling)==>             [  ] \"\" ( )\n", "Down/ Pol", "links:8: no arrow in the row of a port; the line may be cut short"},
		{"cut in a peer", pair, `"b mlx5_0" ( )`, `"b mlx`, "links:7: no peer in quotes with brackets behind it in the row of a port; the line may be cut short"},
		{"cut in brackets", pair, `"b mlx5_0" ( )`, `"b mlx5_0" ( Could`, "links:7: no peer in quotes with brackets"},
		{"no head of a switch", pair, heads, "", "links:1: a port before any node"},
		{"LID", pair, "0x0000000000000031      3", "0x0000000000000031  70000", "links:2: no LID up to 65535"},
		{"port", pair, "           1    1[", "           1    0[", "links:6: no LID up to 65535 and number of a port"},
		{"port of a peer", pair, `1    1[  ] "s"`, `1    255[  ] "s"`, "links:2: no LID up to 65535 and number of a port"},
		{"of diff", pair, "      0x0000000000000031", "<     0x0000000000000031", "links:2: the row of a port with other text before it"},
		{"two peers", pair, `3    1[  ] "a`, `4    1[  ] "b`, `links:2: port 1 of "a mlx5_0", LID 3, is cabled to port 1 of "s" here, which by line 6 is cabled to port 1 of "b mlx5_0", LID 4`},
		{"to itself", pair, "==(                Down/ Polling)==>             [  ] \"\"", "==( 4X 53.125 Gbps Active/ LinkUp)==> 1 3[ ] \"s\"", "links:8: port 3 of \"s\" is cabled to itself"},
	} {
		text := strings.Replace(tc.text, tc.old, tc.new, 1)
		f, err := Read(strings.NewReader(text), "links")
		if pe := (*format.ParseError)(nil); f != nil || !errors.As(err, &pe) || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	if _, err := Read(strings.NewReader(pair+pair), "links"); err == nil || !strings.Contains(err.Error(), "has two rows; the other is line 6") && !strings.Contains(err.Error(), "can be that of line") {
		t.Errorf("two outputs: %v", err)
	}
}

// Two subnets have the same LIDs, and names tell which ports are joined; where names are the same too, nobody can.
func TestSubnets(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer("a mlx5_0", "c mlx5_0", "b mlx5_0", "d mlx5_0", `"s"`, `"u"`, "0010 s:", "0050 u:", "0031", "0061", "0041", "0071").Replace(pair)
	f := read(t, pair+other)
	if f.Switches() != 2 || f.Count().Adapters != 4 || len(f.Parts()) != 2 {
		t.Errorf("%+v", f.Count())
	}
	alike := strings.NewReplacer("0010 s:", "0050 s:", "0031", "0061", "0041", "0071").Replace(pair)
	if _, err := Read(strings.NewReader(pair+alike), "links"); err == nil || !strings.HasPrefix(err.Error(), "links:2: the peer \"s\", LID 1, port 1 can be that of line 6 and that of line 14: two of one name and LID; give what iblinkinfo -l or ibnetdiscover prints") {
		t.Error(err)
	}
	// A name that is another where it is the peer is told; LIDs and ports join all the same.
	f = read(t, strings.Replace(pair, `1[  ] "a mlx5_0"`, `1[  ] "localhost"`, 1))
	if f.Count().Adapters != 2 || !slices.ContainsFunc(f.Warnings(), func(w string) bool {
		return strings.HasPrefix(w, `1 peer has another name than in its own row, the first "localhost" in line 6`)
	}) {
		t.Errorf("%+v, %q", f.Count(), f.Warnings())
	}
}

// A link may be up and nobody answer at its other end: the network is what the others say.
func TestSilent(t *testing.T) {
	t.Parallel()
	const down = `==(                Down/ Polling)==>             [  ] "" ( )`
	f := read(t, strings.Replace(pair, down, `==( 4X          53.125 Gbps Active/  LinkUp)==>      "Port not available"`, 1))
	if f.Count() != read(t, pair).Count() || !slices.ContainsFunc(f.Warnings(), func(w string) bool {
		return strings.HasPrefix(w, `1 port is up and nobody answered at the other end (Port not available): what is there, and behind it, is not known; the first is of "s" in line 8`)
	}) {
		t.Errorf("%+v, %q", f.Count(), f.Warnings())
	}
}

func FuzzRead(f *testing.F) {
	network := testnet.Build(f, "ring:3,hosts=1")
	for _, text := range scramble.Of(pair, written(network, true)) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Read(strings.NewReader(text), "links")
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Errorf("%v names no line", err)
		}
		if (err == nil) == (n == nil) {
			t.Fatal("a network and an error, or neither")
		}
	})
}
