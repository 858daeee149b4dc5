package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// C is not parsed: a mutant exchanges one token in the text of a function. If the
// compiler refuses it, with all warnings on, it does not count.

// cToken matches, in this order, what is skipped (comments, strings, characters,
// preprocessor lines) and the tokens that can be exchanged.
var cToken = regexp.MustCompile(`(?ms)` + strings.Join([]string{
	`/\*.*?\*/`, `//[^\n]*`, `"(?:\\.|[^"\\\n])*"`, `'(?:\\.|[^'\\\n])*'`, `^#(?:\\\n|[^\n])*`,
	`->`, `[<>]{2}=?`, `[-+*/|&^%]=`, `\+\+|--`,
	`[<>=!]=`, `&&`, `\|\|`,
	`[A-Za-z_]\w*`, `0[xX][0-9a-fA-F]+[uUlL]*`, `\d+[uUlL]*`,
	`[<>+!;{}-]`, `-`,
}, "|"))

var cSwaps = map[string]string{
	"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
	"+": "-", "-": "+", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "<<": ">>", ">>": "<<", "++": "--", "--": "++",
}

// cTalk begins a call that formats messages.
var cTalk = regexp.MustCompile(`\b(snprintf|wrong|walk_wrong|SAY|fprintf)\(`)

// cAssign is a line that is a whole assignment, cCall one that is a whole call.
var (
	cAssign = regexp.MustCompile(`(?m)^[ \t]+([\w\[\]().>*-]+ [|&+-]?= [^;{}]*;)$`)
	cFunc   = regexp.MustCompile(`(?m)^\w[\w *]*?[ *](\w+)\([^;]*$`)
)

func cMutants(name string, source []byte) []mutant {
	c := &cFile{name: name, text: string(source)}
	depth, last := 0, ""
	for _, at := range cToken.FindAllStringIndex(c.text, -1) {
		tok := c.text[at[0]:at[1]]
		switch tok {
		case "{":
			depth++
		case "}":
			depth--
		}
		if depth > 0 {
			c.token(tok, last, at[0])
		}
		last = tok
	}
	for _, at := range cAssign.FindAllStringSubmatchIndex(c.text, -1) {
		c.add(at[2], at[3], ";")
	}
	slices.SortFunc(c.found, func(a, b mutant) int { return a.offset - b.offset })
	return c.found
}

// cFile is the text of a C file, and the mutants found in it as far as that is read.
type cFile struct {
	name, text string
	found      []mutant
}

// token records the mutants of a token inside a function; last is the token before.
func (c *cFile) token(tok, last string, at int) {
	end := at + len(tok)
	if to, ok := cSwaps[tok]; ok {
		if (tok == "+" || tok == "-") && (end >= len(c.text) || c.text[end] != ' ') {
			return // a sign
		}
		c.add(at, end, to)
		return
	}
	switch {
	case tok == "!":
		c.add(at, end, "")
	case tok == "continue", tok == "break":
		c.add(at, end, "")
	case tok == "if" && last != "#":
		c.negate(end)
	case tok[0] >= '0' && tok[0] <= '9':
		if line := c.text[strings.LastIndexByte(c.text[:at], '\n')+1 : at]; strings.Contains(line, "alloc(") {
			return // sizes of buffers
		}
		digits := strings.TrimRight(tok, "uUlL")
		v, err := strconv.ParseInt(digits, 0, 64)
		if err != nil {
			return
		}
		suffix := tok[len(digits):]
		if before := strings.TrimRight(c.text[:at], " -"); v != 1 || !strings.HasSuffix(before, "return") { // a caller asks whether it is 0
			c.add(at, end, strconv.FormatInt(v+1, 10)+suffix)
		}
		if v > 0 {
			c.add(at, end, strconv.FormatInt(v-1, 10)+suffix)
		}
	}
}

// negate adds a mutant with the opposite condition; at is before its bracket, whose other end is found by counting.
func (c *cFile) negate(at int) {
	open := at + strings.IndexByte(c.text[at:], '(')
	depth := 0
	for i := open; i < len(c.text); i++ {
		switch c.text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				c.add(open, i+1, "(!"+c.text[open:i+1]+")")
				return
			}
		}
	}
}

func (c *cFile) add(from, to int, text string) {
	begin := strings.LastIndexByte(c.text[:from], '\n') + 1
	stop := to + strings.IndexByte(c.text[to:]+"\n", '\n')
	if cTalk.MatchString(c.text[begin:from]) {
		return
	}
	fn := ""
	if all := cFunc.FindAllStringSubmatch(c.text[:from], -1); all != nil {
		fn = all[len(all)-1][1]
	}
	c.found = append(c.found, mutant{
		File: c.name, Func: fn, Line: 1 + strings.Count(c.text[:from], "\n"), Column: 1 + from - begin,
		What:   change(c.text[begin:stop], c.text[begin:from]+text+c.text[to:stop]),
		offset: from, end: to, text: text,
	})
}
