package traffic

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/fabric/names"
)

// ReadPairs reads a pattern from comma-separated values: source, destination and
// optionally bytes; hosts and adapters as package names finds them. It skips a first
// line "src,dst" or "src,dst,bytes" and lines that begin with #. All pairs send at
// once. The ranks of the pattern are the endpoints that it names, in the order of their
// first occurrence; the placement says which. Errors name file and line.
//
// If hosts have several adapter ports, a line becomes several pairs, which share its
// bytes: see railPairs.
func ReadPairs(r io.Reader, file string, names *names.Endpoints) (Pattern, Placement, error) {
	in := csv.NewReader(r)
	in.Comment, in.FieldsPerRecord, in.TrimLeadingSpace, in.ReuseRecord = '#', -1, true, true
	l := &pairList{name: file}
	var p Placement
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
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			return nil, nil, fmt.Errorf("%s:%d: %w", file, bad.Line, bad.Err)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		if first && header(record) {
			continue
		}
		flows, err := readPair(record, names)
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		for _, flow := range flows {
			if len(l.pairs) > 0 && (flow.bytes == 0) != (l.pairs[0].Bytes == 0) {
				line, _ := in.FieldPos(0)
				return nil, nil, fmt.Errorf("%s:%d: bytes on some lines and not on others", file, line)
			}
			if len(l.pairs) == mostPairs {
				return nil, nil, fmt.Errorf("%s: more than %d pairs", file, mostPairs)
			}
			l.pairs = append(l.pairs, Pair{From: rankOf(flow.from), To: rankOf(flow.to), Bytes: flow.bytes})
		}
	}
	if len(l.pairs) == 0 {
		return nil, nil, fmt.Errorf("%s: no pair in it; a line is src,dst or src,dst,bytes", file)
	}
	l.ranks = len(p)
	return l, p, nil
}

func header(record []string) bool {
	return len(record) >= 2 && strings.EqualFold(strings.TrimSpace(record[0]), "src") && strings.EqualFold(strings.TrimSpace(record[1]), "dst")
}

// flow is what one adapter port sends to another; 0 bytes: not stated.
type flow struct {
	from, to fabric.EndpointID
	bytes    int64
}

func readPair(record []string, names *names.Endpoints) ([]flow, error) {
	if len(record) != 2 && len(record) != 3 {
		return nil, fmt.Errorf("%d fields; a line is src,dst or src,dst,bytes", len(record))
	}
	from, err := names.Host(strings.TrimSpace(record[0]))
	if err != nil {
		return nil, err
	}
	to, err := names.Host(strings.TrimSpace(record[1]))
	if err != nil {
		return nil, err
	}
	flows := railPairs(from, to, names.RailOf)
	if len(record) == 2 {
		return flows, nil
	}
	text := strings.TrimSpace(record[2])
	bytes, err := strconv.ParseUint(text, 10, 64)
	if err != nil || bytes == 0 || bytes > math.MaxInt64 {
		return nil, fmt.Errorf("%q is no number of bytes", text)
	}
	share, rest := int64(bytes)/int64(len(flows)), int(bytes%uint64(len(flows)))
	for i := range flows {
		flows[i].bytes = share
		if i < rest {
			flows[i].bytes++
		}
	}
	if share == 0 {
		flows = flows[:rest]
	}
	return flows, nil
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
