package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/result"
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

// Who interrupts a drain takes that order back and no other, and is told what stands as before.
func TestDrainInterrupted(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	orders := make(chan daemon.Order, 2)
	go func() {
		part := result.Drained{Part: "leaf-1:3", Kind: "cable", By: "somebody", State: daemon.Leaving}
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			said := any(&result.Status{Drained: []result.Drained{part}})
			if q, err := wire.ReadQuestion(c); err != nil {
				t.Error(err)
			} else if q.Order != nil {
				var order daemon.Order
				if err := json.Unmarshal(q.Order, &order); err != nil {
					t.Error(err)
				}
				orders <- order
				said = &daemon.Ordered{Parts: []result.Drained{part}, Before: []result.Drained{part}}
			} else {
				interrupt()
			}
			if err := wire.WriteStatus(c, said); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			c.Close()
		}
	}()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"drain", "--live", "leaf-1:3", "--socket", socket}, strings.NewReader(""), &stdout, &stderr)
	drain, back := <-orders, <-orders
	if code != exit.Interrupted || drain.ID == "" || back.Do != daemon.UndrainOrder || back.ID != drain.ID || len(back.Parts) > 0 ||
		!strings.Contains(stderr.String(), "as before, leaf-1:3: drained since") || strings.Contains(stderr.String(), "traffic uses") {
		t.Errorf("exit code %d, %+v, %+v\n%s", code, drain, back, stderr.String())
	}
}

// A daemon that answers nothing is given up after --timeout, whether it has the order or not; one that plans is waited for.
func TestDaemonThatAnswersNothing(t *testing.T) {
	t.Parallel()
	const stopped, plans, stoppedLater = "stopped", "plans", "stopped later"
	for _, c := range []struct {
		how  string
		args []string
		code int
		says []string
	}{
		{stopped, []string{"drain", "--live", "leaf-1:3"}, exit.BadInput, []string{"has answered nothing for 400ms (--timeout)", "it refuses the order when it goes on"}},
		{stopped, []string{"undrain", "leaf-1:3"}, exit.BadInput, []string{"has answered nothing for 400ms (--timeout)", "it may carry the order out when it goes on"}},
		{plans, []string{"drain", "--live", "leaf-1:3"}, exit.OK, []string{"the daemon plans still"}},
		{stoppedLater, []string{"drain", "--live", "leaf-1:3"}, exit.BadInput, []string{"has answered nothing for 400ms (--timeout)", "the order stands", "weft undrain leaf-1:3 takes it back"}},
		{stoppedLater, []string{"undrain", "leaf-1:3"}, exit.BadInput, []string{"has answered nothing for 400ms (--timeout)", "the order stands"}},
	} {
		socket := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		part := result.Drained{Part: "leaf-1:3", Kind: "cable", By: "somebody", State: daemon.Free}
		answer := func(c2 net.Conn) {
			defer c2.Close()
			q, err := wire.ReadQuestion(c2)
			switch {
			case err != nil || c.how == stopped:
				<-t.Context().Done()
			case q.Order == nil && c.how == stoppedLater:
				<-t.Context().Done()
			case q.Order == nil:
				_ = wire.WriteStatus(c2, &result.Status{Drained: []result.Drained{part}, Settled: true}) // who asked may have gone
			default:
				if c.how == plans {
					time.Sleep(2 * time.Second)
				}
				_ = wire.WriteStatus(c2, &daemon.Ordered{Parts: []result.Drained{part}})
			}
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go answer(conn)
			}
		}()
		begun := time.Now()
		code, stdout, stderr := runWeft(append(c.args, "--socket", socket, "--timeout", "400ms")...)
		l.Close()
		if code != c.code || time.Since(begun) > 20*time.Second {
			t.Errorf("%q, %s: exit code %d after %v\n%s\n%s", c.args, c.how, code, time.Since(begun), stdout, stderr)
		}
		for _, text := range c.says {
			if !strings.Contains(stderr, text) {
				t.Errorf("%q, %s: %q is not said\n%s", c.args, c.how, text, stderr)
			}
		}
	}
	if code, _, stderr := runWeft("drain", "--live", "leaf-1:3", "--timeout", "-1s"); code != exit.BadUsage || !strings.Contains(stderr, "--timeout is positive") {
		t.Errorf("%d: %s", code, stderr)
	}
}
