package reading

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/format"
)

// CSVWriter writes comma-separated values: encoding/csv for cells with texts of others in them.
// Spreadsheets calculate what begins with =, +, - or @, and pass some of it on to programs: such a
// cell, unless it is a number, gets an apostrophe before it, which says that it is a text. So does one that
// has apostrophes before such a beginning. CSV takes the apostrophe away again.
type CSVWriter struct{ out *csv.Writer }

// NewCSVWriter writes to w.
func NewCSVWriter(w io.Writer) CSVWriter { return CSVWriter{csv.NewWriter(w)} }

// Write writes a record.
func (c CSVWriter) Write(record []string) error {
	cells := make([]string, len(record))
	for i, cell := range record {
		cells[i] = marked(cell)
	}
	return c.out.Write(cells)
}

// WriteAll writes records, and all that was written before, to the end.
func (c CSVWriter) WriteAll(records [][]string) error {
	for _, r := range records {
		if err := c.Write(r); err != nil {
			return err
		}
	}
	return c.Close()
}

// Close writes what is not written yet, and returns the first error of all writes.
func (c CSVWriter) Close() error {
	c.out.Flush()
	return c.out.Error()
}

// marked is a cell that no spreadsheet calculates.
func marked(cell string) string {
	if _, err := strconv.ParseFloat(cell, 64); err == nil || !calculated(cell) {
		return cell
	}
	return "'" + cell
}

// unmarked is the inverse of marked: a cell as it was before NewCSVWriter wrote it.
func unmarked(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && marked(rest) == cell {
		return rest
	}
	return cell
}

// calculated reports whether a spreadsheet might calculate a cell, or the rest of it behind
// apostrophes.
func calculated(cell string) bool {
	text := strings.TrimLeft(cell, "'")
	return text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0]))
}

// maxRecord is how many bytes a record of comma-separated values may have: a quote that is
// never closed makes the rest of a file one.
const maxRecord = 1 << 20

// CSV reads comma-separated values: encoding/csv with bounds. A line has at most MaxLine
// bytes, a record, which may span lines in quotes, a mebibyte, the text MaxTable. Errors are
// *format.ParseError, except those of the text's own reader.
type CSV struct {
	*csv.Reader
	text *csvText
}

// NewCSV reads r; file is the name for errors.
func NewCSV(r io.Reader, file string) *CSV {
	text := &csvText{r: r, file: file, line: 1}
	return &CSV{csv.NewReader(text), text}
}

// Read reads a record, as encoding/csv does, with the cells that CSVWriter marked as texts as they
// were.
func (c *CSV) Read() ([]string, error) {
	c.text.record = 0
	record, err := c.Reader.Read()
	if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
		return nil, format.Errorf(c.text.file, bad.Line, "%v", bad.Err)
	}
	for i, cell := range record {
		record[i] = unmarked(cell)
	}
	return record, err
}

// ReadAll reads all records that are left.
func (c *CSV) ReadAll() (all [][]string, err error) {
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, record)
	}
}

// Errorf is a *format.ParseError at the line where the last record began.
func (c *CSV) Errorf(msg string, args ...any) error {
	line, _ := c.FieldPos(0)
	return format.Errorf(c.text.file, line, msg, args...)
}

// csvText is the text of a CSV, up to its bounds.
type csvText struct {
	r    io.Reader
	file string
	line int // the number of the line that is read

	inLine, record, size int64 // bytes read of the line, since a record was asked for, and in all
}

func (t *csvText) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			t.inLine += int64(len(rest))
			break
		}
		if t.inLine+int64(end) > MaxLine {
			return 0, t.tooLong()
		}
		rest, t.inLine, t.line = rest[end+1:], 0, t.line+1
	}
	t.record, t.size = t.record+int64(n), t.size+int64(n)
	switch {
	case t.inLine > MaxLine:
		return 0, t.tooLong()
	case t.size > MaxTable:
		return 0, format.Errorf(t.file, t.line, "%s", tooLarge(MaxTable))
	case t.record > maxRecord+int64(len(p)):
		return 0, format.Errorf(t.file, t.line, "more than %d bytes without the end of a record: is a quote not closed?", maxRecord)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = format.Errorf(t.file, t.line, "%v", cutShort{})
	}
	return n, err
}

func (t *csvText) tooLong() error {
	return format.Errorf(t.file, t.line, "line longer than %d bytes: this is no list of comma-separated values, one a line", MaxLine)
}
