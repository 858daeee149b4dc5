package graphs

import (
	"io"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// ReadAnynet reads a network_file of BookSim2's anynet: lines such as
//
//	router 0 node 0 node 1 router 1 15 router 2
//
// which join the first to each of the others, both ways and once, however often and from
// which side it is said. Routers become switches, nodes adapters; a number after a router
// is the latency of the channel, which a fabric does not have. Node 3 is called node-3.
func ReadAnynet(r io.Reader, file string) (*fabric.Fabric, error) {
	g := &graph{file: file}
	lines := reading.NewLines(r, file)
	joined := map[[2]string]bool{}
	home := map[string]string{} // routers of nodes
	err := lines.Each(func(c reading.Cursor) error {
		if c.Empty() {
			return nil
		}
		first, err := g.anynetName(lines, &c)
		if err != nil {
			return err
		}
		for !c.Empty() {
			other, err := g.anynetName(lines, &c)
			if err != nil {
				return err
			}
			if _, ok := c.Uint(1 << 31); ok && !isRouter(other) {
				return lines.Errorf("a number after %s: a latency follows a router", other)
			}
			if joined[[2]string{first, other}] || joined[[2]string{other, first}] {
				continue
			}
			joined[[2]string{first, other}] = true
			for _, pair := range [][2]string{{first, other}, {other, first}} {
				if isRouter(pair[0]) {
					continue
				}
				if !isRouter(pair[1]) {
					return lines.Errorf("%s is joined to %s, and not to a router", pair[0], pair[1])
				}
				if at, ok := home[pair[0]]; ok {
					return lines.Errorf("%s is joined to %s and %s; it has one router", pair[0], at, pair[1])
				}
				home[pair[0]] = pair[1]
			}
			g.join(first, other, lines.Number(), nil)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return g.fabric()
}

// anynetName reads "router 3" or "node 3" and adds the node.
func (g *graph) anynetName(lines *reading.Lines, c *reading.Cursor) (string, error) {
	word := string(c.Word())
	number, ok := c.Uint(1 << 31)
	if word != "router" && word != "node" || !ok {
		return "", lines.Errorf("%q where router or node and its number should be", word)
	}
	kind, name := "adapter", word+"-"+strconv.FormatUint(number, 10)
	if word == "router" {
		kind = "switch"
	}
	g.add(name, lines.Number(), attributes{"kind": kind})
	return name, nil
}

func isRouter(name string) bool { return name[0] == 'r' }
