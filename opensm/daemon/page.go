package daemon

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/report"
	"github.com/weft-fabric/weft/routing"
)

// Limits of the page: how long one may take to be made and sent, and the standard error
// of the bandwidth on it.
const (
	pageTime      = 5 * time.Minute
	pagePrecision = 0.005
)

// pages makes the page of the tables handed over last, when somebody asks for it, once for
// all who ask. One is made at a time, whatever is asked: OpenSM's requests come first.
type pages struct {
	version string

	mu     sync.Mutex // of latest
	latest shown

	making sync.Mutex
	of     *routing.Tables // that page shows
	page   []byte
}

// shown is tables with their verdict.
type shown struct {
	tables  *routing.Tables
	verdict *deadlock.Verdict
	engine  string
	when    time.Time
}

// show takes note of tables that were handed over.
func (p *pages) show(s shown) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest = s
}

// ServeHTTP answers with the page.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	latest := p.latest
	p.mu.Unlock()
	if latest.tables == nil {
		http.Error(w, "no tables were handed over yet", http.StatusServiceUnavailable)
		return
	}
	deadline := time.Now().Add(pageTime)
	if err := http.NewResponseController(w).SetWriteDeadline(deadline); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	ctx, cancel := context.WithDeadline(r.Context(), deadline)
	defer cancel()
	page, err := p.make(ctx, latest)
	if err != nil {
		http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write(page) //nolint:errcheck // whoever asked went away
}

// make is the page of some tables: the one that is there, or a new one.
func (p *pages) make(ctx context.Context, s shown) ([]byte, error) {
	p.making.Lock()
	defer p.making.Unlock()
	if p.of == s.tables {
		return p.page, nil
	}
	n := report.NewNetwork("the fabric of "+s.when.UTC().Format("2006-01-02 15:04:05 MST"), s.tables.Fabric)
	g := &report.Given{Name: s.engine, Source: s.engine, Tables: s.tables, Verdict: s.verdict}
	if err := n.Add(ctx, g, report.Options{Seed: 1, Precision: pagePrecision}); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	d := &report.Data{Title: "Live fabric", Made: "weft " + p.version, Networks: []*report.Network{n}, Results: []*report.Result{}}
	if err := d.Write(&b); err != nil {
		return nil, err
	}
	p.of, p.page = s.tables, b.Bytes()
	return p.page, nil
}
