package daemon

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// A browser on this host sees the tables handed over last, once there are any.
func TestPageOfTheFabric(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Metrics: "127.0.0.1:0", Engine: Names{"updn"}})
	get := func() (int, string) {
		t.Helper()
		a, err := http.Get("http://" + r.metricsAddress() + "/report")
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(text)
	}
	if code, text := get(); code != http.StatusServiceUnavailable || !strings.Contains(text, "no tables") {
		t.Errorf("before the first sweep: %d, %.80s", code, text)
	}
	if a := r.ask(request(t, "torus:3x3,hosts=2", 1)); a.Refusal != "" {
		t.Fatal(a.Refusal)
	}
	r.after(1)
	code, first := get()
	if code != http.StatusOK || !strings.Contains(first, "Proven free of credit loops") || !strings.Contains(first, "torus 3x3") {
		t.Errorf("%d, %.300s", code, first)
	}
	if _, again := get(); again != first {
		t.Error("the same tables have another page")
	}
	r.ask(request(t, "torus:3x4,hosts=2", 2))
	r.after(2)
	if _, next := get(); !strings.Contains(next, "torus 4x3") && !strings.Contains(next, "torus 3x4") {
		t.Error("the page is not that of the tables handed over last")
	}
}
