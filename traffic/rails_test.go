package traffic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/traffic"
)

// Ranks on rails talk within theirs. Rails of different sizes end in different phases.
func TestOnRails(t *testing.T) {
	for _, test := range []struct {
		spec   string
		rail   []int
		want   string // phases by |
		silent int
	}{
		{"rail-shifts", []int{1, 2, 1, 2, 1}, "0>2 2>4 4>0 1>3 3>1 | 0>4 2>0 4>2", 0},
		{"rail-ring", []int{1, 2, 1, 2, 1}, "0>2 2>4 4>0 1>3 3>1", 0},
		{"rail-ring", []int{2, 0, 2, 1, 0}, "0>2 2>0", 3},
		{"rail-ring", []int{0, 0, 0}, "0>1 1>2 2>0", 0},
		{"rail-ring+ring", []int{1, 0, 1}, "0>2 2>0 0>1 0>2 1>2 1>0 2>0 2>1", 1},
		{"ring", []int{1, 2, 1}, "0>1 0>2 1>2 1>0 2>0 2>1", 0},
	} {
		p, err := traffic.Parse(test.spec)
		if err != nil {
			t.Fatal(err)
		}
		p, silent := traffic.OnRails(p, test.rail)
		n := len(test.rail)
		phases, err := p.Phases(n)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for k := range phases {
			var one []string
			for _, pair := range p.Append(nil, n, k, nil) {
				one = append(one, fmt.Sprintf("%d>%d", pair.From, pair.To))
			}
			all = append(all, strings.Join(one, " "))
		}
		if got := strings.Join(all, " | "); got != test.want || silent != test.silent {
			t.Errorf("%s on %v: %s, %d silent; want %s, %d", test.spec, test.rail, got, silent, test.want, test.silent)
		}
	}
}

// Nobody talks where every rail has a single rank.
func TestLonelyRails(t *testing.T) {
	p, err := traffic.Parse("rail-shifts")
	if err != nil {
		t.Fatal(err)
	}
	p, silent := traffic.OnRails(p, []int{1, 2, 3})
	if _, err := p.Phases(3); err == nil || !strings.Contains(err.Error(), "no rail has two ranks") || silent != 3 {
		t.Errorf("%v, %d silent", err, silent)
	}
	if got := p.Append(slices.Clip([]traffic.Pair{}), 3, 0, nil); len(got) > 0 {
		t.Errorf("%v", got)
	}
}
