package graphs

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// ReadDOT reads a graph of Graphviz (https://graphviz.org/doc/info/lang.html). An edge
// may name several nodes in a row, and sets of nodes in braces; defaults as in
// node [kind=switch] count for what follows them. The parser does not say where a node or
// an edge stands, so that errors name the line where the node comes first.
func ReadDOT(r io.Reader, file string) (*fabric.Fabric, error) {
	text, err := reading.ReadAll(r, file, reading.MaxSize)
	if err != nil {
		return nil, err
	}
	p := dotReader{g: &graph{file: file}, text: text}
	parsed, err := dot.ParseBytes(text)
	if err != nil {
		return nil, p.syntax(err)
	}
	if len(parsed.Graphs) != 1 {
		return nil, p.g.errorf(1, "%d graphs in it: a fabric is one", len(parsed.Graphs))
	}
	p.g.directed = parsed.Graphs[0].Directed
	p.all(parsed.Graphs[0].Stmts, attributes{}, attributes{})
	return p.g.fabric()
}

type dotReader struct {
	g    *graph
	text []byte

	at   int // byte of text where the node that was new last comes first
	line int // lines that end before it
}

// all reads statements; node and edge are the defaults where they begin. It returns the
// nodes that they name.
func (p *dotReader) all(statements []ast.Stmt, node, edge attributes) (named []string) {
	node, edge = with(node, nil), with(edge, nil)
	for _, s := range statements {
		switch s := s.(type) {
		case *ast.NodeStmt:
			named = append(named, p.node(s.Node, node, s.Attrs))
		case *ast.EdgeStmt:
			named = append(named, p.edges(s, node, edge)...)
		case *ast.Subgraph:
			named = append(named, p.all(s.Stmts, node, edge)...)
		case *ast.AttrStmt:
			switch s.Kind {
			case ast.NodeKind:
				node = with(node, s.Attrs)
			case ast.EdgeKind:
				edge = with(edge, s.Attrs)
			case ast.GraphKind: // about the drawing
			}
		}
	}
	return named
}

func (p *dotReader) node(n *ast.Node, defaults attributes, attrs []*ast.Attr) string {
	id := unquoted(n.ID)
	line := 0
	if _, known := p.g.byID[id]; known {
		defaults = nil // they count where a node comes first
	} else {
		line = p.lineOf(n.ID)
	}
	p.g.add(id, line, with(defaults, attrs))
	return id
}

// edges reads a -- b -- {c d}, which joins a and b, and b to both others.
func (p *dotReader) edges(s *ast.EdgeStmt, node, edge attributes) (named []string) {
	attrs := with(edge, s.Attrs)
	left := p.vertex(s.From, node, edge)
	named = left
	for e := s.To; e != nil; e = e.To {
		right := p.vertex(e.Vertex, node, edge)
		for _, a := range left {
			for _, b := range right {
				p.g.join(a, b, p.g.nodes[p.g.byID[a]].line, attrs)
			}
		}
		named, left = append(named, right...), right
	}
	return named
}

func (p *dotReader) vertex(v ast.Vertex, node, edge attributes) []string {
	switch v := v.(type) {
	case *ast.Subgraph:
		return p.all(v.Stmts, node, edge)
	case *ast.Node:
		return []string{p.node(v, node, nil)}
	}
	return nil // there are no others
}

// with is attributes, and those of a statement over them.
func with(defaults attributes, attrs []*ast.Attr) attributes {
	all := make(attributes, len(defaults)+len(attrs))
	for key, value := range defaults {
		all[key] = value
	}
	for _, a := range attrs {
		all[strings.ToLower(unquoted(a.Key))] = unquoted(a.Val)
	}
	return all
}

// unquoted is the text of an identifier of DOT.
func unquoted(id string) string {
	if len(id) < 2 || id[0] != '"' || id[len(id)-1] != '"' {
		return id
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, "\\\n", "").Replace(id[1 : len(id)-1])
}

// lineOf looks for the line of a new node behind those of the nodes before, so that the
// text is searched once and not for every node.
func (p *dotReader) lineOf(id string) int {
	to := p.at + max(0, bytes.Index(p.text[p.at:], []byte(id)))
	p.line += bytes.Count(p.text[p.at:to], []byte("\n"))
	p.at = to
	return 1 + p.line
}

// syntax is an error of the parser, which begins with line:column.
func (p *dotReader) syntax(err error) error {
	place, msg, ok := strings.Cut(err.Error(), ": error: ")
	line, _, _ := strings.Cut(place, ":")
	number, bad := strconv.Atoi(line)
	if !ok || bad != nil {
		return p.g.errorf(1, "no valid DOT: %s", fmt.Sprint(err))
	}
	return p.g.errorf(number, "no valid DOT: %s", msg)
}
