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

	"github.com/weft-fabric/weft/sweep"
	"github.com/weft-fabric/weft/sweep/results"
)

// process is a worker in a process of its own, which runs Serve. A point goes there as a
// line of JSON, its rows come back as another.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors tail
}

// Start starts a worker: a program that calls Serve, on so many cores.
func Start(cores int, program string, args ...string) (Worker, error) {
	p := &process{cmd: exec.Command(program, args...)}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	p.cmd.Stderr = &p.errors
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	p.out = bufio.NewReaderSize(out, 1<<16)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	return p, nil
}

// answer is what comes back of a point.
type answer struct {
	Rows []results.Row `json:"rows"`
}

func (p *process) Take(ctx context.Context, point *sweep.Point) ([]results.Row, error) {
	end := context.AfterFunc(ctx, func() { p.cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	defer end()
	text, err := json.Marshal(point)
	if err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	if _, err = p.in.Write(append(text, '\n')); err == nil {
		var line []byte
		if line, err = p.out.ReadBytes('\n'); err == nil {
			var a answer
			if err := json.Unmarshal(line, &a); err != nil {
				return nil, fmt.Errorf("pool: a worker answered %q: %w", bytes.TrimSpace(line), err)
			}
			return a.Rows, nil
		}
	}
	return nil, &Ended{p.why()}
}

// why says how the process ended, with the last that it said.
func (p *process) why() string {
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
func (p *process) Close() error {
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
func Serve(ctx context.Context, in io.Reader, out io.Writer, take func(context.Context, *sweep.Point) ([]results.Row, error)) error {
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
		var p sweep.Point
		if err := json.Unmarshal(line, &p); err != nil {
			return fmt.Errorf("pool: %w", err)
		}
		rows, err := take(ctx, &p)
		if err != nil {
			break // the parent is gone, or the user interrupts
		}
		text, err := json.Marshal(answer{rows})
		if err != nil {
			return fmt.Errorf("pool: %w", err)
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return fmt.Errorf("pool: %w", err)
		}
	}
	select {
	case err := <-failed:
		return fmt.Errorf("pool: %w", err)
	default:
		return nil
	}
}
