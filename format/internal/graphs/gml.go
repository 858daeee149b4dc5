package graphs

import (
	"bytes"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// ReadGML reads a graph in GML (Himsolt, GML: A portable Graph File Format), as
// networkx.write_gml, igraph, Gephi and yEd write it. igraph leaves out underscores, so that
// porta is port_a.
func ReadGML(r io.Reader, file string) (*fabric.Fabric, error) {
	text, err := reading.ReadAll(r, file, reading.MaxSize)
	if err != nil {
		return nil, err
	}
	p := gml{g: &graph{file: file}, rest: text, line: 1}
	if err := p.read(); err != nil {
		return nil, err
	}
	return p.g.fabric()
}

type gml struct {
	g    *graph
	rest []byte
	line int
}

// gmlToken is a key, a number or a text, or one of the brackets and the end of the file.
type gmlToken struct {
	kind byte // 'k', 'n', '"', '[', ']', 0
	text string
	line int
}

// read reads key and value pairs up to the end of the file. What is outside of the graph is
// about the program that wrote it.
func (p *gml) read() error {
	graphs := 0
	for {
		key, value, err := p.pair(0)
		switch {
		case err != nil:
			return err
		case key.kind == 0 && graphs == 0:
			return p.g.errorf(key.line, "there is no graph in it")
		case key.kind == 0:
			return nil
		case value.kind != '[':
			continue
		case key.text != "graph":
			err = p.skip(value)
		case graphs > 0:
			err = p.g.errorf(key.line, "a second graph: a fabric is one")
		default:
			graphs++
			err = p.graph(value)
		}
		if err != nil {
			return err
		}
	}
}

// graph reads what is within graph [ ].
func (p *gml) graph(open gmlToken) error {
	for {
		key, value, err := p.pair(open.line)
		if err != nil || key.kind == ']' {
			return err
		}
		switch {
		case key.text == "directed" && value.kind == 'n':
			p.g.directed = value.text != "0"
		case key.text == "node" && value.kind == '[':
			err = p.node(value)
		case key.text == "edge" && value.kind == '[':
			err = p.edge(value)
		case value.kind == '[':
			err = p.skip(value)
		}
		if err != nil {
			return err
		}
	}
}

func (p *gml) node(open gmlToken) error {
	attrs, err := p.attributes(open)
	if err != nil {
		return err
	}
	id := attrs["id"]
	if _, twice := p.g.byID[id]; twice || id == "" {
		return p.g.errorf(open.line, "node %q without an id, or with one that another has", id)
	}
	if attrs["label"] == "" { // igraph
		attrs["label"] = attrs["name"]
	}
	p.g.add(id, open.line, attrs)
	return nil
}

func (p *gml) edge(open gmlToken) error {
	attrs, err := p.attributes(open)
	if err != nil {
		return err
	}
	for _, side := range [...]string{"a", "b"} {
		if attrs["port_"+side] == "" {
			attrs["port_"+side] = attrs["port"+side]
		}
	}
	p.g.join(attrs["source"], attrs["target"], open.line, attrs)
	return nil
}

// attributes reads what is within node [ ] or edge [ ]. Lists in it are about drawing.
func (p *gml) attributes(open gmlToken) (attributes, error) {
	attrs := attributes{}
	for {
		key, value, err := p.pair(open.line)
		switch {
		case err != nil || key.kind == ']':
			return attrs, err
		case value.kind != '[':
			attrs[key.text] = value.text
			continue
		}
		if err := p.skip(value); err != nil {
			return nil, err
		}
	}
}

// skip reads to the end of a list, whatever is in it.
func (p *gml) skip(open gmlToken) error {
	for depth := 1; depth > 0; {
		switch t, err := p.token(); {
		case err != nil:
			return err
		case t.kind == 0:
			return p.unclosed(open.line)
		case t.kind == '[':
			depth++
		case t.kind == ']':
			depth--
		}
	}
	return nil
}

// pair reads a key and its value, or a bracket that ends the list which began in a line; 0:
// none did, and the file may end.
func (p *gml) pair(open int) (key, value gmlToken, err error) {
	if key, err = p.token(); err != nil {
		return key, value, err
	}
	switch {
	case key.kind == 0 && open == 0, key.kind == ']' && open > 0:
		return key, value, nil
	case key.kind == 0:
		return key, value, p.unclosed(open)
	case key.kind != 'k':
		return key, value, p.g.errorf(key.line, "no valid GML: %q where a key should be", key.text)
	}
	if value, err = p.token(); err != nil {
		return key, value, err
	}
	if _, bad := strconv.ParseFloat(value.text, 64); value.kind == 'k' && bad == nil { // nan
		value.kind = 'n'
	}
	if value.kind == 0 || value.kind == ']' || value.kind == 'k' {
		return key, value, p.g.errorf(value.line, "no valid GML: no value for the key %s", key.text)
	}
	return key, value, nil
}

func (p *gml) unclosed(line int) error {
	return p.g.errorf(p.line, "the text ends too early: the list of line %d has no ]", line)
}

// token reads a token. Keys are in lower case.
func (p *gml) token() (gmlToken, error) {
	p.space()
	t := gmlToken{line: p.line}
	if len(p.rest) == 0 {
		return t, nil
	}
	switch b := p.rest[0]; b {
	case '[', ']':
		t.kind, t.text, p.rest = b, string(b), p.rest[1:]
	case '"':
		end := bytes.IndexByte(p.rest[1:], '"')
		if end < 0 {
			return t, p.g.errorf(p.line, "no valid GML: a quote that is not closed")
		}
		text := p.rest[1 : 1+end]
		p.line += bytes.Count(text, []byte("\n"))
		t.kind, t.text, p.rest = '"', html.UnescapeString(string(text)), p.rest[2+end:]
	default:
		end := bytes.IndexAny(p.rest, " \t\r\n[]\"")
		if end < 0 {
			end = len(p.rest)
		}
		word := string(p.rest[:end])
		p.rest = p.rest[end:]
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' {
			t.kind, t.text = 'k', strings.ToLower(word)
			break
		}
		if _, err := strconv.ParseFloat(word, 64); err != nil {
			return t, p.g.errorf(p.line, "no valid GML: %q where a key or a value should be", word)
		}
		t.kind, t.text = 'n', word
	}
	return t, nil
}

// space skips blanks and comments, which go from # to the end of the line.
func (p *gml) space() {
	for len(p.rest) > 0 {
		switch b := p.rest[0]; {
		case b == '\n':
			p.line++
		case b == '#':
			end := bytes.IndexByte(p.rest, '\n')
			if end < 0 {
				end = len(p.rest)
			}
			p.rest = p.rest[end:]
			continue
		case b != ' ' && b != '\t' && b != '\r':
			return
		}
		p.rest = p.rest[1:]
	}
}
