// Package shell is what both daemons, weft serve and weft watch, are to whoever runs them: a lock
// that keeps a second one out, and what they answer over HTTP.
package shell

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weft-fabric/weft/internal/loopback"
)

// Hold holds the lock of a file until that is closed, and writes into it who does; what is what the lock is of.
func Hold(lock *os.File, what string) error {
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("%s is in use: %s holds its lock, %s (%w); end that one, or choose another place", what, holderOf(lock), lock.Name(), err)
	}
	sign(lock)
	return nil
}

// Site is what a daemon answers over HTTP.
type Site struct {
	Name     string // weft serve or weft watch
	Metrics  *prometheus.Registry
	Page     http.Handler // of the tables at hand
	Healthy  func() error // what is wrong with the daemon itself; nil: nothing
	Ready    func() error // what is wrong with what it does
	Troubles func() []string
	More     []Link
}

// Link is a further page.
type Link struct {
	Path, What string
	Handler    http.Handler
}

// Serve answers at an address, if there is one, until stop is called.
func (s *Site) Serve(address string, log *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	links := append([]Link{
		{"/report", "the network as it runs: map, loads, lanes and paths", s.Page},
		{"/healthz", "whether the daemon works, for monitors", health(s.Healthy)},
		{"/readyz", "whether what it says can be relied on, for monitors", health(s.Ready)},
		{"/metrics", "for Prometheus", promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{})},
	}, s.More...)
	mux := http.NewServeMux()
	for _, l := range links {
		mux.Handle("GET "+l.Path, l.Handler)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		fmt.Fprint(w, s.index(links))
	})
	stop, err = loopback.Serve("metrics", address, mux, log)
	if errors.Is(err, syscall.EADDRINUSE) {
		if _, who := TryAddress(context.Background(), "metrics", address); who != nil {
			return nil, who
		}
	}
	return stop, err
}

// health answers a monitor.
func health(wrong func() error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := wrong(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
}

// style is how the first page looks.
const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:50em;margin:2em auto;padding:0 1em;color:#1b1f24;background:#fff}
h1{font-size:1.4em}.bad{border-left:4px solid #c5221f;padding:.2em .8em;background:#fdecea}.good{border-left:4px solid #137333;padding:.2em .8em;background:#e6f4ea}
li{margin:.3em 0}a{color:#0b57d0}@media(prefers-color-scheme:dark){body{color:#e3e3e3;background:#131314}.bad{background:#3c1f1e}.good{background:#1b2f22}a{color:#a8c7fa}}`

// index is the first page: what is wrong, by name, and where to look.
func (s *Site) index(links []Link) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s</title><style>%s</style></head><body>\n<h1>%s</h1>\n", s.Name, style, s.Name)
	troubles := s.Troubles()
	for _, check := range []func() error{s.Healthy, s.Ready} {
		if err := check(); err != nil {
			troubles = append([]string{err.Error()}, troubles...)
			break
		}
	}
	for _, t := range troubles {
		fmt.Fprintf(&b, "<p class=\"bad\">%s</p>\n", html.EscapeString(t))
	}
	if len(troubles) == 0 {
		b.WriteString("<p class=\"good\">Nothing is wrong that it knows of.</p>\n")
	}
	b.WriteString("<ul>\n")
	for _, l := range links {
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a>: %s</li>\n", l.Path, l.Path, html.EscapeString(l.What))
	}
	b.WriteString("</ul>\n</body></html>\n")
	return b.String()
}
