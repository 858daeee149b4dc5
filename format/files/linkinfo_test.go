package files

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// What iblinkinfo 44 and ibnetdiscover 44 printed of one network, which ibsim simulated and OpenSM gave LIDs, is the same
// network.
func TestLinkInfoBesideDiscovery(t *testing.T) {
	t.Parallel()
	contents := func(name string) (all []string) {
		f, err := Open(filepath.Join("testdata", "iblinkinfo", name))
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Nodes() {
			n := f.Node(fabric.NodeID(i))
			all = append(all, fmt.Sprintf("%s %s %d", n.Kind, n.Name, n.Ports))
		}
		for i := range f.Endpoints() {
			e := f.Endpoint(fabric.EndpointID(i))
			all = append(all, fmt.Sprintf("%s:%d %s LID %d", f.Node(e.Node).Name, e.Port, e.PortGUID, e.LID))
		}
		for i := range f.Channels() {
			ch := f.Channel(fabric.ChannelID(i))
			all = append(all, fmt.Sprintf("%s:%d %s:%d %s", f.Node(ch.From).Name, ch.FromPort, f.Node(ch.To).Name, ch.ToPort, ch.Rate))
		}
		slices.Sort(all)
		return all
	}
	want := contents("ibnetdiscover.txt")
	for _, name := range []string{"by-node.txt", "by-line.txt"} {
		if got := contents(name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
