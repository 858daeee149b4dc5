package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/weft-fabric/weft/result"
)

// unpack reads what Pack wrote.
func unpack(text string) (*result.Report, error) {
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var all bytes.Buffer
	if _, err := all.ReadFrom(z); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	raw := all.Bytes()
	if len(raw) < 4 || len(raw)-4 < int(binary.LittleEndian.Uint32(raw)) {
		return nil, fmt.Errorf("page: the data is cut off")
	}
	end := 4 + int(binary.LittleEndian.Uint32(raw))
	var head struct {
		Data    any           `json:"data"`
		Columns []columnPlace `json:"columns"`
	}
	if err := json.Unmarshal(raw[4:end], &head); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	tree, err := unpackTree(head.Data, head.Columns, raw[end:])
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	d := &result.Report{}
	if err := json.Unmarshal(plain, d); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return d, nil
}

// unpackTree puts the columns back into their places.
func unpackTree(v any, places []columnPlace, b []byte) (any, error) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			var err error
			if v[i], err = unpackTree(v[i], places, b); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if n, ok := v["column"].(float64); ok && len(v) == 1 {
			if n < 0 || int(n) >= len(places) {
				return nil, fmt.Errorf("page: there is no column %g", n)
			}
			return places[int(n)].read(b)
		}
		for key := range v {
			var err error
			if v[key], err = unpackTree(v[key], places, b); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// read is the numbers of a column.
func (c columnPlace) read(b []byte) (any, error) {
	size := map[columnType]int{uint8s: 1, uint16s: 2, int32s: 4, uint32s: 4, float32s: 4, float64s: 8}[c.Type]
	if size == 0 || c.Offset < 0 || c.Count < 0 || c.Offset+c.Count*size > len(b) {
		return nil, fmt.Errorf("page: a column of type %q is cut off", c.Type)
	}
	b = b[c.Offset : c.Offset+c.Count*size]
	list := make([]any, c.Count)
	for i := range list {
		at := b[i*size:]
		switch c.Type {
		case uint8s:
			list[i] = at[0]
		case uint16s:
			list[i] = binary.LittleEndian.Uint16(at)
		case int32s:
			list[i] = int32(binary.LittleEndian.Uint32(at))
		case uint32s:
			list[i] = binary.LittleEndian.Uint32(at)
		case float32s:
			list[i] = math.Float32frombits(binary.LittleEndian.Uint32(at))
		case float64s:
			list[i] = math.Float64frombits(binary.LittleEndian.Uint64(at))
		}
	}
	return list, nil
}
