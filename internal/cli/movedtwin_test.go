package cli

import (
	"bufio"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// This is a judge of changes of tables that knows nothing but the network that a file states and the
// folders of tables: it reads these by itself, walks every pair packet by packet, and looks for a
// circle depth first.

// twinTables is what a folder of tables states, by LID, switch and source.
type twinTables struct {
	ports map[twinEntry]uint8
	maps  map[twinTurn][16]uint8
	sls   map[twinPair]uint8
}

type (
	twinEntry struct {
		at  fabric.GUID
		lid fabric.LID
	}
	twinTurn struct {
		at      fabric.GUID
		in, out uint8
	}
	twinPair struct {
		from fabric.GUID // of a node: those here have a port each
		lid  fabric.LID
	}
)

func readTwin(t *testing.T, dir string) *twinTables {
	t.Helper()
	w := &twinTables{map[twinEntry]uint8{}, map[twinTurn][16]uint8{}, map[twinPair]uint8{}}
	var at fabric.GUID
	eachLine(t, filepath.Join(dir, "lfts.dump"), func(line string) {
		if _, after, ok := strings.Cut(line, " guid 0x"); ok {
			fmt.Sscanf(after, "%x", &at)
			return
		}
		if words := strings.Fields(line); strings.HasPrefix(line, "0x") {
			w.ports[twinEntry{at, fabric.LID(numberIn(t, words[0]))}] = uint8(numberIn(t, words[1]))
		}
	})
	eachLine(t, filepath.Join(dir, "sl2vl.dump"), func(line string) {
		if fmt.Sscanf(line, "Switch 0x%x", &at); strings.HasPrefix(line, "#") {
			return
		}
		before, after, _ := strings.Cut(line, " : ")
		ports, lanes := strings.Fields(before), [16]uint8{}
		if after == "" {
			return
		}
		for sl, lane := range strings.Fields(after) {
			lanes[sl] = uint8(numberIn(t, lane))
		}
		w.maps[twinTurn{at, uint8(numberIn(t, ports[0])), uint8(numberIn(t, ports[1]))}] = lanes
	})
	eachLine(t, filepath.Join(dir, "paths.psl"), func(line string) {
		if words := strings.Fields(line); strings.HasPrefix(line, "0x") {
			w.sls[twinPair{fabric.GUID(numberIn(t, words[0])), fabric.LID(numberIn(t, words[1]))}] = uint8(numberIn(t, words[2]))
		}
	})
	if len(w.ports) == 0 || len(w.maps) == 0 || len(w.sls) == 0 {
		t.Fatalf("%s: %d entries, %d maps, %d service levels", dir, len(w.ports), len(w.maps), len(w.sls))
	}
	return w
}

// numberIn reads a number, of base 16 behind 0x.
func numberIn(t *testing.T, word string) uint64 {
	digits, hex := strings.CutPrefix(word, "0x")
	base := 10
	if hex {
		base = 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func eachLine(t *testing.T, file string, visit func(line string)) {
	t.Helper()
	text, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		visit(lines.Text())
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
}

// twinJudge judges mixtures of tables on a network.
type twinJudge struct {
	f     *fabric.Fabric
	any   bool // clients may use any service level; else that of the pair, and that of the way back
	hosts []fabric.EndpointID
}

// twinLane is a lane of a cable: a channel times 16, plus the lane.
type twinLane int32

func newTwinJudge(f *fabric.Fabric, contract string) *twinJudge {
	j := &twinJudge{f: f, any: contract == "any"}
	for i, e := range f.Endpoints() {
		if e.Class == fabric.HostAdapter && e.Switch != fabric.None {
			j.hosts = append(j.hosts, fabric.EndpointID(i))
		}
	}
	return j
}

// without is the judge while the links of some hosts are down.
func (j *twinJudge) without(names []string) *twinJudge {
	down := func(e fabric.EndpointID) bool { return slices.Contains(names, j.f.EndpointLabel(e)) }
	return &twinJudge{f: j.f, any: j.any, hosts: slices.DeleteFunc(slices.Clone(j.hosts), down)}
}

func (j *twinJudge) guid(e fabric.EndpointID) fabric.GUID { return j.f.Node(j.f.Endpoint(e).Node).GUID }

// each visits every ordered pair of a host and a LID of another.
func (j *twinJudge) each(visit func(from, to fabric.EndpointID, lid fabric.LID)) (pairs int64) {
	for _, to := range j.hosts {
		for lid := range j.f.Endpoint(to).LIDs() {
			for _, from := range j.hosts {
				if from != to {
					pairs++
					visit(from, to, lid)
				}
			}
		}
	}
	return pairs
}

// cut counts the pairs whose packets do not arrive, by some tables.
func (j *twinJudge) cut(w *twinTables) (cut, pairs int64) {
	pairs = j.each(func(from, to fabric.EndpointID, lid fabric.LID) {
		at := j.f.Endpoint(from).Switch
		for range j.f.Switches() + 1 {
			port, ok := w.ports[twinEntry{j.f.Node(at).GUID, lid}]
			if !ok {
				break
			}
			out := j.f.Out(at, port)
			if out == fabric.None {
				break
			}
			c := j.f.Channel(out)
			if int(c.To) >= j.f.Switches() {
				if c.To == j.f.Endpoint(to).Node && c.ToPort == j.f.Endpoint(to).Port {
					return
				}
				break
			}
			at = c.To
		}
		cut++
	})
	return cut, pairs
}

// loop is a circle of lanes that wait for each other in some mixture of tables, or nil.
func (j *twinJudge) loop(tables ...*twinTables) []twinLane {
	waits := map[twinLane]map[twinLane]bool{}
	alike := true // of all service levels, so that one stands for all
	for _, w := range tables {
		for _, m := range w.maps {
			for _, lane := range m {
				alike = alike && lane == m[0] && lane != 15
			}
		}
	}
	j.each(func(from, to fabric.EndpointID, lid fabric.LID) {
		sls := uint32(0)
		for _, w := range tables {
			if sl, ok := w.sls[twinPair{j.guid(from), lid}]; ok {
				sls |= 1 << sl
			}
		}
		if sls == 0 && !j.any {
			return
		}
		for back := range j.f.Endpoint(from).LIDs() { // answers come on the service level of the request
			for _, w := range tables {
				if sl, ok := w.sls[twinPair{j.guid(to), back}]; ok {
					sls |= 1 << sl
				}
			}
		}
		if j.any {
			sls = 1<<16 - 1
		}
		for ; sls != 0; sls &= sls - 1 {
			j.walk(tables, waits, from, lid, uint8(bits.TrailingZeros32(sls)))
			if alike {
				break
			}
		}
	})
	return circleOf(waits)
}

// walk follows the packets of a pair on a service level by every entry and map that any of the
// tables has, and notes which lane waits for which.
func (j *twinJudge) walk(tables []*twinTables, waits map[twinLane]map[twinLane]bool, from fabric.EndpointID, lid fabric.LID, sl uint8) {
	type place struct {
		at    fabric.NodeID
		in    uint8
		holds twinLane
	}
	e := j.f.Endpoint(from)
	start := place{e.Switch, j.f.Channel(e.Inject).ToPort, -1}
	seen, todo := map[place]bool{start: true}, []place{start}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		at := j.f.Node(p.at).GUID
		for _, entries := range tables {
			port, ok := entries.ports[twinEntry{at, lid}]
			out := j.f.Out(p.at, port)
			if !ok || out == fabric.None || int(j.f.Channel(out).To) >= j.f.Switches() {
				continue
			}
			for _, maps := range tables {
				m, ok := maps.maps[twinTurn{at, p.in, port}]
				if !ok || m[sl] == 15 {
					continue
				}
				next := twinLane(out)*16 + twinLane(m[sl])
				if p.holds >= 0 {
					if waits[p.holds] == nil {
						waits[p.holds] = map[twinLane]bool{}
					}
					waits[p.holds][next] = true
				}
				if to := (place{j.f.Channel(out).To, j.f.Channel(out).ToPort, next}); !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
	}
}

// circleOf is a circle in a graph, or nil.
func circleOf(waits map[twinLane]map[twinLane]bool) (circle []twinLane) {
	state := map[twinLane]int{} // 1: on the way, 2: done
	var way []twinLane
	var visit func(v twinLane) bool
	visit = func(v twinLane) bool {
		state[v] = 1
		way = append(way, v)
		for next := range waits[v] {
			if state[next] == 1 || state[next] == 0 && visit(next) {
				return true
			}
		}
		state[v] = 2
		way = way[:len(way)-1]
		return false
	}
	for v := range waits {
		if state[v] == 0 && visit(v) {
			return way
		}
	}
	return nil
}
