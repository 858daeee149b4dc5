package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/clock"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/livepage"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Limits of a connection.
const (
	connections   = 16               // at a time
	questionBytes = 192 << 20        // of the questions of all connections together
	patience      = 10 * time.Second // for a whole request, and for a whole answer, beside the work
	grace         = 2 * time.Second  // for what is under way when the daemon shall end
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

	jobs     *jobs
	keeper   *keeper
	places   *places
	metrics  *metrics
	pages    *livepage.Pages
	opinions *opinions
	writer   *writer                                  // nil: there is no state folder
	open     func(dir string) (folder, error)         // nil: openState
	peer     func(*net.UnixConn) (credentials, error) // nil: the kernel is asked
	group    int
	clock    clock.Clock

	mu       sync.Mutex
	settings *settings
	status   result.Status
	tail     chan struct{} // closed when the last sweep in the queue is reported

	inUse      uint64    // tables that all switches have confirmed, by OpenSM's last question; 0: none
	inUseSince time.Time // when it said so first
	lifetime   time.Duration

	confirmed   int       // steps of a plan that all switches have confirmed, by OpenSM's word
	confirmedOf time.Time // when that plan began

	last *routing.Tables // handed over last; only the sweep whose turn it is may use it

	events *events.Log      // nil: there is no state folder
	seen   *fabric.Fabric   // of the last question that got tables, or of an earlier run
	free   []result.Drained // drained parts that were free of traffic as the last question came
	cables cables

	watched watched

	memory deadlock.Memory // of the judge, which looks again only at what changed

	drained  drained
	over     overParts  // guarded by mu
	ordering sync.Mutex // held while an order is carried out: each sees what those before it did
	standing standing
	ending   chan struct{} // closed when the daemon is to end
	recalled chan struct{} // closed when what the state folder remembers is known, or cannot be
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
	s.jobs, s.keeper, s.metrics, s.places = newJobs(), newKeeper(), newMetrics(), newPlaces(connections, questionBytes)
	s.pages = &livepage.Pages{Version: s.Version}
	s.ending, s.recalled = make(chan struct{}), make(chan struct{})
	if s.peer == nil {
		s.peer = peerOf
	}
	s.status = result.Status{Missing: []result.MissingElement{}, Version: s.Version, PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)}
	s.describe()
	socket, err := listen(s.settings.Socket, s.group)
	if err != nil {
		return err
	}
	defer socket.close()
	if s.writer, err = s.startWriter(); err != nil {
		return err
	}
	defer s.writer.finish(grace)
	s.metrics.addState(s.writer)
	s.metrics.addConnected(s.standing.connected)
	s.metrics.addTrouble(s.inTrouble)
	s.openEvents(s.settings.State)
	defer s.events.Close(grace)
	s.opinions = newOpinions(s.Log, s.metrics)
	defer s.opinions.finish()
	go func() {
		defer close(s.recalled)
		s.restore(s.settings.State)
	}()
	stop, err := s.site().Serve(s.settings.Metrics, s.Log)
	if err != nil {
		return err
	}
	defer stop()
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go s.askOn(work)
	go s.bringBack(work)
	s.Log.Info("ready", "socket", s.settings.Socket, "engine", s.settings.Engine.String(), "contract", s.settings.contract.String(),
		"endpoints", s.settings.scope.String(), "version", s.Version)
	if s.Ready != nil {
		s.Ready()
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				close(s.ending)
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
		who, err := s.peer(c)
		if err != nil {
			s.bad("turned away", who, err)
			c.Close()
			continue
		}
		x := s.places.take(c, who.uid)
		open.Go(func() {
			defer func() { c.Close(); x.leave() }()
			s.serve(work, x, who)
		})
	}
	late := time.AfterFunc(grace, func() {
		cancel() // who waits for tables is told that there are none
		time.AfterFunc(grace, s.places.cutOff)
	})
	defer late.Stop()
	open.Wait()
}

// serve answers one connection: a request of OpenSM's plugin, an order, or a question for the status.
func (s *Server) serve(ctx context.Context, x *place, who credentials) {
	start := time.Now()
	if err := who.permitted(s.group); err != nil {
		s.bad("turned away", who, err)
		return
	}
	if err := x.enter(asking); err != nil {
		s.bad("bad client", who, err)
		return
	}
	q, err := wire.ReadQuestion(countingReader{x})
	switch {
	case err == nil && q.Request == nil:
		if err = x.enter(waiting); err != nil {
			break
		}
		said := any(s.Status())
		var did *Ordered
		if q.Order != nil {
			gone := x.watchHangUp()
			did = s.order(ctx, q.Order, who, gone.hungUp)
			gone.stop()
			said = did
		}
		if err = x.enter(taking); err == nil {
			err = wire.WriteStatus(x.conn, said)
		}
		if err != nil && did != nil {
			s.takeBack(did, nameOf(who.uid))
		}
	case errors.As(err, new(*wire.VersionError)):
		err = errors.Join(err, s.explain(x, err))
	case err == nil:
		defer s.standing.begin(who.pid)()
		err = guarded(func() error { return s.sweep(ctx, x, q.Request, start) })
		if errors.As(err, new(*internalError)) { // while tables were sent or reported
			s.internal(err)
			s.keeper.suspend(putAsideWhy)
			s.jobs.forgetAll()
			s.forget(err, q.Request)
			return
		}
	case x.isLost():
		err = errPlaceLost
	}
	if err != nil {
		s.bad("bad client", who, err)
	}
}

// bad counts and logs a connection that came to nothing.
func (s *Server) bad(what string, who credentials, err error) {
	s.metrics.bad.Inc()
	s.Log.Warn(what, "peer", who.String(), "error", err)
}

// explain refuses a question that cannot be read, and lets the rest of it come,
// which nobody reads: closed before, the other end would fail while it sends, and
// never see why.
func (s *Server) explain(x *place, why error) error {
	if err := x.enter(taking); err != nil {
		return err
	}
	err := wire.WriteRefusal(x.conn, 0, why.Error())
	if err == nil {
		err = x.conn.CloseWrite()
	}
	if err == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(x.conn, wire.MaxRequest))
	}
	return err
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
		if fixed := s.settings.needsRestart(now); fixed != "" {
			err = errors.New(fixed)
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
	if s.status.LastGood == nil { // else what is not covered follows from the verdict on the tables
		s.status.NotCovered = deadlock.Outside(s.settings.scope)
	}
	s.status.Endpoints, s.status.VLs, s.status.Keep = s.settings.scope.String(), s.settings.VLs, string(s.settings.keep)
}

// Status is how the daemon is.
func (s *Server) Status() result.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.status
	now.StateFolder = s.writer.state()
	now.Trouble = s.cables.inTrouble(s.seen, &s.watched, time.Now())
	now.Watch = s.watched.alarmList()
	now.Drained, now.OpenSM = s.drainedWithStates(), s.standing.connected()
	now.Start = s.recalled != nil && !closed(s.recalled)
	if now.Plan != nil {
		plan := *now.Plan
		if s.confirmedOf.Equal(plan.Began) {
			plan.Confirmed = s.confirmed
		}
		now.Plan = &plan
	}
	if s.keeper == nil {
		return now
	}
	if h := s.keeper.newest(); h != nil {
		free, _ := s.drained.placesNow(s.clock)
		now.Settled = s.settled(h) && h.state.Drained.Equal(free)
	}
	return now
}

// noteConfirmed notes what a question of a sweep says of the tables in use, and how many steps of a plan all switches
// have confirmed by it: all up to the tables in use, if it lists no block that a switch has otherwise.
func (s *Server) noteConfirmed(q *wire.Request) {
	s.noteInUse(q)
	if !confirms(q) {
		return
	}
	h := s.keeper.find(q.InUse)
	if h == nil || h.progress == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.confirmed, s.confirmedOf = h.progress.Steps, h.progress.Began
}

// noteInUse notes which tables all switches have confirmed, if any, and since when: settled asks for that.
func (s *Server) noteInUse(q *wire.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !confirms(q):
		s.inUse = 0
	case s.inUse != q.InUse:
		s.inUse, s.inUseSince, s.lifetime = q.InUse, time.Now(), q.Lifetime
	}
}

// current is the settings that hold now.
func (s *Server) current() *settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}
