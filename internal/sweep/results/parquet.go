package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/weft-fabric/weft/internal/reading"
)

// ParquetFile is the name of the Parquet file in a folder of results.
const ParquetFile = "results.parquet"

// schemaVersion is what the metadata of the file says its columns are.
const schemaVersion = "weft/sweep/1"

// rowsOfGroup is how many rows are written together, so that files of millions of rows
// need little memory to read.
const rowsOfGroup = 1 << 17

// Measured describes a measure for the metadata: Name, Unit and What, as of a column.
type Measured = Column

// WriteParquet writes rows, which are sorted. Metadata say what columns and measures are:
// weft.schema, unit.COLUMN, about.COLUMN, and for measures unit.value.MEASURE and
// about.value.MEASURE.
func WriteParquet(w io.Writer, rows []Row, measures []Measured) error {
	options := []parquet.WriterOption{parquet.Compression(&parquet.Snappy), parquet.KeyValueMetadata("weft.schema", schemaVersion)}
	for _, c := range Columns() {
		options = append(options, parquet.KeyValueMetadata("unit."+c.Name, c.Unit), parquet.KeyValueMetadata("about."+c.Name, c.What))
	}
	for _, m := range measures {
		options = append(options, parquet.KeyValueMetadata("unit.value."+m.Name, m.Unit), parquet.KeyValueMetadata("about.value."+m.Name, m.What))
	}
	out := parquet.NewGenericWriter[Row](w, options...)
	for group := range slices.Chunk(rows, rowsOfGroup) {
		if _, err := out.Write(group); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return out.Close()
}

// ReadParquet reads a file that WriteParquet wrote.
func ReadParquet(ctx context.Context, name string) (rows []Row, err error) {
	f, err := reading.OpenPlain(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer func() { // the reader panics on some damaged files
		if broken := recover(); broken != nil {
			rows, err = nil, fmt.Errorf("%s: this is no Parquet file that can be read: %v", name, broken)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: this is no Parquet file: %w", name, err)
	}
	if version, _ := p.Lookup("weft.schema"); version != schemaVersion {
		return nil, fmt.Errorf("%s: this Parquet file is not of weft sweep: its metadata has no weft.schema of %s", name, schemaVersion)
	}
	in := parquet.NewGenericReader[Row](p)
	for part := make([]Row, 4096); int64(len(rows)) < in.NumRows(); { // not all at once: NumRows is what the file says
		n, err := in.Read(part[:min(int64(len(part)), in.NumRows()-int64(len(rows)))])
		if rows = append(rows, part[:n]...); n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return nil, errors.Join(fmt.Errorf("%s: only %d of %d rows can be read", name, len(rows), in.NumRows()), err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(part)
	}
	for i := range rows {
		if why := rows[i].lacks(); why != "" {
			return nil, fmt.Errorf("%s: row %d, %s of point %s: %s", name, i+1, rows[i].Measure, rows[i].Point, why)
		}
	}
	return rows, in.Close()
}
