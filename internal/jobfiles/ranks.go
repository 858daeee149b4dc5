package jobfiles

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/traffic"
)

// mostRanks limits the ranks that a file may ask for.
const mostRanks = 1 << 22

var (
	rankLine = regexp.MustCompile(`^rank\s+(\d+)\s*=\s*(.+?)(\s+slots?\s*=.*)?$`)
	slotLine = regexp.MustCompile(`^(.+?)\s+slots\s*=\s*(\d+)(\s.*)?$`)
	hostLine = regexp.MustCompile(`^([^\s:]+):(\d+)$`)
)

// Ranks reads where the ranks of a job run: a list of hosts, one per line, as
// package names finds them, with the number of processes as "name:4" (MPICH) or "name
// slots=4" (Open MPI), or several hosts as Slurm lists them, a[1-3,7],b02 (see
// names.Expand); or an Open MPI rank file, with lines like "rank 3=name slot=0".
// Lines that begin with # are comments. Errors name file and line.
//
// A host gets a rank on each of its adapter ports, rail by rail, or as many as it has
// processes: see spread. The name of an adapter puts its ranks on that adapter.
func Ranks(r io.Reader, file string, names *names.Endpoints) (traffic.Placement, error) {
	h := hostFile{file: file, names: names, ranked: map[int]int{}}
	lines := reading.NewLines(r, file)
	for lines.Next() {
		h.line = lines.Number()
		text := strings.TrimSpace(string(lines.Text()))
		if text == "" || text[0] == '#' {
			continue
		}
		if err := h.read(text); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, h.line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return h.placement()
}

// hostFile is the state of reading a host list or rank file.
type hostFile struct {
	file   string
	line   int
	names  *names.Endpoints
	ranks  traffic.Placement     // of a host list
	hosts  [][]fabric.EndpointID // [rank] of a rank file: the adapter ports of its host; nil: no line yet
	ranked map[int]int           // of a rank file: rank → its line
}

// read reads a line, or an item of a line that lists several hosts.
func (h *hostFile) read(text string) error {
	if m := rankLine.FindStringSubmatch(text); m != nil {
		return h.rank(number(m[1]), m[2])
	}
	if len(h.ranked) > 0 {
		return fmt.Errorf("%q is not \"rank N=host\", as the lines above", text)
	}
	if items := h.items(text); len(items) > 1 {
		for _, item := range items {
			if err := h.read(item); err != nil {
				return err
			}
		}
		return nil
	}
	name, count := text, -1 // processes on each host; -1: not stated, one on each of its ports
	if m := slotLine.FindStringSubmatch(text); m != nil {
		name, count = m[1], number(m[2])
	} else if m := hostLine.FindStringSubmatch(text); m != nil {
		name, count = m[1], number(m[2])
	}
	hosts, err := hostsNamed(name, h.names)
	if err != nil {
		return err
	}
	for _, host := range hosts {
		k := count
		if k < 0 {
			k = len(host)
		}
		if k > mostRanks-len(h.ranks) {
			return fmt.Errorf("more than %d ranks", mostRanks)
		}
		for i := range k {
			h.ranks = append(h.ranks, spread(host, i, k))
		}
	}
	return nil
}

// items is the parts of a line that lists several hosts. A text that is the name of
// something in the fabric is a single item, even with commas in it.
func (h *hostFile) items(text string) []string {
	if _, err := h.names.Hosts(text); err == nil || !strings.Contains(text, ",") {
		return []string{text}
	}
	return names.SplitList(text)
}

// hostsNamed is the hosts of a name, or of all names that it stands for: the adapter ports of
// each.
func hostsNamed(name string, known *names.Endpoints) ([][]fabric.EndpointID, error) {
	hosts, err := known.Hosts(name)
	if err == nil || !strings.ContainsAny(name, "[]") {
		return hosts, err
	}
	list, err := names.Expand(name)
	if err != nil {
		return nil, err
	}
	for _, each := range list {
		found, err := known.Hosts(each)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		hosts = append(hosts, found...)
	}
	return hosts, nil
}

// rank notes the host of a rank of a rank file. The port waits for placement, when it is
// known how many processes the host has.
func (h *hostFile) rank(rank int, name string) error {
	if len(h.ranks) > 0 {
		return errors.New("a rank in a list of hosts; a rank file has \"rank N=host\" on every line")
	}
	if before, ok := h.ranked[rank]; ok {
		return fmt.Errorf("rank %d is on line %d already", rank, before)
	}
	if rank >= mostRanks {
		return fmt.Errorf("more than %d ranks", mostRanks)
	}
	host, err := h.names.Host(name)
	if err != nil {
		return err
	}
	h.ranked[rank] = h.line
	for len(h.hosts) <= rank {
		h.hosts = append(h.hosts, nil)
	}
	h.hosts[rank] = host
	return nil
}

// placement is the result when all lines are read.
func (h *hostFile) placement() (traffic.Placement, error) {
	if i := slices.IndexFunc(h.hosts, func(host []fabric.EndpointID) bool { return host == nil }); i >= 0 {
		return nil, fmt.Errorf("%s: rank %d is missing; the last is %d", h.file, i, len(h.hosts)-1)
	}
	type place struct{ first, last fabric.EndpointID } // a key for a host, or for one adapter of it: its ports
	placeOf := func(host []fabric.EndpointID) place { return place{host[0], host[len(host)-1]} }
	processes, before := map[place]int{}, map[place]int{} // in all; of lower ranks
	for _, host := range h.hosts {
		processes[placeOf(host)]++
	}
	for _, host := range h.hosts {
		h.ranks = append(h.ranks, spread(host, before[placeOf(host)], processes[placeOf(host)]))
		before[placeOf(host)]++
	}
	if len(h.ranks) == 0 {
		return nil, fmt.Errorf("%s: no host in it: the allocation is empty", h.file)
	}
	return h.ranks, nil
}

// spread is the adapter port, of those of a host, that process i of its k processes uses,
// i from 0. If there are more processes than ports, consecutive processes share one; if
// there are fewer, the first ports get one each. That is how hosts with a network adapter
// for each accelerator pair the two.
func spread(host []fabric.EndpointID, i, k int) fabric.EndpointID {
	if k > len(host) {
		return host[i*len(host)/k]
	}
	return host[i]
}

// number is the value of a text of digits. One that 32 bits do not hold becomes 1<<31 − 1,
// which is more than mostRanks and so refused there.
func number(digits string) int {
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return 1<<31 - 1
	}
	return int(n)
}

// Times puts k ranks where a placement has one: ranks k·r to k·r+k−1 are where its rank r
// is.
func Times(p traffic.Placement, k int) traffic.Placement {
	all := make(traffic.Placement, 0, k*len(p))
	for _, e := range p {
		for range k {
			all = append(all, e)
		}
	}
	return all
}

// Once is a placement without the endpoints that came before: the processes of a host share
// its adapters.
func Once(p traffic.Placement) traffic.Placement {
	var once traffic.Placement
	seen := map[fabric.EndpointID]bool{}
	for _, e := range p {
		if !seen[e] {
			seen[e] = true
			once = append(once, e)
		}
	}
	return once
}
