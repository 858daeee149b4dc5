package fabric_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// lids builds switches with the given ports 0 and returns their LIDs.
func lids(t testing.TB, ports ...fabric.Port) ([]fabric.LID, *fabric.Fabric) {
	var b fabric.Builder
	for i, p := range ports {
		b.Port(b.Node(fabric.Node{GUID: fabric.GUID(i + 1)}, ""), 0, p)
	}
	f := must(t, &b)
	var got []fabric.LID
	for _, e := range f.Endpoints() {
		got = append(got, e.LID)
	}
	return got, f
}

func TestLIDs(t *testing.T) {
	type port = fabric.Port
	for _, c := range []struct {
		name  string
		ports []port
		want  []fabric.LID
		warn  int
	}{
		{"none given", []port{{}, {}, {}}, []fabric.LID{1, 2, 3}, 0},
		{"given stands", []port{{}, {LID: 1}, {LID: 900}, {}}, []fabric.LID{2, 1, 900, 3}, 0},
		{"permissive is none", []port{{LID: 0xFFFF}, {LID: 2}}, []fabric.LID{1, 2}, 0},
		{"the last unicast", []port{{LID: fabric.MaxLID}}, []fabric.LID{fabric.MaxLID}, 0},
		{"multicast", []port{{LID: fabric.MaxLID + 1}, {LID: 1}}, []fabric.LID{2, 1}, 1},
		{"twice", []port{{LID: 5}, {LID: 5}, {LID: 1}}, []fabric.LID{2, 3, 1}, 2},
		{"ranges overlap", []port{{LID: 8, LMC: 2}, {LID: 10, LMC: 1}, {LID: 12}}, []fabric.LID{4, 2, 12}, 2},
		{"not aligned", []port{{LID: 6, LMC: 2}, {LID: 4}}, []fabric.LID{8, 4}, 1},
		{"over the end", []port{{LID: fabric.MaxLID, LMC: 1}}, []fabric.LID{2}, 1},
		{"ranges go where they fit", []port{{LMC: 3}, {LMC: 1}, {}, {LMC: 1}, {LID: 4}}, []fabric.LID{8, 2, 1, 6, 4}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, f := lids(t, c.ports...)
			if !slices.Equal(got, c.want) || len(f.Warnings()) != c.warn {
				t.Errorf("LIDs %v with warnings %q, want %v with %d", got, f.Warnings(), c.want, c.warn)
			}
			for i, p := range c.ports {
				if f.LIDGiven(fabric.EndpointID(i)) != (p.LID != got[i]) {
					t.Errorf("port %d with LID %d for %d: given %t", i, got[i], p.LID, f.LIDGiven(fabric.EndpointID(i)))
				}
			}
			if why := badLIDs(f); why != "" {
				t.Error(why)
			}
		})
	}
}

func TestWarningsNameTheLID(t *testing.T) {
	_, f := lids(t, fabric.Port{LID: 5}, fabric.Port{LID: 5})
	if w := f.Warnings(); !strings.Contains(w[0], "LID 5") || !strings.Contains(w[0], "0x0000000000000001 port 0") {
		t.Errorf("warning is %q", w[0])
	}
}

// badLIDs says what is wrong with the LIDs of a fabric, nothing if all is well.
func badLIDs(f *fabric.Fabric) string {
	owner := map[fabric.LID]fabric.EndpointID{}
	top := fabric.LID(0)
	for i, e := range f.Endpoints() {
		width := fabric.LID(1) << e.LMC
		if e.LID == 0 || e.LID%width != 0 || e.LID+width-1 > fabric.MaxLID {
			return fmt.Sprintf("endpoint %d has LID %d with LMC %d", i, e.LID, e.LMC)
		}
		for l := e.LID; l < e.LID+width; l++ {
			if other, taken := owner[l]; taken {
				return fmt.Sprintf("LID %d has endpoints %d and %d", l, other, i)
			}
			owner[l] = fabric.EndpointID(i)
			top = max(top, l)
		}
	}
	if f.TopLID() != top {
		return fmt.Sprintf("the top LID is %d, not %d", top, f.TopLID())
	}
	n, last := 0, fabric.LID(0)
	for lid, e := range f.LIDs() {
		if o, ok := owner[lid]; !ok || o != e || f.Owner(lid) != e || lid <= last {
			return fmt.Sprintf("LID %d belongs to endpoint %d after %d", lid, e, last)
		}
		last = lid
		n++
	}
	if n != len(owner) || f.Owner(0) != fabric.None || f.Owner(0xFFFF) != fabric.None {
		return fmt.Sprintf("%d of %d LIDs", n, len(owner))
	}
	return ""
}

func TestLIDsAreValidWhateverIsGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b fabric.Builder
		for i := range rapid.IntRange(0, 12).Draw(t, "switches") {
			b.Port(b.Node(fabric.Node{GUID: fabric.GUID(i + 1)}, ""), 0, fabric.Port{
				LID: fabric.LID(rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(int(fabric.MaxLID)-9, 0xFFFF)).Draw(t, "LID")),
				LMC: uint8(rapid.IntRange(0, 7).Draw(t, "LMC")),
			})
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if why := badLIDs(f); why != "" {
			t.Fatal(why)
		}
	})
}

// Who can do without LIDs has them nonetheless where there are enough.
func TestWithoutLIDs(t *testing.T) {
	for _, n := range []int{int(fabric.MaxLID), int(fabric.MaxLID) + 1} {
		for _, without := range []bool{false, true} {
			b := fabric.Builder{WithoutLIDs: without}
			for i := range n {
				b.Node(fabric.Node{Kind: fabric.Switch, Ports: 1, Name: strconv.Itoa(i)}, fmt.Sprintf("%06d", i))
			}
			f, err := b.Build()
			if enough := n <= int(fabric.MaxLID); (err == nil) != (enough || without) {
				t.Fatalf("%d endpoints, without LIDs %v: %v", n, without, err)
			} else if err == nil && (f.TopLID() > 0) != enough {
				t.Errorf("%d endpoints, without LIDs %v: the last is %d", n, without, f.TopLID())
			}
		}
	}
}
