package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/mcfdbs"
	"github.com/weft-fabric/weft/format/psl"
	"github.com/weft-fabric/weft/format/slvl"
	"github.com/weft-fabric/weft/internal/plain"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/opensm/installed"
	"github.com/weft-fabric/weft/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// Names, below last-good, of the files needed to continue from tables after a restart.
const (
	fabricName    = "fabric.request" // as a plugin would send it
	installedName = "installed.json"
	treeName      = "multicast.mcfdbs"
	goalPrefix    = "goal-" // before the names of the tables that are to come back
)

// saving is the contents of installed.json.
type saving struct {
	Number    string         `json:"number"`
	Settings  string         `json:"settings"`
	Returning bool           `json:"returning"`
	Open      bool           `json:"open"`
	Goal      bool           `json:"goal"` // another than the tables themselves
	PlanKind  installed.Kind `json:"plan_kind,omitempty"`
	PlanSteps int            `json:"plan_steps"`
	Progress  *Progress      `json:"progress,omitempty"`

	MulticastSLs     uint16 `json:"multicast_sls,omitempty"`      // of the tree, as bits; 0: there is none
	GoalMulticastSLs uint16 `json:"goal_multicast_sls,omitempty"` // of that of the goal
}

type stateFile struct {
	name  string
	write func(io.Writer) error
}

// stepName is the file of the forwarding tables of a step that follows, from 1.
func stepName(i int) string { return fmt.Sprintf("step-%d-%s", i, lftsName) }

// files is the files to write beside the tables.
func (h *handed) files() []stateFile {
	f := h.tables.Fabric
	s := saving{
		Number: strconv.FormatUint(h.number, 16), Settings: h.settings, Returning: h.state.Returning, Open: h.open,
		PlanKind: h.state.Plan.Kind, PlanSteps: len(h.state.Plan.Steps), Progress: h.progress, MulticastSLs: treeLevels(h.tables),
	}
	all := []stateFile{{fabricName, func(w io.Writer) error { return wire.Of(f, 0).Write(w) }}}
	if g := h.state.Goal; g != nil && g != h.tables {
		s.Goal, s.GoalMulticastSLs = true, treeLevels(g)
		all = append(all, stateFile{goalPrefix + fabricName, func(w io.Writer) error { return wire.Of(g.Fabric, 0).Write(w) }})
		all = append(all, tableFiles(goalPrefix, g)...)
	}
	for i, t := range h.state.Plan.Steps {
		all = append(all, stateFile{stepName(i + 1), func(w io.Writer) error { return lft.Write(w, t.Fabric, t.Forwarding, lft.PortGUIDs) }})
	}
	return append(all, stateFile{installedName, whole.JSON(s)})
}

// treeLevels is the service levels that the tree of tables is for, as bits; 0: there is none.
func treeLevels(t *routing.Tables) uint16 {
	if t.Multicast == nil {
		return 0
	}
	return t.Multicast.SLs
}

// tableFiles is the files of forwarding tables, SL2VL maps and service levels.
func tableFiles(prefix string, t *routing.Tables) []stateFile {
	files := []stateFile{
		{prefix + lftsName, func(w io.Writer) error { return lft.Write(w, t.Fabric, t.Forwarding, lft.PortGUIDs) }},
		{prefix + sl2vlName, func(w io.Writer) error { return slvl.Write(w, t.Fabric, t.Lanes.SL2VL, slvl.Dump) }},
		{prefix + pslName, func(w io.Writer) error { return psl.Write(w, t, psl.Compact) }},
	}
	if t.Multicast != nil {
		files = append(files, stateFile{prefix + treeName, func(w io.Writer) error { return mcfdbs.Write(w, t.Fabric, t.Multicast) }})
	}
	return files
}

// restore reads back what an earlier run handed over. It is not trusted: whoever
// continues from it has every step judged.
func (s *Server) restore() {
	var all []*handed
	for _, link := range []string{before, lastGood} {
		h, err := restored(s.settings.State, link)
		switch {
		case err != nil:
			s.Log.Warn("the tables handed over are not known any more", "of", link, "error", plain.FirstLine(err.Error()))
		case h != nil:
			all = append(all, h)
		}
	}
	s.keeper.restore(all)
}

// restored reads one folder of tables; nil: there is none.
func restored(dir, link string) (h *handed, err error) {
	if dir == "" {
		return nil, nil
	}
	err = behind(dir, link, func(folder *os.Root) error {
		h, err = readHanded(folder)
		return err
	})
	return h, err
}

func readHanded(folder *os.Root) (*handed, error) {
	var kept saving
	var r Sweep
	for name, v := range map[string]any{installedName: &kept, sweepName: &r} {
		if err := readBack(folder, name, func(in io.Reader) error { return json.NewDecoder(in).Decode(v) }); err != nil {
			return nil, err
		}
	}
	number, err := strconv.ParseUint(kept.Number, 16, 64)
	if err != nil || r.Verdict != deadlockFree || kept.PlanSteps < 0 || kept.PlanSteps > mostSteps {
		return nil, fmt.Errorf("daemon: %s says number %q and %d steps, %s says %s", installedName, kept.Number, kept.PlanSteps, sweepName, r.Verdict)
	}
	t, err := readWhole(folder, "", &r, kept.MulticastSLs)
	if err != nil {
		return nil, err
	}
	h := &handed{
		proven: &proven{tables: t, engine: r.Engine, tried: r.Tried, restored: true}, number: number, settings: kept.Settings,
		state: installed.State{Sent: t, Goal: t, Returning: kept.Returning}, open: kept.Open, progress: kept.Progress,
	}
	if kept.Goal {
		if h.state.Goal, err = readWhole(folder, goalPrefix, &r, kept.GoalMulticastSLs); err != nil {
			return nil, err
		}
	}
	h.state.Plan.Kind = kept.PlanKind
	for i := range kept.PlanSteps {
		step := &routing.Tables{Fabric: t.Fabric, Lanes: t.Lanes}
		if step.Forwarding, err = readLFTs(folder, stepName(i+1), t.Fabric); err != nil {
			return nil, err
		}
		h.state.Plan.Steps = append(h.state.Plan.Steps, step)
	}
	return h, nil
}

// mostSteps limits the steps of a plan that are read back.
const mostSteps = 1000

// readWhole reads tables with the fabric that they are for, and with a tree for multicast on some
// service levels, given as bits, if there are any.
func readWhole(folder *os.Root, prefix string, r *Sweep, sls uint16) (*routing.Tables, error) {
	var f *fabric.Fabric
	err := readBack(folder, prefix+fabricName, func(in io.Reader) error {
		q, err := wire.ReadRequest(in)
		if err == nil {
			f, err = q.Fabric()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	t, err := readTables(folder, prefix, f, r)
	if err == nil && sls != 0 {
		err = readBack(folder, prefix+treeName, func(in io.Reader) (err error) {
			t.Multicast, err = mcfdbs.Read(in, prefix+treeName, f, sls)
			return err
		})
	}
	if err == nil {
		err = errors.Join(t.Check(), wire.Expressible(t, contractOf(r)))
	}
	return t, err
}

// contractOf is the contract that a sweep was proven under; honored if it says none.
func contractOf(r *Sweep) routing.Contract {
	c, err := routing.ParseContract(r.Contract)
	if err != nil {
		return routing.Honored
	}
	return c
}

func readLFTs(folder *os.Root, name string, f *fabric.Fabric) (fw *routing.Forwarding, err error) {
	err = readBack(folder, name, func(in io.Reader) error {
		d, err := lft.Read(in, name, f, lft.Join{})
		if err == nil {
			fw = d.Forwarding
		}
		return err
	})
	return fw, err
}

// mostSaved limits the bytes of tables that are read back from the state folder; larger
// ones are routed anew as quickly.
const mostSaved = 1 << 30

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

// readTables reads the tables of a sweep, or others in the same folder.
func readTables(folder *os.Root, prefix string, f *fabric.Fabric, r *Sweep) (*routing.Tables, error) {
	t := &routing.Tables{Fabric: f}
	var maps *routing.SL2VL
	var err error
	if t.Forwarding, err = readLFTs(folder, prefix+lftsName, f); err != nil {
		return nil, err
	}
	if err := readBack(folder, prefix+sl2vlName, func(in io.Reader) (err error) {
		maps, err = slvl.Read(in, prefix+sl2vlName, f)
		return err
	}); err != nil {
		return nil, err
	}
	if err := readBack(folder, prefix+pslName, func(in io.Reader) (err error) {
		t.Lanes, err = psl.Read(in, prefix+pslName, f, maps, nil)
		return err
	}); err != nil {
		return nil, err
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
