package reading

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"
)

func gzipped(t *testing.T, text string) []byte {
	return packedBy(t, text, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

// "hello\n" and nothing as bzip2 packs them; Go unpacks that only.
const (
	helloBzip2 = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xc1\xc0\x80\xe2\x00\x00\x01\x41\x00\x00\x10\x02\x44\xa0\x00\x30\xcd\x00\xc3\x46\x29\x97\x17\x72\x45\x38\x50\x90\xc1\xc0\x80\xe2"
	noneBzip2  = "\x42\x5a\x68\x39\x17\x72\x45\x38\x50\x90\x00\x00\x00\x00"
)

func packedBy(t *testing.T, text string, by func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := by(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		name    string
		content []byte
	}{
		{"plain.txt", []byte("hello\n")},
		{"packed.gz", gzipped(t, "hello\n")},
		{"packed.txt", gzipped(t, "hello\n")},
		{"packed.zst", zstdPacked(t, "hello\n")},
		{"packed.xz", xzPacked(t, "hello\n", 1<<16)},
		{"packed.bz2", []byte(helloBzip2)},
		{"pbzip2.bz2", []byte(noneBzip2 + helloBzip2)},
	} {
		path := filepath.Join(dir, tc.name)
		if err := os.WriteFile(path, tc.content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, "-"} {
			r, err := Open(t.Context(), name, bytes.NewReader(tc.content))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil || string(text) != "hello\n" {
				t.Errorf("%s: %q, %v", tc.name, text, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for name, want := range map[string]string{filepath.Join(dir, "none"): "no such file", dir: "is a directory"} {
		if _, err := Open(t.Context(), name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := Open(t.Context(), "-", nil); err == nil {
		t.Error("standard input that is not there opens")
	}
	if _, err := Open(t.Context(), "-", bytes.NewReader([]byte{0x1f, 0x8b, 0})); err == nil {
		t.Error("a broken gzip header opens")
	}
}

func TestLines(t *testing.T) {
	for _, tc := range []struct {
		text  string
		lines []string
		err   string
	}{
		{"", nil, ""},
		{"a\nb", []string{"a", "b"}, ""},
		{"a\r\n\r\nb\r\n", []string{"a", "", "b"}, ""},
		{"a\nb\x00c\n", []string{"a"}, "f:2: NUL byte"},
		{strings.Repeat("x", MaxLine) + "\r\n", []string{strings.Repeat("x", MaxLine)}, ""},
		{strings.Repeat("x", MaxLine+1) + "\n", nil, "f:1: line longer than"},
		{"a\n" + strings.Repeat("x", 3*MaxLine), []string{"a"}, "f:2: line longer than"},
	} {
		l := NewLines(iotest.HalfReader(strings.NewReader(tc.text)), "f")
		var got []string
		for l.Next() {
			got = append(got, string(l.Text()))
			if l.Number() != len(got) {
				t.Errorf("line %d is numbered %d", len(got), l.Number())
			}
		}
		err := ""
		if l.Err() != nil {
			err = l.Err().Error()
		}
		if !slices.Equal(got, tc.lines) || !strings.HasPrefix(err, tc.err) || (err == "") != (tc.err == "") {
			t.Errorf("%.20q: %.60q, %s", tc.text, got, err)
		}
		if err == "" && l.Whole() != (tc.text != "" && tc.text[len(tc.text)-1] == '\n') {
			t.Errorf("%.20q: the last line counts as whole: %v", tc.text, l.Whole())
		}
	}
}

func TestSizeIsLimited(t *testing.T) {
	l := NewLines(strings.NewReader("1234\n1234\n"), "f")
	l.limit = 9
	for l.Next() {
	}
	if l.Err() == nil || !strings.HasPrefix(l.Err().Error(), "f:2: more than 9 bytes") {
		t.Errorf("error is %v", l.Err())
	}
}

func TestSniff(t *testing.T) {
	for _, tc := range []struct {
		head string
		want Kind
	}{
		{"", Empty},
		{" \r\n\n", Empty},
		{"\x1f\x8b", Binary},
		{"#\x00", Binary},
		{"hello\nworld", Unknown},
		{"#\n# Topology file: generated\n#\n\nvendid=0x2c9\n", IBNet},
		{"src/query_smp.c:195; umad\nSwitch41 \"S-1\"# \"x\"", IBNet},
		{"Switch 8 \"a\"\n", IBNet},
		{"{ SW Ports:24 SystemGUID:1 NodeGUID:1", SubnetList},
		{"Unicast lids [0x0-0x16] of switch DR path", LFT},
		{"dump_ucast_routes: Switch 0x1", FDBS},
		{"osm_ucast_mgr_dump_ucast_routes: Switch 0x1", FDBS},
		{"Switch 0x0002c90200000001, base LID 2, \"t0\"\n#in out : 0", SL2VLDump},
		{"CA: node-7 mlx5_0:\n      0x0002c9030045f121     12    1[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==>      3    9[  ] \"leaf 1\" ( )\n", LinkInfo},
		{"Switch: 0x0002c90200404a10 leaf 1:\r\n           3    1[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )\r\n", LinkInfo},
		{"Switch 0x0002c90200404a10 leaf 1:\n", LinkInfo},
		{"0x0002c90200404a10 \"leaf 1\"      3    1[  ] ==( 4X 10.0 Gbps Active/  LinkUp)==>  0x0002c9030045f121      12    1[  ] \"node-7\" ( )\n", LinkInfo},
		{"# x\n0x1 1 2 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67\n", SLVL},
		{"0x1 1 2 0x0123456701234567\n", SLVL},
		{"0x1 17 2\n", PSL},
		{"#compact\n0x1 17 2\n", PSL},
	} {
		if got := Sniff([]byte(tc.head)); got != tc.want {
			t.Errorf("%q is %v, want %v", tc.head, got, tc.want)
		}
		kind, r, err := Peek(strings.NewReader(tc.head))
		if err != nil || kind != tc.want {
			t.Errorf("Peek: %v, %v", kind, err)
		}
		if all, err := io.ReadAll(r); err != nil || string(all) != tc.head {
			t.Errorf("behind Peek is %q, %v", all, err)
		}
	}
}

func TestCursor(t *testing.T) {
	c := Cursor("\t 12 0xFf zz 18446744073709551616 \"a \"b\" c\" end ")
	if v, ok := c.Uint(11); ok {
		t.Errorf("%d is above 11", v)
	}
	if v, ok := c.Uint(12); !ok || v != 12 {
		t.Error(v, ok)
	}
	if v, ok := c.Hex(0xfe); ok {
		t.Errorf("%#x is above 0xfe", v)
	}
	if v, ok := c.Hex(0xff); !ok || v != 0xff {
		t.Error(v, ok)
	}
	if _, ok := c.Hex(1<<64 - 1); ok || c.CutFold("zy") || !c.CutFold("zz") {
		t.Error("zz")
	}
	if _, ok := c.Uint(1<<64 - 1); ok {
		t.Error("2^64 fits")
	}
	c.Word()
	narrow := c
	if s, ok := narrow.Quoted(); !ok || string(s) != "a " {
		t.Errorf("%q", s)
	}
	if s, ok := c.QuotedWide(); !ok || string(s) != `a "b" c` {
		t.Errorf("%q", s)
	}
	if w := c.Word(); string(w) != "end" || !c.Empty() || len(c.Word()) != 0 {
		t.Errorf("%q, then %q", w, c)
	}
	long := Cursor("10000000000000000")
	if _, ok := long.Hex(1<<64 - 1); ok {
		t.Error("17 digits fit")
	}
}

func TestPrintable(t *testing.T) {
	if got := Printable("a\tb\x00\x7f\"é\xff\u202e"); got != "a b  \"é? " {
		t.Errorf("%q", got)
	}
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("0x1 17 2\n"))
	f.Add([]byte("Switch 8 \"a\""))
	f.Add([]byte("SW 2 1 0x0002c903006e1430 4x FDR - CA 44 1 0x0002c9030045f121 ( 'a' - 'b' )"))
	f.Fuzz(func(t *testing.T, head []byte) { _ = Sniff(head).String() })
}

// A text in UTF-16 is read as what it is, and any bytes without a panic.
func FuzzText(f *testing.F) {
	f.Add([]byte("\xFF\xFES\x00\xff\xff\xfe\xfd"), "hôst 🧵\n[1]")
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		l := NewLines(bytes.NewReader(raw), "f")
		for l.Next() {
		}
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") || strings.Contains(text, "\r") || len(text) > MaxLine {
			return
		}
		for high, mark := range []string{"\xFF\xFE", "\xFE\xFF"} {
			b := []byte(mark)
			for _, u := range utf16.Encode([]rune(text)) {
				b = append(b, byte(u>>(8*high)), byte(u>>(8*(1-high))))
			}
			var got []string
			l := NewLines(iotest.HalfReader(bytes.NewReader(b)), "f")
			for l.Next() {
				got = append(got, string(l.Text()))
			}
			if want := strings.TrimSuffix(text, "\n"); l.Err() != nil || strings.Join(got, "\n") != want {
				t.Fatalf("%q is read as %q, %v", text, got, l.Err())
			}
		}
	})
}
