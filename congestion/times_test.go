package congestion_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// What channels carry is added up by bytes, as the twin walks the routes.
func TestTimes(t *testing.T) {
	tables, p := drawing(t, []string{"AB"}, []string{"1A", "2A", "3B", "4B"}, []string{"1AB3", "2AB4", "3BA1"})
	o := congestion.Options{Placement: p, Pattern: sent([3]int64{0, 2, 1000}, [3]int64{1, 3, 500}, [3]int64{2, 0, 600}, [3]int64{0, 0, 9000}, [3]int64{3, 0, 70})}
	c, err := congestion.TimesOf(t.Context(), tables, o)
	if err != nil {
		t.Fatal(err)
	}
	// From A to B 1500, of hosts at most 1000; back 670, as much as host 1 gets.
	if mean := (1500*1.5 + 670*.67) / 2170; c.Time != 1.5 || c.Bytes != 1500 || math.Abs(c.Mean-mean) > 1e-12 || c.Lost != 0 ||
		tables.Fabric.Channel(c.Fullest).From != tables.Fabric.Endpoint(p[0]).Switch {
		t.Errorf("%+v, the mean is %g", c, mean)
	}
	rapid.Check(t, func(t *rapid.T) {
		tables := anyTables(t)
		f := tables.Fabric
		o := congestion.Options{Placement: routing.HCA.Endpoints(f), UniformRates: true}
		bytes, most, hosts := map[fabric.ChannelID]float64{}, 0.0, 0.0
		var pairs [][3]int64
		for range rapid.IntRange(1, 20).Draw(t, "pairs") {
			from, to := rapid.IntRange(0, len(o.Placement)-1).Draw(t, "from"), rapid.IntRange(0, len(o.Placement)-1).Draw(t, "to")
			b := int64(rapid.IntRange(1, 1000).Draw(t, "bytes"))
			pairs = append(pairs, [3]int64{int64(from), int64(to), b})
			route := twin{tables: tables}.route(o.Placement[from], o.Placement[to])
			if from == to || route == nil {
				continue
			}
			for _, c := range route {
				bytes[c] += float64(b)
				most = max(most, bytes[c])
				if int(c) >= f.Trunks() {
					hosts = max(hosts, bytes[c])
				}
			}
		}
		o.Pattern = sent(pairs...)
		c, err := congestion.TimesOf(context.Background(), tables, o)
		if (err == nil) != (most > 0) {
			t.Fatalf("%v, and the fullest carries %g", err, most)
		}
		if err == nil && (c.Bytes != most || c.Time != most/hosts || bytes[c.Fullest] != most || c.Mean > c.Time*(1+1e-12)) {
			t.Errorf("%+v, want %g bytes on the fullest, %g on that of hosts", c, most, hosts)
		}
	})
}
