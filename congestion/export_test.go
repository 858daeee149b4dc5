package congestion

// Ahead has about so many flows walked at a time, and says how many that were before.
func Ahead(flows int) (before int) {
	before, mostAhead = mostAhead, flows
	return before
}
