package topology

import (
	"fmt"
	"slices"
	"testing"
)

var fields = []int{2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 25, 27, 32, 49, 64, 81}

// TestFieldAxioms: an Abelian group with addition, another without 0 with
// multiplication, and the two distribute. Powers of ξ are all elements but 0.
func TestFieldAxioms(t *testing.T) {
	for _, q := range fields {
		f := newField(q)
		if p := smallestFactor(q); f.p != p || f.exp[0] != 1 || len(f.exp) != q-1 {
			t.Fatalf("GF(%d): characteristic %d, %d powers", q, f.p, len(f.exp))
		}
		for a := range q {
			sum, times := 0, 1
			for range f.p {
				sum = f.add(sum, a)
			}
			for range q - 1 {
				times = f.mul(times, a)
			}
			if sum != 0 || f.add(a, 0) != a || f.mul(a, 1) != a || a > 0 && times != 1 {
				t.Fatalf("GF(%d): %d times %d is %d, to the power of %d it is %d", q, f.p, a, sum, q-1, times)
			}
			var sums, products []int
			for b := range q {
				sums, products = append(sums, f.add(a, b)), append(products, f.mul(a, b))
				if f.add(a, b) != f.add(b, a) || f.mul(a, b) != f.mul(b, a) {
					t.Fatalf("GF(%d): %d and %d do not commute", q, a, b)
				}
				for c := 0; c < q && q <= 32; c++ {
					if f.add(f.add(a, b), c) != f.add(a, f.add(b, c)) || f.mul(f.mul(a, b), c) != f.mul(a, f.mul(b, c)) ||
						f.mul(a, f.add(b, c)) != f.add(f.mul(a, b), f.mul(a, c)) {
						t.Fatalf("GF(%d): %d, %d and %d do not associate or distribute", q, a, b, c)
					}
				}
			}
			slices.Sort(sums)
			slices.Sort(products)
			if len(slices.Compact(sums)) != q || a > 0 && len(slices.Compact(products)) != q {
				t.Fatalf("GF(%d): adding or multiplying by %d is not one to one", q, a)
			}
		}
	}
}

func TestPrimePowers(t *testing.T) {
	want := []int{2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41, 43, 47, 49}
	if got := primePowers(50); !slices.Equal(got, want) {
		t.Errorf("prime powers up to 50: %v", got)
	}
}

// TestProjectivePlane: two points are on one line, two lines have one point.
func TestProjectivePlane(t *testing.T) {
	for _, order := range []int{2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17} {
		lines := projectivePlane(newField(order))
		if len(lines) != order*order+order+1 {
			t.Fatalf("order %d: %d lines", order, len(lines))
		}
		together := make([]int, len(lines)*len(lines)) // [point, point] lines through both
		for i, line := range lines {
			if len(line) != order+1 || !slices.IsSorted(line) {
				t.Fatalf("order %d: line %d is %v", order, i, line)
			}
			for _, a := range line {
				for _, b := range line {
					together[a*len(lines)+b]++
				}
			}
		}
		for i, n := range together {
			a, b := i/len(lines), i%len(lines)
			if want := 1; a != b && n != want || a == b && n != order+1 {
				t.Fatalf("order %d: points %d and %d share %d lines", order, a, b, n)
			}
		}
	}
}

// TestSlimFlySets: X and X' are as the paper prints them, and each is -X.
func TestSlimFlySets(t *testing.T) {
	for q, want := range map[int][]int{
		3: {0, 1}, 4: {0, 2}, 5: {0, 2}, 7: {0, 2, 3, 5}, 8: {0, 2, 4, 6}, 9: {0, 2, 4, 6},
		11: {0, 2, 4, 5, 7, 9}, 13: {0, 2, 4, 6, 8, 10}, 19: {0, 2, 4, 6, 8, 9, 11, 13, 15, 17},
	} {
		s := SlimFly{Q: q}
		got := s.exponents()
		if !slices.Equal(got, want) {
			t.Errorf("q = %d: exponents %v, want %v", q, got, want)
		}
		f := newField(q)
		for side := range 2 {
			var set []int
			for _, e := range got {
				set = append(set, f.exp[(e+side)%(q-1)])
			}
			for _, x := range set {
				if !slices.ContainsFunc(set, func(y int) bool { return f.add(x, y) == 0 }) {
					t.Errorf("q = %d, side %d: %v lacks minus %d", q, side, set, x)
				}
			}
		}
	}
}

// TestSlimFlyDiameter: degree (3q-δ)/2, diameter two, no two cables between the
// same switches: for δ = 1, 0 and -1, primes and powers.
func TestSlimFlyDiameter(t *testing.T) {
	for _, q := range []int{3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 25, 27} {
		if q > 19 && testing.Short() {
			continue
		}
		delta := map[int]int{0: 0, 1: 1, 3: -1}[q%4]
		f := build(t, fmt.Sprintf("slimfly:q=%d,hosts=1", q))
		degree := (3*q - delta) / 2
		got := measure(f)
		if want := (shape{2 * q * q, 2 * q * q, q * q * degree, degree, degree, degree + 1, 2, 2}); got != want {
			t.Errorf("q = %d: %+v, want %+v", q, got, want)
		}
		checkSimple(t, f)
		if p := (SlimFly{Q: q}); settle(&p) != nil || p.Hosts != (degree+1)/2 {
			t.Errorf("q = %d: %d hosts by default", q, p.Hosts)
		}
	}
}
