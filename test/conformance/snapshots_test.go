package conformance

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// plans is every plan for the loss of each cable and each switch of a network, and for its
// return: the tables that follow one another. Package change has every step judged.
func plans(t *testing.T, f *fabric.Fabric, was *routing.Tables, contract routing.Contract) (all [][]*routing.Tables, steps, unmended int) {
	t.Helper()
	o := change.Options{Contract: contract, Scope: routing.HCA}
	add := func(p *change.Proven) {
		sequence := []*routing.Tables{p.Before}
		for _, s := range p.Steps {
			sequence = append(sequence, s.Tables)
			steps++
		}
		if len(sequence) > 1 {
			all = append(all, sequence)
		}
	}
	for _, x := range append(change.Cables(f), change.Switches(f)...) {
		nodes := x.Nodes
		for _, n := range x.Nodes {
			for _, e := range f.Attached(n) {
				if at := f.Endpoint(e).Node; at != n {
					nodes = append(nodes, at)
				}
			}
		}
		live, err := f.Without(x.Channels, nodes)
		if err != nil {
			t.Fatal(err)
		}
		away, err := change.Mend(t.Context(), was, live, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(away.Left) > 0 {
			unmended++
			continue
		}
		add(away)
		back, err := change.Return(t.Context(), away.After, was, o)
		if err != nil {
			t.Fatal(err)
		}
		add(back)
	}
	return all, steps, unmended
}

// What the switches hold while a step is written has no credit loop, whatever cable or switch
// went or came and in whatever order it is written: OpenSM's, or any other. 100,000 and more
// such snapshots are judged with WEFT_THOROUGH.
func TestManySnapshots(t *testing.T) {
	each := testnet.Of(250, 20)
	if thorough {
		each = 15_000
	}
	for _, n := range []struct {
		spec, engine string
		contract     routing.Contract
	}{
		{"torus:4x4,hosts=1", "weave-any", routing.Any},
		{"torus:3x3x3,hosts=1", "weave-any", routing.Any},
		{"dragonfly:p=2", "weave-any", routing.Any},
		{"xgft:m=4x4,w=2x4,hosts=1", "updn", routing.Any},
		{"slimfly:q=3,hosts=1", "weave-any", routing.Any},
		{"random:switches=16,links=40,hosts=1,seed=4", "weave-any", routing.Any},
		{"dragonfly:p=2", "df-dn", routing.Honored},
		{"torus:4x4,hosts=1", "dfsssp", routing.Directed},
	} {
		t.Run(n.spec+"/"+n.engine, func(t *testing.T) {
			if n.spec == "dragonfly:p=2" {
				testnet.OnlyWhole(t) // both take most of the time
			}
			t.Parallel()
			f := testnet.Build(t, n.spec)
			was := routedBy(t, f, n.engine, n.contract)
			all, steps, unmended := plans(t, f, was, n.contract)
			type look struct {
				from, to *routing.Tables
				done     []write
			}
			rng := rand.New(rand.NewPCG(uint64(len(all)), 11))
			var looks []look
			for round := 0; len(looks) < each; round++ {
				for _, sequence := range all {
					k := rng.IntN(len(sequence) - 1)
					order := inOrderOfOpenSM(sequence[k].Fabric)
					if round%2 > 0 {
						order = inAnyOrder(sequence[k].Fabric, rng.Uint64())
					}
					looks = append(looks, look{sequence[k], sequence[k+1], order[:rng.IntN(len(order)+1)]})
				}
			}
			loops := make([]int, len(looks))
			err := par.For(t.Context(), len(looks), func(_, i int) {
				v, err := deadlock.Verify(t.Context(), snapshot(looks[i].from, looks[i].to, looks[i].done), deadlock.Options{Contract: n.contract, Lost: -1})
				if err != nil || !v.Free() {
					loops[i]++
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range loops {
				if l > 0 {
					t.Errorf("snapshot %d has a credit loop", i)
				}
			}
			t.Logf("%d plans of %d steps (%d faults without one), %d snapshots, no loop", len(all), steps, unmended, len(looks))
		})
	}
}
