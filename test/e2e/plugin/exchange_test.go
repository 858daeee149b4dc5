package plugin_test

import (
	"fmt"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
)

// portOf is a port of a node of a request.
func portOf(t testing.TB, q *wire.Request, node int, number uint8) *wire.Port {
	t.Helper()
	for i := range q.Nodes[node].Has {
		if p := &q.Nodes[node].Has[i]; p.Number == number {
			return p
		}
	}
	t.Fatalf("node %d has no port %d", node, number)
	return nil
}

// changed is a fabric that is another by work on its request, which has its nodes in their order.
func changed(t testing.TB, f *fabric.Fabric, work func(q *wire.Request)) *fabric.Fabric {
	t.Helper()
	q := wire.Of(f, 1)
	work(q)
	g, err := q.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// exchanged is a fabric in which two cables have exchanged the ends that their channels lead to, be
// these hosts or switches, and what ibsim is to be told so that it is.
func exchanged(t testing.TB, f *fabric.Fabric, a, b fabric.ChannelID) (g *fabric.Fabric, commands []string) {
	t.Helper()
	x, y := f.Channel(a), f.Channel(b)
	g = changed(t, f, func(q *wire.Request) {
		join := func(from fabric.NodeID, fromPort uint8, to fabric.NodeID, toPort uint8) {
			near, far := portOf(t, q, int(from), fromPort), portOf(t, q, int(to), toPort)
			near.Peer, near.PeerPort, far.Peer, far.PeerPort = int(to), toPort, int(from), fromPort
		}
		join(x.From, x.FromPort, y.To, y.ToPort)
		join(y.From, y.FromPort, x.To, x.ToPort)
	})
	for _, c := range []*fabric.Channel{x, y} {
		commands = append(commands, fmt.Sprintf(`Unlink "%s"[%d]`, nodeID(f, c.From), c.FromPort))
	}
	link := func(from, to *fabric.Channel) {
		commands = append(commands, fmt.Sprintf(`Link "%s"[%d] "%s"[%d]`, nodeID(f, from.From), from.FromPort, nodeID(f, to.To), to.ToPort))
	}
	link(x, y)
	link(y, x)
	return g, commands
}
