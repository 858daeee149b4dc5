package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
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
		s := slimFly{Q: q}
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
		if p := (slimFly{Q: q}); rowOf(&p).complete(&p, nil) != nil || p.Hosts != (degree+1)/2 {
			t.Errorf("q = %d: %d hosts by default", q, p.Hosts)
		}
	}
}

// pairsOf counts the cables between every two switches, by number.
func pairsOf(f *fabric.Fabric) map[[2]int]int {
	pairs := map[[2]int]int{}
	for _, c := range f.Channels()[:f.Trunks()] {
		pairs[[2]int{int(c.From), int(c.To)}]++
	}
	return pairs
}

// TestSlimFlyWiring: for a prime everything is arithmetic modulo q.
func TestSlimFlyWiring(t *testing.T) {
	for q, xi := range map[int]int{5: 2, 7: 3, 11: 2, 13: 2} { // the smallest primitive roots
		inside := [2][]int{make([]int, q), make([]int, q)} // [side, difference] 1: a cable
		s := slimFly{Q: q}
		for _, e := range s.exponents() {
			power := 1
			for range e {
				power = power * xi % q
			}
			inside[0][power], inside[1][power*xi%q] = 1, 1
		}
		pairs := pairsOf(build(t, fmt.Sprintf("slimfly:q=%d", q)))
		for a := range q * q {
			for b := range q * q {
				if a/q == b/q {
					for side := range 2 {
						if got := pairs[[2]int{side*q*q + a, side*q*q + b}]; got != inside[side][(a-b+q)%q] {
							t.Errorf("q = %d, side %d: %d cables from %d to %d", q, side, got, a, b)
						}
					}
				}
				x, y, m, c := a/q, a%q, b/q, b%q
				if got := pairs[[2]int{a, q*q + b}]; (got == 1) != (y == (m*x+c)%q) {
					t.Errorf("q = %d: %d cables from (0,%d,%d) to (1,%d,%d)", q, got, x, y, m, c)
				}
			}
		}
	}
}

// TestOFTPaths: two leaves have one middle switch in common, or k if they are the
// same point of the two trees.
func TestOFTPaths(t *testing.T) {
	for _, k := range []int{3, 4, 5, 6} {
		f := build(t, fmt.Sprintf("oft:k=%d", k))
		checkSimple(t, f)
		r := k*k - k + 1
		pairs := pairsOf(f)
		for a := range 3 * r {
			for b := range 3 * r {
				if a/r == 1 || b/r == 1 || a == b {
					continue
				}
				common := 0
				for middle := r; middle < 2*r; middle++ {
					common += pairs[[2]int{a, middle}] * pairs[[2]int{b, middle}]
				}
				if want := map[bool]int{true: k, false: 1}[a%r == b%r]; common != want {
					t.Fatalf("k = %d: leaves %d and %d have %d switches in common, want %d", k, a, b, common, want)
				}
			}
		}
	}
}

// TestKautzWiring: a cable for every word and every word that follows it, found by
// comparing names, and its two ports by the letters taken and dropped.
func TestKautzWiring(t *testing.T) {
	for _, spec := range []string{"kautz:b=2,n=2", "kautz:b=3,n=3,hosts=2", "kautz:b=2,n=4"} {
		f := build(t, spec)
		var k kautz
		if _, err := fmt.Sscanf(spec, "kautz:b=%d,n=%d", &k.B, &k.N); err != nil {
			t.Fatal(err)
		}
		hosts := len(f.Attached(0)) - 1
		letters := func(v int) []int {
			var word []int
			for _, text := range strings.Split(f.Node(fabric.NodeID(v)).Name, "-")[1:] {
				n, err := strconv.Atoi(text)
				if err != nil || n > k.B || len(word) > 0 && word[len(word)-1] == n {
					t.Fatalf("%s is no word", f.Label(fabric.NodeID(v)))
				}
				word = append(word, n)
			}
			return word
		}
		rank := func(letter, other int) int { // among the letters that are not other
			before := 0
			for l := range letter {
				if l != other {
					before++
				}
			}
			return before
		}
		var want []joint
		for a := range f.Switches() {
			for b := range f.Switches() {
				from, to := letters(a), letters(b)
				if slices.Equal(from[1:], to[:k.N-1]) {
					want = twice(want, joint{
						named("sw", from...), uint8(hosts + 1 + rank(to[k.N-1], from[k.N-1])),
						named("sw", to...), uint8(hosts + k.B + 1 + rank(from[0], to[0])),
					})
				}
			}
		}
		checkJoints(t, f, want)
	}
}

// TestHyperXWiring: K[d] cables where coordinate d alone differs, no others.
func TestHyperXWiring(t *testing.T) {
	dims, k := []int{3, 2, 4}, []int{2, 3, 1}
	pairs := pairsOf(build(t, "hyperx:3x2x4,k=2x3x1,hosts=2"))
	a, b := make([]int, 3), make([]int, 3)
	for v := range 24 {
		for u := range 24 {
			digitsOf(v, dims, a)
			digitsOf(u, dims, b)
			differ, want := 0, 0
			for d := range dims {
				if a[d] != b[d] {
					differ, want = differ+1, k[d]
				}
			}
			if differ != 1 {
				want = 0
			}
			if got := pairs[[2]int{v, u}]; got != want {
				t.Errorf("%d cables from %v to %v, want %d", got, a, b, want)
			}
		}
	}
}
