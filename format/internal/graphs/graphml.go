package graphs

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// ReadGraphML reads a graph in GraphML (http://graphml.graphdrawing.org). Graphs within
// nodes, hyperedges and ports of GraphML are refused, as they have no meaning for cables.
func ReadGraphML(r io.Reader, file string) (*fabric.Fabric, error) {
	text, err := reading.ReadAll(r, file, reading.MaxSize)
	if err != nil {
		return nil, err
	}
	p := graphML{g: &graph{file: file}, d: xml.NewDecoder(bytes.NewReader(text)), keys: map[string]string{}}
	if err := p.read(); err != nil {
		return nil, err
	}
	return p.g.fabric()
}

type graphML struct {
	g      *graph
	d      *xml.Decoder
	keys   map[string]string // names of attributes by the identifiers of their keys
	graphs int
}

// read reads to the end of the file. What is outside of nodes and edges, except for keys, is
// about drawing.
func (p *graphML) read() error {
	root := false
	for {
		token, err := p.d.Token()
		if errors.Is(err, io.EOF) {
			if !root || p.graphs == 0 {
				return p.errorf("there is no graph in it")
			}
			return nil
		}
		if err != nil {
			return p.syntax(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !root && start.Name.Local != "graphml" {
			return p.errorf("this is XML that begins with <%s>; GraphML begins with <graphml>", start.Name.Local)
		}
		root = true
		if err := p.element(&start); err != nil {
			return err
		}
	}
}

func (p *graphML) element(start *xml.StartElement) error {
	line, _ := p.d.InputPos()
	switch start.Name.Local {
	case "key":
		p.keys[attr(start, "id")] = strings.ToLower(attr(start, "attr.name"))
	case "graph":
		if p.graphs++; p.graphs > 1 {
			return p.errorf("a second graph: a fabric is one, without graphs in its nodes")
		}
		p.g.directed = attr(start, "edgedefault") == "directed"
	case "hyperedge":
		return p.errorf("a hyperedge: a cable has two ends")
	case "node":
		id := attr(start, "id")
		if _, twice := p.g.byID[id]; twice || id == "" {
			return p.errorf("node %q without an identifier, or with one that another has", id)
		}
		attrs, err := p.data(start)
		if err != nil {
			return err
		}
		p.g.add(id, line, attrs)
	case "edge":
		attrs, err := p.data(start)
		if err != nil {
			return err
		}
		p.g.join(attr(start, "source"), attr(start, "target"), line, attrs)
	}
	return nil
}

// data reads the attributes of a node or an edge, up to its end.
func (p *graphML) data(of *xml.StartElement) (attributes, error) {
	attrs := attributes{}
	for {
		token, err := p.d.Token()
		if err != nil {
			return nil, p.syntax(err)
		}
		switch t := token.(type) {
		case xml.EndElement:
			return attrs, nil
		case xml.StartElement:
			switch t.Name.Local {
			case "graph", "hyperedge", "node", "edge":
				return nil, p.errorf("<%s> within <%s>", t.Name.Local, of.Name.Local)
			case "data":
				var text string
				if err := p.d.DecodeElement(&text, &t); err != nil {
					return nil, p.syntax(err)
				}
				if name := p.keys[attr(&t, "key")]; name != "" {
					attrs[name] = strings.TrimSpace(text)
				}
			default:
				if err := p.d.Skip(); err != nil {
					return nil, p.syntax(err)
				}
			}
		}
	}
}

func attr(start *xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (p *graphML) errorf(msg string, args ...any) error {
	line, _ := p.d.InputPos()
	return p.g.errorf(line, msg, args...)
}

// syntax is an error of the XML itself.
func (p *graphML) syntax(err error) error {
	var s *xml.SyntaxError
	if errors.As(err, &s) {
		return p.g.errorf(s.Line, "no valid XML: %s", s.Msg)
	}
	return p.errorf("no valid XML: %s", fmt.Sprint(err))
}
