package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"reflect"
	"strings"

	"github.com/weft-fabric/weft/result"
)

// A packed result.Report is gzip of
//
//	the length of the head, four bytes, little endian
//	the head: the JSON of the report, in which a column is {"column": number}, and, behind
//	  it in a list, the type and length of each column
//	the columns, each from a multiple of eight bytes on
//
// in base64. The program of the page reads it (internal/page/web/src/data.ts).

// columnType is how the numbers of a column are stored: the name of a typed array of
// JavaScript, without Array.
type columnType string

const (
	uint8s   columnType = "Uint8"
	uint16s  columnType = "Uint16"
	int32s   columnType = "Int32"
	uint32s  columnType = "Uint32"
	float64s columnType = "Float64"
	float32s columnType = "Float32"
)

// columnPlace is where the page's script finds a column: Count values from byte Offset of the data.
type columnPlace struct {
	Type   columnType `json:"type"`
	Count  int        `json:"count"`
	Offset int        `json:"offset"`
}

// packer collects columns.
type packer struct {
	places []columnPlace
	bytes  []byte
}

// shortest is how long a list of numbers is at least to become a column.
const shortest = 24

// pack is the data as pages contain it.
func pack(d *result.Report) (string, error) {
	var p packer
	head, err := json.Marshal(map[string]any{"data": p.tree(reflect.ValueOf(d)), "columns": &p.places})
	if err != nil {
		return "", err
	}
	for len(head)%8 != 4 { // so that the columns begin at a multiple of eight
		head = append(head, ' ')
	}
	var out bytes.Buffer
	to := base64.NewEncoder(base64.StdEncoding, &out)
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(head)))
	for _, part := range [][]byte{length[:], head, p.bytes} {
		if _, err := z.Write(part); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	if err := to.Close(); err != nil {
		return "", err
	}
	return out.String(), nil
}

// tree is a value in maps, lists and numbers, as encoding/json would write it. Long lists of numbers
// are added to the packer, and what is in their place names the column.
func (p *packer) tree(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return p.tree(v.Elem())
	case reflect.Struct:
		fields := map[string]any{}
		for i := range v.NumField() {
			key, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if !v.Type().Field(i).IsExported() || key == "-" || options == "omitempty" && v.Field(i).IsZero() {
				continue
			}
			fields[key] = p.tree(v.Field(i))
		}
		return fields
	case reflect.Slice:
		if v.Len() >= shortest || v.Type().Elem().Kind() == reflect.Uint8 {
			if t, ok := p.column(v.Interface()); ok {
				return map[string]int{"column": t}
			}
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = p.tree(v.Index(i))
		}
		return list
	}
	return v.Interface()
}

// column adds a list of numbers, in the smallest type that holds them, and returns the number of the
// column; not ok if it is no list of such numbers.
func (p *packer) column(list any) (number int, ok bool) {
	switch v := list.(type) {
	case []byte:
		p.add(uint8s, len(v), v)
	case []int32:
		least, most := int32(0), int32(0)
		for _, n := range v {
			least, most = min(least, n), max(most, n)
		}
		switch {
		case least >= 0 && most <= math.MaxUint8:
			p.add(uint8s, len(v), encode(v, 1))
		case least >= 0 && most <= math.MaxUint16:
			p.add(uint16s, len(v), encode(v, 2))
		default:
			p.add(int32s, len(v), encode(v, 4))
		}
	case []uint32:
		p.add(uint32s, len(v), encode(v, 4))
	case []float64:
		p.addFloats(v)
	default:
		return 0, false
	}
	return len(p.places) - 1, true
}

// addFloats adds numbers in 32 bits each if that loses nothing, else in 64.
func (p *packer) addFloats(v []float64) {
	short := true
	for _, x := range v {
		short = short && float64(float32(x)) == x
	}
	var b []byte
	for _, x := range v {
		if short {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	if short {
		p.add(float32s, len(v), b)
	} else {
		p.add(float64s, len(v), b)
	}
}

// add adds a column of count values, as bytes, and fills up to a multiple of eight.
func (p *packer) add(t columnType, count int, b []byte) {
	p.places = append(p.places, columnPlace{Type: t, Count: count, Offset: len(p.bytes)})
	p.bytes = append(p.bytes, b...)
	for len(p.bytes)%8 != 0 {
		p.bytes = append(p.bytes, 0)
	}
}

// encode is numbers of so many bytes each, the lowest byte first.
func encode[T int32 | uint32](list []T, size int) []byte {
	b := make([]byte, 0, len(list)*size)
	for _, n := range list {
		for i := range size {
			b = append(b, byte(n>>(8*i)))
		}
	}
	return b
}
