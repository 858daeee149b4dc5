package console

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/weft-fabric/weft/internal/visible"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

// patience is how long a stage runs before it says so.
const patience = time.Second

// Stage times a stage of the work and, on a terminal, shows how far it is.
type Stage struct {
	label string
	start time.Time
	spent *float64      // in seconds
	w     io.Writer     // nil: nobody is looking
	end   chan struct{} // closed when the stage is done
	gone  chan struct{} // closed when nothing of it is on the terminal any more

	mutex       sync.Mutex
	done, total int // 0 of 0: not known
}

// Stage begins a stage; the seconds that it takes are added to spent when it is done.
func (c *Console) Stage(label string, spent *float64) *Stage {
	s := &Stage{label: label, start: time.Now(), spent: spent}
	to := c.Stderr
	if shown, ok := to.(*visible.Writer); ok { // a line is replaced by control characters
		to = shown.Under
	}
	if f, ok := to.(*os.File); ok && !c.Quiet && term.IsTerminal(int(f.Fd())) {
		s.show(f, patience)
	}
	return s
}

// show has a goroutine keep a line of w up to date until the stage is done, from so long after now
// on.
func (s *Stage) show(w io.Writer, after time.Duration) {
	s.w, s.end, s.gone = w, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.gone)
		next := time.After(after)
		for drawn := false; ; drawn = true {
			select {
			case <-s.end:
				if drawn {
					fmt.Fprint(s.w, "\r\x1b[K")
				}
				return
			case <-next:
				fmt.Fprintf(s.w, "\r\x1b[K%s", s.text(time.Since(s.start)))
				next = time.After(after / 4)
			}
		}
	}()
}

// text says how far the stage is after so long: what is done, and once a twentieth is, about how
// long the rest takes.
func (s *Stage) text(after time.Duration) string {
	s.mutex.Lock()
	done, total := s.done, s.total
	s.mutex.Unlock()
	took := after.Round(time.Second)
	if total <= 0 {
		return fmt.Sprintf("%s, %s", s.label, took)
	}
	text := fmt.Sprintf("%s: %s of %s, %s", s.label, words.Thousands(done), words.Thousands(total), took)
	const enough = 20 // a twentieth says little about the rest, less than that nothing
	if done < total && done*enough >= total {
		rest := time.Duration(float64(after) * float64(total-done) / float64(done))
		text += fmt.Sprintf(", about %s more", max(rest.Round(time.Second), time.Second))
	}
	return text
}

// Progress is the function by which the work tells how far it is; nil where nobody looks.
func (s *Stage) Progress() routing.Progress {
	if s.w == nil {
		return nil
	}
	return func(done, total int) {
		s.mutex.Lock()
		s.done, s.total = done, total
		s.mutex.Unlock()
	}
}

// Done ends the stage; doing so again changes nothing.
func (s *Stage) Done() {
	if s.start.IsZero() {
		return
	}
	*s.spent += time.Since(s.start).Seconds()
	if s.end != nil {
		close(s.end)
		<-s.gone
	}
	s.start = time.Time{}
}
