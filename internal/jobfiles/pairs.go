// Package jobfiles reads what people write about jobs: which host sends how much to which, which
// rank runs where, which hosts have more traffic. Hosts have the names that package names finds.
package jobfiles

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/traffic"
)

// Pairs reads a pattern, or a matrix of traffic that was measured or is expected, from
// comma-separated values: source, destination and optionally bytes, or any whole numbers
// in proportion to them; hosts and adapters as package names finds them. It skips a first
// line "src,dst" or "src,dst,bytes" and lines that begin with #. All pairs send at
// once; what is said of a pair more than once adds up. The ranks of the pattern are the
// endpoints that it names, in the order of their first occurrence; the placement says
// which. Errors name file and line.
//
// A name with * or ? is all hosts that match, and one with [1-3,7] all that it lists (in
// quotes, for the commas): every host of the source then sends so many bytes to every other
// one of the destination.
//
// If hosts have several adapter ports, a line becomes several pairs, which share its
// bytes: see railPairs.
func Pairs(r io.Reader, file string, names *names.Endpoints) (traffic.Pattern, traffic.Placement, error) {
	l := &pairFile{}
	var p traffic.Placement
	rank := map[fabric.EndpointID]int32{}
	rankOf := func(e fabric.EndpointID) int32 {
		k, ok := rank[e]
		if !ok {
			k = int32(len(p))
			rank[e] = k
			p = append(p, e)
		}
		return k
	}
	err := eachLine(r, file, func(src, dst string, bytes uint64) error {
		return flowsOf(src, dst, bytes, names, func(flow flow) error {
			return l.add(traffic.Pair{From: rankOf(flow.from), To: rankOf(flow.to), Bytes: flow.bytes})
		})
	})
	if err != nil {
		return nil, nil, err
	}
	if len(l.pairs) == 0 {
		return nil, nil, fmt.Errorf("%s: no pair in it; a line is src,dst or src,dst,bytes", file)
	}
	return traffic.Pairs(file, len(p), l.pairs), p, nil
}

// RankPairs reads such a file whose sources and destinations are ranks, from 0 to
// ranks-1, as tracers of MPI programs count them. What a rank sends to itself stays on its
// host and is skipped.
func RankPairs(r io.Reader, file string, ranks int) (traffic.Pattern, error) {
	l := &pairFile{}
	err := eachLine(r, file, func(src, dst string, bytes uint64) error {
		var ends [2]int32
		for i, text := range []string{src, dst} {
			k, err := strconv.ParseUint(text, 10, 31)
			if err != nil || k >= uint64(ranks) {
				return fmt.Errorf("%q is no rank of the job, which are 0 to %d", text, ranks-1)
			}
			ends[i] = int32(k)
		}
		if ends[0] == ends[1] {
			return nil
		}
		return l.add(traffic.Pair{From: ends[0], To: ends[1], Bytes: int64(bytes)})
	})
	if err != nil {
		return nil, err
	}
	if len(l.pairs) == 0 {
		return nil, fmt.Errorf("%s: no pair of two ranks in it; a line is src,dst or src,dst,bytes", file)
	}
	return traffic.Pairs(file, ranks, l.pairs), nil
}

// mostLines limits the pairs of a file: more would not fit in memory.
const mostLines = 1 << 22

// pairFile is the pairs of a file.
type pairFile struct{ pairs []traffic.Pair }

// add appends a pair. Either all lines state bytes, or none does.
func (l *pairFile) add(p traffic.Pair) error {
	if len(l.pairs) > 0 && (p.Bytes == 0) != (l.pairs[0].Bytes == 0) {
		return errors.New("bytes on some lines and not on others")
	}
	if len(l.pairs) == mostLines {
		return fmt.Errorf("more than %d pairs", mostLines)
	}
	l.pairs = append(l.pairs, p)
	return nil
}

// eachLine reads a file of pairs and tells its lines, 0 bytes where none are stated. What
// tell refuses is said with file and line, as is what is no such line.
func eachLine(r io.Reader, file string, tell func(src, dst string, bytes uint64) error) error {
	in := reading.NewCSV(r, file)
	in.Comment, in.FieldsPerRecord, in.TrimLeadingSpace, in.ReuseRecord = '#', -1, true, true
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if bad := (*format.ParseError)(nil); errors.As(err, &bad) {
			return err
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if first && header(record) {
			continue
		}
		src, dst, bytes, err := fields(record)
		if err == nil {
			err = tell(src, dst, bytes)
		}
		if err != nil {
			line, _ := in.FieldPos(0)
			return fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
}

// header reports whether a line is the first one that names the columns.
func header(record []string) bool {
	return len(record) >= 2 && strings.EqualFold(strings.TrimSpace(record[0]), "src") && strings.EqualFold(strings.TrimSpace(record[1]), "dst")
}

// flow is what one adapter port sends to another; 0 bytes: not stated.
type flow struct {
	from, to fabric.EndpointID
	bytes    int64
}

// fields is what a line says; 0 bytes are not stated.
func fields(record []string) (src, dst string, bytes uint64, err error) {
	if len(record) != 2 && len(record) != 3 {
		return "", "", 0, fmt.Errorf("%d fields; a line is src,dst or src,dst,bytes", len(record))
	}
	if len(record) == 3 {
		text := strings.TrimSpace(record[2])
		if bytes, err = strconv.ParseUint(text, 10, 64); err != nil || bytes == 0 || bytes > math.MaxInt64 {
			return "", "", 0, fmt.Errorf("%q is no number of bytes: whole and above 0; leave out who sends nothing", text)
		}
	}
	return strings.TrimSpace(record[0]), strings.TrimSpace(record[1]), bytes, nil
}

// flowsOf tells the flows of each pair of the hosts that a line names.
func flowsOf(src, dst string, bytes uint64, names *names.Endpoints, tell func(flow) error) error {
	var ends [2][][]fabric.EndpointID
	for i, name := range []string{src, dst} {
		hosts, err := hostsNamed(name, names)
		if err != nil {
			return err
		}
		ends[i] = hosts
	}
	alone := len(ends[0]) == 1 && len(ends[1]) == 1
	for _, from := range ends[0] {
		for _, to := range ends[1] {
			if !alone && from[0] == to[0] {
				continue // of a group, nobody sends to itself
			}
			for _, flow := range shares(railPairs(from, to, names.RailOf), bytes) {
				if err := tell(flow); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// shares divides the bytes of a pair of hosts among its flows, in place, and returns those that get some; where 0 bytes say
// that none are stated, all.
func shares(flows []flow, bytes uint64) []flow {
	if bytes == 0 {
		return flows
	}
	share, rest := int64(bytes)/int64(len(flows)), int(bytes%uint64(len(flows)))
	for i := range flows {
		flows[i].bytes = share
		if i < rest {
			flows[i].bytes++
		}
	}
	if share == 0 { // fewer bytes than flows
		flows = flows[:rest]
	}
	return flows
}

// railPairs is the pairs of ports that are used when one host sends to another: one
// pair for each rail that both have, as collective communication libraries do. If they
// have no rail in common, the ports of the host with more share those of the other
// round robin.
func railPairs(from, to []fabric.EndpointID, rail func(fabric.EndpointID) int) []flow {
	var flows []flow
	for _, a := range from {
		for _, b := range to {
			if r := rail(a); r > 0 && r == rail(b) {
				flows = append(flows, flow{from: a, to: b})
			}
		}
	}
	if len(flows) > 0 {
		return flows
	}
	for i := range max(len(from), len(to)) {
		flows = append(flows, flow{from: from[i%len(from)], to: to[i%len(to)]})
	}
	return flows
}
