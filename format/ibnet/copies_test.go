package ibnet

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
)

// wrapped breaks lines after so many characters, as a terminal does that is copied from.
func wrapped(text string, columns int, trim bool) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "   ")) {
		line = strings.TrimSuffix(line, "\n")
		for len(line) > columns {
			part := line[:columns]
			if trim {
				part = strings.TrimRight(part, " ")
			}
			b.WriteString(part + "\n")
			line = line[columns:]
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// A text that was broken into lines of any length reads as the text that it was, and says so.
func TestBrokenLines(t *testing.T) {
	for name, text := range map[string]string{"ibnetdiscover": plain, "ibdiagnet": director, "ports report": report} {
		want := mustRead(t, text)
		for columns := 48; columns < 130; columns++ {
			for _, trim := range []bool{false, true} {
				broken := wrapped(text, columns, trim)
				got, err := Read(strings.NewReader(broken), "net")
				if err != nil {
					t.Fatalf("%s in %d columns: %v in\n%s", name, columns, err, broken)
				}
				parts := partsOf(want)
				if trim { // a blank that is lost within a name is not seen to be
					nameAlike(parts, got)
				}
				if diff := compare(parts, got); diff != "" {
					t.Fatalf("%s in %d columns: %s in\n%s", name, columns, diff, broken)
				}
				says := strings.Contains(strings.Join(got.Warnings(), "\n"), "broken in two, as terminals and mail programs do it")
				if is := strings.Count(broken, "\n") > strings.Count(text, "\n"); says != is && !strings.Contains(broken, "\n#") {
					t.Errorf("%s in %d columns: broken is %t, warnings %q", name, columns, is, got.Warnings())
				}
			}
		}
	}
	broken := wrapped(plain, 60, false)
	want := fmt.Sprintf("[%d lines were broken in two, as terminals and mail programs do it, and read as one; the first is line 8]", strings.Count(broken, "\n")-strings.Count(plain, "\n"))
	if w := fmt.Sprint(mustRead(t, broken).Warnings()); w != want {
		t.Errorf("%s, want %s", w, want)
	}
}

// nameAlike gives nodes the names of another fabric that differ in blanks alone.
func nameAlike(p *parts, f *fabric.Fabric) {
	for i := range p.nodes {
		if i < len(f.Nodes()) && strings.ReplaceAll(p.nodes[i].Name, " ", "") == strings.ReplaceAll(f.Nodes()[i].Name, " ", "") {
			p.nodes[i].Name = f.Nodes()[i].Name
		}
	}
}

// FDR at the end of a line may be FDR10 that was broken.
func TestBrokenFDR10(t *testing.T) {
	text := strings.ReplaceAll(plain, "4xHDR", "4xFDR10")
	want := mustRead(t, text)
	got := mustRead(t, strings.ReplaceAll(text, "4xFDR10", "4xFDR\n10"))
	if diff := compare(partsOf(want), got); diff != "" {
		t.Error(diff)
	}
	if w := mustRead(t, strings.ReplaceAll(text, "4xFDR10", "4xFDR")).Warnings(); len(w) != 0 {
		t.Errorf("warnings %q", w)
	}
}

// A whole line that ends with FDR stays one where the next is broken: it once swallowed the
// record after it, as a part of a name.
func TestBrokenBehindFDR(t *testing.T) {
	text := strings.ReplaceAll(plain, "4xHDR", "4xFDR")
	want := partsOf(mustRead(t, text))
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "[") {
			continue
		}
		for cut := strings.Index(line, ` "`); cut < strings.LastIndex(line, `"`); cut++ {
			broken := strings.Join(lines[:i], "") + line[:cut] + "\n" + line[cut:] + strings.Join(lines[i+1:], "")
			got := mustRead(t, broken)
			if diff := compare(want, got); diff != "" || len(got.Warnings()) != 1 {
				t.Fatalf("line %d broken at %d: %s, warnings %q, in\n%s", i+1, cut, diff, got.Warnings(), broken)
			}
		}
	}
}

// Whatever is broken, and whatever nodes are called: never another fabric without an error
// or a warning.
func TestBrokenLinesOfRandomFabrics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFabric(t)
		var text bytes.Buffer
		if err := Write(&text, f); err != nil {
			t.Fatal(err)
		}
		columns := rapid.IntRange(50, 120).Draw(t, "columns")
		broken := wrapped(text.String(), columns, false)
		again, err := Read(strings.NewReader(broken), "f")
		if at := (*format.ParseError)(nil); err != nil && !errors.As(err, &at) {
			t.Fatalf("%v names no line", err)
		}
		if err != nil || len(again.Warnings()) > 0 {
			return
		}
		parts := partsOf(f)
		for i := range parts.nodes {
			parts.nodes[i].Name = again.Node(fabric.NodeID(i)).Name
		}
		if diff := compare(parts, again); diff != "" {
			t.Fatalf("%s\n%s", diff, broken)
		}
	})
}

// from is a text from where some words come first.
func from(text, words string) string {
	_, after, _ := strings.Cut(text, words)
	return words + after
}

// A text that begins within a record is completed by the other ends of its cables.
func TestTextWithoutItsHead(t *testing.T) {
	want := mustRead(t, plain)
	got := mustRead(t, from(plain, "[1]\t"))
	parts := partsOf(want)
	parts.nodes[0].SystemGUID, parts.nodes[0].VendorID, parts.nodes[0].DeviceID = 0, 0, 0
	if diff := compare(parts, got); diff != "" {
		t.Error(diff)
	}
	if w := strings.Join(got.Warnings(), "\n"); !strings.Contains(w, `the text begins within the record of a node: the 3 ports before the first one belong to "S-00000000000000a0" by the other ends of their cables`) {
		t.Errorf("warnings %q", w)
	}
	host := plain[strings.LastIndex(plain, "[1](c1)"):] + plain[:strings.LastIndex(plain, "\nvendid")] // the adapter's, at the head
	got = mustRead(t, host)
	if n := got.Node(2); n.GUID != 0xc0 || n.Kind != fabric.Adapter || n.Ports != 2 || got.Endpoint(3).LID != 8 {
		t.Errorf("%+v, %+v", n, got.Endpoints())
	}
	for _, tc := range []struct{ name, text, want string }{
		{"nobody says whose", "[1]\t\"S-00000000000000b0\"[1]\n" + plain[strings.LastIndex(plain, "vendid"):], "net:1: a port before any node, and no record at the other end"},
		{"somebody else", "[4]\t\"S-00000000000000b0\"[1]\n" + plain, `net:1: a port before any node, port 1 of which line 19 says that it is cabled to "S-00000000000000a0"[1]`},
		{"there is a record", "[1]\t\"S-00000000000000b0\"[1]\n" + plain, `net:1: a port before any node, and "S-00000000000000a0", whose it is by the other end of its cable, has its record in line 9`},
		{"attributes between", strings.Replace(plain, "Switch	4 \"S-00000000000000b0\"		# \"right\" base port 0 lid 4 lmc 0\n", "", 1), "net:17: a port behind the attributes of line 13, and no record of a node between"},
		{"quotes of a word processor", strings.Replace(plain, "4 \"S-00000000000000b0\"", "4 “S-00000000000000b0”", 1), "net:18: a port behind the attributes of line 13, and no record of a node between; line 17 is none: Switch\t4 “S-00000000000000b0”"},
	} {
		_, err := Read(strings.NewReader(tc.text), "net")
		if at := (*format.ParseError)(nil); !errors.As(err, &at) || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: error is %v, want %s", tc.name, err, tc.want)
		}
	}
}

// inUTF16 is a text as PowerShell redirects it.
func inUTF16(text, mark string, highFirst bool) string {
	b := []byte(mark)
	for _, u := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
		if highFirst {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

func TestByteOrders(t *testing.T) {
	named := strings.ReplaceAll(plain, "host", "hôst 🧵")
	want := mustRead(t, named)
	for name, tc := range map[string]struct{ text, says string }{
		"UTF-8 with a mark":      {"\xEF\xBB\xBF" + named, "the text begins with a byte order mark, which is passed over"},
		"PowerShell":             {inUTF16(named, "\xFF\xFE", false), "the text is in UTF-16, as PowerShell writes it, and is read as such"},
		"high bytes first":       {inUTF16(named, "\xFE\xFF", true), "the text is in UTF-16, high bytes first, and is read as such"},
		"without a mark":         {inUTF16(named, "", false), "every other byte is zero: the text is taken to be in UTF-16"},
		"high first, no mark":    {inUTF16(named, "", true), "every other byte is zero: the text is taken to be in UTF-16"},
		"without the first line": {inUTF16(from(named, "vendid"), "\xFF\xFE", false), "the text is in UTF-16"},
	} {
		kind, r, err := reading.Peek(strings.NewReader(tc.text))
		if err != nil || kind != reading.IBNet {
			t.Errorf("%s: is %s, %v", name, kind, err)
			continue
		}
		got, err := Read(r, "net")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := compare(partsOf(want), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if w := got.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], tc.says) {
			t.Errorf("%s: warnings %q", name, w)
		}
	}
	text := inUTF16(plain, "\xFF\xFE", false)
	if _, err := Read(strings.NewReader(text[:len(text)-1]), "net"); err == nil || err.Error() != "net:28: the text ends within a character of UTF-16; it was cut short" {
		t.Error(err)
	}
}

// partOf says where a fabric has what another has not, by GUIDs and ports, or knows it
// otherwise.
func partOf(part, all *fabric.Fabric) error {
	for _, n := range part.Nodes() {
		at := all.NodeByGUID(n.GUID)
		if at == fabric.None || all.Node(at).Kind != n.Kind || all.Node(at).Ports < n.Ports {
			return fmt.Errorf("node %+v", n)
		}
	}
	for _, c := range part.Channels() {
		at := all.Out(all.NodeByGUID(part.Node(c.From).GUID), c.FromPort)
		if at == fabric.None || all.Node(all.Channel(at).To).GUID != part.Node(c.To).GUID || all.Channel(at).ToPort != c.ToPort || c.Rate != (fabric.Rate{}) && all.Channel(at).Rate != c.Rate {
			return fmt.Errorf("cable %+v", c)
		}
	}
	return nil
}

// A dump cut anywhere is refused with its line, or a part of what it was and said to be one,
// or all of it.
func TestCutAnywhere(t *testing.T) {
	for name, text := range map[string]string{"ibnetdiscover": plain, "ibdiagnet": director, "ports report": report, "without rates": strings.ReplaceAll(plain, " 4xHDR", "")} {
		all := mustRead(t, text)
		for cut := range len(text) {
			got, err := Read(strings.NewReader(text[:cut]), "net")
			if err != nil {
				var at *format.ParseError
				if !errors.As(err, &at) {
					t.Fatalf("%s: %v names no line", name, err)
				}
				continue
			}
			if err := partOf(got, all); err != nil {
				t.Fatalf("%s cut at %d, of %q: %v", name, cut, text[max(0, cut-40):cut], err)
			}
			if len(got.Channels()) < len(all.Channels()) && len(got.Warnings()) == 0 {
				t.Errorf("%s cut at %d, of %q: it has %d of %d channels and says nothing", name, cut, text[max(0, cut-40):cut], len(got.Channels()), len(all.Channels()))
			}
			for i := range got.Endpoints() {
				e := got.Endpoint(fabric.EndpointID(i))
				if of := all.Owner(e.LID); len(got.Warnings()) == 0 && (of == fabric.None || all.Node(all.Endpoint(of).Node).GUID != got.Node(e.Node).GUID) {
					t.Errorf("%s cut at %d, of %q: LID %d is another's", name, cut, text[max(0, cut-40):cut], e.LID)
				}
			}
		}
	}
}

// Two dumps in one file are two subnets, or one subnet at two times: what was read is told, with where the second begins. The
// header of a run that found nothing, before that of another, begins no second dump.
func TestTwoDumpsAreTold(t *testing.T) {
	other := strings.NewReplacer("00a0\"", "10a0\"", "00b0\"", "10b0\"", "00c0\"", "10c0\"", "0xa0(a0)", "0x10a0(10a0)", "0xb0(b0)", "0x10b0(10b0)", "0xa0", "0x10a0", "0xb0", "0x10b0", "0xc0", "0x10c0", "(c1)", "(10c1)", "(c2)", "(10c2)",
		"lid 3 ", "lid 13 ", "lid 4 ", "lid 14 ", "lid 6 ", "lid 16 ", "lid 8 ", "lid 18 ").Replace(plain)
	third := strings.NewReplacer("10a0", "20a0", "10b0", "20b0", "10c", "20c", "lid 1", "lid 2").Replace(other)
	for text, want := range map[string]string{
		plain + "\n" + other:                "the file holds 2 dumps, the second from line 31 on (# Topology file), and they are read as one network: if they are of several subnets, or of several days, give one",
		plain + "\n" + other + "\n" + third: "the file holds 3 dumps, the second from line 31 on (# Topology file), and they are read as one network: if they are of several subnets, or of several days, give one",
	} {
		if w := mustRead(t, text).Warnings(); !slices.Equal(w, []string{want}) {
			t.Errorf("%q, want %q", w, want)
		}
	}
	failed := "#\n# Topology file: generated on Mon Jan  6 09:59:00 2025\n#\n"
	if w := mustRead(t, failed+plain).Warnings(); len(w) != 0 {
		t.Errorf("a run that found nothing: %q", w)
	}
	if w := mustRead(t, strings.ReplaceAll(plain, "# Topology file", "#")+"\n"+other).Warnings(); len(w) != 0 {
		t.Errorf("one header, between records: %q", w)
	}
	if w := mustRead(t, plain+failed).Warnings(); len(w) != 0 {
		t.Errorf("a run that found nothing behind it: %q", w)
	}
}
