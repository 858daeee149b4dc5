package whole

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"syscall"

	"github.com/weft-fabric/weft/internal/words"
)

// Full adds to an error about a disk on which a folder is, if it is full, how much there was to write, what of, and how
// much room is left.
func Full(err error, dir, what string, wanted int64) error {
	if !isFull(err) {
		return err
	}
	left, ok := Left(dir)
	switch {
	case errors.Is(err, syscall.EDQUOT): // the disk has room, and this user none
		ok = false
	case ok && left.Files == 0:
		return FullOf(err, dir)
	}
	size := words.Size(wanted)
	if wanted >= mostCounted {
		size = "more than " + words.Size(mostCounted)
	}
	text := fmt.Sprintf("%s takes %s", what, size)
	if ok {
		text += fmt.Sprintf(", and %s can still be written in %s", words.Size(left.size()), strings.TrimSuffix(dir, "/"))
	}
	return fmt.Errorf("%w: %s", err, text)
}

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// FullOf adds to an error about a disk on which a folder is, if it is full, what it is full of: the system says the same where
// files have no room, and where no more of them can be made.
func FullOf(err error, dir string) error {
	if !errors.Is(err, syscall.ENOSPC) { // of a quota the disk knows nothing
		return err
	}
	switch left, ok := Left(dir); {
	case !ok:
		return err
	case left.Files == 0:
		return fmt.Errorf("%w: no file can be made in %s any more, since the inodes of its disk are used up (df -i)", err, strings.TrimSuffix(dir, "/"))
	default:
		return fmt.Errorf("%w: %s can still be written in %s", err, words.Size(left.size()), strings.TrimSuffix(dir, "/"))
	}
}

// Space is what there is room for on a disk.
type Space struct {
	Bytes uint64
	Files uint64 // that can still be made
}

// size is the bytes as a number of the type that sizes have.
func (r Space) size() int64 { return int64(min(r.Bytes, math.MaxInt64)) }

// mostCounted is how much of a file is made once more to learn how long it is.
const mostCounted = 64 << 20

// errEnough ends the counting.
var errEnough = errors.New("enough")

// counter counts what is written, up to mostCounted.
type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) {
	if c.n += int64(len(b)); c.n >= mostCounted {
		return 0, errEnough
	}
	return len(b), nil
}

// sizeOf is how long what is written would be.
func sizeOf(write func(io.Writer) error) int64 {
	var c counter
	_ = write(&c) // what it wrote before it failed, it wants
	return c.n
}
