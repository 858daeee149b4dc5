package topology

// dealUp joins each lower switch to all the upper ones by up cables. These are
// taken in order, switch by switch, and dealt out to the upper switches in turn, as
// are their ports: cable n of all goes to switch n mod S, port 1 + ⌊n/S⌋. So where
// there are not more upper switches than cables, every lower switch reaches all of
// them, and the numbers of cables differ by one at most. The cables of a lower switch
// begin at the port after its hosts or children, which are below.
func dealUp(l *layout, lower []int, below, up int, upper []int) {
	for i, sw := range lower {
		for c := range up {
			n := i*up + c
			l.cable(sw, below+1+c, upper[n%len(upper)], 1+n/len(upper))
		}
	}
}

// dealHosts deals out hosts to switches with free ports, one to each in turn.
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

// share is how many of some hosts the i-th of n switches has when they are dealt
// out evenly, the first ones getting one more.
func share(hosts, n, i int) int {
	if i < hosts%n {
		return hosts/n + 1
	}
	return hosts / n
}

// countUp is the numbers first, first+1, … of n switches.
func countUp(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}

// ceilDiv is a/b, rounded up, for positive numbers.
func ceilDiv(a, b int) int { return (a + b - 1) / b }
