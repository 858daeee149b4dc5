package plugin_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestLeftBesideTheWhole has two hosts exchange their places, and cables break, and what is left of
// the tables written while switches still have the whole. A host elsewhere has a path record by what
// is left and is answered on its service level, by entries of the whole, to its old place. That is
// never said to be proven where ranks of the whole do not rise on it, and is where any client may use
// any service level, or no host moved.
func TestLeftBesideTheWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec, engine string
		contract     routing.Contract
		moved        string // what is said when hosts have
	}{
		{"ring:5,hosts=2", "dfsssp", routing.Honored, "proven once it is written"},
		{"torus:4x4,hosts=2", "lash", routing.Honored, "proven once it is written"},
		{"torus:4x4,hosts=2", "dfsssp", routing.Honored, "proven once it is written"},
		{"torus:4x4,hosts=2", "torus-2qos", routing.Honored, "proven"},
		{"fattree:ports=4,levels=3", "updn", routing.Any, "proven"},
	} {
		t.Run(c.spec+"/"+c.engine, func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, c.spec)
			hosts, q := routing.HCA.Endpoints(f), wire.Of(f, 1)
			whole := answerTo(t, q, c.engine, c.contract)
			chance := rand.New(rand.NewPCG(7, 28))
			count := map[string]int{}
			for range 10 {
				a, b := f.Endpoint(hosts[chance.IntN(len(hosts))]), f.Endpoint(hosts[chance.IntN(len(hosts))])
				if a.Switch == b.Switch {
					continue
				}
				now, _ := exchanged(t, f, a.Deliver, b.Deliver)
				said, _, _ := strings.Cut(verdictLater(t, "left", q, whole, wire.Of(now, 2)), ",")
				count[said]++
			}
			if count[c.moved] == 0 || c.moved == "proven" && len(count) > 1 || count["unproven"] > 0 {
				t.Errorf("where hosts have moved: %v, want %q", count, c.moved)
			}
			for range 5 {
				less, err := f.Without([]fabric.ChannelID{fabric.ChannelID(chance.IntN(f.Trunks()))}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if said := verdictLater(t, "left", q, whole, wire.Of(less, 2)); !strings.HasPrefix(said, "proven, ") {
					t.Errorf("where a cable broke: %q", said)
				}
			}
		})
	}
}
