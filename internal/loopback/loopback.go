// Package loopback answers HTTP on this host's loopback for what runs unattended: no name
// but the loopback's is answered, and whoever connects and says nothing takes neither
// descriptors nor memory from its work.
package loopback

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of a connection.
const (
	connections = 8                // at a time
	ReadTime    = 5 * time.Second  // for a whole request
	WriteTime   = 10 * time.Second // for the answer, unless its handler takes more
	mostHeader  = 16 << 10         // bytes of a request's header
)

// Check refuses an address that others than this host can reach; key names the setting.
// The empty address is none.
func Check(key, address string) error {
	if address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s %q: %w", key, address, err)
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return fmt.Errorf("%s %q: %q is no port, which is a number up to 65535", key, address, port)
	}
	if !is(host) {
		return fmt.Errorf("%s %q is no loopback address: what runs the fabric does not answer the network; use 127.0.0.1 or [::1]", key, address)
	}
	return nil
}

// is reports whether a host without a port names this host only.
func is(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// Serve answers at an address until stop is called. what names the service in errors and
// in the log, where a line has the address.
func Serve(what, address string, handler http.Handler, log *slog.Logger) (stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() { // localhost may be anything
		l.Close()
		return nil, fmt.Errorf("%s %q leads to %s, which is no loopback address", what, address, l.Addr())
	}
	server := &http.Server{
		Handler: addressedToLoopback(handler), ReadTimeout: ReadTime, WriteTimeout: WriteTime, MaxHeaderBytes: mostHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	server.SetKeepAlivesEnabled(false) // a connection kept for the next request would only be in the way
	log.Info(what, "address", l.Addr().String())
	go func() {
		if err := server.Serve(&newestFirst{Listener: l, most: connections}); !errors.Is(err, http.ErrServerClosed) {
			log.Error(what, "error", err)
		}
	}()
	return func() { server.Close() }, nil
}

// addressedToLoopback turns away requests for other names than this host's
// loopback: a web page whose name was made to lead here (DNS rebinding) sends its
// own. No browser leaves the name out, as monitors that speak HTTP/1.0 do.
func addressedToLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host != "" && !is(strings.Trim(host, "[]")) {
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
