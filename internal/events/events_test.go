package events

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// What is written is read back in order, over files that were rotated and a line that a killed run left
// half; the oldest are forgotten, and nothing else is in the folder.
func TestLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(from, to int) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		l := New("serve")
		l.To(root, slog.New(slog.DiscardHandler))
		for i := from; i < to; i++ {
			l.Add(result.Event{At: time.Unix(int64(i), 0), What: Refused, Text: fmt.Sprint(i, strings.Repeat(" ", 10<<10))})
			if i%256 == 255 { // more than wait at a time
				time.Sleep(10 * time.Millisecond)
			}
		}
		l.Close(time.Minute)
		if err := l.Failed(); err != nil {
			t.Error(err)
		}
	}
	run(0, 300)
	f, err := os.OpenFile(filepath.Join(dir, Name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"at":"2026`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	run(300, 800)
	all, damaged, err := Read(dir)
	if err != nil || damaged > 1 || len(all) < 400 || len(all) >= 800 {
		t.Fatalf("%d events, %d damaged, %v", len(all), damaged, err)
	}
	for i, e := range all {
		if want := 800 - len(all) + i; !strings.HasPrefix(e.Text, fmt.Sprint(want, " ")) || e.From != "serve" {
			t.Fatalf("event %d is %.20q", i, e.Text)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1+oldFiles {
		t.Errorf("%v, %v", files, err)
	}
	if _, _, err := Read(t.TempDir()); err == nil {
		t.Error("events where none are")
	}
}

// A disk that does not take them is told, and delays nobody.
func TestLogOnABadDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, Name), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := New("watch")
	for range 2 * waiting {
		l.Add(result.Event{What: Begin})
	}
	l.To(root, slog.New(slog.DiscardHandler))
	l.Close(time.Minute)
	if l.Failed() == nil {
		t.Error("nothing is wrong")
	}
	var none *Log
	none.Add(result.Event{})
	none.Close(0)
}

// What goes is missing until it is back, with the hosts of a switch under its name; and cables are one
// from both ends.
func TestMissing(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "xgft:m=4x4,w=2x4,hosts=2")
	without := func(c []fabric.ChannelID, n ...fabric.NodeID) *fabric.Fabric {
		g, err := f.Without(c, n)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	home := f.Endpoint(fabric.EndpointID(f.Switches())).Switch
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		less  *fabric.Fabric
		shown string
		all   int
	}{
		{without([]fabric.ChannelID{0}), "cable", 1},
		{without([]fabric.ChannelID{f.Channel(0).Reverse}), "cable", 1},
		{without(nil, home, f.Endpoint(fabric.EndpointID(f.Switches())).Node, f.Endpoint(fabric.EndpointID(f.Switches()+1)).Node), "switch", 3},
		{without(nil, f.Endpoint(fabric.EndpointID(f.Switches())).Node), "host", 1},
	} {
		gone, came := Between(f, c.less)
		list := Miss(nil, gone, came, now)
		if shown := Shown(list, 10); len(list) != c.all || len(shown) != 1 || shown[0].Kind != c.shown || shown[0].Name == "" || len(Shown(list, 0)) > 0 {
			t.Errorf("%+v", list)
		}
		if list = Miss(list, gone, nil, now); len(list) != c.all {
			t.Errorf("twice: %+v", list)
		}
		gone, came = Between(c.less, f)
		if left := Miss(list, gone, came, now); len(left) > 0 {
			t.Errorf("back, and %+v are missing", left)
		}
		if left := Miss(list, nil, nil, now.Add(forgetAfter+1)); len(left) > 0 {
			t.Errorf("after a week %+v", left)
		}
	}
}
