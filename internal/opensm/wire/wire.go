package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Version is the version of the format, which must be the same at both ends.
const Version = 4

const (
	magic       = "WEFT"
	headerSize  = 16
	requestSize = 48
	nodeSize    = 96
	nameSize    = 64
	portSize    = 24
	blockSize   = 72
	blockLIDs   = 64 // of a block record
	tablesSize  = 96
	engineSize  = 32
	refusalSize = 8
	reasonMax   = 4096

	flagQoS      = 1 // of requests
	flagImproves = 2
	flagAgain    = 4
	flagFilled   = 8
	flagStands   = 16
	flagSoFar    = 1 // of tables
	flagDirected = 2
	flagStep     = 4
	flagDrops    = 8
	flagNewTree  = 16
	flagOrders   = 32
	noPeer       = 0xFFFFFFFF
)

// MaxRequest limits the body of a request, in bytes: the largest possible fabric has
// 49,151 LIDs.
const MaxRequest = 64 << 20

// MaxReply limits the body of an answer, in bytes.
const MaxReply = 4 << 30

// kind is what a message is, in its header.
type kind uint16

const (
	kindRequest kind = 1
	kindTables  kind = 2
	kindRefusal kind = 3
	kindAsk     kind = 4
	kindStatus  kind = 5
	kindOrder   kind = 6
)

var le = binary.LittleEndian

// VersionError reports a message in another version of this format. The header is the
// same in all versions, so that its version can be read.
type VersionError struct{ Other uint16 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the other end speaks version %d, this one %d: install plugin and daemon of one release", e.Other, Version)
}

// readMessage reads one message of at most limit bytes, growing as bytes arrive: a
// length field alone allocates nothing.
func readMessage(r io.Reader, limit int64) (kind, []byte, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, nil, fmt.Errorf("header: %w", err)
	}
	length := le.Uint64(h[8:])
	switch {
	case string(h[:4]) != magic:
		return 0, nil, fmt.Errorf("the message begins with %q, not with %q: something else speaks", h[:4], magic)
	case le.Uint16(h[4:]) != Version:
		return 0, nil, &VersionError{le.Uint16(h[4:])}
	case length > uint64(limit):
		return 0, nil, fmt.Errorf("a message of %d bytes; at most %d are taken", length, limit)
	}
	body, err := readGrowing(r, int(length))
	if err != nil {
		return 0, nil, fmt.Errorf("%d of %d bytes: %w", len(body), length, err)
	}
	return kind(le.Uint16(h[6:])), body, nil
}

// readGrowing reads n bytes into a buffer that doubles as they arrive.
func readGrowing(r io.Reader, n int) ([]byte, error) {
	body := make([]byte, 0, min(n, 1<<20))
	for len(body) < n {
		if len(body) == cap(body) {
			grown := make([]byte, len(body), min(n, 2*cap(body)))
			copy(grown, body)
			body = grown
		}
		m, err := io.ReadFull(r, body[len(body):cap(body)])
		body = body[:len(body)+m]
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return body, err
		}
	}
	return body, nil
}

// newMessage is a message with its header and room for the body.
func newMessage(k kind, body int) []byte {
	m := make([]byte, headerSize, headerSize+body)
	copy(m, magic)
	le.PutUint16(m[4:], Version)
	le.PutUint16(m[6:], uint16(k))
	return m
}

// send completes the header and writes the message.
func send(w io.Writer, m []byte) error {
	le.PutUint64(m[8:], uint64(len(m)-headerSize))
	if _, err := w.Write(m); err != nil {
		return err
	}
	return nil
}

// padded appends text, cut or padded with zeros to n bytes.
func padded(b []byte, text string, n int) []byte {
	text = text[:min(len(text), n)]
	b = append(b, text...)
	return append(b, make([]byte, n-len(text))...)
}

// unpadded is the text up to the first zero.
func unpadded(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
