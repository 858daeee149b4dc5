package reading

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Endings is what names of files end in by how they are packed; the first, empty, is of those that are not. It is for
// who looks for files by name: Open goes by the first bytes of a file and not by its name.
var Endings = []string{"", ".gz", ".zst", ".xz", ".bz2"}

// EndingsPattern is a regular expression, to end others with, that matches these.
var EndingsPattern = `(?:` + strings.ReplaceAll(strings.Join(Endings, "|"), ".", `\.`) + `)$`

// PlainName is the name of a file without the ending of a packed one.
func PlainName(name string) string {
	for _, p := range Endings {
		if plain, ok := strings.CutSuffix(name, p); ok && p != "" {
			return plain
		}
	}
	return name
}

// mostWindow is the largest window, in bytes, that a file may ask for: the memory with what was unpacked last, which
// packed data refers back to. zstd --ultra -22 takes as much, xz -9 half of it.
const mostWindow = 128 << 20

// unpackers is the forms of packed files: the bytes that each begins with, and what unpacks it.
var unpackers = []struct {
	magic string
	open  func(*bufio.Reader) (io.ReadCloser, error)
}{
	{"\x1f\x8b", func(r *bufio.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"\x28\xb5\x2f\xfd", func(r *bufio.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}},
	{"\xfd7zXZ\x00", func(r *bufio.Reader) (io.ReadCloser, error) {
		if n := xzWindow(r); n > mostWindow {
			return nil, fmt.Errorf("xz: it needs %d MiB to unpack, more than %d: pack it by xz -9 or less", n>>20, mostWindow>>20)
		}
		whole := &footed{}
		var err error
		whole.text, err = xz.NewReader(io.TeeReader(r, whole))
		return io.NopCloser(whole), err
	}},
	{"BZh", func(r *bufio.Reader) (io.ReadCloser, error) {
		packed := &ending{Reader: r}
		return io.NopCloser(unbzip2{bzip2.NewReader(packed), packed}), nil
	}},
}

// unbzip2 reads the text of a bzip2 file. Package bzip2 takes zeros for what a file that was cut short lacks, and then finds
// it damaged: what is wrong at the end of the file is that it ends.
type unbzip2 struct {
	text   io.Reader
	packed *ending
}

func (u unbzip2) Read(p []byte) (int, error) {
	n, err := u.text.Read(p)
	if damage := bzip2.StructuralError(""); errors.As(err, &damage) && u.packed.ended {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// ending notes whether a reader was read to its end, byte by byte, as package bzip2 reads.
type ending struct {
	*bufio.Reader

	ended bool
}

func (e *ending) ReadByte() (byte, error) {
	b, err := e.Reader.ReadByte()
	e.ended = e.ended || errors.Is(err, io.EOF)
	return b, err
}

// footed reads the text of an xz file to its end, and fails where the file ends without the footer:
// package xz takes one that was cut between two blocks for a whole one.
type footed struct {
	text io.Reader
	last [2]byte // the last bytes read of the packed file that are not 0, of which padding is made
}

// Write notes what was read of the packed file.
func (f *footed) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != 0 {
			f.last = [2]byte{f.last[1], b}
		}
	}
	return len(p), nil
}

func (f *footed) Read(p []byte) (int, error) {
	n, err := f.text.Read(p)
	if errors.Is(err, io.EOF) && string(f.last[:]) != "YZ" {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// xzWindow is the size of the dictionary that the first block of an xz file asks for, in bytes; 0 if
// there is none. See section 3.1 of the .xz file format, 1.2.1.
func xzWindow(r *bufio.Reader) int64 {
	const streamHeader, sizesGiven = 12, 0xc0
	head, _ := r.Peek(64)
	if len(head) < streamHeader+2 {
		return 0
	}
	flags, rest := head[streamHeader+1], head[streamHeader+2:]
	for given := flags & sizesGiven; given != 0; given &= given - 1 { // a number of 7 bits a byte
		end := slices.IndexFunc(rest, func(b byte) bool { return b < 0x80 })
		if end < 0 {
			return 0
		}
		rest = rest[end+1:]
	}
	if flags&3 != 0 || len(rest) < 3 || rest[0] != 0x21 || rest[2] > 40 { // LZMA2 alone, as everybody packs
		return 0
	}
	bits := int64(rest[2])
	return (2 | bits&1) << (bits/2 + 11)
}

// unpacked is a file with its contents unpacked, if they are packed, for Open. To close it closes raw, and so does an error.
func unpacked(ctx context.Context, name string, raw io.ReadCloser) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(raw, 1<<16)
	for _, u := range unpackers {
		packed, err := begins(buffered, u.magic)
		if err != nil {
			raw.Close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !packed {
			continue
		}
		z, err := u.open(buffered)
		if err != nil {
			raw.Close()
			return nil, fmt.Errorf("%s: %w", name, unpackError(err))
		}
		return opened{Interruptible(ctx, unpacker{z}), both{unpacker: z, file: raw}}, nil
	}
	return opened{Interruptible(ctx, buffered), raw}, nil
}

// unpacker reads what a decompressor unpacks, and says of errors that they are about the compressed file.
type unpacker struct{ io.Reader }

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	return n, unpackError(err)
}

// unpackError is an error of a decompressor, in words for whoever has the file; io.EOF and nil stay as they are.
func unpackError(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return cutShort{}
	}
	return fmt.Errorf("the compressed file is damaged, or not to be unpacked here: %w", err)
}

// cutShort is io.ErrUnexpectedEOF of a compressed file.
type cutShort struct{}

func (cutShort) Error() string        { return "the compressed file was cut short" }
func (cutShort) Is(target error) bool { return target == io.ErrUnexpectedEOF }

// begins reports whether a text begins with some bytes. It waits for no more of it than it needs.
func begins(r *bufio.Reader, magic string) (bool, error) {
	for n := 1; n <= len(magic); n++ {
		head, err := r.Peek(n)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if string(head) != magic[:n] {
			return false, nil
		}
	}
	return true, nil
}

// both closes what unpacks a file, and the file.
type both struct{ unpacker, file io.Closer }

func (b both) Close() error {
	b.unpacker.Close() // what is wrong with the contents, reading has said
	return b.file.Close()
}
