package wire_test

import (
	"bytes"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
)

// The status is asked for and given as JSON; what is none is an error.
func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(net.Conn) error
		want   string // empty: an error
	}{
		"well":    {func(c net.Conn) error { return wire.WriteStatus(c, map[string]int{"sweeps": 3}) }, `{"sweeps":3}`},
		"refused": {func(c net.Conn) error { return wire.WriteRefusal(c, 1, "no") }, ""},
		"garbage": {func(c net.Conn) error { _, err := c.Write([]byte("HTTP/1.1 200 OK\r\n\r\n{}")); return err }, ""},
		"nothing": {func(net.Conn) error { return nil }, ""},
	} {
		socket := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		asked := make(chan error, 1)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				asked <- err
				return
			}
			defer conn.Close()
			q, err := wire.ReadQuestion(conn)
			if err == nil && (q.Request != nil || q.Order != nil) {
				err = errors.New("a request, or an order")
			}
			asked <- errors.Join(err, c.answer(conn))
		}()
		text, err := wire.AskStatus(t.Context(), socket)
		if string(text) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if err := <-asked; err != nil {
			t.Errorf("%s: the question was taken for %v", name, err)
		}
		l.Close()
	}
	if err := wire.WriteStatus(&bytes.Buffer{}, strings.Repeat("x", wire.MaxStatus)); err == nil {
		t.Error("a status of any size is sent")
	}
	if err := wire.WriteStatus(&bytes.Buffer{}, func() {}); err == nil {
		t.Error("a function is a status")
	}
}

// A request is a question too, and a refusal is none.
func TestReadQuestion(t *testing.T) {
	var b bytes.Buffer
	if err := wire.Of(testnet.Build(t, "ring:n=3"), 6).Write(&b); err != nil {
		t.Fatal(err)
	}
	if q, err := wire.ReadQuestion(&b); err != nil || q.Request == nil || q.Request.Sweep != 6 || q.Order != nil {
		t.Errorf("%+v, %v", q, err)
	}
	if err := wire.WriteRefusal(&b, 6, "no"); err != nil {
		t.Fatal(err)
	}
	if _, err := wire.ReadQuestion(&b); err == nil {
		t.Errorf("a refusal is taken for %v", err)
	}
}

// An order arrives as it was given, and its answer comes back; one that is no JSON, or too long, is none.
func TestGiveOrder(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			defer conn.Close()
			var q *wire.Question
			if q, err = wire.ReadQuestion(conn); err == nil && string(q.Order) != `{"do":"drain"}` {
				err = errors.New("another order: " + string(q.Order))
			}
			err = errors.Join(err, wire.WriteStatus(conn, map[string]int{"steps": 2}))
		}
		asked <- err
	}()
	text, err := wire.GiveOrder(t.Context(), socket, map[string]string{"do": "drain"})
	if err := errors.Join(err, <-asked); err != nil || string(text) != `{"steps":2}` {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := wire.GiveOrder(t.Context(), socket, strings.Repeat("x", wire.MaxOrder)); err == nil {
		t.Error("an order of any size is sent")
	}
	message := append([]byte("WEFT\x04\x00\x06\x00\x03\x00\x00\x00\x00\x00\x00\x00"), "{x}"...)
	if _, err := wire.ReadQuestion(bytes.NewReader(message)); err == nil {
		t.Error("an order may be anything")
	}
}
