package watch

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// A look meets steps of a plan at any moment: handed over while the dumps are read, or dumped before they are in the state
// folder. That is no alarm; tables of somebody else are, at the first look that sees them.
func TestLookThatMeetsAStep(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:4,hosts=1")
	lid := f.Endpoint(fabric.EndpointID(f.Switches())).LID
	steps := map[string]*Snapshot{}
	for i, name := range []string{"tables-1", "tables-2", "tables-3", "foreign"} {
		tables := tablesBy(t, f, "updn", 1)
		tables.Forwarding.Row(lid)[i] = 1 + tables.Forwarding.Row(lid)[i]%2
		steps[name] = &Snapshot{Tables: tables}
	}
	for _, c := range []struct {
		name, dump, last, before string
		moves                    func(s *moving, reads int) // when so much was read
		alarm                    bool
	}{
		{"nothing moves", "tables-2", "tables-2", "tables-1", nil, false},
		{"a step is being written", "tables-1", "tables-2", "tables-1", nil, false},
		{"two steps are taken while the dumps are read", "tables-1", "tables-1", "tables-0", func(s *moving, reads int) {
			if reads == 1 {
				s.hand("tables-2", "tables-1")
				s.hand("tables-3", "tables-2")
				s.says("Nov 23 23:59:05 146531 [4B5286C0] 0x02 -> weft: sweep 9: 4 switches, 1 lanes used, engine updn, proven; 0.074 s\n")
			}
		}, false},
		{"the state folder is behind", "tables-3", "tables-2", "tables-1", func(s *moving, reads int) {
			if reads == 3 {
				s.hand("tables-3", "tables-2")
			}
		}, false},
		{"the state folder is being written", "tables-3", "tables-2", "tables-1", func(s *moving, reads int) {
			s.make("tables-3")
			if reads == 9 {
				s.hand("tables-3", "tables-2")
			}
		}, false},
		{"somebody else's", "foreign", "tables-2", "tables-1", nil, true},
		{"somebody else's, while steps are taken", "foreign", "tables-1", "tables-0", func(s *moving, reads int) {
			if reads%2 == 0 {
				s.hand("tables-2", "tables-1")
			} else {
				s.hand("tables-3", "tables-2")
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &moving{t: t, state: t.TempDir(), steps: steps, moves: c.moves, log: filepath.Join(t.TempDir(), "opensm.log")}
			s.says("")
			s.hand(c.last, c.before)
			folder := t.TempDir()
			dump := filepath.Join(folder, "opensm-lfts.dump")
			if err := os.WriteFile(dump, []byte(c.dump), 0o600); err != nil {
				t.Fatal(err)
			}
			at := time.Date(time.Now().Year()-1, 11, 23, 23, 59, 4, 0, time.Local)
			if err := os.Chtimes(dump, at, at); err != nil {
				t.Fatal(err)
			}
			w := &Watcher{Config: Config{Folder: folder, Settle: 1, State: filepath.Join(t.TempDir(), "state"), Log: s.log, Expect: filepath.Join(s.state, "last-good")}, Log: slog.New(slog.DiscardHandler), Version: "test", Read: s.read}
			r := begun(t, w)
			l, err := r.look(t.Context())
			if err != nil || l == nil {
				t.Fatalf("%v, %v", l, err)
			}
			if hasKind(l.Alarms, OtherTables) != c.alarm {
				t.Errorf("%+v, want one about other tables: %v", l.Alarms, c.alarm)
			}
		})
	}
}

// moving is a state folder of weft serve whose links move while it is read.
type moving struct {
	t     *testing.T
	state string
	log   string
	steps map[string]*Snapshot
	reads int
	moves func(s *moving, reads int)
}

func (s *moving) make(name string) {
	if err := os.MkdirAll(filepath.Join(s.state, name), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

// hand turns the links, as weft serve does.
func (s *moving) hand(last, before string) {
	for link, to := range map[string]string{"last-good": last, "before": before} {
		s.make(to)
		os.Remove(filepath.Join(s.state, link)) // the first time it is not there
		if err := os.Symlink(to, filepath.Join(s.state, link)); err != nil {
			s.t.Fatal(err)
		}
		name := filepath.Join(s.state, to, "lfts.dump")
		if err := os.WriteFile(name, []byte(to), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *moving) says(text string) {
	at := time.Date(time.Now().Year()-1, 11, 23, 23, 59, 10, 0, time.Local)
	if err := os.WriteFile(s.log, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chtimes(s.log, at, at); err != nil {
		s.t.Fatal(err)
	}
}

func (s *moving) read(_, tables string, _ uint16) (*Snapshot, error) {
	s.reads++
	name := filepath.Join(tables, "opensm-lfts.dump")
	text, err := os.ReadFile(name)
	if err != nil {
		text, err = os.ReadFile(filepath.Join(tables, "lfts.dump"))
	}
	if s.moves != nil {
		s.moves(s, s.reads)
	}
	if err != nil {
		return nil, err
	}
	if seen := s.steps[string(text)]; seen != nil {
		return seen, nil
	}
	return nil, os.ErrNotExist
}
