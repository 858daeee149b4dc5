package graphs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
)

// ReadNodeLink reads the JSON of networkx.node_link_data: an object with nodes and with
// links, or edges as newer versions call them.
func ReadNodeLink(r io.Reader, file string) (*fabric.Fabric, error) {
	text, err := format.ReadAll(r, file, format.MaxSize)
	if err != nil {
		return nil, err
	}
	p := nodeLink{g: &graph{file: file}, text: text, d: json.NewDecoder(bytes.NewReader(text)), line: 1}
	p.d.UseNumber()
	if err := p.read(); err != nil {
		return nil, err
	}
	return p.g.fabric()
}

type nodeLink struct {
	g    *graph
	text []byte
	d    *json.Decoder

	line    int   // of the byte at counted
	counted int64 // bytes whose lines are counted
}

func (p *nodeLink) read() error {
	if err := p.want(json.Delim('{'), "an object with nodes and links"); err != nil {
		return err
	}
	nodes, links := false, false
	for p.d.More() {
		key, err := p.d.Token()
		if err != nil {
			return p.syntax(err)
		}
		switch key {
		case "directed":
			err = p.decode(&p.g.directed)
		case "nodes":
			nodes = true
			err = p.each(p.node)
		case "links", "edges":
			if links {
				return p.errorf("both links and edges")
			}
			links = true
			err = p.each(p.link)
		default:
			err = p.decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	if err := p.want(json.Delim('}'), "the end of the object"); err != nil {
		return err
	}
	if _, err := p.d.Token(); !errors.Is(err, io.EOF) {
		return p.errorf("more text after the end of the object")
	}
	if !nodes || !links {
		return p.errorf("no nodes or no links in it: this is not the JSON of networkx.node_link_data")
	}
	return nil
}

// each reads an array of objects.
func (p *nodeLink) each(one func(line int, values map[string]any) error) error {
	if err := p.want(json.Delim('['), "an array of objects"); err != nil {
		return err
	}
	for p.d.More() {
		line := p.number()
		values := map[string]any{}
		if err := p.decode(&values); err != nil {
			return err
		}
		if err := one(line, values); err != nil {
			return err
		}
	}
	return p.want(json.Delim(']'), "the end of the array")
}

func (p *nodeLink) node(line int, values map[string]any) error {
	id := textOf(values["id"])
	if id == "" {
		return p.g.errorf(line, "a node without an id")
	}
	if _, twice := p.g.byID[id]; twice {
		return p.g.errorf(line, "a second node with id %s", id)
	}
	p.g.add(id, line, texts(values))
	return nil
}

func (p *nodeLink) link(line int, values map[string]any) error {
	p.g.join(textOf(values["source"]), textOf(values["target"]), line, texts(values))
	return nil
}

// texts is values as attributes.
func texts(values map[string]any) attributes {
	attrs := make(attributes, len(values))
	for key, value := range values {
		attrs[strings.ToLower(key)] = textOf(value)
	}
	return attrs
}

// textOf is a value as text. Identifiers may be numbers, and even lists, as those of
// NetworkX's grids are.
func textOf(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

func (p *nodeLink) want(delim json.Delim, what string) error {
	token, err := p.d.Token()
	if err != nil {
		return p.syntax(err)
	}
	if token != delim {
		return p.errorf("%v where %s should be", token, what)
	}
	return nil
}

func (p *nodeLink) decode(to any) error {
	if err := p.d.Decode(to); err != nil {
		return p.syntax(err)
	}
	return nil
}

// number is the number of the line that the decoder has reached.
func (p *nodeLink) number() int {
	at := min(p.d.InputOffset(), int64(len(p.text)))
	for at < int64(len(p.text)) && strings.IndexByte(" \t\r\n,", p.text[at]) >= 0 {
		at++ // what comes next begins after these
	}
	p.line += bytes.Count(p.text[p.counted:at], []byte("\n"))
	p.counted = at
	return p.line
}

func (p *nodeLink) errorf(msg string, args ...any) error {
	return p.g.errorf(p.number(), msg, args...)
}

// syntax is an error of the JSON itself.
func (p *nodeLink) syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.errorf("the text ends too early")
	}
	return p.errorf("no valid JSON: %v", err)
}
