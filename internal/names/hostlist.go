package names

import (
	"fmt"
	"strconv"
	"strings"
)

// mostHosts is how many names a list of hosts may stand for: more than a subnet has
// addresses for.
const mostHosts = 1 << 16

// SplitList cuts a list of hosts at the commas that are not within brackets, as in
// "a[1-3,7],b02".
func SplitList(text string) []string {
	var items []string
	depth, start := 0, 0
	for i := range len(text) {
		switch {
		case text[i] == '[':
			depth++
		case text[i] == ']':
			depth--
		case text[i] == ',' && depth <= 0:
			items = append(items, text[start:i])
			start = i + 1
		}
	}
	return append(items, text[start:])
}

// Expand is the names that an item of such a list stands for, as Slurm writes them
// (SLURM_JOB_NODELIST): a[1-3,7] is a1, a2, a3 and a7, node[001-128] keeps the zeros,
// and with several brackets the last runs fastest. What has no bracket is itself.
func Expand(item string) ([]string, error) {
	before, rest, bracket := strings.Cut(item, "[")
	if !bracket {
		if strings.Contains(item, "]") {
			return nil, fmt.Errorf("%q has a ] without a [", item)
		}
		return []string{item}, nil
	}
	inside, after, closed := strings.Cut(rest, "]")
	if !closed || strings.Contains(inside, "[") {
		return nil, fmt.Errorf("%q has a [ without a ]", item)
	}
	tails, err := Expand(after)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", item, err)
	}
	var all []string
	for _, part := range strings.Split(inside, ",") {
		first, last, width, err := numbers(part)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", item, err)
		}
		if last-first >= mostHosts || (int(last-first)+1)*len(tails) > mostHosts-len(all) {
			return nil, fmt.Errorf("%q is more than %d hosts", item, mostHosts)
		}
		for n := first; n <= last; n++ {
			for _, tail := range tails {
				all = append(all, fmt.Sprintf("%s%0*d%s", before, width, n, tail))
			}
		}
	}
	return all, nil
}

// numbers reads a number, or a range such as 001-128, and how many digits its numbers
// have at least.
func numbers(part string) (first, last uint64, width int, err error) {
	from, to, ranged := strings.Cut(part, "-")
	if !ranged {
		to = from
	}
	first, errFirst := strconv.ParseUint(from, 10, 63)
	last, errLast := strconv.ParseUint(to, 10, 63)
	switch {
	case errFirst != nil || errLast != nil:
		return 0, 0, 0, fmt.Errorf("%q is no number and no range such as 001-128", part)
	case last < first:
		return 0, 0, 0, fmt.Errorf("the range %s ends before it begins", part)
	}
	return first, last, len(from), nil
}
