package plugin_test

import (
	"bytes"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestLate stops waiting for a daemon, asks it something else, and takes that answer
// when it comes, with ThreadSanitizer and AddressSanitizer watching.
func TestLate(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:5,hosts=2")
	silent, slow := wire.Of(f, 1), wire.Of(f, 1) // two hosts have changed places
	first, last := f.Endpoint(fabric.EndpointID(f.Switches())).Node, f.Endpoint(fabric.EndpointID(len(f.Endpoints())-1)).Node
	a, b := &slow.Nodes[first].Has[0], &slow.Nodes[last].Has[0]
	a.LID, b.LID = b.LID, a.LID
	var other bytes.Buffer
	if err := slow.Write(&other); err != nil {
		t.Fatal(err)
	}
	d := serve(t, nil)
	d.become(func(q *wire.Request, c net.Conn) error {
		if q.Nodes[first].Has[0].LID != a.LID {
			_, err := c.Read(make([]byte, 1)) // until the plugin hangs up
			return err
		}
		time.Sleep(3 * time.Second) // of which the plugin waits a tenth
		return d.routes("df-dn", routing.Honored)(q, c)
	})
	want := []string{"waiting", "waiting", "waiting", "at once", "late: tables", "answered", "proven", "waiting"}
	for _, flags := range []string{"-fsanitize=thread", asan} {
		if out := core(t, flags, "late", silent, other.Bytes(), d.socket); !slices.Equal(out, want) {
			t.Errorf("%s: %q, want %q", flags, out, want)
		}
	}
}

// TestTalk answers with messages that are cut anywhere, or spoilt where their
// length and kind stand, with AddressSanitizer watching how the plugin takes them.
func TestTalk(t *testing.T) {
	t.Parallel()
	q := wire.Of(testnet.Build(t, "ring:4,hosts=1"), 1)
	whole := answerTo(t, q, "df-dn", routing.Honored)
	var refusal bytes.Buffer
	if err := wire.WriteRefusal(&refusal, 1, "no \x1b[2J%s%n\x00 tables"); err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(5, 5))
	answers := [][]byte{whole, refusal.Bytes(), {}, []byte("HTTP/1.1 400 Bad Request\r\n\r\n")}
	for len(answers) < 40 {
		b := bytes.Clone(whole)
		if chance.IntN(3) == 0 {
			b = bytes.Clone(refusal.Bytes())
		}
		if chance.IntN(2) == 0 {
			b = b[:chance.IntN(len(b))]
		}
		for range chance.IntN(3) {
			if len(b) > 0 {
				b[chance.IntN(min(len(b), 16))] = byte(chance.IntN(256))
			}
		}
		answers = append(answers, b)
	}
	socket := filepath.Join(t.TempDir(), "opensm.sock")
	l := listen(t, socket)
	go func() {
		for _, a := range answers {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := wire.ReadRequest(c); err != nil {
				t.Error(err)
			}
			_, _ = c.Write(a) // the plugin may have heard enough
			c.Close()
		}
	}()
	for i, a := range answers {
		out := core(t, asan, "ask", q, nil, socket)
		if bytes.Equal(a, whole) != (out[0] == "proven") || strings.Contains(out[0], "\x1b") {
			t.Errorf("answer %d of %d bytes: %q", i, len(a), out)
		}
		if i == 1 && !strings.Contains(out[0], "the daemon refuses: no  [2J%s%n  tables") {
			t.Errorf("a refusal: %q", out)
		}
	}
}
