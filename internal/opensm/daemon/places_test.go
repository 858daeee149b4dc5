package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/opensm/wire"
)

// Whose place a newcomer gets: of the user with the most places, the oldest in the
// first phase there is; nobody's who is being noted.
func TestVictim(t *testing.T) {
	t.Parallel()
	const root, other, third = 0, 1, 2
	for _, c := range []struct {
		name  string
		taken []place
		user  uint32
		want  int // index; -1: nobody
	}{
		{"the oldest who is silent", []place{{user: root, phase: taking}, {user: root}, {user: root}}, root, 1},
		{"longest in its phase", []place{{user: root, since: 9}, {user: root, since: 8}}, root, 1},
		{"who takes no answer", []place{{user: root, phase: waiting}, {user: root, phase: taking}}, root, 1},
		{"who waits", []place{{user: root, phase: reporting}, {user: root, phase: waiting}, {user: root, phase: waiting}}, root, 1},
		{"nobody", []place{{user: root, phase: reporting}, {user: root, phase: reporting}}, root, -1},
		{"of the user with the most", []place{{user: root}, {user: other, phase: waiting}, {user: other, phase: waiting}, {user: other, phase: waiting}}, root, 1},
		{"the newcomer counts", []place{{user: root, phase: waiting}, {user: other, phase: waiting}}, other, 1},
		{"the newcomer's own", []place{{user: other, phase: waiting}, {user: root, phase: waiting}}, root, 1},
		{"third", []place{{user: root}, {user: root}, {user: other, phase: waiting}}, third, 0},
	} {
		p := newPlaces(len(c.taken), 1)
		for i := range c.taken {
			x := c.taken[i]
			x.lost = make(chan struct{})
			if x.since == 0 {
				x.since = int64(i + 1)
			}
			p.taken = append(p.taken, &x)
		}
		got := -1
		if v := p.victim(c.user); v != nil {
			for i := range p.taken {
				if p.taken[i] == v {
					got = i
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: place %d is given up, want %d", c.name, got, c.want)
		}
		if got >= 0 {
			close(p.taken[got].lost)
			if again := p.victim(c.user); again == p.taken[got] {
				t.Errorf("%s: the same is given up twice", c.name)
			}
		}
	}
}

// pair is the two ends of a connection.
func pair(t *testing.T) (here, there *net.UnixConn) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err = net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	here, err = l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	return here, there
}

// A place that is lost before its question is waited for is left at once. Else each
// such place keeps the next connection waiting, and a thousand idle ones keep
// OpenSM's for longer than it has patience.
func TestLostBeforeItsQuestion(t *testing.T) {
	t.Parallel()
	p := newPlaces(1, 1000)
	here, _ := pair(t)
	x := p.take(here, 0)
	p.mu.Lock()
	x.giveUp()
	p.mu.Unlock()
	if err := x.enter(asking); !errors.Is(err, errPlaceLost) {
		t.Errorf("its question is waited for: %v", err)
	}
}

// Questions that are too large together cost the largest its place, whoever sends
// last.
func TestQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	p := newPlaces(3, 1000)
	var all []*place
	for range 3 {
		here, there := pair(t)
		if _, err := there.Write(make([]byte, 700)); err != nil {
			t.Fatal(err)
		}
		all = append(all, p.take(here, 0))
	}
	read := func(i, n int) error {
		_, err := io.ReadFull(countingReader{all[i]}, make([]byte, n))
		return err
	}
	if err := errors.Join(read(0, 300), read(1, 600)); err != nil {
		t.Fatal(err)
	}
	if err := read(2, 200); err != nil || !all[1].isLost() {
		t.Errorf("%v; the largest goes on", err)
	}
	if err := read(1, 10); !errors.Is(err, errPlaceLost) {
		t.Errorf("the largest reads on: %v", err)
	}
	all[1].leave()
	if err := read(0, 300); err != nil {
		t.Error(err)
	}
	if err := read(2, 201); err != nil || !all[0].isLost() {
		t.Errorf("1001 bytes: %v", err)
	}
}

// Whoever sends a byte now and then, or does not take an answer, keeps nobody out,
// however many they are.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	large := request(t, "dragonfly:p=4", 1) // its answer is more than a socket holds
	var whole bytes.Buffer
	if err := large.Write(&whole); err != nil {
		t.Fatal(err)
	}
	for name, act := range map[string]func(*testing.T, net.Conn){
		"slow senders": func(_ *testing.T, c net.Conn) {
			go func() {
				for _, b := range whole.Bytes() {
					if _, err := c.Write([]byte{b}); err != nil {
						return // cut off, or the test is over
					}
					time.Sleep(20 * time.Millisecond)
				}
			}()
		},
		"slow takers": func(t *testing.T, c net.Conn) {
			_, err := c.Write(whole.Bytes())
			if err == nil {
				_, err = c.Read(make([]byte, 1)) // the answer begins
			}
			if err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			took := patience
			for attempt := 0; attempt < 3 && took >= patience; attempt++ { // a busy machine may take long, but not always
				r := start(t, Config{Engine: Names{"updn"}})
				begin := time.Now()
				for range connections + 1 {
					c, err := net.Dial("unix", r.config.Socket)
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					act(t, c)
				}
				a, err := wire.Ask(t.Context(), r.config.Socket, large)
				if err != nil || a.Refusal != "" {
					t.Fatalf("%v, tables %v", err, a != nil && a.Refusal == "")
				}
				took = time.Since(begin)
			}
			if took >= patience {
				t.Errorf("the answer takes %v", took)
			}
		})
	}
}

// Another version of the format is told so, though it sends more than a socket
// holds, and in words that it understands: the header of any version is the same.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: Names{"updn"}})
	q := request(t, "dragonfly:p=4", 0)
	var whole bytes.Buffer
	if err := q.Write(&whole); err != nil {
		t.Fatal(err)
	}
	text := append(whole.Bytes(), make([]byte, 4<<20)...)
	text[4] = 9
	c, err := net.Dial("unix", r.config.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(text); err != nil {
		t.Fatal(err)
	}
	a, err := wire.ReadAnswer(c, q)
	if err != nil || !strings.Contains(a.Refusal, fmt.Sprintf("speaks version 9, this one %d", wire.Version)) {
		t.Errorf("%v, %+v", err, a)
	}
	c.Close()
	r.end()
	if !strings.Contains(r.log.String(), "version 9") {
		t.Errorf("not logged:\n%s", r.log)
	}
}
