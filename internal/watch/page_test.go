package watch

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
)

// A browser sees the last look that was new, also after a restart.
func TestPageOfTheLook(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{})
	page := func(r *running) (int, string) {
		answer := httptest.NewRecorder()
		r.pages.ServeHTTP(writable{answer}, httptest.NewRequest(http.MethodGet, "/report", nil))
		return answer.Code, answer.Body.String()
	}
	if code, text := page(w.running); code != http.StatusServiceUnavailable {
		t.Errorf("before the first look: %d, %.100s", code, text)
	}
	w.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:3x3"), "updn", 1)})
	if code, text := page(w.running); code != http.StatusOK || !strings.Contains(text, "Proven free of credit loops") {
		t.Errorf("%d, %.300s", code, text)
	}
	endWhole(w.running)
	again := begun(t, w.Watcher)
	if code, text := page(again); code != http.StatusOK || !strings.Contains(text, "torus 3x3") {
		t.Errorf("after a restart: %d, %.300s", code, text)
	}
}

// writable takes the deadline that a real connection takes.
type writable struct{ *httptest.ResponseRecorder }

func (writable) SetWriteDeadline(time.Time) error { return nil }
