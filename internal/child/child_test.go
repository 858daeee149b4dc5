package child

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A program that started another one, which has its output, ends in time, and the other one ends too.
func TestCommandEndsWithItsChildren(t *testing.T) {
	t.Parallel()
	alive := filepath.Join(t.TempDir(), "alive")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	p := Command(ctx, "/bin/sh", "-c", "(while sleep 0.1; do : >>"+alive+"; done) & wait")
	out := Head{Most: 10}
	p.Stdout = &out
	began := time.Now()
	if err := p.Run(); err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	for range 100 { // one that was being started may still come to its end
		_ = os.Remove(alive)
		time.Sleep(300 * time.Millisecond)
		if _, err := os.Stat(alive); err != nil {
			return
		}
	}
	t.Error("what it started is left behind")
}

// Who prints without end is ended, and no more than the first bytes are kept.
func TestHeadEndsWhoPrintsTooMuch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := Command(ctx, "yes")
	out := Head{Most: 1001, Full: cancel}
	p.Stdout = &out
	if err := p.Run(); err == nil || !out.Over || string(out.Bytes()) != strings.Repeat("y\n", 500)+"y" {
		t.Errorf("%v, over %v, %d bytes", err, out.Over, len(out.Bytes()))
	}
	quiet := Head{Most: 3}
	for _, s := range []string{"ab", "", "cd", "e"} {
		if n, err := quiet.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if string(quiet.Bytes()) != "abc" || quiet.Over {
		t.Errorf("%q, over %v", string(quiet.Bytes()), quiet.Over)
	}
}
