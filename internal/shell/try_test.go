package shell

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// What a daemon could not have is said with the setting, the place and who has it.
func TestTry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir: "", filepath.Join(dir, "a", "b"): "", file: "state: " + file + " is a file, and no folder",
		filepath.Join(file, "a", "b"): "state: " + filepath.Join(file, "a", "b") + " cannot be made: " + file + " is a file, and no folder",
	} {
		err := TryFolder("state", path)
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("a folder was made")
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // who may write anywhere but where nobody can
		if err := syscall.Mount("tmpfs", closed, "tmpfs", syscall.MS_RDONLY, "size=1m"); err != nil {
			t.Skipf("nothing can be mounted here: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(closed, syscall.MNT_DETACH) })
	}
	if err := TryFolder("state", filepath.Join(closed, "state")); err == nil || !strings.Contains(err.Error(), "cannot write in "+closed) {
		t.Errorf("%v", err)
	}
}

// A lock says who holds it, to whoever asks and to whoever wants it.
func TestHeldBy(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	if by := HeldBy(name); by != nil {
		t.Errorf("of a lock that is not there: %v", by)
	}
	lock := func() *os.File {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first := lock()
	if err := Hold(first, "it"); err != nil {
		t.Fatal(err)
	}
	if by := HeldBy(name); by == nil || by.PID != os.Getpid() {
		t.Errorf("%v", by)
	}
	if err := Hold(lock(), "it"); err == nil || !strings.Contains(err.Error(), "(process "+strconv.Itoa(os.Getpid())+")") {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{
		"17 weft serve\n": "weft serve (process 17)", "17 weft watch\n": "weft watch (process 17)", "": "another weft", "x": "another weft", "17 rm -rf\n": "another weft (process 17)",
	} {
		if got := holderOf(strings.NewReader(text)).String(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	first.Close()
	if by := HeldBy(name); by != nil {
		t.Errorf("nobody holds it any more, and %v", by)
	}
}

// Who answers at an address is named.
func TestTryAddress(t *testing.T) {
	t.Parallel()
	page := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) }))
	defer s.Close()
	address := s.Listener.Addr().String()
	for _, c := range []struct{ page, by, text string }{
		{"<title>weft watch</title>", "weft watch", address + " is in use: weft watch answers there"},
		{"<title>Grafana</title>", "", address + " is in use: another program answers there"},
	} {
		page = c.page
		if by, err := TryAddress(t.Context(), "metrics", address); by != c.by || err == nil || !strings.Contains(err.Error(), "metrics: "+c.text) {
			t.Errorf("%q, %v", by, err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	l.Close()
	for _, address := range []string{"", free} {
		if by, err := TryAddress(t.Context(), "metrics", address); by != "" || err != nil {
			t.Errorf("%s: %q, %v", address, by, err)
		}
	}
}

// Who has the address that a daemon should answer at is said when it begins, too.
func TestAddressInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	fine := func() error { return nil }
	site := &Site{
		Name: "weft watch", Metrics: prometheus.NewRegistry(), Page: http.NotFoundHandler(), Healthy: fine, Ready: fine,
		Troubles: func() []string { return nil },
	}
	stop, err := site.Serve(address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := site.Serve(address, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), address+" is in use: weft watch answers there") {
		t.Errorf("%v", err)
	}
}
