package words

import "cmp"

// Natural compares names as people order them: numbers in them by value, so that host-9 comes before host-10.
func Natural(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if digit(a[i]) && digit(b[j]) {
			x, y := number(a[i:]), number(b[j:])
			p, q := trimZeros(x), trimZeros(y)
			if r := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); r != 0 {
				return r
			}
			i, j = i+len(x), j+len(y)
			continue
		}
		if r := cmp.Compare(a[i], b[j]); r != 0 {
			return r
		}
		i, j = i+1, j+1
	}
	return cmp.Or(cmp.Compare(len(a)-i, len(b)-j), cmp.Compare(a, b))
}

// digit reports whether a byte is a digit.
func digit(b byte) bool { return b >= '0' && b <= '9' }

// number is the digits at the beginning of a text.
func number(s string) string {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return s[:n]
}

// trimZeros is a number without zeros in front.
func trimZeros(s string) string {
	for len(s) > 1 && s[0] == '0' {
		s = s[1:]
	}
	return s
}
