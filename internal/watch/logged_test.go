package watch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// What OpenSM 3.3.23 wrote to its log in two sweeps: lash works; then lanes are taken away, and the lines
// after the errors are not there yet.
const lashWorks = `Nov 22 16:29:48 924669 [46A046C0] 0x02 -> lash_core: Lanes needed: 3, Balancing
Nov 22 16:29:48 925112 [46A046C0] 0x02 -> osm_ucast_mgr_process: lash tables configured on all switches
Nov 22 16:29:48 970451 [46A046C0] 0x02 -> SUBNET UP
`

const lashFails = `Nov 22 16:30:35 234959 [46A046C0] 0x01 -> lash_core: ERR 4D02: Lane requirements (2) exceed available lanes (1) with starting lane (0)
Nov 22 16:30:35 234981 [46A046C0] 0x01 -> ucast_mgr_route: lash: cannot build fwd tables
`

const minhopWorks = "Nov 22 16:30:35 240000 [46A046C0] 0x02 -> osm_ucast_mgr_process: minhop tables configured on all switches\n"

// A log that ends before the tables were made says nothing of them, but for an engine that failed.
func TestLogged(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		log        string
		age        time.Duration // of the tables, by that of the log
		asked      string
		noFallback bool
		engine     string
		behind     bool
	}{
		{lashWorks, time.Second, "lash", false, "lash", false},
		{lashWorks, 0, "lash", false, "lash", false},
		{lashWorks, -time.Second, "lash", false, "", true},
		{lashWorks + lashFails, -time.Second, "lash", false, "minhop", false},
		{lashWorks + lashFails, -time.Second, "LASH updn", false, "updn", false},
		{lashWorks + lashFails, -time.Second, "ftree lash", false, "minhop", false},
		{lashWorks + lashFails, -time.Second, "", false, "", true},
		{lashWorks + lashFails, -time.Second, "updn ftree", false, "", true},
		{lashWorks + lashFails, -time.Second, "lash", true, "lash", false},
		{lashWorks + lashFails, -time.Minute, "lash", false, "", true},
		{lashWorks + lashFails + minhopWorks, time.Second, "lash", false, "minhop", false},
		{lashWorks + lashFails + minhopWorks, -time.Second, "lash", false, "", true},
		{strings.ReplaceAll(lashFails, "fwd tables", "lid matrices"), -time.Second, "lash", false, "minhop", false},
		{"", time.Second, "lash", false, "", false},
		{"", -time.Second, "lash", false, "", true},
	} {
		path := filepath.Join(t.TempDir(), "opensm.log")
		if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
		said, err := readLog(path)
		if err != nil {
			t.Fatal(err)
		}
		engine, behind := said.engineOf(said.At.Add(-c.age), strings.Fields(c.asked), c.noFallback)
		if engine != c.engine || behind != c.behind {
			t.Errorf("tables %s older than the log, asked for %s: %q, behind %v; want %q, %v\n%s", c.age, c.asked, engine, behind, c.engine, c.behind, c.log)
		}
	}
	if engine, behind := (&logged{}).engineOf(now, nil, false); engine != "" || behind {
		t.Errorf("without a log: %q, behind %v", engine, behind)
	}
}

// OpenSM's MinHop keeps entries that are on shortest paths, so that tables do not show that LASH
// failed; its log shows it, though it ends before.
func TestFallbackThatChangesNoEntry(t *testing.T) {
	f := testnet.Build(t, "torus:4x4")
	log := filepath.Join(t.TempDir(), "opensm.log")
	s := newScene(t, Config{Engine: "lash", Log: log})
	tables := &Snapshot{Tables: tablesBy(t, f, "lash", 1), Maps: true}
	dump := filepath.Join(s.Folder, "opensm-lfts.dump")
	begin := time.Now().Add(-time.Hour)
	sweep := func(n int, text string, logAt int) *result.WatchLook {
		for path, at := range map[string]int{dump: 10 * n, log: logAt} {
			body := text
			if path == dump {
				body = "sweep " + strings.Repeat("!", n)
			}
			if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			when := begin.Add(time.Duration(at) * time.Second)
			if err := os.Chtimes(path, when, when); err != nil {
				t.Fatal(err)
			}
		}
		return s.show(tables)
	}
	if l := sweep(1, lashWorks, 11); l.Made == nil || l.Made.Engine != "lash" || l.LogStale {
		t.Fatalf("%+v", l.Made)
	}
	if l := sweep(2, lashWorks, 11); l.Made != nil || !l.LogStale {
		t.Errorf("the log is older than the tables: %+v", l.Made)
	}
	if l := sweep(3, lashWorks+lashFails, 29); !slices.Contains(kindsOf(l.Alarms), Fallback) || l.Made.Engine != "minhop" {
		t.Errorf("alarms %v, %+v", l.Alarms, l.Made)
	}
}

// OpenSM dumps its tables while a look waits for files to rest: the log that the look read first ends before these
// tables, and is read again.
func TestLogThatGoesOnWhileFilesRest(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "opensm.log")
	s := newScene(t, Config{Engine: "lash", Log: log})
	tables := &Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:4x4"), "lash", 1), SLs: true, Maps: true}
	begin, next := time.Now().Add(-time.Hour), filepath.Join(t.TempDir(), "next")
	put := func(path, text string, at int) {
		when := begin.Add(time.Duration(at) * time.Second)
		if err := errors.Join(os.WriteFile(next, []byte(text), 0o600), os.Chtimes(next, when, when), os.Rename(next, path)); err != nil {
			t.Error(err)
		}
	}
	dump := filepath.Join(s.Folder, "opensm-lfts.dump")
	put(dump, "sweep 1", 10)
	put(log, lashWorks, 11)
	if l := s.show(tables); l == nil || l.LogStale || len(l.Alarms) > 0 {
		t.Fatalf("%+v", l)
	}
	s.Settle = 500 * time.Millisecond
	const failed = lashWorks + lashFails + minhopWorks
	put(log, failed, 20)
	put(filepath.Join(s.Folder, "paths.psl"), "written first", 20)
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		time.Sleep(s.Settle / 5)
		put(log, failed+"Nov 22 16:30:35 970451 [46A046C0] 0x02 -> SUBNET UP\n", 22)
		put(dump, "sweep 2", 21)
	}()
	var l *result.WatchLook
	for over := false; !over; { // the last that is made until nothing is new: on a slow machine the first sees one file alone
		select {
		case <-swept:
			over = true
		default:
		}
		if seen, err := s.look(t.Context()); err != nil {
			t.Fatal(err)
		} else if seen != nil {
			l = seen
		}
	}
	if l.LogStale || !slices.Contains(kindsOf(l.Alarms), Fallback) || l.Made.Engine != "minhop" {
		t.Errorf("stale %v, alarms %v, %+v", l.LogStale, l.Alarms, l.Made)
	}
}

// What commands print has no time, so that a log that names another engine is believed, though they print
// the same as before.
func TestFallbackThatCommandsDoNotShow(t *testing.T) {
	log := filepath.Join(t.TempDir(), "opensm.log")
	s := newScene(t, Config{Engine: "lash", Log: log})
	s.shown["network"] = &Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:4x4"), "lash", 1), SLs: true, Maps: true}
	s.Folder, s.commands = "", []command{{file: ibnetdiscover, args: []string{"/bin/sh", "-c", "printf network"}}}
	s.Timeout = time.Minute
	for _, c := range []struct {
		text string
		want []string
	}{{lashWorks, nil}, {lashWorks + lashFails + minhopWorks, []string{Fallback}}} {
		if err := os.WriteFile(log, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := kindsOf(s.status.Alarms); !slices.Equal(got, c.want) {
			t.Errorf("alarms %v, want %v, after\n%s", got, c.want, c.text)
		}
	}
}

// The plugin's errors make tables suspect until there are some again, or another engine has routed; and
// whether OpenSM wrote tables since it dumped some is known by the time of its lines.
func TestLogOfThePlugin(t *testing.T) {
	t.Parallel()
	const (
		w002    = "Nov 23 23:59:02 584819 [4B5286C0] 0x01 -> weft: ERR W002: no tables for sweep 8: no daemon at /run/s: Connection refused; those of sweep 5 do not fit\n"
		w001    = "Nov 23 23:59:02 584819 [4B5286C0] 0x01 -> weft: ERR W001: no tables for sweep 1: no daemon at /run/s\n"
		w003    = "Nov 23 23:59:03 584819 [4B5286C0] 0x01 -> weft: ERR W003: no tables for sweep 9: no daemon; those of sweep 5 are proven for the fabric as it is, and stay\n"
		proven  = "Nov 23 23:59:05 146531 [4B5286C0] 0x02 -> weft: sweep 9: 32 switches, 1 lanes used, engine updn, proven; 0.074 s\n"
		ours    = "Nov 23 23:59:05 146532 [4B5286C0] 0x02 -> weft tables configured on all switches\n"
		another = "Nov 23 23:59:06 146531 [4B5286C0] 0x02 -> updn tables configured on all switches\n"
		cannot  = "Nov 23 23:59:06 146531 [4B5286C0] 0x01 -> weft: cannot build fwd tables.\n"
	)
	at := time.Date(2026, 11, 23, 23, 59, 10, 0, time.Local)
	for _, c := range []struct{ text, lack string }{
		{"", ""}, {proven + ours, ""}, {proven + ours + w002, "W002: no tables for sweep 8: no daemon"}, {w001 + cannot, "W001"},
		{w002 + proven, ""}, {w002 + w003, ""}, {w001 + another, ""}, {another + w001 + cannot, "W001"}, {w002 + ours, "W002"},
	} {
		name := filepath.Join(t.TempDir(), "osm.log")
		if err := errors.Join(os.WriteFile(name, []byte(c.text), 0o600), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
		said, err := readLog(name)
		if err != nil || (said.Lack == "") != (c.lack == "") || !strings.HasPrefix(said.Lack, c.lack) {
			t.Errorf("%q: %q, %v", c.text, said.Lack, err)
		}
		if said.lackAt(at.Add(time.Second)) != "" {
			t.Errorf("%q: there were tables since", c.text)
		}
		uses := strings.Contains(c.text, proven)
		dumped := time.Date(2026, 11, 23, 23, 59, 5, 120e6, time.Local) // 26 ms before the line
		if said.sinceDump(dumped) != uses || said.sinceDump(dumped.Add(10*time.Millisecond)) || said.sinceDump(time.Time{}) {
			t.Errorf("%q: used at %v", c.text, said.Given)
		}
		// Without parts of a second it takes a few.
		if said.Exact = false; said.sinceDump(dumped.Add(-3*time.Second)) != uses || said.sinceDump(dumped) {
			t.Errorf("%q: used at %v", c.text, said.Given)
		}
	}
	newYear := time.Date(2027, 1, 1, 0, 5, 0, 0, time.Local)
	if got := timeOf("Dec 31 23:59:59", newYear); got.Year() != 2026 || newYear.Sub(got) > 10*time.Minute {
		t.Error(got)
	}
	if !timeOf("Foo 99 1:2:3", newYear).IsZero() {
		t.Error("any time is one")
	}
}

// While a step is written entries may be as in the tables before it or as in those after it, each by itself.
func TestExpectedWhileAStepIsWritten(t *testing.T) {
	t.Parallel()
	r := &running{settings: &settings{Config: Config{Expect: filepath.Join(t.TempDir(), "last-good")}}}
	if got := r.expected(); len(got) != 1 {
		t.Error(got)
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(r.Expect), "before"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := r.expected(); len(got) != 2 {
		t.Error(got)
	}
	f := testnet.Build(t, "ring:4,hosts=1")
	tables := func(change func(*routing.Forwarding)) *routing.Tables {
		fw := routing.NewForwarding(f)
		change(fw)
		return &routing.Tables{Fabric: f, Forwarding: fw}
	}
	lid := f.Endpoint(fabric.EndpointID(f.Switches())).LID
	before, after := tables(func(fw *routing.Forwarding) {}), tables(func(fw *routing.Forwarding) { fw.Row(lid)[0], fw.Row(lid)[1] = 1, 1 })
	half := tables(func(fw *routing.Forwarding) { fw.Row(lid)[0] = 1 })
	other := tables(func(fw *routing.Forwarding) { fw.Row(lid)[0] = 2 })
	for _, c := range []struct {
		now  *routing.Tables
		want []int // of before, of both
	}{{before, []int{0, 0}}, {after, []int{2, 0}}, {half, []int{1, 0}}, {other, []int{1, 1}}} {
		if a, b := differing(&Snapshot{Tables: c.now}, []*routing.Tables{before}), differing(&Snapshot{Tables: c.now}, []*routing.Tables{after, before}); a != c.want[0] || b != c.want[1] {
			t.Errorf("%d, %d, want %v", a, b, c.want)
		}
	}
}

// Who changed tables is said as far as it is known: a step of weft serve's is no repair by the watch.
func TestWhoChangedTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		look     result.WatchLook
		by, text string
	}{
		{result.WatchLook{Made: &result.LookMade{Engine: "weft"}}, events.ByServe, "other forwarding tables"},
		{result.WatchLook{HandedOver: true}, events.ByServe, "other forwarding tables"},
		{result.WatchLook{Made: &result.LookMade{Engine: "minhop"}}, "OpenSM", "minhop"},
		{result.WatchLook{Made: &result.LookMade{Engine: "weft"}, Lack: "W002"}, "OpenSM", "has no tables"},
		{result.WatchLook{}, "", "by whom is not known"},
	} {
		if by, text := changedBy(&c.look); by != c.by || !strings.Contains(text, c.text) {
			t.Errorf("%+v: by %q, %s", c.look, by, text)
		}
	}
}

// A log that was rotated says nothing at first: what it said before of the tables that are there holds on, until it says
// otherwise or OpenSM has dumped others.
func TestRotatedLog(t *testing.T) {
	begin := time.Date(2026, 11, 22, 17, 0, 0, 0, time.Local)
	const lacks = "Nov 22 16:30:36 000000 [46A046C0] 0x01 -> weft: ERR W002: no tables for sweep 3: no daemon\n"
	const proven = "Nov 22 16:30:35 000000 [46A046C0] 0x02 -> weft: sweep 2: 5 switches, 1 lanes used, engine updn, proven; 0.1 s\n"
	dumped := begin.Add(-time.Hour)
	name := filepath.Join(t.TempDir(), "opensm.log")
	at := func(text string, at time.Time) *logged {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
		said, err := readLog(name)
		if err != nil {
			t.Fatal(err)
		}
		return &said
	}
	full := at(strings.ReplaceAll(lashWorks, "lash tables", "weft tables")+proven+lacks, begin)
	if full.lackAt(dumped) == "" || !full.sinceDump(dumped) {
		t.Fatalf("%+v", full)
	}
	for _, c := range []struct {
		name    string
		now     *logged
		written time.Time
		lacks   bool
		engine  string
		since   bool // tables of weft's were used since the dump
	}{
		{"an empty one", at("", begin.Add(time.Minute)), dumped, true, "weft", true},
		{"none yet", &logged{OpenSMLog: result.OpenSMLog{Path: name}}, dumped, true, "weft", true},
		{"one that says that there are tables", at(proven, begin.Add(time.Minute)), dumped, false, "weft", true},
		{"one that names an engine", at(minhopWorks, begin.Add(time.Minute)), dumped, false, "minhop", true},
		{"that of another", &logged{OpenSMLog: result.OpenSMLog{Path: "other.log", At: begin}}, dumped, false, "", false},
		{"other tables were dumped meanwhile", at("", begin.Add(time.Minute)), begin.Add(30 * time.Second), false, "", false},
	} {
		c.now.takeOver(&full.OpenSMLog, c.written)
		engine, _ := c.now.engineOf(c.written, nil, false)
		if (c.now.lackAt(c.written) != "") != c.lacks || engine != c.engine || c.now.sinceDump(c.written) != c.since {
			t.Errorf("%s: lack %q, engine %q, %+v", c.name, c.now.lackAt(c.written), engine, c.now)
		}
	}
	alone := at("", begin)
	alone.takeOver(nil, dumped)
	if alone.lackAt(dumped) != "" {
		t.Errorf("%+v", alone)
	}
}

// A line of the hour that comes twice where summer ends is of the first one until the second has come; in zones in which
// Go takes such a time for the first, and for the second.
func TestHourThatComesTwice(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"Europe/Berlin": "Oct 25 02:30:00", "America/New_York": "Nov  1 01:30:00"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		second := map[string]time.Time{
			"Europe/Berlin": time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC), "America/New_York": time.Date(2026, 11, 1, 6, 30, 0, 0, time.UTC),
		}[name]
		for written, want := range map[time.Time]time.Time{
			second.Add(-50 * time.Minute): second.Add(-time.Hour), second.Add(time.Minute): second, second.Add(48 * time.Hour): second,
		} {
			if got := timeIn(zone, line, written); !got.Equal(want) {
				t.Errorf("%s: a log of %v: %v, want %v", name, written, got.UTC(), want)
			}
		}
		if plain := second.Add(-10 * time.Hour).In(zone); !timeIn(zone, plain.Format(time.Stamp), second).Equal(plain) {
			t.Errorf("%s: %v", name, plain)
		}
	}
}
