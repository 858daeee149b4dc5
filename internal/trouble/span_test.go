package trouble

import (
	"testing"
	"time"
)

// A time is told as people say it.
func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		21 * time.Second: "21s", time.Minute: "a minute", 80 * time.Second: "a minute", 100 * time.Second: "2 minutes", time.Hour: "an hour", 2 * time.Hour: "2 hours", 90 * time.Minute: "90 minutes",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
