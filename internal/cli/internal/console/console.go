// Package console is what a command reads from and prints to: the standard streams,
// pages of facts, tables as wide as the terminal, and how far a stage of the work is.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/reading"
)

// Console is what a command reads from and prints to.
type Console struct {
	Context context.Context // ends when the user interrupts
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Quiet   bool // nothing that is no error on standard error
	Verbose bool // people get all there is, on a terminal too

	Warnings []string // of what was read, for programs
	Outputs  []Output // every form that JSON may print

	Columns  int  // how wide lines on stdout may be, 0: any width
	Terminal bool // stdout is one

	Colors  io.Writer // what stdout writes to if that is a terminal that has colors; nil: none
	NoColor bool
}

// Brief reports whether people get the answer alone: on a terminal, unless they ask for more. What
// goes into a file or a program has everything.
func (c *Console) Brief() bool { return c.Terminal && !c.Verbose }

// Tell says on standard error what is going on.
func (c *Console) Tell(format string, args ...any) {
	if !c.Quiet {
		fmt.Fprintf(c.Stderr, "weft: "+format+"\n", args...)
	}
}

// Note warns of the input, or of how weft was called.
func (c *Console) Note(format string, args ...any) { c.Tell("warning: "+format, args...) }

// Warn keeps an oddity of the input for programs, and notes it for people.
func (c *Console) Warn(text string) {
	c.Warnings = append(c.Warnings, text)
	c.Note("%s", text)
}

// Open opens a file, or standard input, which may only be read once. Reading
// ends when the user interrupts, even if a terminal or a pipe has nothing to say.
func (c *Console) Open(name string) (io.ReadCloser, error) {
	if name == "" {
		return nil, exit.Usage("the name of a file is empty; - is standard input")
	}
	if name != "-" {
		return reading.Open(c.Context, name, nil)
	}
	if c.Stdin == nil {
		return nil, exit.Usage("- is given twice, and standard input can be read only once")
	}
	stdin := c.Stdin
	c.Stdin = nil
	return reading.Open(c.Context, name, stdin)
}

// ReadFile opens a file and reads it with one of the format packages.
func ReadFile[T any](c *Console, name string, read func(r io.Reader, name string) (T, error)) (T, error) {
	var none T
	r, err := c.Open(name)
	if err != nil {
		return none, err
	}
	defer r.Close()
	return read(c.Text(r, name), name)
}

// ReadPlain reads a plain file whole, as it is: one that another file names or a folder has.
func (c *Console) ReadPlain(name string) ([]byte, error) {
	f, err := reading.OpenPlain(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return reading.ReadBytes(reading.Interruptible(c.Context, f), name, reading.MaxSize)
}

// Text is a text in UTF-8; that it was in something else is a warning.
func (c *Console) Text(r io.Reader, name string) io.Reader {
	text, note := reading.InUTF8(r)
	if note != "" {
		c.Warn(name + ": " + note)
	}
	return text
}

// Missing reports whether an argument names a file that does not exist.
func Missing(arg string) bool {
	_, err := os.Stat(arg)
	return arg != "-" && errors.Is(err, os.ErrNotExist)
}
