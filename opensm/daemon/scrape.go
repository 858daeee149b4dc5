package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Limits of the metrics port. Anybody on this host can connect to it, and what
// they do there must not take descriptors or memory from OpenSM's requests.
const (
	scrapers       = 8                // connections at a time
	scrapeRead     = 5 * time.Second  // for a whole request
	scrapeWrite    = 10 * time.Second // for the answer
	scrapeMaxBytes = 16 << 10         // of a request's header
)

// serve answers Prometheus and browsers at an address, if there is one, until stop is
// called.
func (m *metrics) serve(address string, page http.Handler, log *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("daemon: metrics: %w", err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() { // localhost may be anything
		l.Close()
		return nil, fmt.Errorf("daemon: metrics %q leads to %s, which is no loopback address", address, l.Addr())
	}
	mux := http.NewServeMux()
	mux.Handle("GET /report", page)
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	server := &http.Server{
		Handler: addressedToLoopback(mux), ReadTimeout: scrapeRead, WriteTimeout: scrapeWrite, MaxHeaderBytes: scrapeMaxBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	server.SetKeepAlivesEnabled(false) // a connection kept for the next scrape would only be in the way
	log.Info("metrics", "address", l.Addr().String())
	go func() {
		if err := server.Serve(&newestFirst{Listener: l, most: scrapers}); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics", "error", err)
		}
	}()
	return func() { server.Close() }, nil
}

// addressedToLoopback turns away requests for other names than this host's
// loopback: a web page whose name was made to lead here (DNS rebinding) sends its
// own.
func addressedToLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if !isLoopback(strings.Trim(host, "[]")) {
			http.Error(w, "this is for localhost, 127.0.0.1 and [::1] only, whatever leads here", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// newestFirst is a listener with a bounded number of open connections. A further
// one closes the oldest, so that those who connect and say nothing keep nobody out.
type newestFirst struct {
	net.Listener
	most int

	mu   sync.Mutex
	open []*bounded // the oldest first
}

// bounded is a connection that counts until it is closed.
type bounded struct {
	net.Conn
	of *newestFirst
}

func (l *newestFirst) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) == l.most {
		l.open[0].Conn.Close()
		l.open = slices.Delete(l.open, 0, 1)
	}
	b := &bounded{c, l}
	l.open = append(l.open, b)
	return b, nil
}

func (b *bounded) Close() error {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if i := slices.Index(b.of.open, b); i >= 0 {
		b.of.open = slices.Delete(b.of.open, i, i+1)
	}
	return b.Conn.Close()
}
