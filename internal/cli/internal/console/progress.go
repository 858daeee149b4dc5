package console

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/weft-fabric/weft/internal/visible"
	"github.com/weft-fabric/weft/routing"
)

// patience is how long a stage runs before it is worth a progress bar.
const patience = time.Second

// Stage times a stage of the work and, on a terminal, shows how far it is.
type Stage struct {
	start time.Time
	spent *float64 // in seconds
	bar   *progressbar.ProgressBar
	label string
	w     io.Writer // nil: nobody is looking
}

// Stage begins a stage; the seconds that it takes are added to spent when it is done.
func (c *Console) Stage(label string, spent *float64) *Stage {
	s := &Stage{start: time.Now(), spent: spent, label: label}
	to := c.Stderr
	if shown, ok := to.(*visible.Writer); ok { // a bar is drawn by control characters
		to = shown.Under
	}
	if f, ok := to.(*os.File); ok && !c.Quiet && term.IsTerminal(int(f.Fd())) {
		s.w = f
	}
	return s
}

// Progress is the routing.Progress of the stage.
func (s *Stage) Progress() routing.Progress {
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

// Done ends the stage; doing so again changes nothing.
func (s *Stage) Done() {
	if s.start.IsZero() {
		return
	}
	*s.spent += time.Since(s.start).Seconds()
	s.start = time.Time{}
	if s.bar != nil {
		s.bar.Clear() //nolint:errcheck // see progress
	}
}
