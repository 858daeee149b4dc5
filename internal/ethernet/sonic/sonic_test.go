package sonic

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

const flat = `{"PORT_QOS_MAP|Ethernet0":{"dscp_to_tc_map":"AZURE","pfc_enable":"3,4","x@":"1,2"},
"DSCP_TO_TC_MAP|AZURE":{"type":"hash","ttl":-0.001,"value":{"33":"8","3":"3"}},
"PORTCHANNEL_MEMBER|PortChannel1|Ethernet0":{"NULL":"NULL"},
"DEVICE_METADATA|localhost":{"hostname":"tor","bgp_asn":"65100"},
"CONFIG_DB_INITIALIZED":"1"}`

// A dump of the database has the same as config_db.json.
func TestFlat(t *testing.T) {
	c, err := Read(strings.NewReader(flat), "f")
	if err != nil {
		t.Fatal(err)
	}
	q := c.Ports["Ethernet0"]
	if c.Hostname != "tor" || c.AS != 65100 || c.Channel["Ethernet0"] != "PortChannel1" || q == nil || q.PFC != 0b11000 || q.TC[33] != 8 || q.TC[3] != 3 || len(c.Ignored) != 1 {
		t.Fatalf("%+v, %+v", c, q)
	}
	for text, want := range map[string]string{
		"{\"PORT|Ethernet0\":{},\n\"PORT\":{}}": "f:2: PORT is a table here",
		"{\"PORT|Ethernet0\":{},\n\"VLAN\":{}}": "f:2: VLAN is a table, and other keys are of the form TABLE|KEY",
		"{\"PORT|Ethernet0\":\n[]}":             "f:2: PORT|Ethernet0 is a list",
		strings.Replace(flat, `"8"`, `"16"`, 1): `f:2: DSCP_TO_TC_MAP|AZURE: "33" → "16" is out of range, which is 0 to 15`,
	} {
		if _, err := Read(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range [...]string{"dual-tor/leaf-1", "dual-tor/tor-a", "dual-tor-remapped/tor-a"} {
		text, err := os.ReadFile("../../../examples/ethernet/" + name + "/config_db.json")
		if err != nil {
			f.Fatal(err)
		}
		for _, text := range scramble.Of(string(text)) {
			f.Add(text)
		}
		f.Add(string(text[:len(text)/2]))
	}
	for _, text := range scramble.Of(`{"PORT_QOS_MAP":{"global":{"dscp_to_tc_map":"A"},"e0,e1":{"dscp_to_tc_map":"[DSCP_TO_TC_MAP|A]","dot1p_to_tc_map":"A","tc_to_dscp_map":"A","pfc_enable":"3, 4"}},"DSCP_TO_TC_MAP":{"A":{"63":"7"}},"TC_TO_DSCP_MAP":{"A":{"7":"63"}}}`) {
		f.Add(text)
	}
	for _, text := range scramble.Of(flat) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Read(strings.NewReader(text), "f")
		var at *format.ParseError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a line: %v", err)
		}
		if err != nil {
			return
		}
		for port, q := range c.Ports {
			for dscp := range q.TC {
				tc := q.TC[dscp]
				if tc > 15 || q.Group[tc] > 15 || q.Queue[tc] > 15 || q.Paused[tc%8] > 15 || q.GroupOf[tc%8] > 15 || q.Remark != nil && q.Remark[tc] > 63 {
					t.Fatalf("%s: %+v", port, q)
				}
			}
		}
		if tunnel := c.Tunnel; tunnel != nil && (!tunnel.Peer.IsValid() || len(tunnel.Servers) == 0) {
			t.Fatalf("%+v", tunnel)
		}
	})
}

const drawn = `<DeviceMiniGraph xmlns="Microsoft.Search.Autopilot.Evolution" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">
  <CpgDec>
    <Routers xmlns:a="x">
      <a:BGPRouterDeclaration><a:ASN>65100</a:ASN><a:Hostname>tor</a:Hostname></a:BGPRouterDeclaration>
      <a:BGPRouterDeclaration><a:ASN>64600</a:ASN><a:Hostname>LEAF</a:Hostname></a:BGPRouterDeclaration>
    </Routers>
  </CpgDec>
  <DpgDec><DeviceDataPlaneInfo>
    <LoopbackIPInterfaces xmlns:a="x"><a:LoopbackIPInterface><AttachTo>Loopback0</AttachTo><a:Prefix xmlns:b="y"><b:IPPrefix>10.1.0.32/32</b:IPPrefix></a:Prefix><a:PrefixStr>10.1.0.32/32</a:PrefixStr></a:LoopbackIPInterface></LoopbackIPInterfaces>
    <ManagementIPInterfaces><IPInterface><AttachTo>eth0</AttachTo><Prefix>bad</Prefix></IPInterface></ManagementIPInterfaces>
    <PortChannelInterfaces><PortChannel><Name>PortChannel1</Name><AttachTo>fortyGigE0/0;fortyGigE0/4</AttachTo></PortChannel></PortChannelInterfaces>
    <IPInterfaces><IPInterface><AttachTo>PortChannel1</AttachTo><Prefix>10.0.0.0/31</Prefix></IPInterface></IPInterfaces>
  </DeviceDataPlaneInfo></DpgDec>
  <PngDec>
    <DeviceInterfaceLinks>
      <DeviceLinkBase><ElementType>DeviceInterfaceLink</ElementType><EndDevice>LEAF</EndDevice><EndPort>Ethernet1</EndPort><StartDevice>tor</StartDevice><StartPort>fortyGigE0/0</StartPort></DeviceLinkBase>
      <DeviceLinkBase><ElementType>DeviceMgmtLink</ElementType><EndDevice>M</EndDevice></DeviceLinkBase>
    </DeviceInterfaceLinks>
    <Devices><Device><Hostname>LEAF</Hostname></Device></Devices>
  </PngDec>
  <Hostname>tor</Hostname>
</DeviceMiniGraph>
`

func TestMinigraph(t *testing.T) {
	c, err := ReadMinigraph(strings.NewReader(drawn), "f")
	if err != nil {
		t.Fatal(err)
	}
	if c.Hostname != "tor" || c.AS != 65100 || c.Channel["fortyGigE0/4"] != "PortChannel1" || len(c.Addresses) != 2 || c.Addresses[0].Prefix.String() != "10.1.0.32/32" ||
		len(c.Neighbors) != 1 || c.Neighbors[0] != (Neighbor{16, "fortyGigE0/0", "LEAF", "Ethernet1"}) {
		t.Fatalf("%+v", c)
	}
	// Files are indented: the text of a loopback's prefix is blank, not empty.
	for _, m := range []struct{ old, new string }{
		{"<b:IPPrefix>", "\n      <b:IPPrefix>\n"},
		{"</b:IPPrefix></a:Prefix><a:PrefixStr>10.1.0.32/32</a:PrefixStr>", "</b:IPPrefix>\n</a:Prefix>"},
	} {
		c, err := ReadMinigraph(strings.NewReader(strings.Replace(drawn, m.old, m.new, 1)), "f")
		if err != nil || len(c.Addresses) != 2 || c.Addresses[0].Prefix.String() != "10.1.0.32/32" {
			t.Errorf("%q: %+v, %v", m.new, c, err)
		}
	}
	for _, m := range []struct{ old, new, want string }{
		{drawn, "", "f:1: no Hostname"},
		{drawn, "<a></a>", "f:1: the element a, not DeviceMiniGraph"},
		{"</PngDec>", "", "f:22: not XML"},
		{"10.0.0.0/31", "10.0.0.0", `f:12: the prefix "10.0.0.0" of PortChannel1`},
		{"65100", "x", `f:4: the ASN "x" of tor`},
		{"<EndPort>Ethernet1</EndPort>", "", "f:16: a DeviceLinkBase of tor lacks"},
	} {
		if _, err := ReadMinigraph(strings.NewReader(strings.Replace(drawn, m.old, m.new, 1)), "f"); err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%q: %v", m.new, err)
		}
	}
}

// What sonic-cfggen prints has texts about the machine beside the tables.
func TestMachine(t *testing.T) {
	text := `{"platform": "x86_64-some_switch-r0", "DEVICE_METADATA": {"localhost": {"hostname": "sw", "deployment_id": null}}, "onie_version": "1"}`
	c, err := Read(strings.NewReader(text), "f")
	if err != nil || c.Hostname != "sw" || len(c.Ignored) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, wrong := range []string{`{"PORT": "x"}`, `{"OTHER": ["x"]}`} {
		if _, err := Read(strings.NewReader(wrong), "f"); err == nil || !strings.Contains(err.Error(), "f:1: table ") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// People write numbers where switches write texts, and null where there is nothing.
func TestNumbers(t *testing.T) {
	text := `{"DEVICE_METADATA": {"localhost": {"hostname": "sw", "bgp_asn": 65100}}, "PORT": {"Ethernet0": {"speed": 100000, "alias": null}},
"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": 3, "dscp_to_tc_map": "A"}}, "DSCP_TO_TC_MAP": {"A": {"26": 3}}}`
	c, err := Read(strings.NewReader(text), "f")
	if err != nil || c.AS != 65100 || c.Speed["Ethernet0"] != 100000 || len(c.Alias) > 0 || c.Ports["Ethernet0"].PFC != 8 || c.Ports["Ethernet0"].TC[26] != 3 {
		t.Fatalf("%+v, %v", c, err)
	}
	c, err = Read(strings.NewReader(strings.Replace(text, "65100", "null", 1)), "f")
	if err != nil || c.AS != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, m := range []struct{ old, new, want string }{
		{"65100", "[65100]", "f:1: bgp_asn is a list, not a text"},
		{`"26": 3`, `"26": 3.5`, `f:2: DSCP_TO_TC_MAP|A: "26" → "3.5" is out of range`},
	} {
		if _, err := Read(strings.NewReader(strings.Replace(text, m.old, m.new, 1)), "f"); err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%s: %v", m.new, err)
		}
	}
}

func FuzzReadMinigraph(f *testing.F) {
	for _, text := range scramble.Of(drawn) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ReadMinigraph(strings.NewReader(text), "f")
		var at *format.ParseError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a line: %v", err)
		}
	})
}
