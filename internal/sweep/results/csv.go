package results

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/internal/reading"
)

// WriteCSV writes rows with a first line of the names of the columns. A value that there
// is not is an empty field.
func WriteCSV(w io.Writer, rows []Row) error {
	out := reading.NewCSVWriter(w)
	columns := Columns()
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.Name
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for i := range rows {
		for k, c := range columns {
			line[k] = rows[i].Text(c.Name)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Close()
}

// Text is a column as CSV has it; empty where there is no such column, or nothing in it.
func (r *Row) Text(column string) string {
	i := slices.IndexFunc(Columns(), func(c Column) bool { return c.Name == column })
	if i < 0 {
		return ""
	}
	switch v := reflect.ValueOf(r).Elem().Field(i).Interface().(type) { // fields are in the order of Columns
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case *float64:
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}
