package daemon

import (
	"strings"
	"testing"
	"time"
)

// Policies that make no sense are errors, which say the line.
func TestPolicy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"keep: least":                                     "",
		"keep: most":                                      `line 2: keep "most"; it is least, balanced or never`,
		"keep: never\nmax_entries_per_change: 5":          "line 3: max_entries_per_change has no meaning with keep: never",
		"max_entries_per_change: -1":                      "line 2: max_entries_per_change -1 is negative",
		"max_entries_per_change: many":                    "no whole number",
		"rebalance: 02:00-05:00":                          "line 2: rebalance is for keep: balanced",
		"keep: balanced\nrebalance: 22:30-05:00":          "",
		"keep: balanced\nrebalance: 2-5":                  `line 3: rebalance "2-5"; it is a part of the day`,
		"keep: balanced\nrebalance: 02:00-02:00":          "it is a part of the day",
		"drops: perhaps":                                  `line 2: drops "perhaps"; it is allowed or never`,
		"drops: never":                                    "",
		"keep: balanced\nmax_entries_per_change: 1000000": "",
	} {
		c, err := ReadConfig(strings.NewReader("socket: /s\n" + text))
		if err == nil {
			_, err = c.check()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The hours of a day, also over midnight.
func TestHours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hours, now string
		want       time.Duration
	}{
		{"02:00-05:00", "02:00:00", 0}, {"02:00-05:00", "04:59:59", 0}, {"02:00-05:00", "05:00:00", 21 * time.Hour},
		{"02:00-05:00", "01:30:00", 30 * time.Minute}, {"22:30-05:00", "23:00:00", 0}, {"22:30-05:00", "04:00:00", 0},
		{"22:30-05:00", "05:00:00", 17*time.Hour + 30*time.Minute}, {"", "12:00:00", 0},
	} {
		s := &settings{Config: Config{Rebalance: c.hours}, keep: keepBalanced}
		if err := s.settleHours(); err != nil {
			t.Fatal(err)
		}
		now, err := time.Parse(time.TimeOnly, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.hours.until(now); got != c.want {
			t.Errorf("%s at %s: %v, want %v", c.hours, c.now, got, c.want)
		}
	}
}
