package live

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
)

// The ring and the line: switches s0, s1, … with two adapters each, h0-0, h0-1,
// h1-0, …; port 1 leads to the switch before, port 2 to the next, ports 3 and 4
// to the adapters.
const (
	ring = "testdata/ring5.ibnet"
	line = "testdata/line4.ibnet"
	size = 5 // switches of the ring
)

func TestMinHopOnARingLoops(t *testing.T) {
	t.Parallel()
	d := OpenSM(t, ring, map[string]string{"routing_engine": "minhop", "qos": "TRUE"}, nil)
	if d.Engine != "minhop" {
		t.Errorf("the tables are by %q, want minhop", d.Engine)
	}
	for _, dump := range []string{d.LFTs, d.FDBs, d.Subnet, d.SL2VL, d.GUID2LID, d.Log} {
		if info, err := os.Stat(dump); err != nil || info.Size() == 0 {
			t.Errorf("dump %s: missing or empty (%v)", filepath.Base(dump), err)
		}
	}
	if got, out := Check(t, d.Input()); got != Loop {
		t.Errorf("minhop on a ring: %v, want %v\n%s", got, Loop, lastLines(out))
	}
}

func TestMinHopOnALineDoesNotLoop(t *testing.T) {
	t.Parallel()
	d := OpenSM(t, line, map[string]string{"routing_engine": "minhop"}, nil)
	if got, out := Check(t, d.Input()); got != NoLoop {
		t.Errorf("a line: %v, want %v\n%s", got, NoLoop, lastLines(out))
	}
	if _, err := os.Stat(d.SL2VL); err == nil {
		t.Error("SL2VL tables were dumped without qos TRUE; the comment on Dumps says otherwise")
	}
}

// OpenSM finds no roots in a ring, and falls back to MinHop without failing.
func TestEngineTellsOfAFallback(t *testing.T) {
	t.Parallel()
	d := OpenSM(t, ring, map[string]string{"routing_engine": "updn"}, nil)
	if d.Engine != "minhop" {
		t.Errorf("updn on a ring without roots: tables by %q, want minhop", d.Engine)
	}
}

// A dateline at the cable between the last switch and the first breaks the loop
// when the service levels and the lanes both say so.
func TestServiceLevelsAndLanes(t *testing.T) {
	t.Parallel()
	d := OpenSM(t, ring, map[string]string{"routing_engine": "minhop", "qos": "TRUE"}, nil)
	lids := lidsOf(t, d.GUID2LID)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	dateline := file("dateline", pathSLs(lids, func(from, to int) int {
		if clockwise := (to-from+size)%size <= size/2; clockwise == (from < to) {
			return 0 // does not cross
		}
		return 1
	}))
	three := file("three", pathSLs(lids, func(int, int) int { return 3 }))
	oneLane := file("one", lanes(1))
	twoLanes := file("two", lanes(2))
	for _, c := range []struct {
		name      string
		psl, slvl string
		want      Verdict
	}{
		{"no files: SL 0", "", "", Loop},
		{"dateline, lane n for SL n", dateline, "", NoLoop},
		{"dateline, OpenSM's SL2VL", dateline, d.SL2VL, NoLoop},
		{"dateline, two lanes", dateline, twoLanes, NoLoop},
		{"dateline, one lane", dateline, oneLane, Loop},
		{"one SL, two lanes", three, twoLanes, Loop},
		{"a source with some SLs only", file("part", someOf(t, dateline, " 1\n")), "", Undecided},
		{"sources without any SL", file("none", ""), "", Loop},
	} {
		in := d.Input()
		in.PSL, in.SLVL = c.psl, c.slvl
		if got, out := Check(t, in); got != c.want {
			t.Errorf("%s: %v, want %v\n%s", c.name, got, c.want, lastLines(out))
		}
	}
}

// The LIDs of a fabric and the tables of a file come back as they were given.
func TestFileEngineKeepsTablesAndLIDs(t *testing.T) {
	t.Parallel()
	f := ringWithLIDs(t)
	var lfts strings.Builder
	want := map[string]string{} // "switch GUID, LID" to port
	for s := range fabric.NodeID(f.Switches()) {
		fmt.Fprintf(&lfts, "Unicast lids [0-%d] of switch Lid %d guid %s (''):\n", f.TopLID(), f.Endpoint(fabric.EndpointID(s)).LID, f.Node(s).GUID)
		for lid, e := range f.LIDs() {
			port := clockwise(f, s, e)
			fmt.Fprintf(&lfts, "0x%04x %03d\n", lid, port)
			want[fmt.Sprintf("%s 0x%04x", f.Node(s).GUID, lid)] = fmt.Sprintf("%03d", port)
		}
	}
	path := filepath.Join(t.TempDir(), "lfts")
	write(t, path, lfts.String())

	d := OpenSM(t, ring, map[string]string{"routing_engine": "file no_fallback", "lfts_file": path}, f)
	if d.Engine != "file" {
		t.Errorf("the tables are by %q, want file", d.Engine)
	}
	if diff := cmp.Diff(want, portsOf(t, d.LFTs)); diff != "" {
		t.Errorf("the tables OpenSM dumped differ from the file (-file +dump):\n%s", diff)
	}
	if got, out := Check(t, d.Input()); got != Loop {
		t.Errorf("clockwise round a ring: %v, want %v\n%s", got, Loop, lastLines(out))
	}
}

// What the file does not say is not routed, and OpenSM calls it a success.
func TestFileEngineRoutesNothingElse(t *testing.T) {
	t.Parallel()
	d := OpenSM(t, ring, map[string]string{"routing_engine": "minhop"}, nil)
	all, err := os.ReadFile(d.LFTs)
	if err != nil {
		t.Fatal(err)
	}
	// Without the last switch.
	cut := string(all[:strings.LastIndex(string(all), "Unicast lids")])
	path := filepath.Join(t.TempDir(), "lfts")
	write(t, path, cut)
	d = OpenSM(t, ring, map[string]string{"routing_engine": "file no_fallback", "lfts_file": path}, nil)
	if diff := cmp.Diff(portsOf(t, path), portsOf(t, d.LFTs)); diff != "" {
		t.Errorf("the tables OpenSM dumped differ from the file (-file +dump):\n%s", diff)
	}
	if got, out := Check(t, d.Input()); got != Undecided {
		t.Errorf("a switch without routes: %v, want %v\n%s", got, Undecided, lastLines(out))
	}
}

func TestNetFileIsCounted(t *testing.T) {
	n, err := readNetFile(ring)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(n.nodes, n.switches, n.ports, n.host)
	if want := fmt.Sprint(15, 5, 5*9+10*2, "H-0002c90300000000"); got != want {
		t.Errorf("nodes, switches, ports, host: %s, want %s", got, want)
	}
	if _, err := readNetFile("doc.go"); err == nil {
		t.Error("a file without adapters passes for a net file")
	}
}

// ringWithLIDs is the ring with LIDs that OpenSM would not choose by itself.
func ringWithLIDs(t *testing.T) *fabric.Fabric {
	text, err := os.ReadFile(ring)
	if err != nil {
		t.Fatal(err)
	}
	next := 300
	own := regexp.MustCompile(`(base port 0|#) lid 0 lmc 0`)
	text = own.ReplaceAllFunc(text, func(m []byte) []byte {
		next -= 7
		return []byte(strings.Replace(string(m), "lid 0", fmt.Sprintf("lid %d", next), 1))
	})
	f, err := ibnet.Read(strings.NewReader(string(text)), ring)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := int(f.TopLID()), 300-7; got != want {
		t.Fatalf("the ring has LIDs up to %d, want %d", got, want)
	}
	return f
}

// clockwise is the port of switch s towards an endpoint, always by port 2.
func clockwise(f *fabric.Fabric, s fabric.NodeID, to fabric.EndpointID) uint8 {
	e := f.Endpoint(to)
	switch {
	case e.Switch != s:
		return 2
	case e.Deliver == fabric.None:
		return 0
	}
	return f.Channel(e.Deliver).FromPort
}

// adapter is the node GUID of an adapter of the ring, [switch × 2 + number].
func adapter(i int) uint64 { return 0x0002c90300000000 + 16*uint64(i) }

// pathSLs is a PSL file, the service level by switch of source and destination.
func pathSLs(lids map[string]uint64, sl func(from, to int) int) string {
	var b strings.Builder
	for from := range 2 * size {
		for to := range 2 * size {
			if from != to {
				lid := lids[fmt.Sprintf("0x%016x", adapter(to)+1)]
				fmt.Fprintf(&b, "0x%016x %d %d\n", adapter(from), lid, sl(from/2, to/2))
			}
		}
	}
	return b.String()
}

// lanes is an SLVL file: SL n rides lane n mod vls at every port.
func lanes(vls int) string {
	var b strings.Builder
	for s := range size {
		for in := range 9 {
			for out := 1; out < 9; out++ {
				fmt.Fprintf(&b, "0x%016x %d %d", 0x0002c90200000000+s, in, out)
				for sl := 0; sl < 16; sl += 2 {
					fmt.Fprintf(&b, " 0x%x%x", sl%vls, (sl+1)%vls)
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// someOf is the lines of a file that end so.
func someOf(t *testing.T, path, end string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for l := range strings.Lines(string(text)) {
		if strings.HasSuffix(l, end) {
			kept.WriteString(l)
		}
	}
	return kept.String()
}

// lidsOf reads guid2lid.
func lidsOf(t *testing.T, path string) map[string]uint64 {
	lids := map[string]uint64{}
	eachLine(t, path, func(l string) {
		var guid string
		var first, last uint64
		if n, _ := fmt.Sscanf(l, "%s 0x%x 0x%x", &guid, &first, &last); n == 3 {
			lids[guid] = first
		}
	})
	return lids
}

// portsOf reads an lfts dump: "switch GUID, LID" to port.
func portsOf(t *testing.T, path string) map[string]string {
	header := regexp.MustCompile(`^Unicast lids .* guid (0x\w+)`)
	entry := regexp.MustCompile(`^(0x\w+) (\d+)`)
	ports, guid := map[string]string{}, ""
	eachLine(t, path, func(l string) {
		if m := header.FindStringSubmatch(l); m != nil {
			guid = m[1]
		} else if m := entry.FindStringSubmatch(l); m != nil {
			ports[guid+" "+m[1]] = m[2]
		}
	})
	return ports
}

func eachLine(t *testing.T, path string, f func(string)) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		f(lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
