package ibnet

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/scramble"
)

// plain is one small fabric in the form of ibnetdiscover: two switches, two
// cables between them, an adapter with a port on each.
const plain = `#
# Topology file: generated on Mon Jan  6 10:00:00 2025
#
vendid=0x2c9
devid=0xd2f2
sysimgguid=0xa0
switchguid=0xa0(a0)
Switch	4 "S-00000000000000a0"		# "left # 1" enhanced port 0 lid 3 lmc 0
[1]	"S-00000000000000b0"[1]		# "right" lid 4 4xHDR
[2]	"S-00000000000000b0"[2]		# "right" lid 4 4xHDR
[4]	"H-00000000000000c0"[1](c1) 		# "host" lid 6 4xHDR

vendid=0x2c9
devid=0xd2f2
sysimgguid=0xb0
switchguid=0xb0(b0)
Switch	4 "S-00000000000000b0"		# "right" base port 0 lid 4 lmc 0
[1]	"S-00000000000000a0"[1]		# "left # 1" lid 3 4xHDR
[2]	"S-00000000000000a0"[2]		# "left # 1" lid 3 4xHDR
[3]	"H-00000000000000c0"[2](c2) 		# "host" lid 8 4xHDR

vendid=0x2c9
devid=0x1021
sysimgguid=0xc0
caguid=0xc0
Ca	2 "H-00000000000000c0"		# "host"
[1](c1) 	"S-00000000000000a0"[4]		# lid 6 lmc 1 "left # 1" lid 3 4xHDR
[2](c2) 	"S-00000000000000b0"[3]		# lid 8 lmc 1 "right" lid 4 4xHDR
`

func mustRead(t *testing.T, text string) *fabric.Fabric {
	t.Helper()
	f, err := Read(strings.NewReader(text), "net")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every dialect of the same fabric reads as the same fabric.
func TestDialectsReadAlike(t *testing.T) {
	want := mustRead(t, plain)
	if w := want.Warnings(); len(w) != 0 {
		t.Errorf("warnings: %q", w)
	}
	for _, tc := range []struct{ name, text, warning string }{
		{"CRLF", strings.ReplaceAll(plain, "\n", "\r\n"), ""},
		{"spaces for tabs", strings.ReplaceAll(plain, "\t", "   "), ""},
		{"terminal log", strings.ReplaceAll(strings.ReplaceAll(plain, "\t", ""), "\n", "\r\n") + "[root@sm ~]# ", "line is no part"},
		{"no blank lines", strings.ReplaceAll(plain, "\n\n", "\n"), ""},
		{"Hca", strings.ReplaceAll(plain, "Ca\t", "Hca "), ""},
		{"0x in brackets", strings.NewReplacer("(c1)", "(0xc1)", "(c2)", "(0x00000000000000C2)").Replace(plain), ""},
		{"sections", "Chassis 1 (guid 0x77)\n" + plain + "\nNon-Chassis Nodes\n", ""},
		{"noise", "src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110\n" + plain, "line 1: src/query_smp.c"},
		{"external ports", strings.NewReplacer("[4]\t", "[4][ext 17]\t", "\"[4]", "\"[4][ext 17]").Replace(plain), ""},
		{"full information", strings.ReplaceAll(plain, "4xHDR\n", "4xHDR s=1 w=2 e=4\n"), ""},
		{"no line end", strings.TrimSuffix(plain, "\n"), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := mustRead(t, tc.text)
			if diff := compare(partsOf(want), got); diff != "" {
				t.Error(diff)
			}
			warnings := strings.Join(got.Warnings(), "\n")
			if (warnings != "") != (tc.warning != "") || !strings.Contains(warnings, tc.warning) {
				t.Errorf("warnings %q, want %q", warnings, tc.warning)
			}
		})
	}
}

func TestNetFileOfIbsim(t *testing.T) {
	f := mustRead(t, `
Switch 8 "switch(0, 0)"
[1] "switch(0, 1)"[1]
[2] "Hca-1"[1]
Switch 8 "switch(0, 1)"
[1] "switch(0, 0)"[1]
Hca 2 "Hca-1"
[1] "switch(0, 0)"[2]
Router 2 "way out"
[1] "switch(0, 1)"[3]
`)
	c := f.Count()
	if c.Switches != 2 || c.Adapters != 1 || c.Routers != 1 || c.SwitchCables != 1 || c.AdapterCables != 2 {
		t.Errorf("%+v", c)
	}
	if f.Node(0).Name != "switch(0, 0)" || f.Node(0).GUID == 0 || f.Channel(0).Rate != (fabric.Rate{}) {
		t.Errorf("first switch is %+v, its rate %v", f.Node(0), f.Channel(0).Rate)
	}
}

func TestOddButSettled(t *testing.T) {
	for _, tc := range []struct {
		name, old, new, warning string
		check                   func(f *fabric.Fabric) bool
	}{
		{"slower end counts", "\"right\" lid 4 4xHDR\n[2]", "\"right\" lid 4 1xSDR\n[2]", `runs at 1xSDR by line 9 and at 4xHDR by line 18; it counts as 1xSDR`,
			func(f *fabric.Fabric) bool { return f.Channel(0).Rate.String() == "1xSDR" }},
		{"unknown speed is kept", "4xHDR", "4xZDR", "a speed weft does not know",
			func(f *fabric.Fabric) bool { return f.Channel(0).Rate.String() == "4xZDR" }},
		{"known speed beats unknown", "\"right\" lid 4 4xHDR\n[2]", "\"right\" lid 4 4xZDR\n[2]", "it counts as 4xHDR",
			func(f *fabric.Fabric) bool { return f.Channel(0).Rate.String() == "4xHDR" }},
		{"no rate", "4xHDR", "undefined (7)", `"undefined" is no rate`,
			func(f *fabric.Fabric) bool { return f.Channel(0).Rate == fabric.Rate{} }},
		{"unassigned LID", "lid 6 lmc 1", "lid 65535 lmc 0", "host, port 1 (LID 1) has no LID of its own",
			func(f *fabric.Fabric) bool { return f.Endpoint(2).LID == 1 }},
		{"LID zero is the peer's to say", "lid 6 lmc 1", "lid 0 lmc 1", "",
			func(f *fabric.Fabric) bool { return f.Endpoint(2).LID == 6 }},
		{"recorded at one end", "[2]	\"S-00000000000000b0\"[2]		# \"right\" lid 4 4xHDR\n", "",
			`1 cable is in the record of one end only; the first is "S-00000000000000b0"[2] to "S-00000000000000a0"[2] in line 18, of which the record of "S-00000000000000a0" says nothing`,
			func(f *fabric.Fabric) bool {
				one := f.OneSided()
				return f.Trunks() == 4 && len(one) == 1 && f.Node(f.Channel(one[0]).From).GUID == 0xb0
			}},
		{"no record for the adapter", plain[strings.LastIndex(plain, "\nvendid"):], "", "1 node has no record and known only",
			func(f *fabric.Fabric) bool {
				e := f.Endpoint(3)
				return f.Node(2).Name == "host" && f.Node(2).Ports == 2 && e.PortGUID == 0xc2 && e.LID == 8
			}},
		{"node GUID from the identifier", "switchguid=0xa0(a0)\n", "", "",
			func(f *fabric.Fabric) bool { return f.NodeByGUID(0xa0) == 0 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := mustRead(t, strings.ReplaceAll(plain, tc.old, tc.new))
			if !tc.check(f) {
				t.Errorf("nodes %+v channels %+v endpoints %+v", f.Nodes(), f.Channels(), f.Endpoints())
			}
			warnings := strings.Join(f.Warnings(), "\n")
			if (warnings != "") != (tc.warning != "") || !strings.Contains(warnings, tc.warning) {
				t.Errorf("warnings %q, want %q", warnings, tc.warning)
			}
		})
	}
}

// Lines with brackets, quotes and keywords of the format that are no records are passed over.
func TestLinesOfOthersAreNoRecords(t *testing.T) {
	for _, line := range []string{
		`[root@head ~]# ibnetdiscover | tee "net" [2]`, `ibwarn: [2345] mad_rpc: failed; dport ("DR path"[3])`, `see "Switch 36" in [1] and Ca 2 of`,
		`src/query_smp.c:228; umad (DR path slid 0; dlid 0; 0,1,19 Attr 0x11:0) bad status 110`, `x[1] "a" [2]`,
	} {
		f := mustRead(t, line+"\n"+plain)
		if w := f.Warnings(); len(w) != 1 || !strings.Contains(w[0], "1 line is no part of ibnetdiscover's format, skipped; the first is line 1: ") {
			t.Errorf("%s: warnings %q", line, w)
		}
	}
}

func TestErrorsNameTheLines(t *testing.T) {
	edit := func(old, new string) string {
		if !strings.Contains(plain, old) {
			panic(old)
		}
		return strings.Replace(plain, old, new, 1)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "net:1: no switch or adapter"},
		{"prose", "Dear all,\nhello\n", "net:2: no switch or adapter"},
		{"binary", "Switch\x00", "net:1: NUL byte"},
		{"long line", "#\n#" + strings.Repeat("x", reading.MaxLine+10), "net:2: line longer than 65536"},
		{"two peers", edit("\"S-00000000000000a0\"[1]", "\"S-00000000000000a0\"[3]"), `net:18: "S-00000000000000b0"[1] is cabled to "S-00000000000000a0"[3] here, but line 9 says that`},
		{"port twice", edit("[2]\t\"S-00000000000000b0\"[2]", "[1]\t\"S-00000000000000b0\"[2]"), "net:10: port 1 of \"S-00000000000000a0\" has two records; the other is line 9"},
		{"peer's port twice", edit("[2]\t\"S-00000000000000b0\"[2]", "[2]\t\"S-00000000000000b0\"[1]"), "net:10: port 1 of \"S-00000000000000b0\" is the peer here and in line 9"},
		{"port beyond", edit("[4]\t", "[5]\t"), "net:11: \"S-00000000000000a0\" has 4 ports by line 8, not a port 5"},
		{"peer's port beyond", edit("\"[1](c1)", "\"[3](c1)"), "net:11: the peer \"H-00000000000000c0\" has 2 ports by line 26, not a port 3"},
		{"port 0", edit("[4]\t", "[0]\t"), "net:11: no port number from 1 to 254"},
		{"to itself", edit("[2]\t\"S-00000000000000b0\"[2]", "[2]\t\"S-00000000000000a0\"[2]"), "net:10: port 2 of \"S-00000000000000a0\" is cabled to itself"},
		{"record twice", plain + plain[strings.LastIndex(plain, "\nvendid"):], "net:34: \"H-00000000000000c0\" has a second record; its first is in line 26: if these are two dumps, give one"},
		{"ports of a diff", strings.ReplaceAll(plain, "\n[", "\n< ["), "net:9: the record of a node or port with other text before or in it: < [1]\t\"S-00000000000000b0\"[1]"},
		{"nodes of a diff", strings.ReplaceAll(plain, "\nCa", "\n> Ca"), "net:26: the record of a node or port with other text before or in it: > Ca"},
		{"colours of grep", strings.ReplaceAll(plain, "\n[2]", "\n\x1b[01;31m\x1b[K[2]\x1b[m\x1b[K"), "net:10: the record of a node or port with other text before or in it"},
		{"GUID twice", edit("caguid=0xc0", "caguid=0xb0"), "net:26: GUID 0x00000000000000b0 of \"H-00000000000000c0\" belongs to \"S-00000000000000b0\" in line 17 already"},
		{"too many ports", edit("Switch\t4", "Switch\t255"), "net:8: a node with more than 254 ports"},
		{"no closing quote", edit("\"left # 1\" enhanced port 0 lid 3 lmc 0", "\"left"), "net:8: the name of the node has no closing quote"},
		{"LID beyond", edit("lid 3 lmc 0", "lid 65536 lmc 0"), "net:8: no LID from 0 to 65535"},
		{"LMC beyond", edit("lid 6 lmc 1", "lid 6 lmc 8"), "net:27: no number from 0 to 7"},
		{"no GUID", edit("0xc0", ""), "net:24: no hexadecimal number"},
		{"two nodes of one identifier", strings.ReplaceAll(strings.ReplaceAll(plain, "S-00000000000000a0", "S-xxxxxxxxxxxxxxxx"), "S-00000000000000b0", "S-xxxxxxxxxxxxxxxx"), "net:17: \"S-xxxxxxxxxxxxxxxx\" has a second record; its first is in line 8: if these are two dumps, give one; if these are two nodes, give each an identifier of its own, wherever it is named"},
		{"two peers of one identifier", "Switch 4 \"S-1\"\n[1] \"H-xxxx\"[1]\n[2] \"H-xxxx\"[1]\n", "net:3: port 1 of \"H-xxxx\" is the peer here and in line 2; if these are two nodes, give each an identifier of its own"},
		{"port before node", "[1] \"x\"[1]\n", "net:1: a port before any node"},
		{"unknown peer", "Switch 2 \"a\"\n[1] \"b\"[1]\n", "net:2: \"b\" has no record, and its identifier has no GUID"},
		{"cut in an attribute", plain[:strings.LastIndex(plain, "caguid")+4], "net:22: truncated"},
		{"cut before the ports", plain[:strings.LastIndex(plain, "[1](c1)")], "net:26: truncated: the file ends within the record of channel adapter"},
		{"cut in a peer's name", plain[:strings.LastIndex(plain, "ght\"")], "net:28: the name of the peer has no closing quote"},
		{"cut in a LID", plain[:strings.LastIndex(plain, " 4xHDR")], "net:28: truncated"},
		{"cut in a rate", strings.TrimSuffix(plain, "DR\n"), "net:28: truncated"},
		{"cut in a switch", strings.Split(plain, " lmc 0\n")[0], "net:8: truncated"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := Read(strings.NewReader(tc.text), "net")
			var at *format.ParseError
			if f != nil || !errors.As(err, &at) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}

func TestReadReturnsFailuresOfTheReader(t *testing.T) {
	failing := io.MultiReader(strings.NewReader("#\n"), iotestErr{})
	if _, err := Read(failing, "net"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error is %v", err)
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// What Read accepts, Write writes so that Read accepts it again as the same.
func FuzzRead(f *testing.F) {
	headless := from(plain, "[1]\t")
	for _, text := range scramble.Of(plain, director, report, wrapped(plain, 60, false), wrapped(report, 80, true), headless, "Topology 1\n"+director) {
		f.Add([]byte(text))
	}
	f.Add([]byte(inUTF16(plain, "\xFF\xFE", false)))
	f.Add([]byte(inUTF16(report, "", true)))
	f.Add([]byte("Switch41 \"S-1\"# \"a\"\r\n[1]\"S-1\"[2]# \"a\" lid 0 12xXDR\r\n$ "))
	f.Add([]byte("Rt 2 \"R-0000000000000007\"\n[1] \"b\"[1]\nHca 2 \"b\"\n[1] \"R-0000000000000007\"[1]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("\n")) > 500 {
			return
		}
		checkWritten(t, text)
	})
}

// The same for a text with a few tokens missing, doubled or exchanged.
func TestWhatReadAcceptsIsWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	accepted := 0
	var whole [][]string
	for _, text := range []string{plain, director, report, wrapped(plain, 60, false)} {
		whole = append(whole, regexp.MustCompile(`[[:alnum:]]+|\s+|.`).FindAllString(text, -1))
	}
	for i := range 8000 {
		whole := whole[i%len(whole)]
		tokens := slices.Clone(whole)
		for range 1 + rng.IntN(3) {
			at, other := rng.IntN(len(tokens)), rng.IntN(len(tokens))
			switch rng.IntN(4) {
			case 0:
				tokens[at] = ""
			case 1:
				tokens[at] += tokens[other]
			case 2:
				tokens[at], tokens[other] = tokens[other], tokens[at]
			case 3:
				tokens[at] = tokens[other]
			}
		}
		if checkWritten(t, []byte(strings.Join(tokens, ""))) {
			accepted++
		}
	}
	if accepted < 2000 {
		t.Errorf("only %d texts were accepted", accepted)
	}
}

// checkWritten reports whether Read accepts a text, and if it does holds what Write makes
// of it against it.
func checkWritten(t *testing.T, text []byte) bool {
	t.Helper()
	net, err := Read(bytes.NewReader(text), "fuzz")
	if at := (*format.ParseError)(nil); err != nil && !errors.As(err, &at) {
		t.Fatalf("%v names no line", err)
	}
	if err != nil {
		return false
	}
	var out bytes.Buffer
	if err := Write(&out, net); err != nil {
		t.Fatal(err)
	}
	again, err := Read(bytes.NewReader(out.Bytes()), "again")
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.Bytes())
	}
	if diff := compare(printable(net), again); diff != "" {
		t.Fatalf("%s\n%s\nis written as\n%s", diff, text, out.Bytes())
	}
	return true
}

// printable is the nodes, channels and endpoints of a fabric, with names as Write
// writes them.
func printable(f *fabric.Fabric) *parts {
	p := partsOf(f)
	for i := range p.nodes {
		p.nodes[i].Name = reading.Printable(p.nodes[i].Name)
	}
	return p
}
