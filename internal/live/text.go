package live

import (
	"bytes"
	"sync"
)

// Text is what a program prints or logs, to be read while it is written.
type Text struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
