package reading

import (
	"strings"
	"testing"
)

// What programs and switches print is called by its name, each row of the table by an example
// at least, and something is said to give in its place.
func TestUnread(t *testing.T) {
	met := map[Kind]bool{}
	for text, want := range map[string]string{
		"> vendid=0x2c9\n> Switch\t36 \"S-0002c90200404a10\"\t\t# \"leaf 1\" enhanced port 0 lid 3 lmc 0\n":                      "something before its lines",
		"12:24:03 vendid=0x2c9\n12:24:03 Ca\t1 \"H-0002c90200404a10\"\t\t# \"node-7 mlx5_0\"\n":                                  "something before its lines",
		"Switch\t: 0x0002c90200404a10 ports 36 \"leaf 1\" enhanced port 0 lid 3 lmc 0\n":                                         "ibswitches",
		"Ca\t: 0x0002c9030045f120 ports 2 \"node-7 HCA-1\"\n":                                                                    "ibhosts",
		"Switch\t : 0x0002c90200404a10 ports 36 devid 0xbd36 vendid 0x2c9 \"leaf 1\"\n":                                          "ibswitches",
		"CA 'mlx5_0'\n\tCA type: MT4123\n\tNumber of ports: 1\n":                                                                 "ibstat output",
		"Infiniband device 'mlx5_0' port 1 status:\n\tdefault gid:\t fe80:0:0:0\n":                                               "ibstatus",
		"hca_id:\tmlx5_0\n\ttransport:\t\t\tInfiniBand (0)\n":                                                                    "ibv_devinfo",
		"NodeRecord dump:\n\t\tlid.....................1\n":                                                                      "saquery",
		"LinkRecord dump:\n\t\tFromLID.................1\n":                                                                      "saquery",
		"# Node info: Lid 3\nBaseVers:........................1\n":                                                               "smpquery",
		"# Port info: Lid 3 port 0\nMkey:............................0x0\n":                                                      "smpquery",
		"From ca {0x0002c9030045f120} portnum 1 lid 12-12 \"node-7 HCA-1\"\n[1] -> switch port {0x1}[9]\n":                       "ibtracert",
		"Errors for \"node-7 HCA-1\"\n   GUID 0x2c9030045f121 port 1: [SymbolErrorCounter == 3]\n":                               "ibqueryerrors",
		"# Port counters: Lid 12 port 1 (CapMask: 0x1400)\nPortSelect:......................1\n":                                 "perfquery",
		"# PortExtendedSpeedsCounters with RS-FEC Active: Lid 12 port 1 (CapMask: 0x1400)\nPortSelect:......................1\n": "perfquery",
		"# x\n-----\nPort=1 Lid=0x0003 GUID=0x0002c9030045f121 Device=4129 Port Name=h/U1/P1\n":                                  "ibdiagnet2.pm",
		"# x\n\n\"MF0;leaf 1:MQM8700/U1\", Mellanox, 0x0002c90200404a10, LID 3\n  #  : IB# : Sta\n":                              "ibdiagnet2.net_dump",
		"# x\nTy : #     : #IB : GUID : LID\n":                                                                                   "ibdiagnet2.net_dump_ext",
		"Running version   : \"IBDIAGNET 2.10.0\"\nRunning command   : ibdiagnet -o out\n":                                       "log of ibdiagnet",
		"Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x0002c90200404a10 (leaf 1):\n     Ports: 0 1 2\n":                 "multicast tables",
		"-I- Using port 1 as the local port.\n-W- ...\n":                                                                         "log of ibdiagnet",
		"Nov 23 10:11:12 123456 [4F8A7740] 0x03 -> OpenSM 3.3.23\n":                                                              "OpenSM's log",
		"#\n# DEVICE ATTRIBUTES OPTIONS\n#\n# The port GUID on which the OpenSM is running\nguid 0x0\n":                          "OpenSM configuration",
		"0x0002c9030045f121 0x000c 0x000c\n\n0x0002c90200404a10 0x0003 0x0003\n":                                                 "guid2lid",
		"SYSTEM LEAF,LEAF:4x\n\nNODE SW 24 MT47396 U1\n    1 -> P1\n":                                                            ".ibnl",
		"TOPSYSTEM MQM8700\n\nNODE SW 41 MT54000 U1\n  1 -4x-> P1\n":                                                             ".ibnl",
		"SwitchName=ibsw2 Nodes=0x155dfffd341acb,0x155dfffd341b0b\nSwitchName=ibsw1 Switches=ibsw2\n":                            "sharp_cmd topology",
		"TreeID:0, Max Radix:2\n(0), AN:Mellanox Technologies Aggregation Node, lid:48\n":                                        "SHARP's",
		"ib-sw1 [standalone: master] > show interfaces ib status\n\nInterface\n":                                                 "show commands",
		"leaf-1# show ip route\n":                                            "show commands",
		"IB1/1 state:\n    Logical port state : Active\n":                    "show commands",
		"Ethernet1/1 is up\nadmin state is up\n":                             "show commands",
		"Codes: K - kernel route, C - connected, L - local, S - static,\n":   "show commands",
		"Port       Name   Status       Vlan     Duplex Speed  Type\nEt1/1 ": "show commands",
		"<!DOCTYPE html>\n<html><head><title>Login</title>":                  "page of the web",
		"[\n  {\n    \"system_guid\": \"0002c9\"\n":                          "no list of UFM's links",
		"[]\n":                               "no list of UFM's links",
		"name: lab\n\ntopology:\n  nodes:\n": "YAML",
		"\x04\x22\x4d\x18\x64\x40\xa7\x00":   "packed by lz4",
		"\x02\x21\x4c\x18\x64\x40\xa7\x00":   "packed by lz4",
		"7z\xbc\xaf\x27\x1c\x00\x04":         "packed by 7-Zip",
		"Rar!\x1a\x07\x01\x00":               "packed by RAR",
		"\x1f\x9d\x90Switch":                 "packed by compress",
		"LZIP\x01Switch":                     "packed by lzip",
		"\x89LZO\x00\r\n":                    "packed by lzop",
		"\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff":                      "packed by lzma",
		"fabric/ibdiagnet2.db_csv" + strings.Repeat("\x00", 257-24) + "ustar  \x00": "tar archive",
		"\x1b[32m#\x1b[0m\n\x1b[32mvendid=0x2c9\x1b[0m\n":                           "escape sequences of a terminal",
		"PK\x03\x04\x14\x00\x06\x00":                                                "workbook",
	} {
		k := Sniff([]byte(text))
		if met[k] = true; !strings.Contains(k.String(), want) || k.Instead() == "" || k.Network() {
			t.Errorf("%q is %v: give %q", text, k, k.Instead())
		}
		crlf := strings.ReplaceAll(text, "\n", "\r\n")
		if again := Sniff([]byte(crlf)); again != k {
			t.Errorf("%q is %v", crlf, again)
		}
	}
	for i, u := range unread {
		if !met[firstUnread+Kind(i)] {
			t.Errorf("no example of %s", u.name)
		}
	}
}
