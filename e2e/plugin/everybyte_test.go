package plugin_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// TestEveryByte changes every byte of an answer to each value that lies at a limit, one
// at a time. The plugin, in C, refuses what the daemon's reader or the judge, in Go,
// refuse, and takes what both take.
func TestEveryByte(t *testing.T) {
	for _, c := range []struct {
		spec, engine string
		contract     routing.Contract
	}{
		{"ring:3,hosts=1", "dfsssp", routing.Honored},
		{"ring:4,hosts=1", "df-dn", routing.Directed},
		{"mesh:1x3,hosts=2", "updn", routing.Any},
		{"ring:3,hosts=1", "updn", routing.Single(2)}, // whose maps have lanes for service levels that nobody uses
	} {
		t.Run(fmt.Sprintf("%s/%s/%s", c.spec, c.engine, c.contract), func(t *testing.T) {
			t.Parallel()
			q := wire.Of(testnet.Build(t, c.spec), 77)
			whole := answerTo(t, q, c.engine, c.contract)
			names := parts(t, q, whole)
			var answers [][]byte
			var what []string
			add := func(b []byte, msg string, args ...any) {
				answers, what = append(answers, b), append(what, fmt.Sprintf(msg, args...))
			}
			add(whole, "as it is")
			for i := 16; i < len(whole); i++ {
				if i >= 64 && i < 96 { // the engine's name
					continue
				}
				old := whole[i]
				values := []byte{0, 1, 2, 7, 8, 14, 15, 16, 17, 127, 128, 254, 255, old - 1, old + 1, old ^ 1}
				slices.Sort(values)
				for _, v := range slices.Compact(values) {
					if v == old {
						continue
					}
					b := bytes.Clone(whole)
					b[i] = v
					part := 0
					for part < len(names)-1 && i >= names[part+1] {
						part++
					}
					add(b, "byte %d (part %d) %d in place of %d", i-16, part, v, old)
				}
			}
			verdicts := core(t, "", "prove", q, bytes.Join(answers, nil))
			if len(verdicts) != len(answers) {
				t.Fatalf("%d verdicts on %d answers", len(verdicts), len(answers))
			}
			wrong := 0
			for i, verdict := range verdicts {
				word, _, _ := strings.Cut(verdict, ":")
				why := sound(t, q, answers[i])
				if why == "" && noLevel(t, q, answers[i]) {
					why = "a LID not to be used, which no answer can say"
				}
				if (why == "") != (word == "proven") {
					if wrong++; wrong < 10 {
						t.Errorf("%s: the plugin says %q, the judge %q", what[i], verdict, why)
					}
				}
			}
			t.Logf("%d answers, %d wrong", len(answers), wrong)
		})
	}
}

// noLevel says whether an answer leaves out a service level.
func noLevel(t *testing.T, q *wire.Request, message []byte) bool {
	t.Helper()
	a, err := wire.ReadAnswer(bytes.NewReader(message), q)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Max(a.SLs) >= routing.SLs
}

// TestMostLanes is a proof over as many lanes as there are.
func TestMostLanes(t *testing.T) {
	q := wire.Of(testnet.Build(t, "ring:4,hosts=1"), 77)
	tables, proof, err := routed(q, "dfsssp", routing.Directed)
	if err != nil {
		t.Fatal(err)
	}
	for _, lanes := range []int{proof.Lanes, routing.MaxDataVLs} {
		wide := *proof
		wide.Lanes, wide.Rank = lanes, nil
		for trunk := range len(proof.Rank) / proof.Lanes {
			for lane := range lanes {
				rank := int32(deadlock.Unused)
				if lane < proof.Lanes {
					rank = proof.Rank[trunk*proof.Lanes+lane]
				}
				wide.Rank = append(wide.Rank, rank)
			}
		}
		var b bytes.Buffer
		if err := wire.WriteTables(&b, q, "dfsssp", tables, &wide); err != nil {
			t.Fatal(err)
		}
		if got := core(t, "", "prove", q, b.Bytes()); got[0] != "proven" {
			t.Errorf("with %d lanes: %s", lanes, got[0])
		}
	}
}
