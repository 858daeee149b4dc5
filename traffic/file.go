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
)

// ReadPairs reads a pattern from comma-separated values: source, destination and,
// if they differ, bytes; endpoints as Names finds them. A first line that says
// "src,dst" or "src,dst,bytes" and lines that begin with # are passed over. All
// pairs talk at once. The ranks of the pattern are the endpoints that it names,
// in the order they come; the placement says which. Errors say file and line.
func ReadPairs(r io.Reader, file string, names *Names) (Pattern, Placement, error) {
	in := csv.NewReader(r)
	in.Comment, in.FieldsPerRecord, in.TrimLeadingSpace, in.ReuseRecord = '#', -1, true, true
	l := &list{name: file}
	var p Placement
	rank := map[fabric.EndpointID]int32{}
	rankOf := func(name string) (int32, error) {
		e, err := names.Find(strings.TrimSpace(name))
		if err != nil {
			return 0, err
		}
		k, ok := rank[e]
		if !ok {
			k = int32(len(p))
			rank[e] = k
			p = append(p, e)
		}
		return k, nil
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
		pair, err := readPair(record, rankOf)
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		if len(l.pairs) > 0 && (pair.Bytes == 0) != (l.pairs[0].Bytes == 0) {
			line, _ := in.FieldPos(0)
			return nil, nil, fmt.Errorf("%s:%d: bytes on some lines and not on others", file, line)
		}
		if len(l.pairs) == mostPairs {
			return nil, nil, fmt.Errorf("%s: more than %d pairs", file, mostPairs)
		}
		l.pairs = append(l.pairs, pair)
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

func readPair(record []string, rankOf func(string) (int32, error)) (Pair, error) {
	var p Pair
	if len(record) != 2 && len(record) != 3 {
		return p, fmt.Errorf("%d fields; a line is src,dst or src,dst,bytes", len(record))
	}
	var err error
	if p.From, err = rankOf(record[0]); err != nil {
		return p, err
	}
	if p.To, err = rankOf(record[1]); err != nil {
		return p, err
	}
	if len(record) == 3 {
		text := strings.TrimSpace(record[2])
		bytes, err := strconv.ParseUint(text, 10, 64)
		if err != nil || bytes == 0 || bytes > math.MaxInt64 {
			return p, fmt.Errorf("%q is no number of bytes", text)
		}
		p.Bytes = int64(bytes)
	}
	return p, nil
}
