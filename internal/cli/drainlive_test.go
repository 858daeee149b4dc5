package cli

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
)

// Who interrupts an order to which there is no answer is told that it may stand, and not that nothing was written.
func TestOrderInterrupted(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Read(make([]byte, 1)) // the order begins to come
		l.Close()                      // and then the daemon is dead
		time.Sleep(50 * time.Millisecond)
		interrupt()
		c.Close()
	}()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"drain", "--live", "leaf-1:3", "--socket", socket}, strings.NewReader(""), &stdout, &stderr)
	if code != exit.Interrupted || !strings.Contains(stderr.String(), "the order may stand") || !strings.Contains(stderr.String(), "weft undrain leaf-1:3 takes it back") ||
		strings.Contains(stderr.String(), "nothing was written") || stdout.Len() > 0 {
		t.Errorf("exit code %d\n%s\n%s", code, stdout.String(), stderr.String())
	}
}
