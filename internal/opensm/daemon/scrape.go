package daemon

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weft-fabric/weft/internal/loopback"
)

// serve answers Prometheus and browsers at an address, if there is one, until stop is
// called.
func (m *metrics) serve(address string, page http.Handler, log *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /report", page)
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	if stop, err = loopback.Serve("metrics", address, mux, log); err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	return stop, nil
}
