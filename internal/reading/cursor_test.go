package reading

import (
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

const blanks = " \t\r\v\f"

var compiled = map[string]*regexp.Regexp{}

func pattern(s string) *regexp.Regexp {
	if compiled[s] == nil {
		compiled[s] = regexp.MustCompile(s)
	}
	return compiled[s]
}

// number reads a number as dumbly as can be: what matches, as a big one.
func number(s, prefix, digits string, base int, top uint64) (v uint64, rest string, ok bool) {
	trimmed := strings.TrimLeft(s, blanks)
	if prefix != "" {
		trimmed = pattern(`^`+prefix+`(`+digits+`)`).ReplaceAllString(trimmed, "$1")
	}
	text := pattern(`^` + digits + `+`).FindString(trimmed)
	n, ok := new(big.Int).SetString(text, base)
	if !ok || n.Cmp(new(big.Int).SetUint64(top)) > 0 {
		return 0, s, false
	}
	return n.Uint64(), trimmed[len(text):], true
}

// quoted reads what is between a double quote and the next, or the last.
func quoted(s, inner string) (text, rest string, ok bool) {
	found := pattern(`^[ \t\r\v\f]*"(` + inner + `)"`).FindStringSubmatch(s)
	if found == nil {
		return "", s, false
	}
	return found[1], s[len(found[0]):], true
}

// asciiLower leaves everything but A to Z alone.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Every method cuts what its pattern matches, and nothing where there is none.
func TestCursorCutsWhatMatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const alphabet = "  \t\r\v\f00019afAFgxX\"\"lid@Z[z:"
	literals := []string{"lid", "l", "0x", "id", "\"", "lid 1", "", "z", "az"}
	tops := []uint64{0, 1, 9, 10, 0x1f, 1000, 0xffff, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	numbers := []string{"", "18446744073709551615", "18446744073709551616", "0xffffffffffffffff", "0x10000000000000000", "0x", "0xg", "1844674407370955161599", "00000000000000000000001f"}
	for range 60_000 {
		b := make([]byte, rng.IntN(9))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		s := string(b)
		if rng.IntN(3) == 0 {
			s = s[:rng.IntN(len(s)+1)] + numbers[rng.IntN(len(numbers))] + s
		}
		literal, top := literals[rng.IntN(len(literals))], tops[rng.IntN(len(tops))]
		trimmed := strings.TrimLeft(s, blanks)

		c := Cursor(s)
		ok := c.Cut(literal)
		if rest, want := strings.CutPrefix(trimmed, literal); ok != want || ok && string(c) != rest || !ok && string(c) != s {
			t.Fatalf("Cut(%q) of %q: %v, leaves %q", literal, s, ok, c)
		}
		c = Cursor(s)
		ok = c.CutFold(literal)
		if want := strings.HasPrefix(asciiLower(trimmed), literal); ok != want || ok && string(c) != trimmed[len(literal):] || !ok && string(c) != s {
			t.Fatalf("CutFold(%q) of %q: %v, leaves %q", literal, s, ok, c)
		}
		c = Cursor(s)
		v, ok := c.Uint(top)
		if n, rest, want := number(s, "", "[0-9]", 10, top); v != n || ok != want || string(c) != rest {
			t.Fatalf("Uint(%d) of %q: %d, %v, leaves %q", top, s, v, ok, c)
		}
		c = Cursor(s)
		v, ok = c.Hex(top)
		if n, rest, want := number(s, "0[xX]", "[0-9a-fA-F]", 16, top); v != n || ok != want || string(c) != rest {
			t.Fatalf("Hex(%#x) of %q: %#x, %v, leaves %q", top, s, v, ok, c)
		}
		c = Cursor(s)
		text, ok := c.Quoted()
		if q, rest, want := quoted(s, `[^"]*`); string(text) != q || ok != want || string(c) != rest {
			t.Fatalf("Quoted of %q: %q, %v, leaves %q", s, text, ok, c)
		}
		c = Cursor(s)
		text, ok = c.QuotedWide()
		if q, rest, want := quoted(s, `.*`); string(text) != q || ok != want || string(c) != rest {
			t.Fatalf("QuotedWide of %q: %q, %v, leaves %q", s, text, ok, c)
		}
		c = Cursor(s)
		word := c.Word()
		end := len(trimmed)
		if i := strings.IndexAny(trimmed, blanks); i >= 0 {
			end = i
		}
		if string(word) != trimmed[:end] || string(c) != trimmed[end:] {
			t.Fatalf("Word of %q: %q, leaves %q", s, word, c)
		}
		if Cursor(s).Empty() != (trimmed == "") {
			t.Fatalf("Empty of %q: %v", s, Cursor(s).Empty())
		}
	}
}

// The kinds that differ by little.
func TestSniffTellsNeighboursApart(t *testing.T) {
	for head, want := range map[string]Kind{
		"0x1 17 2":                           PSL,
		"0x1 17":                             Unknown,
		"0x1 1 2 3 4":                        Unknown,
		"0x1 1 2 0x0123456701234567":         SLVL,
		"0x1 1 2 1 2 3 4 5 6 7":              Unknown,
		"0x1 1 2 1 2 3 4 5 6 7 8":            SLVL,
		"0x1 1 2 1 2 3 4 5 6 7 8 9":          Unknown,
		"0xzz 17 2":                          Unknown,
		"0x10000000000000000 17 2":           Unknown,
		"0xffffffffffffffff 17 2":            PSL,
		"0x 1 2":                             Unknown,
		"0x1: 1 2 3":                         Unknown,
		"#weft\n0x1 17 2":                    PSL,
		"weft certificate 1\n":               Certificate,
		"#in out : 0":                        SL2VLDump,
		"Switch 0x1, base LID 1":             SL2VLDump,
		"{ SW Ports:24 SystemGUID:1 }":       Unknown,
		"{ CA Ports:2 NodeGUID:1 }":          SubnetList,
		"Switch 8":                           Unknown,
		"Switch \"a\"":                       Unknown,
		"SWITCH8\"a\"":                       IBNet,
		"Hca 2 \"b\"":                        IBNet,
		"rt 2 \"b\"":                         IBNet,
		"Router 2 \"b\"":                     IBNet,
		"caguid=0x1":                         IBNet,
		"switchguid=0x1(1)":                  IBNet,
		"RTGUID=0x1":                         IBNet,
		"sysimgguid=0x1":                     IBNet,
		"devid=0x1":                          IBNet,
		"vendor=0x1":                         Unknown,
		"\x1fplain":                          Unknown,
		"\x8b":                               Unknown,
		"\x1f\x8b":                           Binary,
		" \n\t\x00":                          Binary,
		"noise\n\nUnicast lids [0-3] of":     LFT,
		"noise\ndump_ucast_routes: Switch 1": FDBS,
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q is %v, want %v", head, got, want)
		}
	}
}
