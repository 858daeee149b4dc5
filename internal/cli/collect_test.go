package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
)

// Who interrupts weft collect is told that what devices said is kept, except where all are asked anew: then nothing is.
func TestCollectInterrupted(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(in("hosts"), []byte("hosts: {leaf1: 10.0.0.1}\n"), 0o600), os.WriteFile(in("ssh"), []byte("#!/bin/sh\necho > "+in("asked")+"\nexec sleep 60\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, anew := range []bool{false, true} {
		args := []string{"collect", "--inventory", in("hosts"), "-o", in("net")}
		if anew {
			args = append(args, "--force")
		}
		if err := os.RemoveAll(in("asked")); err != nil {
			t.Fatal(err)
		}
		ctx, interrupt := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(in("asked")); err == nil {
					interrupt()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		var stdout, stderr bytes.Buffer
		code := run(ctx, args, strings.NewReader(""), &stdout, &stderr)
		interrupt()
		if code != exit.Interrupted || strings.Contains(stderr.String(), "nothing was written") != anew || strings.Contains(stderr.String(), "--resume asks the others") == anew {
			t.Errorf("%q: exit code %d, %s", args, code, stderr.String())
		}
	}
}
