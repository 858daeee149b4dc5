package main

import (
	"context"
	"fmt"
	"io"

	"github.com/weft-fabric/weft/format"
)

// console is what a command reads from and prints to.
type console struct {
	ctx    context.Context // ends when the user interrupts
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	quiet  bool

	columns  int  // how wide lines on stdout may be, 0: any width
	terminal bool // stdout is one
}

// note prints a warning about how weft was called.
func (c *console) note(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(c.stderr, "weft: warning: "+format+"\n", args...)
	}
}

// open opens a file, or standard input, which may only be read once. Reading
// ends when the user interrupts, even if a terminal or a pipe has nothing to say.
func (c *console) open(name string) (io.ReadCloser, error) {
	if name == "" {
		return nil, usage("the name of a file is empty; - is standard input")
	}
	if name != "-" {
		return format.Open(name, nil)
	}
	if c.stdin == nil {
		return nil, usage("- is given twice, and standard input can be read only once")
	}
	r, w := io.Pipe()
	go func(stdin io.Reader) {
		_, err := io.Copy(w, stdin)
		w.CloseWithError(err)
	}(c.stdin)
	context.AfterFunc(c.ctx, func() { w.CloseWithError(c.ctx.Err()) })
	c.stdin = nil
	return format.Open(name, r)
}

// readFile opens a file and reads it with one of the format packages.
func readFile[T any](c *console, name string, read func(r io.Reader, name string) (T, error)) (T, error) {
	var none T
	r, err := c.open(name)
	if err != nil {
		return none, err
	}
	defer r.Close()
	return read(r, name)
}
