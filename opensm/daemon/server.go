package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/weft-fabric/weft/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// Limits of a connection.
const (
	connections = 16               // at a time; more wait in the socket's queue
	patience    = 10 * time.Second // for a whole request, and for a whole answer, beside the work
	grace       = 2 * time.Second  // for what is under way when the daemon shall end
)

// Server is a daemon. Fill in Load and Log, then Run.
type Server struct {
	// Load reads the configuration, at the start and at every Reload.
	Load func() (Config, error)
	Log  *slog.Logger
	// Version is what status and log say this is.
	Version string
	// Ready is called once the socket answers; nil: nobody is told.
	Ready func()

	jobs    *jobs
	metrics *metrics
	state   *state
	peer    func(*net.UnixConn) (credentials, error) // nil: the kernel is asked
	group   int

	mu       sync.Mutex
	settings *settings
	status   Status
	tail     chan struct{} // closed when the last sweep in the queue is reported

	last *routing.Tables // handed over last; belongs to the sweep that is reported
}

// Run serves until the context ends, then lets connections finish. Every receive
// from reload reads the configuration again. The error says why the daemon could
// not start or go on; nil is an orderly end.
func (s *Server) Run(ctx context.Context, reload <-chan os.Signal) error {
	c, err := s.Load()
	if err != nil {
		return err
	}
	if s.settings, err = c.check(); err != nil {
		return err
	}
	if s.group, err = groupID(s.settings.Group); err != nil {
		return err
	}
	if s.state, err = newState(s.settings.State); err != nil {
		return err
	}
	s.jobs, s.metrics = newJobs(), newMetrics()
	if s.peer == nil {
		s.peer = peerOf
	}
	s.status = Status{Version: s.Version, PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)}
	s.describe()
	socket, err := listen(s.settings.Socket, s.group)
	if err != nil {
		return err
	}
	defer socket.close()
	stop, err := s.metrics.serve(s.settings.Metrics, s.Log)
	if err != nil {
		return err
	}
	defer stop()
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.Log.Info("ready", "socket", s.settings.Socket, "engine", s.settings.Engine.String(), "contract", s.settings.contract.String(),
		"endpoints", s.settings.scope.String(), "version", s.Version)
	if s.Ready != nil {
		s.Ready()
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				socket.listener.Close()
				return
			case <-reload:
				s.reload()
			}
		}
	}()
	s.accept(work, cancel, socket.listener)
	cancel()
	s.jobs.wait()
	s.Log.Info("end", "sweeps", s.Status().Sweeps)
	return nil
}

// accept serves connections until the listener closes, and returns when they are
// done. What is still under way after a grace is cancelled and cut off.
func (s *Server) accept(work context.Context, cancel func(), l *net.UnixListener) {
	var open sync.WaitGroup
	places := make(chan struct{}, connections)
	var conns sync.Map
	for {
		c, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			break
		}
		if err != nil { // too many open files, which passes
			s.Log.Error("accept", "error", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		places <- struct{}{}
		conns.Store(c, nil)
		open.Go(func() {
			defer func() { conns.Delete(c); c.Close(); <-places }()
			s.serve(work, c)
		})
	}
	late := time.AfterFunc(grace, func() {
		cancel() // who waits for tables is told that there are none
		time.AfterFunc(grace, func() {
			conns.Range(func(c, _ any) bool { c.(*net.UnixConn).Close(); return true })
		})
	})
	defer late.Stop()
	open.Wait()
}

// serve answers one connection.
func (s *Server) serve(ctx context.Context, c *net.UnixConn) {
	start := time.Now()
	defer func() {
		if r := recover(); r != nil { // one request must not end the daemon
			s.Log.Error("internal error", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	who, err := s.peer(c)
	if err == nil {
		err = who.permitted(s.group)
	}
	if err != nil {
		s.metrics.bad.Inc()
		s.Log.Warn("turned away", "peer", who.String(), "error", err)
		return
	}
	if err := c.SetDeadline(start.Add(patience)); err != nil {
		s.Log.Warn("connection", "error", err)
		return
	}
	q, err := wire.ReadQuestion(c)
	switch {
	case errors.Is(err, wire.ErrAsk):
		err = wire.WriteStatus(c, s.Status())
	case err == nil:
		err = s.sweep(ctx, c, q, start)
	}
	if err != nil {
		s.metrics.bad.Inc()
		s.Log.Warn("bad client", "peer", who.String(), "error", err)
	}
}

// reload takes over a new configuration, or keeps the old one.
func (s *Server) reload() {
	c, err := s.Load()
	var now *settings
	if err == nil {
		now, err = c.check()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		if fixed := s.settings.fixed(now); fixed != "" {
			err = errors.New("daemon: " + fixed)
		}
	}
	if err != nil {
		s.status.ReloadError = err.Error()
		s.Log.Error("reload refused, the old configuration stands", "error", err)
		return
	}
	s.settings = now
	s.status.ReloadError = ""
	s.describe()
	s.Log.Info("reloaded", "engine", now.Engine.String(), "contract", now.contract.String(), "endpoints", now.scope.String(), "vls", now.VLs)
}

// describe puts the settings into the status. The caller holds mu, or is alone.
func (s *Server) describe() {
	s.status.Socket, s.status.Engines, s.status.Contract = s.settings.Socket, s.settings.Engine, s.settings.contract.String()
	s.status.Endpoints, s.status.VLs = s.settings.scope.String(), s.settings.VLs
}

// Status is how the daemon is.
func (s *Server) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// current is the settings that hold now.
func (s *Server) current() *settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

var errNoTime = errors.New("no time left: the work goes on, and the next sweep finds the tables ready")
