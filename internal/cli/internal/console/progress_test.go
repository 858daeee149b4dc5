package console

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestStageSaysHowFarItIs(t *testing.T) {
	for _, c := range []struct {
		done, total int
		after       time.Duration
		want        string
	}{
		{0, 0, 3 * time.Second, "routing, 3s"},
		{0, 2048, 2 * time.Second, "routing: 0 of 2,048, 2s"},
		{10, 2048, 2 * time.Second, "routing: 10 of 2,048, 2s"}, // too little to go by
		{1024, 2048, 90 * time.Second, "routing: 1,024 of 2,048, 1m30s, about 1m30s more"},
		{2047, 2048, 2 * time.Second, "routing: 2,047 of 2,048, 2s, about 1s more"},
		{2048, 2048, 2 * time.Second, "routing: 2,048 of 2,048, 2s"},
	} {
		s := &Stage{label: "routing", done: c.done, total: c.total}
		if got := s.text(c.after); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.done, c.total, got, c.want)
		}
	}
}

// A stage that reports nothing is not silent, and leaves nothing behind.
func TestStageClearsItsLine(t *testing.T) {
	var out bytes.Buffer
	spent := 0.0
	s := &Stage{label: "reading", start: time.Now(), spent: &spent}
	s.show(&out, time.Millisecond)
	time.Sleep(50 * time.Millisecond)
	s.Done()
	s.Done()
	if text := out.String(); !strings.Contains(text, "reading, 0s") || !strings.HasSuffix(text, "\r\x1b[K") || spent < 0.05 {
		t.Errorf("%q, %g s", text, spent)
	}
	out.Reset()
	quick := &Stage{label: "reading", start: time.Now(), spent: &spent}
	quick.show(&out, time.Hour)
	quick.Done()
	if out.Len() > 0 {
		t.Errorf("a stage of no time wrote %q", out.String())
	}
}
