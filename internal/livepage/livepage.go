// Package livepage answers a browser with the page of the tables that a daemon saw or handed
// over last, as weft report makes it.
package livepage

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/page"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Limits of the page: how long one may take to be made and sent, and the standard error
// of the bandwidth on it.
const (
	pageTime      = 5 * time.Minute
	pagePrecision = 0.005
)

// Pages makes the page of the tables shown last, when somebody asks for it, once for all who
// ask. One is made at a time, whatever is asked: the daemon's own work comes first.
type Pages struct {
	Version string // of weft, for the page

	// Network makes the page of a lossless Ethernet network; nil: there is none.
	Network func(ctx context.Context, n *ethernet.Network, when time.Time) ([]byte, error)

	mu     sync.Mutex // of latest
	latest Shown

	making sync.Mutex
	of     any // the tables or the network that page shows
	page   []byte
}

// Shown is tables with their verdict.
type Shown struct {
	Tables  *routing.Tables
	Verdict *deadlock.Verdict
	Engine  string
	When    time.Time
	network *ethernet.Network // of lossless Ethernet, in place of tables
}

// ShowNetwork makes a lossless Ethernet network the one of the page.
func (p *Pages) ShowNetwork(n *ethernet.Network, when time.Time) {
	if p.Network != nil {
		p.Show(Shown{When: when, network: n})
	}
}

// Show makes some tables those of the page.
func (p *Pages) Show(s Shown) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest = s
}

// ServeHTTP answers with the page.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	latest := p.latest
	p.mu.Unlock()
	if latest.Tables == nil && latest.network == nil {
		http.Error(w, "there are no tables yet", http.StatusServiceUnavailable)
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
func (p *Pages) make(ctx context.Context, s Shown) ([]byte, error) {
	p.making.Lock()
	defer p.making.Unlock()
	if s.network != nil {
		if p.of == any(s.network) {
			return p.page, nil
		}
		page, err := p.Network(ctx, s.network, s.When)
		if err == nil {
			p.of, p.page = s.network, page
		}
		return page, err
	}
	if p.of == any(s.Tables) {
		return p.page, nil
	}
	n := page.NewNetwork("the fabric of "+s.When.UTC().Format("2006-01-02 15:04:05 MST"), s.Tables.Fabric)
	g := &page.Given{Name: s.Engine, Source: s.Engine, Tables: s.Tables, Verdict: s.Verdict}
	if err := page.Add(ctx, n, g, page.Options{Seed: 1, Precision: pagePrecision}); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	d := &result.Report{Title: "Live fabric", Made: "weft " + p.Version, Networks: []*result.ReportNetwork{n}, Results: []*result.ReportResult{}}
	if err := page.Write(&b, d); err != nil {
		return nil, err
	}
	p.of, p.page = s.Tables, b.Bytes()
	return p.page, nil
}
