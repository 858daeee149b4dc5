package plugin_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// daemonProcess is this program as a daemon: it answers with an engine's tables,
// or with half of some and then waits to be killed.
func daemonProcess(socket, how, uid string) {
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	if id, err := strconv.Atoi(uid); err == nil && id != 0 {
		fail(syscall.Setuid(id))
	}
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		fail(err)
	}
	l, err := net.Listen("unix", socket)
	fail(err)
	fmt.Println("listening")
	d := &daemon{}
	for {
		c, err := l.Accept()
		fail(err)
		q, err := wire.ReadRequest(c)
		fail(err)
		if how != "half" {
			if err := d.routes(how, routing.Honored)(q, c); err != nil {
				fmt.Println(err)
			}
			c.Close()
			continue
		}
		fail(d.liar("df-dn", func(m []byte) []byte { return m[:len(m)/2] })(q, c))
		fmt.Println("half")
		select {}
	}
}

// process is a daemon of its own.
type process struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

// spawn starts a daemon as a process of a user; 0: of this one.
func spawn(t testing.TB, socket, how string, uid int) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WEFT_TEST_DAEMON="+socket, "WEFT_TEST_ANSWER="+how, fmt.Sprintf("WEFT_TEST_UID=%d", uid))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, bufio.NewReader(out)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be dead already
		_ = cmd.Wait()
	})
	p.await(t, "listening")
	return p
}

// await waits until the process prints a line.
func (p *process) await(t testing.TB, want string) {
	t.Helper()
	timer := time.AfterFunc(soon, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	line, err := p.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("the daemon says %q, want %q: %v", line, want, err)
	}
}

// kill ends the process by SIGKILL.
func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it says how it died, which is known
}

// openDir is a folder in which every user may have a socket, and whose name has no
// comma in it: options of plugins are apart by commas.
func openDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "weft-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}
