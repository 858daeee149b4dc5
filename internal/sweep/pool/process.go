package pool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// process is a worker in a process of its own, which runs Serve. A point goes there as a
// line of JSON, what comes of it comes back as another.
type process[P, R any] struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors tail
}

// Start starts a worker: a program that calls Serve, on so many cores.
func Start[P, R any](cores int, program string, args ...string) (Worker[P, R], error) {
	p := &process[P, R]{cmd: exec.Command(program, args...)}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	p.cmd.Stderr = &p.errors
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, 1<<16)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// answer is what comes back of a point.
type answer[R any] struct {
	Result R      `json:"result"`
	Error  string `json:"error,omitempty"` // of the worker, such as a file that it cannot read; what is wrong with a point is in Result
}

// Take sends the point and waits for its answer; where ctx ends, so does the process.
func (p *process[P, R]) Take(ctx context.Context, point *P) (R, error) {
	var a answer[R]
	end := context.AfterFunc(ctx, func() { p.cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	defer end()
	text, err := json.Marshal(point)
	if err != nil {
		return a.Result, err
	}
	if _, err = p.in.Write(append(text, '\n')); err == nil {
		var line []byte
		if line, err = p.out.ReadBytes('\n'); err == nil {
			if err := json.Unmarshal(line, &a); err != nil {
				return a.Result, fmt.Errorf("a worker answered %q: %w", bytes.TrimSpace(line), err)
			}
			if a.Error != "" {
				return a.Result, errors.New(a.Error)
			}
			return a.Result, nil
		}
	}
	return a.Result, &Ended{p.why()}
}

// why says how the process ended, with the last that it said.
func (p *process[P, R]) why() string {
	p.in.Close()
	err := p.cmd.Wait()
	why := "it exited"
	if err != nil {
		why = err.Error()
	}
	if said := strings.TrimSpace(p.errors.String()); said != "" {
		why += "\n" + said
	}
	return why
}

// Close ends the process, which has no point at hand, and waits for its end.
func (p *process[P, R]) Close() error {
	return errors.Join(p.in.Close(), p.cmd.Wait())
}

// tail keeps the first and the last of what is written: what went wrong stands first, of
// a Go program, and others say it last.
type tail struct {
	first, last []byte
}

const tailBytes = 2048

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	if room := tailBytes - len(t.first); room > 0 {
		t.first = append(t.first, b[:min(room, len(b))]...)
		b = b[min(room, len(b)):]
	}
	t.last = append(t.last, b...)
	if len(t.last) > tailBytes {
		t.last = bytes.Clone(t.last[len(t.last)-tailBytes:])
	}
	return n, nil
}

func (t *tail) String() string {
	if len(t.last) == tailBytes {
		return string(t.first) + "\n…\n" + string(t.last)
	}
	return string(t.first) + string(t.last)
}

// Serve is the other side of Start: it takes the points that come in, until there are no
// more. When its parent is gone, it stops in the middle of one.
func Serve[P, R any](ctx context.Context, in io.Reader, out io.Writer, take func(context.Context, *P) (R, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	points := make(chan []byte)
	failed := make(chan error, 1)
	go func() {
		defer close(points)
		defer stop()
		r := bufio.NewReaderSize(in, 1<<16)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				if !errors.Is(err, io.EOF) {
					failed <- err
				}
				return
			}
			select {
			case points <- line:
			case <-ctx.Done():
				return
			}
		}
	}()
	for line := range points {
		var p P
		if err := json.Unmarshal(line, &p); err != nil {
			return err
		}
		var a answer[R]
		var err error
		if a.Result, err = take(ctx, &p); err != nil {
			if ctx.Err() != nil {
				break // the parent is gone, or the user interrupts
			}
			a.Error = err.Error()
		}
		text, err := json.Marshal(a)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
