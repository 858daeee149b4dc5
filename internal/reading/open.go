package reading

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Open opens a file that the user named for one of the readers; "-" is stdin. Contents
// packed by gzip, zstd, xz or bzip2 are unpacked, whatever the name. Pipes and devices are waited for,
// as of <(command) and /dev/stdin. Opening and reading end with an error when ctx does.
func Open(ctx context.Context, name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		if stdin == nil {
			return nil, errors.New("there is no standard input to read")
		}
		return unpacked(ctx, name, waiting(ctx, stdin, io.NopCloser(nil)))
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", name)
	case !info.Mode().IsRegular():
		f, err := openWaiting(ctx, name)
		if err != nil {
			return nil, err
		}
		return unpacked(ctx, name, waiting(ctx, f, f))
	}
	return OpenFound(ctx, name)
}

// OpenFound opens a file as Open does, but only a plain one: nobody named it, it was found in a
// folder, where a pipe or a device is never meant.
func OpenFound(ctx context.Context, name string) (io.ReadCloser, error) {
	f, err := OpenPlain(name)
	if err != nil {
		return nil, err
	}
	return unpacked(ctx, name, f)
}

// OpenPlain opens a plain file as it is, compressed or not. Anything else is refused, without
// waiting for it.
func OpenPlain(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	return plain(f, err, name)
}

// OpenIn is OpenPlain below the handle of a folder, which no symbolic link leads out of.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return plain(f, err, name)
}

// plain refuses an opened file that is not a plain one.
func plain(f *os.File, err error, name string) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err == nil && info.Mode().IsRegular():
		return f, nil
	case err == nil && info.IsDir():
		err = fmt.Errorf("%s is a directory", name)
	case err == nil:
		err = fmt.Errorf("%s is not a plain file but %s: remove it, or put a file in its place", name, KindOf(info.Mode()))
	}
	f.Close()
	return nil, err
}

// KindOf says in words what something in a folder is.
func KindOf(mode os.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&os.ModeSymlink != 0:
		return "a symbolic link"
	case mode&os.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&os.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// openWaiting opens what may keep its opener waiting, such as a named pipe that nobody writes to, until ctx ends.
func openWaiting(ctx context.Context, name string) (*os.File, error) {
	type result struct {
		f   *os.File
		err error
	}
	done := make(chan result)
	go func() {
		f, err := os.Open(name)
		select {
		case done <- result{f, err}:
		case <-ctx.Done():
			if err == nil {
				f.Close()
			}
		}
	}()
	select {
	case r := <-done:
		return r.f, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// waiting is a reader of what may keep its reader waiting: another goroutine reads it, which is left
// behind when ctx ends. c is closed with it.
func waiting(ctx context.Context, from io.Reader, c io.Closer) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, from)
		w.CloseWithError(err)
	}()
	stop := context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	return opened{r, closers{pipe: r, from: c, stop: stop}}
}

// closers is what is closed with a reader that waiting made.
type closers struct {
	pipe *io.PipeReader
	from io.Closer
	stop func() bool // no longer waits for the context's end
}

func (c closers) Close() error {
	c.stop()
	return errors.Join(c.pipe.Close(), c.from.Close())
}

// Interruptible is a reader that says ctx.Err() once the context has ended. It is for what
// does not keep its reader waiting: plain files and texts at hand.
func Interruptible(ctx context.Context, r io.Reader) io.Reader { return interruptible{ctx, r} }

type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// opened is a file that reads by one thing, such as a decompressor, and closes by another.
type opened struct {
	io.Reader
	io.Closer
}
