package daemon

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/loopback"
	"github.com/weft-fabric/weft/internal/opensm/wire"
)

// metricsAddress is where Prometheus asks.
func (r *running) metricsAddress() string { return addressIn(r.log.String()) }

// scrape is what Prometheus is answered.
func (r *running) scrape(t *testing.T) string {
	t.Helper()
	answer, err := http.Get("http://" + r.metricsAddress() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func addressIn(log string) string {
	_, address, _ := strings.Cut(log, "address=")
	address, _, _ = strings.Cut(address, "\n")
	return address
}

// Requests are for this host by name or loopback address; other names lead here
// from elsewhere.
func TestMetricsAreForThisHost(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Metrics: "127.0.0.1:0"})
	for host, want := range map[string]int{
		r.metricsAddress(): 200, "localhost": 200, "LocalHost:1": 200, "[::1]:9469": 200, "127.3.2.1": 200,
		"evil.example:9469": 421, "192.0.2.1": 421, "localhost.evil.example": 421, "": 400, "none": 200,
	} {
		c, err := net.Dial("tcp", r.metricsAddress())
		if err != nil {
			t.Fatal(err)
		}
		request := "GET /metrics HTTP/1.1\r\nHost: " + host + "\r\n\r\n"
		switch host {
		case "":
			request = "GET /metrics HTTP/1.1\r\n\r\n"
		case "none": // as monitors ask that know no name
			request = "GET /metrics HTTP/1.0\r\n\r\n"
		}
		io.WriteString(c, request)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%q: %v", host, err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != want || strings.Contains(string(text), "weft_") != (want == 200) {
			t.Errorf("%q: %s: %.100s", host, answer.Status, text)
		}
		c.Close()
	}
}

// A request that does not end is cut off, as is one that is too long.
func TestMetricsCutOff(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Metrics: "127.0.0.1:0"})
	for name, text := range map[string]string{
		"slow":     "GET /metrics HTTP/1.1\r\nHost: localhost\r\n",
		"body":     "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx",
		"too long": "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 64<<10),
	} {
		c, err := net.Dial("tcp", r.metricsAddress())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetDeadline(time.Now().Add(loopback.ReadTime + loopback.WriteTime)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, text) // it may be cut off before the end
		if _, err := io.ReadAll(c); err != nil && os.IsTimeout(err) {
			t.Errorf("%s: still open after %v", name, loopback.ReadTime+loopback.WriteTime)
		}
		c.Close()
	}
}

// fewDescriptors makes the test a daemon of its own, in the folder that it names.
const fewDescriptors = "WEFT_TEST_FEW_DESCRIPTORS"

// With 64 descriptors in all, whoever else connects and says nothing, on the
// metrics port and on the socket, OpenSM's request is answered at once.
func TestIdleConnectionsStarveNobody(t *testing.T) {
	if dir := os.Getenv(fewDescriptors); dir != "" {
		r := newRunning(t, Config{Socket: filepath.Join(dir, "s"), Metrics: "127.0.0.1:0", Engine: Names{"updn"}})
		r.run()
		fmt.Printf("address=%s\n", r.metricsAddress())
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
		return
	}
	t.Parallel()
	dir, err := os.MkdirTemp("", "weft")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	child := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 64 && exec "$0" "$@"`, os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), fewDescriptors+"="+dir)
	child.Stderr = t.Output()
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for _, idle := range []struct {
		network, address string
		number           int
	}{{"tcp", addressIn(line), 80}, {"unix", filepath.Join(dir, "s"), 3 * connections}} {
		for i := range idle.number {
			c, err := net.Dial(idle.network, idle.address)
			if err != nil {
				t.Fatalf("%s connection %d: %v", idle.network, i, err)
			}
			defer c.Close()
		}
		begin := time.Now()
		a, err := wire.Ask(t.Context(), filepath.Join(dir, "s"), request(t, "ring:n=4", 1))
		if err != nil || a.Refusal != "" {
			t.Errorf("beside %d idle %s connections: %v, %+v", idle.number, idle.network, err, a)
		}
		if d := time.Since(begin); d >= patience {
			t.Errorf("beside %d idle %s connections the answer took %v", idle.number, idle.network, d)
		}
		response, err := http.Get("http://" + addressIn(line) + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != http.StatusOK {
			t.Error(response.Status)
		}
	}
}
