package plugin_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestRefusedInMidPlan has every answer of plans of several steps spoilt once before it comes whole: a
// refusal in its place, half of it, ranks that do not rise, rows exchanged, the answer to another
// question of these plans, as it was or under this one's number. Nobody sweeps: the plugin asks again by
// itself, every moment is proven, nobody stays cut, and when the cable is back the tables are the first,
// but where the plugin took the answer to another question, which held for its own as well. SL2VL maps are then
// read from the switches themselves, in a sample from a third of the ports, another third for each way to spoil answers.
func TestRefusedInMidPlan(t *testing.T) {
	t.Parallel()
	for i, how := range []string{"refusal", "half", "ranks", "rows", "hung up", "another sweep", "another step", "the step before"} {
		t.Run(how, func(t *testing.T) {
			if i%2 > 0 {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			const cable = fabric.ChannelID(0)
			k := interrupts(t, testnet.Build(t, "torus:4x4,hosts=1"), "engine: weave-any", "max_entries_per_change: 20")
			first := k.swept(t)
			var mu sync.Mutex
			armed, spoilt, taken, seen := false, 0, 0, map[uint64]bool{}
			var others [][]byte // answers before, the last at the end
			lent := map[uint64]func(){}
			chance := rand.New(rand.NewPCG(6, 6))
			k.between.mu.Lock()
			k.between.older = how == "another sweep" || how == "another step" || how == "the step before"
			k.between.spoil = func(q *wire.Request, a *wire.Answer, text []byte) []byte {
				mu.Lock()
				defer mu.Unlock()
				if take := lent[q.InUse]; take != nil { // the plugin took what was proven for it, too
					taken++
					delete(lent, q.InUse)
					take()
				}
				if a.Step { // what is no step the plugin takes at any time, and says so
					defer func() { others = append(others, text) }()
				}
				if !armed || a.Refusal != "" || !a.Step || seen[a.Number] || a.Number == q.InUse {
					return text
				}
				seen[a.Number] = true
				spoilt++
				b, p := bytes.Clone(text), parts(t, q, text)
				switch how {
				case "refusal":
					var no bytes.Buffer
					if err := wire.WriteRefusal(&no, q.Sweep, "out of order"); err != nil {
						t.Error(err)
					}
					return no.Bytes()
				case "half":
					return b[:len(b)/2]
				case "hung up":
					return nil
				case "ranks":
					copy(b[p[4]:], make([]byte, p[5]-p[4]))
				case "another sweep", "another step", "the step before":
					i := slices.IndexFunc(others, func(o []byte) bool { return len(o) == len(text) && numberIn(o) != a.Number && numberIn(o) != q.InUse })
					if how == "the step before" {
						i = len(others) - 1
					}
					if i < 0 {
						spoilt--
						return text
					}
					b = bytes.Clone(others[i])
					if how != "another sweep" {
						copy(b[16:], text[16:][:8]) // the number of the sweep
						if x, err := wire.ReadAnswer(bytes.NewReader(b), q); err == nil {
							lent[x.Number] = func() { k.between.answer(q, x) }
							k.between.instead(t, q, x)
						}
					}
					others = slices.Delete(others, i, i+1) // another the next time
				case "rows":
					row := a.LIDs
					one, other := b[p[0]:][:row], b[p[0]+(1+chance.IntN(a.Switches-1))*row:][:row]
					was := bytes.Clone(one)
					copy(one, other)
					copy(other, was)
				}
				return b
			}
			k.between.mu.Unlock()
			k.through(t, k.unplug(cable), -1, restart{})
			if _, back := k.through(t, k.plug(cable), -1, restart{}); back != first {
				t.Fatal("the cable is back with other tables")
			}
			mu.Lock()
			armed = true
			mu.Unlock()
			began := time.Now()
			k.through(t, k.unplug(cable), -1, restart{})
			less, err := k.f.Without([]fabric.ChannelID{cable}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v := k.judged(t, &routing.Tables{Fabric: less, Lanes: routing.OneSL(less, nil)}, routing.Any); !v.Free() || !v.Complete() {
				t.Errorf("the cable is gone: free %v, complete %v", v.Free(), v.Complete())
			}
			if _, back := k.through(t, k.plug(cable), -1, restart{}); back != first && taken == 0 { // the daemon goes on from what was taken
				t.Error("the way back does not end as planned")
			}
			k.mapsHold(t, i)
			mu.Lock()
			defer mu.Unlock()
			t.Logf("%d answers spoilt by %s, of which %d hold as well, both plans took %.1f s; %d moments, %d of them not proven", spoilt, how, taken, time.Since(began).Seconds(), k.between.moments, len(k.between.unproven))
			if spoilt < 2 || len(k.between.unproven) > strings.Count(k.said(t), "proven_meanwhile=false") {
				k.logs(t)
				t.Errorf("%q", k.between.unproven)
			}
		})
	}
}

// numberIn is the number of the tables of an answer.
func numberIn(answer []byte) uint64 { return binary.LittleEndian.Uint64(answer[16+80:]) }

var mapOf = regexp.MustCompile(`in +(\d+), out +(\d+): \|(.*)\|`)

// handedOver is the daemon's tables of its state folder, for the whole fabric.
func (k *served) handedOver(t *testing.T) *routing.Tables {
	t.Helper()
	maps, err := slvl.Read(open(t, filepath.Join(k.state, "last-good", "sl2vl.dump")), "sl2vl.dump", k.f)
	if err != nil {
		t.Fatal(err)
	}
	return &routing.Tables{Fabric: k.f, Lanes: routing.OneSL(k.f, maps)}
}

// mapsHold reads the SL2VL maps of all switches from themselves, and compares what matters with the
// dump of the daemon: of all ports, or as a sample of every third, from the one that first says.
func (k *served) mapsHold(t *testing.T, first int) {
	t.Helper()
	tables, step := k.handedOver(t), testnet.Of(1, 3)
	f, checked := tables.Fabric, 0
	for s := range fabric.NodeID(f.Switches()) {
		for out := uint8(1); int(out) <= f.Node(s).Ports; out++ {
			if f.Out(s, out) == fabric.None || (int(s)+int(out)+first)%step > 0 {
				continue
			}
			text := k.ask(t, f, "smpquery", "sl2vl", fmt.Sprint(f.Endpoint(fabric.EndpointID(s)).LID), fmt.Sprint(out))
			for _, m := range mapOf.FindAllStringSubmatch(text, -1) {
				var in uint8
				if _, err := fmt.Sscan(m[1], &in); err != nil {
					t.Fatal(err)
				}
				if in == 0 || in == out || f.Out(s, in) == fabric.None {
					continue
				}
				for sl, cell := range strings.Split(m[3], "|") {
					checked++
					if want := tables.Lanes.SL2VL.VL(s, in, out, uint8(sl)); strings.TrimSpace(cell) != fmt.Sprint(want) {
						t.Fatalf("%s itself, from port %d to %d: SL %d has lane %s, want %d", f.Label(s), in, out, sl, cell, want)
					}
				}
			}
		}
	}
	if t.Logf("%d lanes read from switches", checked); checked < f.Trunks()*routing.SLs/step {
		t.Error("too few")
	}
}
