// Package testnet builds networks for tests: those of package topology by their specs,
// and the dumps of real fabrics, which are not part of the repository. It imports
// topology and format/ibnet, so that tests inside the packages that these import cannot
// use it.
package testnet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/topology"
)

// TB is the part of testing.TB that Build needs; *rapid.T has it too.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Grown is the spec of a network of 666 switches and 4,341 hosts with the properties
// that make grown trees hard to route: groups of leaves on separate planes of spines,
// tails behind leaves, 14 parallel cables, and credit loops in shortest paths. Small
// has the same properties with 27 switches and 70 hosts. Wide has two spines of a group on
// each plane, so that no turns from down to up join all spines without a credit loop: 630
// switches and 4,341 hosts; SmallWide 31 and 52.
const (
	Grown = "planes:groups=14,leaves=26,on=9,up=10,hosts=4341"
	Small = "planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2"

	Wide      = "planes:groups=14,planes=9,wide=2,hosts=4341"
	SmallWide = "planes:ports=8,groups=3,planes=2,wide=2,tails=2,trunk=2"
)

// Build is the network of a spec of package topology. The test fails if the spec is
// wrong.
func Build(t TB, spec string) *fabric.Fabric {
	t.Helper()
	f, err := topology.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Apart counts the pairs of a source and a LID in different connected parts, which no
// routing can serve, for endpoints of the given classes.
func Apart(f *fabric.Fabric, counts func(fabric.Class) bool) int64 {
	part := make([]int, f.Switches())
	for i, switches := range f.Parts() {
		for _, s := range switches {
			part[s] = i
		}
	}
	in := func(e *fabric.Endpoint, i int) int {
		if e.Switch == fabric.None {
			return -1 - i // unlike the part of any other
		}
		return part[e.Switch]
	}
	pairs := int64(0)
	for i := range f.Endpoints() {
		for j := range f.Endpoints() {
			a, b := f.Endpoint(fabric.EndpointID(i)), f.Endpoint(fabric.EndpointID(j))
			if i != j && counts(a.Class) && counts(b.Class) && in(a, i) != in(b, j) {
				pairs += 1 << b.LMC
			}
		}
	}
	return pairs
}

// Corpus is the folder of real dumps and of what other programs made of them:
// $WEFT_CORPUS, by default the folder "shared" beside the repository. The test is
// skipped if it has no fabrics.
func Corpus(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("WEFT_CORPUS")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "fabrics")); err != nil {
		t.Skip("no real dumps: set WEFT_CORPUS")
	}
	return dir
}

// root is the folder of the repository: tests run in that of their package.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("testnet: no go.mod in the folder of the test or above it")
		}
		dir = up
	}
}

// Dump is the real fabric in fabrics/name.ibnetdiscover of the corpus. The test is
// skipped without a corpus, and fails if there is one and the dump cannot be read.
func Dump(t testing.TB, name string) *fabric.Fabric {
	t.Helper()
	file, err := os.Open(filepath.Join(Corpus(t), "fabrics", name+".ibnetdiscover"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := ibnet.Read(file, name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// WithLanes is the same network with the data lanes that cables run stated, each by its
// channel of the lower number; 0: not stated.
func WithLanes(t TB, f *fabric.Fabric, lanes func(fabric.ChannelID) uint8) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	refs := make([]fabric.Ref, len(f.Nodes()))
	for n := range refs {
		refs[n] = b.Node(*f.Node(fabric.NodeID(n)), "")
	}
	for _, e := range f.Endpoints() {
		b.Port(refs[e.Node], e.Port, fabric.Port{GUID: e.PortGUID, LID: e.LID, LMC: e.LMC})
	}
	for i, c := range f.Channels() {
		if int(c.Reverse) > i {
			b.Cable(refs[c.From], c.FromPort, refs[c.To], c.ToPort, c.Rate)
			b.DataVLs(refs[c.From], c.FromPort, lanes(fabric.ChannelID(i)))
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}
