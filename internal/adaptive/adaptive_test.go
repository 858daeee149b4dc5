package adaptive_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/testnet"
)

// star is one switch with a trunk to each of n others, and back: trunks enough for
// sets of several words.
func star(t testing.TB, n int) *fabric.Fabric {
	var b fabric.Builder
	centre := b.Node(fabric.Node{GUID: 1, Ports: n}, "")
	for i := range n {
		b.Cable(centre, uint8(i+1), b.Node(fabric.Node{GUID: fabric.GUID(i + 2), Ports: 1}, ""), 1, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// noPhases is the phases of choices that do not look at the trunk.
func noPhases(f *fabric.Fabric) []uint8 { return make([]uint8, f.Trunks()) }

func TestTrunkSet(t *testing.T) {
	f := star(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		c := adaptive.NewChoices(f, 1, 1, noPhases(f))
		set := c.Fresh(0, 0)
		want := map[fabric.ChannelID]bool{}
		for _, x := range rapid.SliceOf(rapid.Int32Range(0, int32(f.Trunks()-1))).Draw(t, "trunks") {
			set.Add(fabric.ChannelID(x))
			want[fabric.ChannelID(x)] = true
		}
		first := fabric.ChannelID(rapid.IntRange(0, f.Trunks()).Draw(t, "first"))
		end := fabric.ChannelID(rapid.IntRange(int(first), f.Trunks()).Draw(t, "end"))
		got := c.Set(0, 0)
		next := got.Next(first, end)
		for x := first; x < end; x++ {
			if got.Has(x) != want[x] {
				t.Fatalf("trunk %d is in the set: %v", x, !want[x])
			}
			if want[x] {
				if next != x {
					t.Fatalf("after trunk %d comes %d", x, next)
				}
				next = got.Next(x+1, end)
			}
		}
		if next != end {
			t.Fatalf("the last is followed by %d, want %d", next, end)
		}
		words := got.AppendRange([]uint64{7}, first, end)
		if n := (int(end-first)+63)/64 + 1; len(words) != n || words[0] != 7 {
			t.Fatalf("%d trunks are %x, want %d words after 7", end-first, words, n-1)
		}
		for i := range fabric.ChannelID(64 * (len(words) - 1)) {
			if x := first + i; words[1+i/64]>>(i%64)&1 == 1 != (x < end && want[x]) {
				t.Fatalf("bit %d is wrong of %x, trunks %d to %d", i, words[1:], first, end)
			}
		}
	})
	var none adaptive.TrunkSet
	if words := none.AppendRange(nil, 60, 130); none.Has(3) || none.Next(2, 7) != 7 || len(words) != 2 || words[0]|words[1] != 0 {
		t.Error("no set is not an empty set")
	}
}

func TestAddresses(t *testing.T) {
	f := testnet.Mesh(t, 4)
	a := adaptive.New(f, []int{2, 0, 3, 1})
	var got []string
	for d := range fabric.NodeID(4) {
		first, end := a.AddressesOf(d)
		got = append(got, fmt.Sprint(first, "-", end))
		for x := first; x < end; x++ {
			if a.Destination(x) != d {
				t.Errorf("address %d is switch %d's, want %d", x, a.Destination(x), d)
			}
			a.AllowedRow(x)[3] = uint16(x) + 1
		}
	}
	if want := "[0-2 2-2 2-5 5-6]"; fmt.Sprint(got) != want || a.Addresses() != 6 {
		t.Errorf("%d addresses: %v, want %s", a.Addresses(), got, want)
	}
	for x := range adaptive.Address(6) {
		if a.Allowed(3, x) != uint16(x)+1 || a.Allowed(2, x) != 0 {
			t.Errorf("lanes for address %d are mixed up", x)
		}
	}
}

// The phase follows from the trunk, but only on lanes with the same choices.
func TestWays(t *testing.T) {
	f := testnet.Mesh(t, 3)
	down := noPhases(f)
	down[1] = 1
	one, other := adaptive.NewChoices(f, 2, 2, down), adaptive.NewChoices(f, 2, 1, noPhases(f))
	for phase := range uint8(2) {
		one.Fresh(0, phase).Add(fabric.ChannelID(2 + phase))
	}
	one.Share(1, 1, 0)
	other.Fresh(0, 0).Add(5)
	a := adaptive.New(f, []int{2, 0, 0})
	a.Lanes = []adaptive.Lane{{Choices: one, Next: 7, Rely: 1}, {Choices: one, Next: 7}, {Choices: other}}
	if err := a.Valid(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		address  adaptive.Address
		in       fabric.ChannelID
		from, to uint8
		want     fabric.ChannelID // 6: none
	}{
		{0, fabric.None, 0, 0, 2}, // new
		{0, 0, 0, 0, 2},
		{0, 1, 0, 0, 3}, // went down
		{0, 1, 0, 1, 3}, // and changes the lane
		{0, 1, 2, 1, 2}, // it comes from other choices
		{0, 1, 1, 2, 5},
		{1, 0, 0, 0, 6}, // no set
		{1, 1, 0, 0, 3}, // a shared one
	} {
		if got := a.Ways(c.address, c.in, c.from, c.to).Next(0, 6); got != c.want {
			t.Errorf("%+v: trunk %d", c, got)
		}
	}
}

func TestValid(t *testing.T) {
	f := testnet.Mesh(t, 3)
	for _, c := range []struct {
		want  string
		spoil func(a *adaptive.Tables)
	}{
		{"", func(*adaptive.Tables) {}},
		{"1 to 15 lanes, not 0", func(a *adaptive.Tables) { a.Lanes = nil }},
		{"1 to 15 lanes, not 16", func(a *adaptive.Tables) { a.Lanes = make([]adaptive.Lane, 16) }},
		{"lane 1 has no choices", func(a *adaptive.Tables) { a.Lanes[1].Choices = nil }},
		{"for 6 trunks and 2 addresses; there are 6 and 1", func(a *adaptive.Tables) {
			a.Lanes[0].Choices = adaptive.NewChoices(f, 2, 1, noPhases(f))
		}},
		{"lane 0 leads to lanes 100", func(a *adaptive.Tables) { a.Lanes[0].Next = 5 }},
		{"lane 1 relies on lanes 1 ", func(a *adaptive.Tables) { a.Lanes[1].Rely = 3 }},
		{"switch 2 may use lanes 1000 for address 0", func(a *adaptive.Tables) { a.AllowedRow(0)[2] = 9 }},
	} {
		a := adaptive.New(f, []int{0, 1, 0})
		choices := adaptive.NewChoices(f, 1, 1, noPhases(f))
		a.Lanes = []adaptive.Lane{{Choices: choices, Next: 3, Rely: 1}, {Choices: choices, Next: 2, Rely: 2}}
		c.spoil(a)
		if err := a.Valid(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
