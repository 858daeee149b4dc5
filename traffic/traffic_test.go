package traffic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/traffic"
)

// text is a phase of a pattern as "from>to", for short.
func text(t *testing.T, spec string, n, phase int) string {
	t.Helper()
	p, err := traffic.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Phases(n); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, pair := range p.Append(nil, n, phase, traffic.Stream(1, 1)) {
		fmt.Fprintf(&b, " %d>%d", pair.From, pair.To)
	}
	return strings.TrimSpace(b.String())
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		spec     string
		n, phase int
		want     string
	}{
		{"alltoall", 3, 0, "0>1 0>2 1>0 1>2 2>0 2>1"},
		{"shifts", 3, 0, "0>1 1>2 2>0"},
		{"shifts", 3, 1, "0>2 1>0 2>1"},
		{"alltoall-phased", 3, 1, "0>2 1>0 2>1"},
		{"allreduce-ring", 3, 3, "0>1 1>2 2>0"},
		{"allreduce-doubling", 4, 0, "0>2 1>3 2>0 3>1"},
		{"allreduce-doubling", 4, 1, "0>1 1>0 2>3 3>2"},
		{"allreduce-doubling", 4, 2, "0>1 1>0 2>3 3>2"},
		{"allreduce-doubling", 4, 3, "0>2 1>3 2>0 3>1"},
		{"hierarchical:g=2", 6, 0, "0>1 1>0 2>3 3>2 4>5 5>4"},
		{"hierarchical:g=2", 6, 1, "0>2 1>3 2>4 3>5 4>0 5>1"},
		{"hierarchical:g=2", 6, 2, "0>4 1>5 2>0 3>1 4>2 5>3"},
		{"hierarchical:g=3", 6, 1, "0>2 1>0 2>1 3>5 4>3 5>4"},
		{"rail-shifts", 3, 1, "0>2 1>0 2>1"},
		{"rail-ring", 3, 0, "0>1 1>2 2>0"},
		{"shifts:phases=2", 5, 1, "0>3 1>4 2>0 3>1 4>2"},
		{"ring", 4, 0, "0>1 0>3 1>2 1>0 2>3 2>1 3>0 3>2"},
		{"ring", 2, 0, "0>1 1>0"},
		{"neighbours:k=2", 4, 0, "0>1 0>3 0>2 1>2 1>0 1>3 2>3 2>1 2>0 3>0 3>2 3>1"},
		{"neighbour2d", 4, 0, "0>1 0>2 1>0 1>3 2>3 2>0 3>2 3>1"},
		{"neighbor2d:x=3", 3, 0, "0>1 0>2 1>2 1>0 2>0 2>1"},
		{"neighbour3d:x=2,y=1", 4, 0, "0>1 0>2 1>0 1>3 2>3 2>0 3>2 3>1"},
		{"shift:k=3", 4, 0, "0>3 1>0 2>1 3>2"},
		{"shift:k=7", 4, 0, "0>3 1>0 2>1 3>2"},
		{"tornado", 5, 0, "0>2 1>3 2>4 3>0 4>1"},
		{"tornado", 8, 0, "0>3 1>4 2>5 3>6 4>7 5>0 6>1 7>2"},
		{"transpose", 4, 0, "1>2 2>1"},
		{"transpose", 9, 0, "1>3 2>6 3>1 5>7 6>2 7>5"},
		{"complement", 4, 0, "0>3 1>2 2>1 3>0"},
		{"reverse", 8, 0, "1>4 3>6 4>1 6>3"},
		{"tree", 6, 0, "0>1"},
		{"tree", 6, 2, "0>4 1>5"},
		{"dissemination", 5, 2, "0>4 1>0 2>1 3>2 4>3"},
		{"doubling", 4, 1, "0>2 1>3 2>0 3>1"},
		{"gather", 3, 0, "1>0 2>0"},
		{"scatter", 3, 0, "0>1 0>2"},
		{"gather+tree", 3, 1, "1>0 2>0 0>2"},
	} {
		if got := text(t, c.spec, c.n, c.phase); got != c.want {
			t.Errorf("%s among %d, phase %d: %s; want %s", c.spec, c.n, c.phase, got, c.want)
		}
	}
}

func TestPhases(t *testing.T) {
	for _, c := range []struct {
		spec string
		n    int
		want string
	}{
		{"shifts", 5, "4"},
		{"tree", 5, "3"},
		{"dissemination", 8, "3"},
		{"doubling", 8, "3"},
		{"shifts+ring", 5, "4"},
		{"doubling", 12, "doubling needs a power of two of ranks, not 12; nearest is 8; the placement switch:8 takes 8"},
		{"reverse", 13, "nearest is 16"},
		{"transpose", 10, "a square number of ranks, not 10; nearest is 9"},
		{"transpose", 2, "nearest is 4"},
		{"transpose", 14, "nearest is 16"},
		{"ring", 1, "ring among 1 ranks: it takes two to talk"},
		{"tornado", 2, "it needs 3"},
		{"shift:k=8", 4, "sends everything back to its source; k=9 does not"},
		{"incast:n=8", 8, "incast:n=8 needs 9 ranks; there are 8"},
		{"neighbours:k=3", 5, "k is at most 2"},
		{"neighbour2d:x=8", 20, "20 ranks do not fill a grid with such sides; nearest is 24"},
		{"neighbour3d:x=3,y=5", 16, "nearest is 15"},
		{"alltoall", 5000, "at most 2048 ranks, or take alltoall-phased"},
		{"ring+reverse", 6, "power of two"},
		{"allreduce-ring", 4, "6"},
		{"allreduce-doubling", 8, "6"},
		{"allreduce-doubling", 12, "allreduce-doubling needs a power of two of ranks, not 12; nearest is 8"},
		{"hierarchical:g=4", 12, "5"},
		{"hierarchical:g=8", 44, "hierarchical:g=8 needs a multiple of 8 ranks, not 44; nearest is 48"},
		{"hierarchical:g=8", 3, "nearest is 8"},
	} {
		p, err := traffic.Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Phases(c.n)
		if got := fmt.Sprint(k, err); !strings.Contains(got, c.want) || (err == nil) != (len(c.want) == 1) {
			t.Errorf("%s among %d: %s; want %s", c.spec, c.n, got, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"bisekt":               `no pattern "bisekt"; nearest is "bisect" (patterns: bisect, bisect-both,`,
		"":                     `no pattern ""`,
		"shift":                "shift needs k, at least 1: how far, as in shift:k=3",
		"shift:k=0":            "k=0 is less than 1",
		"shift:k=three":        `k="three" is not a whole number`,
		"shift:3":              `"3" is not key=value, as in shift:k=3`,
		"shift:j=3":            `no key "j" (keys: k)`,
		"shift:k=3,k=4":        "k is given twice",
		"ring:k=3":             "ring has no keys",
		"bisect+":              `no pattern ""`,
		"shift:k=999999999999": "is not a whole number",
	} {
		if _, err := traffic.Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", spec, err, want)
		}
	}
}

// Every example in the table parses, prints as it was, and keeps to its ranks.
func TestKinds(t *testing.T) {
	for _, k := range traffic.Kinds() {
		p, err := traffic.Parse(k.Example)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != k.Example || p.Random() != k.Random || k.Summary == "" {
			t.Errorf("%s: %s, %+v", k.Example, p, k)
		}
		for n := 2; n <= 64; n++ {
			phases, err := p.Phases(n)
			if err != nil {
				continue
			}
			for phase := range phases {
				r := traffic.Stream(uint64(n), 1)
				pairs := p.Append([]traffic.Pair{{From: -1}}, n, phase, r)
				if pairs[0].From != -1 {
					t.Errorf("%s overwrites what is there", k.Name)
				}
				for _, q := range pairs[1:] {
					if q.From == q.To || min(q.From, q.To) < 0 || max(q.From, q.To) >= int32(n) || q.Bytes != 0 {
						t.Fatalf("%s among %d, phase %d: %+v", k.Name, n, phase, q)
					}
				}
			}
		}
	}
}

// All bisections of four and of five ranks are as likely as each other.
func TestBisectIsFair(t *testing.T) {
	p, err := traffic.Parse("bisect")
	if err != nil {
		t.Fatal(err)
	}
	for n, kinds := range map[int]int{4: 12, 5: 60} {
		const draws = 1000
		seen := map[string]int{}
		for run := range kinds * draws {
			pairs := p.Append(nil, n, 0, traffic.Stream(7, uint64(run)))
			slices.SortFunc(pairs, func(a, b traffic.Pair) int { return int(a.From - b.From) })
			seen[fmt.Sprint(pairs)]++
		}
		square := 0.0
		for _, count := range seen {
			square += float64((count-draws)*(count-draws)) / draws
		}
		// Chi-square with kinds-1 degrees of freedom: mean kinds-1, variance twice that.
		if len(seen) != kinds || square > float64(kinds)*2.2 {
			t.Errorf("%d ranks: %d different bisections, want %d; chi-square %.1f", n, len(seen), kinds, square)
		}
	}
}

// What random patterns promise.
func TestRandomPatterns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 50).Draw(t, "ranks")
		spec := rapid.SampledFrom([]string{"bisect", "bisect-both", "permutation", "uniform", "incast"}).Draw(t, "pattern")
		senders := rapid.IntRange(1, n-1).Draw(t, "senders")
		if spec == "incast" {
			spec = fmt.Sprintf("incast:n=%d", senders)
		}
		p, err := traffic.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		pairs := p.Append(nil, n, 0, traffic.Stream(seed, 3))
		if diff := cmp.Diff(pairs, p.Append(nil, n, 0, traffic.Stream(seed, 3))); diff != "" {
			t.Fatal(diff)
		}
		sends, gets := make([]int, n), make([]int, n)
		for _, q := range pairs {
			sends[q.From]++
			gets[q.To]++
		}
		want := map[string]int{"bisect": n / 2, "bisect-both": n &^ 1, "uniform": n, p.String(): len(pairs), fmt.Sprintf("incast:n=%d", senders): senders}
		if len(pairs) != want[spec] {
			t.Fatalf("%s: %d pairs among %d", spec, len(pairs), n)
		}
		for i := range n {
			switch spec {
			case "bisect":
				if sends[i]+gets[i] > 1 {
					t.Fatalf("rank %d sends %d, gets %d", i, sends[i], gets[i])
				}
			case "bisect-both", "permutation":
				if sends[i] != gets[i] || sends[i] > 1 {
					t.Fatalf("rank %d sends %d, gets %d", i, sends[i], gets[i])
				}
			case "uniform":
				if sends[i] != 1 {
					t.Fatalf("rank %d sends %d", i, sends[i])
				}
			default:
				if gets[i] != 0 && gets[i] != senders || sends[i] > 1 {
					t.Fatalf("rank %d sends %d, gets %d", i, sends[i], gets[i])
				}
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, k := range traffic.Kinds() {
		f.Add(k.Example, 12)
	}
	f.Add("bisect+neighbour3d:x=2,y=3", 12)
	f.Fuzz(func(t *testing.T, spec string, n int) {
		p, err := traffic.Parse(spec)
		if err != nil {
			return
		}
		if again, err := traffic.Parse(p.String()); err != nil || again.String() != p.String() {
			t.Fatalf("%q prints as %q: %v", spec, p, err)
		}
		n = min(n, 300)
		if phases, err := p.Phases(n); err == nil {
			for _, q := range p.Append(nil, n, phases-1, traffic.Stream(1, 1)) {
				if min(q.From, q.To) < 0 || int(max(q.From, q.To)) >= n {
					t.Fatalf("%s among %d: %+v", p, n, q)
				}
			}
		}
	})
}

func BenchmarkBisect(b *testing.B) {
	p, err := traffic.Parse("bisect")
	if err != nil {
		b.Fatal(err)
	}
	r := traffic.Stream(1, 1)
	pairs := p.Append(nil, 1246, 0, r)
	b.ReportAllocs()
	for b.Loop() {
		pairs = p.Append(pairs[:0], 1246, 0, r)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pairs)), "ns/pair")
}
