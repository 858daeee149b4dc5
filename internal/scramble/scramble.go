// Package scramble damages valid texts by lines, by fields and by bytes, for fuzz functions:
// most of what a fuzzer of bytes makes is refused at its first line, and what editors, copies
// cut short and other versions of a program leave behind is not.
package scramble

import (
	"math/rand/v2"
	"os"
	"strings"
)

// Of is valid texts, and many damaged ones of each; with WEFT_THOROUGH fifty times as many.
// The same texts give the same.
func Of(texts ...string) []string {
	each := 60
	if os.Getenv("WEFT_THOROUGH") != "" {
		each = 3000
	}
	all := append([]string(nil), texts...)
	for i, text := range texts {
		r := rand.New(rand.NewPCG(uint64(i), 0x5c7a3b1e))
		for range each {
			all = append(all, damaged(text, r))
		}
	}
	return all
}

// most is how many bytes a text may have to be damaged further: lines that are repeated are, again and again.
const most = 1 << 18

// damaged is a text after one to four kinds of damage.
func damaged(text string, r *rand.Rand) string {
	for range 1 + r.IntN(4) {
		if len(text) > most {
			return text
		}
		switch r.IntN(3) {
		case 0:
			text = inLines(text, r)
		case 1:
			text = inFields(text, r)
		default:
			text = inBytes(text, r)
		}
	}
	return text
}

func inLines(text string, r *rand.Rand) string {
	lines := strings.SplitAfter(text, "\n")
	i, j := r.IntN(len(lines)), r.IntN(len(lines))
	switch r.IntN(7) {
	case 0: // one is missing
		lines = append(lines[:i:i], lines[i+1:]...)
	case 1: // one is there twice
		lines[i] += lines[i]
	case 2: // two change places
		lines[i], lines[j] = lines[j], lines[i]
	case 3: // one follows that belongs elsewhere
		lines[i] += lines[j]
	case 4: // cut short
		lines = lines[:i]
	case 5: // joined with the next
		lines[i] = strings.TrimRight(lines[i], "\r\n")
	default: // many times
		lines[i] = strings.Repeat(lines[i], 300)
	}
	return strings.Join(lines, "")
}

const separators = " \t\r\n,;:|=\"'()[]{}<>/"

// odd is what fields are replaced by.
var odd = [...]string{
	"", "0", "1", "-1", "254", "255", "256", "65535", "65536", "2147483648", "4294967296", "9223372036854775808", "18446744073709551616",
	"1e309", "0x0", "0xffffffffffffffff", "0x1ffffffffffffffff", "N/A", "null", "true", "{}", "[]", "\x00", "\ufeff", "\xff\xfe", "é", "\x1b[31m",
	"\"", "\\", "#", "99999999999999999999999999999999", "........................",
}

func inFields(text string, r *rand.Rand) string {
	fields, at := fields(text)
	if len(at) == 0 {
		return text
	}
	i, j := at[r.IntN(len(at))], at[r.IntN(len(at))]
	switch r.IntN(6) {
	case 0: // what another one says
		fields[i] = fields[j]
	case 1:
		fields[i], fields[j] = fields[j], fields[i]
	case 2:
		fields[i] += " " + fields[i]
	case 3:
		fields[i] = strings.Repeat(fields[i], 1+r.IntN(200))
	case 4: // a separator of another kind
		if i+1 < len(fields) {
			fields[i+1] = separators[r.IntN(len(separators)):][:1]
		}
	default:
		fields[i] = odd[r.IntN(len(odd))]
	}
	return strings.Join(fields, "")
}

// fields cuts a text into fields and what stands between them, and says where the fields
// are.
func fields(text string) (all []string, at []int) {
	for len(text) > 0 {
		end := strings.IndexAny(text, separators)
		switch {
		case end < 0:
			end = len(text)
			at = append(at, len(all))
		case end > 0:
			at = append(at, len(all))
		default:
			for end < len(text) && strings.IndexByte(separators, text[end]) >= 0 {
				end++
			}
		}
		all = append(all, text[:end])
		text = text[end:]
	}
	return all, at
}

func inBytes(text string, r *rand.Rand) string {
	if text == "" {
		return text
	}
	i := r.IntN(len(text))
	b := string([]byte{byte(r.IntN(256))})
	switch r.IntN(4) {
	case 0:
		return text[:i] + b + text[i+1:]
	case 1:
		return text[:i] + b + text[i:]
	case 2:
		return text[:i] + text[i+1:]
	default: // a stretch is missing
		return text[:i] + text[i+r.IntN(len(text)-i):]
	}
}
