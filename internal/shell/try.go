package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/whole"
)

// Holder is who holds a lock.
type Holder struct {
	PID  int    // 0: it is not known
	Name string // weft serve or weft watch; empty: it is not known
}

func (h *Holder) String() string {
	name := h.Name
	if name == "" {
		name = "another weft"
	}
	if h.PID > 0 {
		name += fmt.Sprintf(" (process %d)", h.PID)
	}
	return name
}

// sign writes into a lock who holds it. On a full disk it stays unsaid.
func sign(lock *os.File) {
	name := "weft"
	for _, arg := range os.Args[1:] {
		if !strings.HasPrefix(arg, "-") {
			name += " " + arg
			break
		}
	}
	if lock.Truncate(0) == nil {
		_, _ = lock.WriteAt([]byte(fmt.Sprintf("%d %s\n", os.Getpid(), name)), 0)
	}
}

// signed is lines that sign writes: no more than that is believed of a file that somebody else may have written.
var signed = regexp.MustCompile(`^(\d{1,9}) (weft (?:serve|watch))?`)

// holderOf is who has signed a lock.
func holderOf(lock io.ReaderAt) *Holder {
	text := make([]byte, 64)
	n, _ := lock.ReadAt(text, 0) // an older weft wrote nothing
	h := &Holder{}
	if m := signed.FindSubmatch(bytes.TrimSpace(text[:n])); m != nil {
		h.PID, _ = strconv.Atoi(string(m[1]))
		h.Name = string(m[2])
	}
	return h
}

// HeldBy is who holds the lock of a file; nil: nobody, or it is not there.
func HeldBy(name string) *Holder {
	lock, err := reading.OpenPlain(name)
	if err != nil {
		return nil
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return holderOf(lock)
	}
	return nil
}

// TryFolder says why a daemon could not make a folder, or write in it; key names the setting. Nothing is made.
func TryFolder(key, dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			if at != filepath.Dir(at) {
				continue
			}
			return fmt.Errorf("%s: %w", key, err)
		case err != nil:
			return fmt.Errorf("%s: %w", key, err)
		case !info.IsDir() && at == filepath.Clean(dir):
			return fmt.Errorf("%s: %s is %s, and no folder", key, at, whole.KindOf(info.Mode()))
		case !info.IsDir():
			return fmt.Errorf("%s: %s cannot be made: %s is %s, and no folder", key, dir, at, whole.KindOf(info.Mode()))
		}
		const write, search = 2, 1 // W_OK, X_OK
		if err := syscall.Access(at, write|search); err != nil {
			return fmt.Errorf("%s: user %d cannot write in %s: %w", key, os.Getuid(), at, err)
		}
		return nil
	}
}

// TryAddress says why a daemon could not answer at an address, or which other program does; key names the setting.
// Of a weft by is its name.
func TryAddress(ctx context.Context, key, address string) (by string, err error) {
	if address == "" {
		return "", nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		return "", l.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	by = answersAt(ctx, address)
	who := by
	if who == "" {
		who = "another program"
	}
	return by, fmt.Errorf("%s: %s is in use: %s answers there; end that, or choose another port", key, address, who)
}

var title = regexp.MustCompile(`<title>(weft (?:serve|watch))</title>`)

// answersAt is which weft answers at an address; empty: none does.
func answersAt(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", http.NoBody)
	if err != nil {
		return ""
	}
	a, err := (&http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}).Do(q)
	if err != nil {
		return ""
	}
	defer a.Body.Close()
	text := make([]byte, 4<<10)
	n, _ := io.ReadFull(a.Body, text) // as far as it comes
	if m := title.FindSubmatch(text[:n]); m != nil {
		return string(m[1])
	}
	return ""
}
