package acyclic_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/testnet"
)

// A set of turns is free of cycles exactly if a graph takes them one after the other.
func TestFree(t *testing.T) {
	free := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := testnet.Build(t, []string{"ring:5", "torus:4x4", "random:switches=9,links=40,seed=2"}[seed%3])
		g, set, want := acyclic.New(f), make([]uint64, (f.Turns()+63)/64), true
		for range 1 + r.IntN(2*f.Trunks()) {
			in := fabric.ChannelID(r.IntN(f.Trunks()))
			first, end := f.TrunksFrom(f.Heads()[in])
			out := first + fabric.ChannelID(r.IntN(int(end-first)))
			turn := f.Turn(in, out)
			set[turn/64] |= 1 << (turn % 64)
			want = want && out != in && g.Add(in, out)
		}
		if got := acyclic.Free(f, set); got != want {
			t.Fatalf("seed %d: free %v, but turn by turn %v", seed, got, want)
		}
		if want {
			free++
		}
	}
	if free < 40 || free > 360 {
		t.Errorf("%d of 400 sets are free: the sets are badly drawn", free)
	}
}
