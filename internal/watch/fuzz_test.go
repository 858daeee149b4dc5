package watch

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/configfile"
)

// Settings are read and checked, or refused with a line or a key.
func FuzzConfig(f *testing.F) {
	text, err := os.ReadFile("../../build/packaging/watch.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("commands:\n  - fabric.ibnetdiscover = /bin/true\ntimeout: 5s\nstate: /s\ncontract: single:3\nmulticast_sl: 0,2\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadConfig(strings.NewReader(text))
		if err != nil {
			return
		}
		s, err := c.check()
		if wrong := (*configfile.Wrong)(nil); err != nil && !errors.As(err, &wrong) {
			t.Errorf("%v names no setting", err)
		}
		if err == nil && (s.Every <= 0 || s.Settle <= 0 || s.Timeout <= 0 || s.Keep < 2 || s.State == "" || s.trees == 0) {
			t.Errorf("%+v passes", s.Config)
		}
	})
}

// Whatever lies in a state folder: a watch begins, and what it cannot read it says. Nothing
// is written beside the folders that it is given.
func FuzzState(f *testing.F) {
	const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	f.Add([]byte(`{"look":1,"at":"2026-11-22T10:00:00Z","files":[{"name":"lfts.dump","bytes":3,"sha256":"`+sum+`"}],"verdict":"deadlock-free"}`), []byte(`{"look":1,"alarms":[{"kind":"cut-off"}]}`), []byte("\x1f\x8b\x08\x00"))
	f.Add([]byte(`{"look":1,"files":[{"name":"../../beside","sha256":"../x"}]}`), []byte("null"), []byte{})
	f.Add([]byte(`{"look":1,"files":[{"name":"fabric.ibnetdiscover.gz","sha256":"`+sum+`"}]}`), []byte("{}"), []byte("rubbish"))
	f.Fuzz(func(t *testing.T, look, status, packed []byte) {
		dir := t.TempDir()
		state := filepath.Join(dir, "state")
		for _, d := range []string{looksFolder, filesFolder} {
			if err := os.MkdirAll(filepath.Join(state, d), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string][]byte{
			filepath.Join(looksFolder, lookName(1)): look, statusName: status, filepath.Join(filesFolder, sum+".gz"): packed,
		} {
			if err := os.WriteFile(filepath.Join(state, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := OpenStore(state)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Health(); err != nil && bytes.Equal(status, []byte("{}")) {
			t.Error(err)
		}
		into := filepath.Join(dir, "into")
		if err := os.Mkdir(into, 0o700); err != nil {
			t.Fatal(err)
		}
		if l, err := s.Look(0); err == nil {
			_ = s.Files(l, into) // they may be missing, or no gzip
		}
		w := &Watcher{Config: Config{Folder: dir, State: state}, Log: slog.New(slog.DiscardHandler), Read: func(network, _ string, _ uint16) (*Snapshot, error) {
			return nil, errors.New("this test reads no networks")
		}}
		r, err := w.begin()
		if err != nil {
			t.Fatal(err)
		}
		endWhole(r)
		if beside, err := os.ReadDir(dir); err != nil || len(beside) != 2 {
			t.Errorf("%v, %v: something was written beside", beside, err)
		}
	})
}
