package graphs

import (
	"io"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/internal/objects"
)

// ReadNodeLink reads the JSON of networkx.node_link_data: an object with nodes and with
// links, or edges as newer versions call them.
func ReadNodeLink(r io.Reader, file string) (*fabric.Fabric, error) {
	text, err := objects.New(r, file)
	if err != nil {
		return nil, err
	}
	g := &graph{file: file}
	nodes, links := false, false
	err = text.Members(func(key string) error {
		switch key {
		case "directed":
			value, err := text.Value()
			directed, ok := value.(bool)
			if err == nil && !ok {
				err = text.Errorf("directed is %v, and neither true nor false", value)
			}
			g.directed = directed
			return err
		case "nodes":
			nodes = true
			return text.Each(g.nodeObject)
		case "links", "edges":
			if links {
				return text.Errorf("both links and edges")
			}
			links = true
			return text.Each(g.linkObject)
		}
		_, err := text.Value()
		return err
	})
	if err == nil {
		err = text.End()
	}
	if err == nil && (!nodes || !links) {
		err = text.Errorf("no nodes or no links in it: this is not the JSON of networkx.node_link_data")
	}
	if err != nil {
		return nil, err
	}
	return g.fabric()
}

func (g *graph) nodeObject(line int, values map[string]any) error {
	id := objects.Text(values["id"])
	if id == "" {
		return format.Errorf(g.file, line, "a node without an id")
	}
	if _, twice := g.byID[id]; twice {
		return format.Errorf(g.file, line, "a second node with id %s", id)
	}
	g.add(id, line, texts(values))
	return nil
}

func (g *graph) linkObject(line int, values map[string]any) error {
	g.join(objects.Text(values["source"]), objects.Text(values["target"]), line, texts(values))
	return nil
}

// texts is values as attributes. Identifiers may be numbers, and even lists, as those of
// NetworkX's grids are.
func texts(values map[string]any) attributes {
	attrs := make(attributes, len(values))
	for key, value := range values {
		attrs[strings.ToLower(key)] = objects.Text(value)
	}
	return attrs
}
