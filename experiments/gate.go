package experiments

import (
	"context"
	"sync"
)

// gate lets as many points in at a time as there is memory for. One that needs
// more than all of it gets in when it is alone.
type gate struct {
	mu      sync.Mutex
	all     int64 // bytes
	free    int64
	waiting []chan struct{}
}

func newGate(bytes int64) *gate { return &gate{all: bytes, free: bytes} }

// enter waits for memory and returns how to give it back.
func (g *gate) enter(ctx context.Context, bytes int64) (leave func(), err error) {
	bytes = min(bytes, g.all)
	for {
		g.mu.Lock()
		if g.free >= bytes {
			g.free -= bytes
			g.mu.Unlock()
			return func() { g.leave(bytes) }, nil
		}
		turn := make(chan struct{})
		g.waiting = append(g.waiting, turn)
		g.mu.Unlock()
		select {
		case <-turn:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// leave gives memory back and lets all that wait look again.
func (g *gate) leave(bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free += bytes
	for _, turn := range g.waiting {
		close(turn)
	}
	g.waiting = nil
}
