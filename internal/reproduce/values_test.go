package reproduce

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/sweep/meter"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

// Values of the pages in results, of every measure but times: what they are made of, how they
// are measured and how they are put together may change, they may not. Where the tables of an
// engine change, so do its values, here and there.
func TestValuesStayAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		id, line, place, row string
		quick                bool
	}{
		{"hoti2009-8b", "minhop, swept", "16", `"minhop, swept",minhop,16,"odin | odin:hosts=packed | odin:hosts=drawn,seed={seed} | odin hosts-packed | odin hosts-apart",16,0.970961,0.961313,0.98575,8,0,,234.75,,0,18,128,144`, true},
		{"hoti2009-4d", "dor, swept", "3x3x3", `"dor, swept",dor,3x3x3,"torus:3x3x3,hosts=18 ports-shuffled={seed}",486,0.280197,0.279541,0.280811,4,0,,2916,,0,27,486,81`, true},
		{"ipdps2011-5", "sssp", "256", `sssp,sssp,256,"table1:family=xgft,endpoints=256",256,0.596188,0.568773,0.623602,1,0,,480,,0,24,256,128`, true},
		{"ipdps2011-t1", "XGFT", "512", `XGFT,,512,"table1:family=xgft,endpoints=512",512,18,18,18,1,0,,,,0,63,512,162`, true},
		{"hoti2016-7", "sssp", "50", `sssp,sssp,50,"slimfly:q=5,hosts=2",100,11.8306,9.44152,15.9215,50,0,,,,1,50,100,175`, true},
		{"hoti2016-9", "dfsssp, as printed", "50", `"dfsssp, as printed","dfsssp, as printed",50,"slimfly:q=5,hosts=7",350,3,3,3,1,0,,,,0,50,350,175`, true},
		{"micro2020-a2a", "dmodc", "1 %", `dmodc,dmodc,1 %,"xgft:m=12x12,w=12x12,hosts=12",1728,41,41,41,1,0,,3552,,0,432,1728,3421`, true},
		{"micro2020-a2a", "balance", "20 %", `balance,balance,20 %,"xgft:m=12x12,w=12x12,hosts=12",1728,76,76,76,1,0,,3876,,0,432,1728,2765`, true},
		{"micro2020-a2a", "sssp", "20 %", `sssp,sssp,20 %,"xgft:m=12x12,w=12x12,hosts=12",1728,63,63,63,1,0,,4272,,0,432,1728,2765`, true},
		{"micro2020-sp", "dmodc", "20 %", `dmodc,dmodc,20 %,"xgft:m=12x12,w=12x12,hosts=12",1728,20,20,20,1,0,,7332,,0,432,1728,2765`, true},
		{"tpds2006-43", "mroots", "16", `mroots,mroots,16,"random:switches=16,links=32,hosts=1,seed={seed}",16,4.5,4,5,4,0,,,,0,16,16,32`, true},
		{"tpds2006-6", "64 switches", "128", `64 switches,a-lash,128,"random:switches=64,links=128,hosts=1,seed={seed}",64,4.99,4,6,100,0,,,,0,64,64,128`, false},
		{"tpds2006-7", "lash, pairs", "0.3", `"lash, pairs",deterministic:lash,0.3,"random:switches=16,links=32,hosts=1,seed={seed}",16,0.302135,0.2946,0.30768,16,0,,,52.2529,0,16,16,32`, false},
		{"tpds2006-10", "mp-lash", "0.2", `mp-lash,source:mp-lash,0.2,"random:switches=16,links=32,hosts=1,seed={seed}",16,0.199285,0.19548,0.2066,16,0,,,48.7991,0,16,16,32`, false},
	} {
		t.Run(c.id, func(t *testing.T) {
			list, err := papers.Select([]string{c.id})
			if err != nil {
				t.Fatal(err)
			}
			r := &Run{Options: Options{Quick: c.quick, Seed: 1}}
			if err := r.open(list); err != nil {
				t.Fatal(err)
			}
			out := r.Outcomes[0]
			v := valueAt(out.values, c.line, c.place)
			if v == nil {
				t.Fatal("there is no such value")
			}
			one := &Outcome{Experiment: out.Experiment, Results: claims.NewResults(out.Lines), values: []papers.Value{*v}}
			m := &meter.Meter{}
			var rows []results.Row
			for _, p := range together([]*Outcome{one}) {
				some, err := m.Take(t.Context(), &p)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, some...)
			}
			all := takenOf(rows)
			result, err := all.result(out.Measure, v)
			if err != nil {
				t.Fatal(err)
			}
			one.Set(v.Line, v.Place, result)
			var text bytes.Buffer
			if err := one.CSV(&text); err != nil {
				t.Fatal(err)
			}
			if _, got, _ := strings.Cut(strings.TrimSpace(text.String()), "\n"); got != c.row {
				t.Errorf("got  %s\nwant %s", got, c.row)
			}
		})
	}
}
