package daemon

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// noLinks is the files of a folder, without links.
func noLinks(dir string) fs.FS { return plainFiles{os.DirFS(dir)} }

type plainFiles struct{ fs.FS }

func (p plainFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(p.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Type()&fs.ModeSymlink != 0 }), err
}

// summed is a snapshot with the checksum that is right for it.
func summed(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// betweenSteps is the state folder of a daemon that ended between two steps, and the OpenSM that
// has the step in use.
func betweenSteps(t *testing.T, c Config, spec string) (o *opensm, live *fabric.Fabric) {
	t.Helper()
	o = openSM(start(t, c))
	f := testnet.Build(t, spec)
	o.settles(f)
	for cable := range fabric.ChannelID(f.Trunks()) {
		live = less(t, f, []fabric.ChannelID{cable})
		if o.asks(live, false).More > 0 {
			o.end()
			return o, live
		}
		o.settles(live)
		o.settles(f)
	}
	t.Fatal("every repair is one step")
	return nil, nil
}

// damagedSpec is a small network on which some repairs take two steps.
const damagedSpec = "xgft:m=2x2,w=2x2,hosts=1"

// Of a snapshot every part counts: cut off anywhere, or with any byte another, it is not read.
func TestSnapshotIsReadWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	c := Config{Engine: Names{"updn"}, State: stateDir(t)}
	betweenSteps(t, c, damagedSpec)
	whole, err := os.ReadFile(newest(t, c.State))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := readSnapshot(whole); err != nil {
		t.Fatal(err)
	}
	tries := 0
	refused := func(b []byte, what string, at int) {
		tries++
		if h, _, err := readSnapshot(b); err == nil {
			t.Errorf("%s %d: read, %d steps", what, at, len(h.state.Plan.Steps))
		}
	}
	for i := range whole {
		refused(whole[:i], "cut off at", i)
		other := bytes.Clone(whole)
		other[i] ^= byte(1 + i%255)
		refused(other, "another byte", i)
		refused(slices.Concat(whole[:i], whole[i:], []byte{whole[i]}), "a byte behind the end, as at", i)
	}
	t.Logf("%d snapshots of %d bytes, of which none is read", tries, len(whole))
}

// Behind a right checksum there may be anything: it is an error, or tables that can be written and
// read again, and never a panic.
func TestSnapshotOfAnybody(t *testing.T) {
	t.Parallel()
	c := Config{Engine: Names{"updn"}, State: stateDir(t)}
	betweenSteps(t, c, damagedSpec)
	whole, err := os.ReadFile(newest(t, c.State))
	if err != nil {
		t.Fatal(err)
	}
	tries, read := 5000, 0
	if os.Getenv("WEFT_THOROUGH") != "" {
		tries = 200000
	}
	head, chance := len(snapshotMagic), rand.New(rand.NewPCG(5, 6))
	for range tries {
		b := bytes.Clone(whole[:len(whole)-sha256.Size])
		for range 1 + chance.IntN(4) {
			at := head + chance.IntN(len(b)-head)
			switch chance.IntN(4) {
			case 0:
				b[at] = byte(chance.Uint32())
			case 1:
				b[at] ^= 1 << chance.IntN(8)
			case 2:
				b = slices.Delete(b, at, min(len(b)-1, at+chance.IntN(8)))
			case 3:
				b = slices.Insert(b, at, bytes.Repeat([]byte{byte(chance.Uint32())}, 1+chance.IntN(8))...)
			}
		}
		h, _, err := readSnapshot(summed(b))
		if err != nil {
			continue
		}
		read++
		var again bytes.Buffer
		if err := h.snapshot(&again); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readSnapshot(again.Bytes()); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d snapshots with a right checksum: %d are read", tries, read)
	if read == 0 || read == tries {
		t.Error("the trial is one-sided")
	}
}

// Whatever becomes of the files of the state folder, the daemon starts, no answer is called proven
// that is not, the fabric is served, and what was damaged is put aside and told.
func TestDamagedState(t *testing.T) {
	t.Parallel()
	c := Config{Engine: Names{"updn"}, State: stateDir(t)}
	was, live := betweenSteps(t, c, damagedSpec)
	other := Config{Engine: Names{"updn"}, State: stateDir(t)}
	betweenSteps(t, other, "xgft:m=4x4,w=2x4,hosts=2")
	foreign, err := os.ReadFile(newest(t, other.State))
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(3, 4))
	write := func(b []byte) func(string) error {
		return func(path string) error { return os.WriteFile(path, b, 0o600) }
	}
	damages := map[string]func(path string) error{
		"empty":                         write(nil),
		"missing":                       os.Remove,
		"of another fabric":             write(foreign),
		"another version's":             write([]byte("weft installed 2\n")),
		"text":                          write([]byte("{}\n")),
		"a folder":                      func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a link to a device":            func(path string) error { return errors.Join(os.Remove(path), os.Symlink("/dev/zero", path)) },
		"a link to itself":              func(path string) error { return errors.Join(os.Remove(path), os.Symlink(filepath.Base(path), path)) },
		"a link out of the folder":      func(path string) error { return errors.Join(os.Remove(path), os.Symlink(newest(t, other.State), path)) },
		"as large as the disk would be": func(path string) error { return os.Truncate(path, mostSaved+1) },
	}
	parts := testnet.Of(12, 3)
	for i := range parts {
		b := make([]byte, chance.IntN(4000))
		for i := range b {
			b[i] = byte(chance.Uint32())
		}
		damages[fmt.Sprintf("random bytes %d", i)] = write(b)
		damages[fmt.Sprintf("cut off at part %d", i)] = func(path string) error {
			info, err := os.Stat(path)
			return errors.Join(err, os.Truncate(path, info.Size()*int64(i)/int64(parts)))
		}
	}
	all, served, kept := 0, 0, 0
	var paths []string
	if err := filepath.Walk(c.State, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			paths = append(paths, strings.TrimPrefix(path, c.State+"/"))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for what, damage := range damages {
		if !testnet.Whole() && !slices.Contains([]string{"empty", "of another fabric", "text", "cut off at part 1"}, what) {
			continue
		}
		for _, path := range append(paths, "all snapshots") {
			if path == ".lock" || path == lastGood || path == before { // the first is of no account, the links have a test of their own
				continue
			}
			inSnapshots := path == "all snapshots" || strings.HasPrefix(path, snapshots)
			if !inSnapshots && what != "empty" && what != "missing" && os.Getenv("WEFT_THOROUGH") == "" { // they are for people
				continue
			}
			dir := stateDir(t)
			if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, noLinks(c.State))); err != nil {
				t.Fatal(err)
			}
			damaged := []string{path}
			if path == "all snapshots" {
				damaged = nil
				for _, name := range names(t, filepath.Join(dir, snapshots)) {
					damaged = append(damaged, filepath.Join(snapshots, name))
				}
			}
			for _, name := range damaged {
				if err := damage(filepath.Join(dir, name)); err != nil {
					t.Fatal(what, path, err)
				}
			}
			now := c
			now.State = dir
			o := openSM(start(t, now))
			o.inUse, o.ports = was.inUse, was.ports
			a := o.asks(live, true)
			known := a.Step
			if a.SoFar {
				o.settles(live)
			}
			if left := cutBy(t, o.question(live, false), &wire.Answer{LIDs: int(live.TopLID()) + 1, OutPorts: o.ports}); a.Refusal != "" || left > 0 {
				t.Errorf("%s, %s: %q, %d pairs stay cut\n%s", what, path, a.Refusal, left, o.log)
			} else {
				served++
			}
			if all++; known {
				kept++
			}
			intact := path != "all snapshots" // without the newest the step in use is planned again
			if known != intact {
				t.Errorf("%s, %s: the plan goes on: %v\n%s", what, path, known, o.log)
			}
			told := strings.Contains(o.log.String(), "put aside")
			if want := what != "missing" && inSnapshots; told != want {
				t.Errorf("%s, %s: put aside: %v, want %v\n%s", what, path, told, want, o.log)
			}
			o.end()
		}
	}
	t.Logf("%d states: %d served, %d went on with the plan", all, served, kept)
}

// Steps that never got into the state folder, because the disk was full, are planned again after a
// restart: the plan goes on, whatever step it was killed at.
func TestFullDiskBetweenSteps(t *testing.T) {
	testnet.OnlyWhole(t)
	t.Parallel()
	c := Config{Engine: Names{"weave-any"}, State: stateDir(t), MaxEntries: 8}
	f := testnet.Build(t, "torus:4x4,hosts=2")
	gone := less(t, f, []fabric.ChannelID{0, 30})
	for steps := range 4 {
		o := openSM(start(t, c))
		o.settles(f)
		whole := o.ports
		o.settles(gone)
		o.until(func(s result.Status) bool { return s.Plan != nil && s.Plan.Ended != nil && s.StateWaiting == 0 })
		inTheWay := filepath.Join(c.State, snapshots, unfinished)
		put(t, filepath.Join(inTheWay, "x"))
		a := o.asks(f, false)
		for range steps {
			a = o.asks(f, true)
		}
		if !a.SoFar || o.until(func(s result.Status) bool { return s.StateError != "" }).StateWaiting == 0 {
			t.Fatal("the plan is over, or it is written")
		}
		o.end()
		if err := os.RemoveAll(inTheWay); err != nil {
			t.Fatal(err)
		}
		o.running = start(t, c)
		for a.SoFar {
			if a = o.asks(f, true); a.Refusal != "" || !a.Step {
				t.Fatalf("after %d steps: %q, a step: %v\n%s", steps, a.Refusal, a.Step, o.log)
			}
		}
		if !bytes.Equal(o.ports, whole) {
			t.Errorf("after %d steps: other tables at the end", steps)
		}
		o.end()
	}
}
