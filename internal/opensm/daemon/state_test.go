package daemon

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// put makes a file with its folders.
func put(t *testing.T, name string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("precious"), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// What a killed run left unfinished is removed at the start; what is not ours, and
// what links lead to, stays.
func TestStateLeftovers(t *testing.T) {
	t.Parallel()
	dir, outside := stateDir(t), t.TempDir()
	put(t, filepath.Join(outside, "lfts.dump"))
	put(t, filepath.Join(dir, "tables-20260101T000000Z-1", "lfts.dump"))
	put(t, filepath.Join(dir, "tables-20260102T000000Z-2", "lfts.dump"))
	put(t, filepath.Join(dir, "tables-20260102T000000Z-2", ".new.77"))
	put(t, filepath.Join(dir, refusals, ".new.123"))
	put(t, filepath.Join(dir, refusals, ".new"))
	put(t, filepath.Join(dir, refusals, "notes.txt"))
	link(t, "tables-20260101T000000Z-1", filepath.Join(dir, lastGood))
	link(t, "tables-20260102T000000Z-2", filepath.Join(dir, lastGood+".new"))
	link(t, outside, filepath.Join(dir, "tables-elsewhere"))
	put(t, filepath.Join(dir, "tables-20260101T000000Z-0", "lfts.dump"))
	link(t, "tables-20260101T000000Z-0", filepath.Join(dir, before))
	put(t, filepath.Join(dir, snapshots, ".new"))
	put(t, filepath.Join(dir, snapshots, "notes.txt"))
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	if got, want := names(t, dir), []string{".lock", before, snapshots, lastGood, asideFolder, refusals, "tables-20260101T000000Z-0", "tables-20260101T000000Z-1", "tables-elsewhere"}; !slices.Equal(got, want) {
		t.Errorf("left: %q, want %q", got, want)
	}
	for _, in := range []string{refusals, snapshots} {
		if got := names(t, filepath.Join(dir, in)); !slices.Equal(got, []string{"notes.txt"}) {
			t.Errorf("%s left: %q", in, got)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "lfts.dump")); err != nil {
		t.Error(err)
	}
}

// Of refusals the last hundred stay; files of others do not count and stay too.
func TestStateKeepsRefusals(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for i := range 3 {
		put(t, filepath.Join(dir, refusals, "0"+string(rune('a'+i))))
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range keptRefusals + 5 {
		if err := s.refusal(&result.StatusSweep{Sweep: uint64(i), At: at}); err != nil {
			t.Fatal(err)
		}
	}
	got := names(t, filepath.Join(dir, refusals))
	if len(got) != keptRefusals+3 || !slices.IsSorted(got) || !strings.HasSuffix(got[3], "-000006.json") {
		t.Errorf("%d files, the fourth %s", len(got), got[3])
	}
}

// A folder in which others can write is not taken: whoever reads last-good believes
// it. Nothing is cleaned through a link.
func TestStateOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, outside string) error
		want  string
	}{
		"writable for all":     {func(_ *testing.T, dir, _ string) error { return os.Chmod(dir, 0o777) }, "chmod go-w"},
		"writable for a group": {func(_ *testing.T, dir, _ string) error { return os.Chmod(dir, 0o770) }, "chmod go-w"},
		"refusals for all":     {func(_ *testing.T, dir, _ string) error { return os.Chmod(filepath.Join(dir, refusals), 0o777) }, "chmod go-w"},
		"installed for all": {func(_ *testing.T, dir, _ string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, snapshots), 0o755), os.Chmod(filepath.Join(dir, snapshots), 0o777))
		}, "chmod go-w"},
		"put-aside is a link": {func(t *testing.T, dir, outside string) error {
			link(t, outside, filepath.Join(dir, asideFolder))
			return nil
		}, "a symbolic link"},
		"a file": {func(_ *testing.T, dir, _ string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644))
		}, "not a directory"},
		"last-good is a folder": {func(t *testing.T, dir, _ string) error { put(t, filepath.Join(dir, lastGood, "x")); return nil }, "last-good is a folder, and no link"},
		"last-good is a file":   {func(_ *testing.T, dir, _ string) error { return os.WriteFile(filepath.Join(dir, lastGood), nil, 0o644) }, "last-good is a file, and no link"},
		"parent for all":        {func(_ *testing.T, dir, _ string) error { return os.Chmod(filepath.Dir(dir), 0o777) }, "put another folder in place of"},
		"parent for a group":    {func(_ *testing.T, dir, _ string) error { return os.Chmod(filepath.Dir(dir), 0o770) }, "put another folder in place of"},
		"a folder farther up":   {func(_ *testing.T, dir, _ string) error { return os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o707) }, "chmod go-w"},
		"refusals is a link": {func(t *testing.T, dir, outside string) error {
			if err := os.Remove(filepath.Join(dir, refusals)); err != nil {
				return err
			}
			link(t, outside, filepath.Join(dir, refusals))
			return nil
		}, "a symbolic link"},
		"of another user": {func(t *testing.T, dir, _ string) error {
			if os.Getuid() != 0 {
				t.Skip("only root gives a folder away")
			}
			return os.Chown(dir, 64998, -1)
		}, "user 64998"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, outside := filepath.Join(t.TempDir(), "above", "state"), t.TempDir()
			put(t, filepath.Join(outside, ".new.1"))
			if err := os.MkdirAll(filepath.Join(dir, refusals), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(t, dir, outside); err != nil {
				t.Fatal(err)
			}
			err := newRunning(t, Config{Socket: filepath.Join(outside, "s"), State: dir}).refused()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(outside, ".new.1")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A sticky bit keeps others from renaming what is in a folder, as in /tmp.
func TestStateInASharedFolder(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	if err := os.Chmod(above, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	s, err := openState(filepath.Join(above, "state"))
	if err != nil {
		t.Fatal(err)
	}
	s.close()
}

// Two daemons at different sockets do not share a folder.
func TestStateIsOfOneDaemon(t *testing.T) {
	t.Parallel()
	r := start(t, Config{State: stateDir(t)})
	c := r.config
	c.Socket += "2"
	if err := newRunning(t, c).refused(); err == nil || !strings.Contains(err.Error(), "is in use: another weft (process ") {
		t.Errorf("a second daemon: %v", err)
	}
}

// A write that failed is reported in status, metrics and log until it succeeded,
// for which no other sweep is needed.
func TestStateFailure(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	r := start(t, Config{Engine: Names{"updn"}, State: dir, Metrics: "127.0.0.1:0"})
	put(t, filepath.Join(dir, lastGood+".new", "x")) // in the way
	r.ask(request(t, "ring:n=4", 1))
	failed := r.until(func(s result.Status) bool { return s.StateError != "" })
	if failed.StateSince == nil || failed.StateWaiting != 1 {
		t.Errorf("%+v", failed.StateFolder)
	}
	r.ask(request(t, "ring:n=4", 2)) // from memory: there is nothing new to write
	r.until(func(s result.Status) bool { return s.Sweeps == 2 })
	if s := r.Status(); s.StateError == "" {
		t.Error("forgotten at the next sweep")
	}
	if text := r.metricsText(); !strings.Contains(text, "\nweft_state_ok 0\n") || !strings.Contains(text, "\nweft_state_waiting 1\n") || strings.Contains(text, "\nweft_state_failures_total 0\n") {
		t.Errorf("metrics say nothing of it:\n%s", text)
	}
	if err := os.RemoveAll(filepath.Join(dir, lastGood+".new")); err != nil {
		t.Fatal(err)
	}
	r.until(func(s result.Status) bool { return s.StateError == "" && s.StateWaiting == 0 })
	if _, err := os.Stat(filepath.Join(dir, lastGood, "certificate")); err != nil {
		t.Error(err)
	}
	if text := r.metricsText(); !strings.Contains(text, "\nweft_state_ok 1\n") {
		t.Errorf("metrics:\n%s", text)
	}
	log := r.log.String()
	if !strings.Contains(log, `level=ERROR msg="state folder"`) || !strings.Contains(log, "written again") {
		t.Errorf("the log says nothing:\n%s", log)
	}
}

// A folder that is taken away while the daemon runs is made again.
func TestStateTakenAway(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	r := start(t, Config{Engine: Names{"updn"}, State: dir})
	err := os.RemoveAll(dir)
	for end := time.Now().Add(busy); err != nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		err = os.RemoveAll(dir) // it may be about to write there
	}
	if err != nil {
		t.Fatal(err)
	}
	r.ask(request(t, "ring:n=4", 1))
	r.after(1)
	if _, err := os.Stat(filepath.Join(dir, lastGood, "certificate")); err != nil {
		t.Error(err)
	}
}

// A folder that is taken away, or another put in its place, is told and made again without waiting
// for something to write, with what is needed to go on after a restart.
func TestStateTakenAwayAtRest(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(dir string) error{
		"removed":   os.RemoveAll,
		"moved":     func(dir string) error { return os.Rename(dir, dir+"-elsewhere") },
		"exchanged": func(dir string) error { return errors.Join(os.Rename(dir, dir+"-elsewhere"), os.Mkdir(dir, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			r := start(t, Config{Engine: Names{"updn"}, State: dir})
			a := r.ask(request(t, "ring:n=4", 1))
			r.after(1)
			r.until(func(s result.Status) bool { return s.StateWaiting == 0 })
			if err := take(dir); err != nil {
				t.Fatal(err)
			}
			r.until(func(s result.Status) bool { return strings.Contains(s.StateError, dir+" was taken away") })
			r.until(func(s result.Status) bool { return s.StateError == "" })
			if all := names(t, filepath.Join(dir, snapshots)); len(all) != 1 || !strings.Contains(all[0], hexadecimal(a.Number)) {
				t.Errorf("the folder has snapshots %q, and tables %s are in use", all, hexadecimal(a.Number))
			}
			if log := r.log.String(); !strings.Contains(log, "was taken away") || !strings.Contains(log, "written again") {
				t.Errorf("the log says nothing:\n%s", log)
			}
		})
	}
}

func (r *running) metricsText() string {
	r.t.Helper()
	response, err := http.Get("http://" + r.metricsAddress() + "/metrics")
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// hanging is a folder on a disk that hangs until it is released.
type hanging struct {
	folder
	release chan struct{}
}

func (h hanging) tables(r *result.StatusSweep, p *handed, newer func() bool) error {
	<-h.release
	return h.folder.tables(r, p, newer)
}

func (h hanging) refusal(r *result.StatusSweep) error {
	<-h.release
	return h.folder.refusal(r)
}

// A disk that hangs delays no answer, neither the first nor the fortieth, and of
// what waits only the newest is kept. That it hangs is reported.
func TestDiskHangs(t *testing.T) {
	t.Parallel()
	dir, release := stateDir(t), make(chan struct{})
	r := newRunning(t, Config{Engine: Names{"updn"}, State: dir})
	r.open = func(dir string) (folder, error) {
		f, err := openState(dir)
		return hanging{f, release}, err
	}
	r.config.Socket = filepath.Join(r.socketDir(), "s")
	r.run()
	const sweeps = 3 * connections
	late := 0 // answers, where a busy machine has one or two
	for i := range uint64(sweeps) {
		begin := time.Now()
		q := request(t, []string{"ring:n=4", "ring:n=5"}[i%2], i)
		if i%3 == 2 {
			q.Nodes[0].Has[0].LID = 0xC001 // is refused
		}
		if a := r.ask(q); (a.Refusal != "") != (i%3 == 2) {
			t.Fatal(a.Refusal)
		}
		if time.Since(begin) >= slowDisk {
			late++
		}
	}
	if late > sweeps/4 {
		t.Errorf("%d of %d answers took %v or longer", late, sweeps, slowDisk)
	}
	s := r.until(func(s result.Status) bool { return s.StateError != "" })
	if !strings.Contains(s.StateError, "hangs") || s.Sweeps != sweeps || s.StateWaiting != 1+waitingRefusals || s.StateDropped != 0 {
		t.Errorf("%d sweeps, %+v", s.Sweeps, s.StateFolder)
	}
	if s.Last == nil || s.Last.Refusal == "" {
		t.Errorf("%+v", s.Last)
	}
	q := request(t, "ring:n=4", sweeps)
	q.Nodes[0].Has[0].LID = 0xC001
	r.ask(q) // one more than may wait
	r.until(func(s result.Status) bool { return s.StateDropped == 1 })
	close(release)
	if s := r.after(sweeps + 1); s.StateError != "" {
		t.Errorf("%+v", s.StateFolder)
	}
	var last result.StatusSweep
	readJSON(t, filepath.Join(dir, lastGood, "sweep.json"), &last)
	if last.Sweep != sweeps-2 {
		t.Errorf("last-good is of sweep %d of %d", last.Sweep, sweeps)
	}
	if n := len(names(t, filepath.Join(dir, refusals))); n != waitingRefusals {
		t.Errorf("%d refusals", n)
	}
	if _, err := wire.AskStatus(t.Context(), r.config.Socket); err != nil {
		t.Error(err)
	}
}

// A disk that hangs from the beginning keeps the daemon from nothing but its state
// folder, and from ending not for long.
func TestDiskHangsFromTheStart(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	r := newRunning(t, Config{Engine: Names{"updn"}, State: stateDir(t)})
	r.open = func(string) (folder, error) {
		<-release
		return nil, fs.ErrClosed
	}
	r.config.Socket = filepath.Join(r.socketDir(), "s")
	r.run()
	if a := r.ask(request(t, "ring:n=4", 1)); a.Refusal != "" {
		t.Error(a.Refusal)
	}
	if s := r.Status(); !strings.Contains(s.StateError, "hangs") {
		t.Errorf("%+v", s.StateFolder)
	}
	begin := time.Now()
	r.endAtOnce()
	if d := time.Since(begin); d > 2*grace+busy {
		t.Errorf("it ended after %v", d)
	}
	if log := r.log.String(); !strings.Contains(log, "not everything was written") {
		t.Errorf("the log does not say so:\n%s", log)
	}
	close(release)
}

// While the text of tables is written, which takes long on a large fabric, newer tables come: there
// is a snapshot of them at once, and the text that is given up leaves nothing behind.
func TestNewerTablesDoNotWait(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	tables, err := honest(t, t.Context(), testnet.Build(t, "ring:n=6"), "updn", 1)
	if err != nil {
		t.Fatal(err)
	}
	h := &handed{proven: &proven{tables: tables, verdict: judged(t, tables)}, number: 1}
	for files := range len(h.files(&result.StatusSweep{}, "")) {
		asked := 0
		if err := s.tables(&result.StatusSweep{}, h, func() bool { asked++; return asked > files }); !errors.Is(err, errNewer) {
			t.Errorf("%v after %d files", err, files)
		}
		if got := names(t, dir); slices.ContainsFunc(got, func(name string) bool { return strings.HasPrefix(name, tablesPrefix) || name == lastGood }) {
			t.Errorf("%q are left after %d files", got, files)
		}
	}
	if err := s.tables(&result.StatusSweep{}, h, func() bool { return false }); err != nil || !slices.Contains(names(t, dir), lastGood) {
		t.Error(err)
	}
}
