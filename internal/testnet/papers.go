package testnet

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
)

// SlimFly is the McKay-Miller-Širáň graph as M. Besta and T. Hoefler (Slim Fly, SC
// 2014) give it, for a prime q = 4w+1: routers (0,x,y) and (1,m,c), where (0,x,y)
// and (0,x,y') are joined if y-y' is an even power of a primitive element, (1,m,c)
// and (1,m,c') if c-c' is an odd one, and (0,x,y) and (1,m,c) if y = mx+c, all
// modulo q. It has 2q² switches with (3q-1)/2 cables each, and diameter two; q = 5
// is the Hoffman-Singleton graph.
func SlimFly(q, hosts int) (*fabric.Fabric, error) {
	square := make([]bool, q) // the even powers are the squares
	for x := 1; x < q; x++ {
		square[x*x%q] = true
	}
	var cables [][2]int
	for x := range q {
		for y := range q {
			for z := y + 1; z < q; z++ {
				side := q * q
				if square[z-y] {
					side = 0
				}
				cables = append(cables, [2]int{side + x*q + y, side + x*q + z})
			}
			for m := range q {
				cables = append(cables, [2]int{x*q + y, q*q + m*q + (y+(q-m)*x)%q})
			}
		}
	}
	return network(2*q*q, hosts, cables)
}

// Kautz is the Kautz graph of words with n letters, each of b+1 and none like the
// one before: a cable from every word to each that drops its first letter and
// takes another at its end. It has (b+1)·b^(n-1) switches with 2b cables each.
func Kautz(b, n, hosts int) (*fabric.Fabric, error) {
	words := 1
	for range n {
		words *= b + 1
	}
	number := make([]int, words) // [word, to the base b+1] switch + 1
	switches := 0
	for w := range words {
		ok := true
		for v, i := w, 1; i < n; v, i = v/(b+1), i+1 {
			ok = ok && v%(b+1) != v/(b+1)%(b+1)
		}
		if ok {
			switches++
			number[w] = switches
		}
	}
	var cables [][2]int
	for w, at := range number {
		for letter := range b + 1 {
			next := w*(b+1)%words + letter
			if at != 0 && number[next] != 0 {
				cables = append(cables, [2]int{at - 1, number[next] - 1})
			}
		}
	}
	return network(switches, hosts, cables)
}

// network is switches with hosts and cables.
func network(switches, hosts int, cables [][2]int) (*fabric.Fabric, error) {
	var b fabric.Builder
	refs, port := make([]fabric.Ref, switches), make([]uint8, switches)
	for s := range refs {
		refs[s] = b.Node(fabric.Node{GUID: fabric.GUID(s + 1), Ports: 64, Name: fmt.Sprintf("sw-%d", s)}, "")
		for h := range hosts {
			host := s*hosts + h
			port[s]++
			r := b.Node(fabric.Node{GUID: fabric.GUID(1<<32 + host), Kind: fabric.Adapter, Ports: 1, Name: fmt.Sprintf("host-%d", host)}, "")
			b.Cable(r, 1, refs[s], port[s], fabric.Rate{})
		}
	}
	for _, c := range cables {
		port[c[0]]++
		port[c[1]]++
		b.Cable(refs[c[0]], port[c[0]], refs[c[1]], port[c[1]], fabric.Rate{})
	}
	return b.Build()
}
