package topology

import (
	"math/rand/v2"
	"slices"
)

// dealUp joins each lower switch to the upper ones by up cables. The cables are
// numbered switch by switch and distributed round robin over the upper switches and
// then over their ports: cable n goes to switch n mod S, port 1 + ⌊n/S⌋. So if there
// are no more upper switches than cables on a switch, every lower switch reaches all of
// them, and the numbers of cables differ by one at most. On a lower switch these cables
// begin at the port after its hosts or children (below of them).
func dealUp(l *layout, lower []int, below, up int, upper []int) {
	for i, sw := range lower {
		for c := range up {
			n := i*up + c
			l.cable(sw, below+1+c, upper[n%len(upper)], 1+n/len(upper))
		}
	}
}

// dealHosts is how many of hosts each switch gets if they are dealt out one by one, round
// robin. Both lists are by switch; hosts are no more than there are free ports.
func dealHosts(free []int, hosts int) []int {
	has := make([]int, len(free))
	for i := 0; hosts > 0; i = (i + 1) % len(free) {
		if has[i] < free[i] {
			has[i]++
			hosts--
		}
	}
	return has
}

// seatings is what seat takes as how: the values of parameters of Deimos and Odin.
var seatings = []string{"spread", "packed", "drawn"}

// seat is, for each of n hosts or cables, the index of the switch that it is plugged into: one
// on each, round robin (spread), a switch filled before the next is begun (packed), or on
// ports drawn by lot (drawn; only this uses rng). free is by switch and has n ports at least.
func seat(how string, free []int, n int, rng *rand.Rand) []int {
	var seats []int // a switch for each free port, in the order in which they are taken
	for i, ports := range free {
		seats = append(seats, slices.Repeat([]int{i}, ports)...)
	}
	switch how {
	case "spread":
		seats = seats[:0]
		for round := range slices.Max(free) {
			for i, ports := range free {
				if round < ports {
					seats = append(seats, i)
				}
			}
		}
	case "drawn":
		rng.Shuffle(len(seats), func(a, b int) { seats[a], seats[b] = seats[b], seats[a] })
	}
	return seats[:n]
}

// share is the number of hosts on the i-th of n switches if they are distributed evenly
// and the first switches get the remainder.
func share(hosts, n, i int) int {
	if i < hosts%n {
		return hosts/n + 1
	}
	return hosts / n
}

// countUp is the n numbers from first on.
func countUp(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}

// ceilDiv is a/b, rounded up, for positive numbers.
func ceilDiv(a, b int) int { return (a + b - 1) / b }
