// Package child runs programs of others that may hang, print without end, or start processes of their own.
package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Command is a program that ends with its context, and all that it started with it, so that none is left behind;
// processes that left its group and keep its output open are not waited for.
func Command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	p := exec.CommandContext(ctx, name, arguments...)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error {
		if err := syscall.Kill(-p.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
	p.WaitDelay = time.Second
	return p
}

// Head keeps the first Most bytes of what is written to it. The buffer is not embedded: it would be read into past
// the bound, by its method ReadFrom.
type Head struct {
	kept bytes.Buffer
	Most int
	Full func() // called when there is more, such as to end who prints it; nil: the rest does not matter
	Over bool   // there was more, and Full was called
}

// Write never fails: what is not kept is lost.
func (h *Head) Write(p []byte) (int, error) {
	room := max(0, h.Most-h.kept.Len())
	h.kept.Write(p[:min(len(p), room)])
	if len(p) > room && h.Full != nil {
		h.Over = true
		h.Full()
	}
	return len(p), nil
}

// Bytes is what was kept.
func (h *Head) Bytes() []byte { return h.kept.Bytes() }
