package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/weft-fabric/weft/routing"
)

// patience is how long a stage runs before it is worth a progress bar.
const patience = time.Second

// stage times a stage of the work and, on a terminal, shows how far it is.
type stage struct {
	start time.Time
	spent *time.Duration
	bar   *progressbar.ProgressBar
	label string
	w     io.Writer // nil: nobody is looking
}

// stage begins a stage; its time is noted in spent when it is done.
func (c *console) stage(label string, spent *time.Duration) *stage {
	s := &stage{start: time.Now(), spent: spent, label: label}
	if f, ok := c.stderr.(*os.File); ok && !c.quiet && term.IsTerminal(int(f.Fd())) {
		s.w = f
	}
	return s
}

// progress is the routing.Progress of the stage.
func (s *stage) progress() routing.Progress {
	if s.w == nil {
		return nil
	}
	return func(done, total int) {
		if s.bar == nil {
			if time.Since(s.start) < patience {
				return
			}
			s.bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(s.w),
				progressbar.OptionSetDescription(s.label),
				progressbar.OptionClearOnFinish(),
				progressbar.OptionThrottle(100*time.Millisecond),
				progressbar.OptionShowCount(),
			)
		}
		s.bar.Set(done) //nolint:errcheck // a terminal that went away is no reason to stop
	}
}

// done ends the stage; doing so again changes nothing.
func (s *stage) done() {
	if s.start.IsZero() {
		return
	}
	*s.spent += time.Since(s.start)
	s.start = time.Time{}
	if s.bar != nil {
		s.bar.Clear() //nolint:errcheck // see progress
	}
}
