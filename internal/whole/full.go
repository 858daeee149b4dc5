package whole

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/weft-fabric/weft/internal/words"
)

// Full adds to an error about a disk on which a folder is, if it is full, how much there was to write, what of, and how
// much room is left.
func Full(err error, dir, what string, wanted int64) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	size := words.Size(wanted)
	if wanted >= mostCounted {
		size = "more than " + words.Size(mostCounted)
	}
	text := fmt.Sprintf("%s takes %s", what, size)
	if n, ok := Left(dir); ok {
		text += fmt.Sprintf(", and %s can still be written in %s", words.Size(int64(min(n, 1<<62))), strings.TrimSuffix(dir, "/"))
	}
	return fmt.Errorf("%w: %s", err, text)
}

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
