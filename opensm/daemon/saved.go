package daemon

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/psl"
	"github.com/weft-fabric/weft/format/slvl"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// mostSaved limits the bytes of tables that are read back from the state folder; larger
// ones are routed anew as quickly.
const mostSaved = 1 << 30

// saved reads the tables handed over last from the state folder, if they are for a key,
// and has the judge prove them again. nil: there are none.
func saved(ctx context.Context, dir string, k key, f *fabric.Fabric, s *settings, lanes int) (p *proven, err error) {
	err = behind(dir, lastGood, func(folder *os.Root) error {
		p, err = readSaved(ctx, folder, k, f, s, lanes)
		return err
	})
	return p, err
}

// behind has the folder read that a link in the state folder leads to, if there is one. It
// opens nothing outside the state folder, and what a file makes go wrong is an error.
func behind(dir, link string, read func(folder *os.Root) error) (err error) {
	defer func() {
		if r := recover(); r != nil { // a file must not end the daemon
			err = fmt.Errorf("daemon: internal error: %v\n%s", r, debug.Stack())
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	folder, err := root.OpenRoot(link)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	return read(folder)
}

func readSaved(ctx context.Context, folder *os.Root, k key, f *fabric.Fabric, s *settings, lanes int) (p *proven, err error) {
	var r Sweep
	if err := readBack(folder, sweepName, func(in io.Reader) error { return json.NewDecoder(in).Decode(&r) }); err != nil {
		return nil, err
	}
	if r.Key != k.String() || r.Verdict != deadlockFree {
		return nil, nil
	}
	p = &proven{engine: r.Engine, tried: r.Tried, restored: true}
	if p.tables, err = readTables(folder, "", f, &r); err != nil {
		return nil, err
	}
	p.before = p.tables
	again, err := weft.Verify(ctx, p.tables, weft.Request{Custom: &engines.Engine{Name: r.Engine}, Contract: &s.contract, Scope: s.scope})
	if err != nil {
		return nil, err
	}
	p.verdict, p.loads = again.Verdict, again.Loads
	if s.VLs > 0 {
		lanes = min(lanes, s.VLs)
	}
	return p, s.acceptable(again, lanes)
}

// String is a key as written in sweeps.
func (k key) String() string { return hex.EncodeToString(k[:]) }

// readTables reads the tables of a sweep, or others in the same folder.
func readTables(folder *os.Root, prefix string, f *fabric.Fabric, r *Sweep) (*routing.Tables, error) {
	t := &routing.Tables{Fabric: f}
	var maps *routing.SL2VL
	var err error
	if t.Forwarding, err = readLFTs(folder, prefix+lftsName, f); err != nil {
		return nil, err
	}
	for _, file := range []struct {
		name string
		read func(in io.Reader, name string) error
	}{
		{sl2vlName, func(in io.Reader, name string) (err error) { maps, err = slvl.Read(in, name, f); return err }},
		{pslName, func(in io.Reader, name string) (err error) {
			t.Lanes, err = psl.Read(in, name, f, maps, nil)
			return err
		}},
	} {
		if err := readBack(folder, prefix+file.name, func(in io.Reader) error { return file.read(in, prefix+file.name) }); err != nil {
			return nil, err
		}
	}
	t.Lanes.Needed = r.VLsNeeded
	return t, nil
}

// readBack reads a file that is not too large.
func readBack(folder *os.Root, name string, read func(io.Reader) error) error {
	in, err := folder.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() > mostSaved:
		return fmt.Errorf("daemon: %s is no file of at most %d bytes", name, mostSaved)
	}
	return read(in)
}

// resumed is a search that begins with what was handed over before a restart, once
// that is read back: it is what the fabric runs, so that nothing else is handed over
// before the search has ended.
type resumed struct {
	mu    sync.Mutex
	found func(*proven) // of the job
	saved *proven       // nil: nothing was read back
	ended bool
}

// better is told of what the search finds.
func (r *resumed) better(p *proven) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.saved == nil {
		r.found(p)
	}
}

// take takes what was read back, unless it is too late.
func (r *resumed) take(p *proven) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.saved = p
		r.found(p)
	}
}

// end is the result, given that of the search.
func (r *resumed) end(p *proven) *proven {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.saved == nil {
		return p
	}
	q := *p
	if p.tables == nil {
		q = *r.saved
		q.tried, q.unfinished = p.tried, errors.New(p.refusal)
	} else if alike(r.saved.tables, p.tables) {
		q.tables, q.verdict = r.saved.tables, r.saved.verdict
	}
	q.before = r.saved.tables
	return &q
}

// headStart is how long a search waits at the most for what is read back: both at
// once would take longer for the first answer, and a disk that hangs is not waited for.
const headStart = firstAnswer / 2

// work proves tables for a fabric. The first time after a restart it reads those back
// that were handed over last, and searches then.
func (s *Server) work(ctx context.Context, k key, f *fabric.Fabric, set *settings, lanes int, found func(*proven)) *proven {
	s.mu.Lock()
	first := s.status.LastGood == nil
	s.mu.Unlock()
	if set.State == "" || !first {
		return prove(ctx, f, set, lanes, found)
	}
	r := &resumed{found: found}
	read := make(chan struct{})
	go func() {
		defer close(read)
		switch p, err := saved(ctx, set.State, k, f, set, lanes); {
		case err != nil && ctx.Err() == nil:
			s.Log.Warn("the tables handed over last are not used", "error", firstLine(err.Error()))
		case p != nil && err == nil:
			r.take(p)
		}
	}()
	select {
	case <-read:
	case <-time.After(headStart):
	case <-ctx.Done():
	}
	return r.end(prove(ctx, f, set, lanes, r.better))
}

// alike says whether tables for one fabric are the same.
func alike(a, b *routing.Tables) bool {
	if entries, levels := changes(a, b); entries != 0 || levels != 0 {
		return false
	}
	f := a.Fabric
	for s := range fabric.NodeID(f.Switches()) {
		ports := uint8(f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				if in != out && f.Out(s, out) != fabric.None && f.Out(s, in) != fabric.None && differ(a.Lanes.SL2VL, b.Lanes.SL2VL, s, in, out) {
					return false
				}
			}
		}
	}
	return true
}

// differ says whether two maps from an in-port to an out-port differ.
func differ(a, b *routing.SL2VL, s fabric.NodeID, in, out uint8) bool {
	for sl := range uint8(routing.SLs) {
		if a.VL(s, in, out, sl) != b.VL(s, in, out, sl) {
			return true
		}
	}
	return false
}
