package topology

// field is the Galois field GF(q) with q = p^k elements (R. Lidl, H. Niederreiter:
// Finite Fields, 2nd edition, Cambridge 1997, chapter 2). An element is a number
// below q whose digits in base p are the coefficients of a polynomial, the lowest
// first. The powers of x run through all elements but 0: x is the primitive
// element ξ.
//
// Adding takes O(k), multiplying O(1) with the tables of powers and logarithms. Making
// the field takes O(q²) in the worst case: all polynomials of degree k are tried until
// one makes the powers of x different from each other.
type field struct {
	q, p int
	exp  []int // [e] ξ^e, e from 0 to q-2
	log  []int // [a] e with ξ^e = a; unused for 0
}

// newField makes GF(q) for a prime power q.
func newField(q int) *field {
	f := &field{q: q, p: smallestFactor(q), exp: make([]int, q-1), log: make([]int, q)}
	for low := 1; !f.fillPowers(low); low++ {
	}
	return f
}

// fillPowers fills the tables with the powers of x modulo the polynomial x^k - low, where
// low stands for a polynomial of smaller degree, and says whether all powers are
// different, so that the tables are those of a field.
func (f *field) fillPowers(low int) bool {
	high := f.q / f.p // weight of the highest digit
	clear(f.log)
	a := 1
	for e := range f.exp {
		if a == 0 || e > 0 && a == 1 {
			return false
		}
		f.exp[e], f.log[a] = a, e
		lead := a / high
		a = a % high * f.p
		for range lead {
			a = f.add(a, low)
		}
	}
	return a == 1
}

func (f *field) add(a, b int) int {
	sum := 0
	for weight := 1; weight < f.q; weight *= f.p {
		sum += (a/weight + b/weight) % f.p * weight
	}
	return sum
}

func (f *field) mul(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	return f.exp[(f.log[a]+f.log[b])%(f.q-1)]
}

// root is the z that solves s + a·z = 0, for an a that is not 0.
func (f *field) root(s, a int) int {
	if s == 0 {
		return 0
	}
	minus := 0 // the exponent of -1, which is 1 where the characteristic is 2
	if f.p != 2 {
		minus = (f.q - 1) / 2
	}
	return f.exp[(f.log[s]+minus+f.q-1-f.log[a])%(f.q-1)]
}

// smallestFactor is the smallest prime that divides n, which is at least 2.
func smallestFactor(n int) int {
	for p := 2; p*p <= n; p++ {
		if n%p == 0 {
			return p
		}
	}
	return n
}

// primePowers lists the powers of primes from 2 to most.
func primePowers(most int) []int {
	var list []int
	for q := 2; q <= most; q++ {
		rest, p := q, smallestFactor(q)
		for rest%p == 0 {
			rest /= p
		}
		if rest == 1 {
			list = append(list, q)
		}
	}
	return list
}
