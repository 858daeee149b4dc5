package packets

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/testnet"
)

// The lists hold what a look at every address finds.
func TestListAddresses(t *testing.T) {
	f := testnet.Build(t, "random:switches=7,links=10,hosts=1,seed=1")
	several := adaptive.New(f, []int{1, 0, 3, 2, 5, 1, 2})
	for a := range adaptive.Address(several.Addresses()) {
		for s, row := 0, several.AllowedRow(a); s < len(row); s++ {
			row[s] = uint16((int(a)*5 + s*3) % 4)
		}
	}
	lists := listAddresses(several)
	for to := range fabric.NodeID(f.Switches()) {
		for from := range fabric.NodeID(f.Switches()) {
			var want []int32
			first, end := several.AddressesOf(to)
			for a := first; a < end; a++ {
				if several.Allowed(from, a) != 0 {
					want = append(want, int32(a))
				}
			}
			if got := lists.of(from, to); !slices.Equal(got, want) {
				t.Errorf("from %d to %d: %v, want %v", from, to, got, want)
			}
		}
	}
}
