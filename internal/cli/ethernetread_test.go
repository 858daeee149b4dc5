package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/scramble"
	"github.com/weft-fabric/weft/internal/testnet"
)

// This file checks how folders of lossless Ethernet networks are read: networks are drawn and their folders written as
// FRR and SONiC have them, and weft verify says of each what testdata/ethernetchecker.py says, a reader and judge that
// shares nothing with weft but the files.

// ethernetChecker is testdata/ethernetchecker.py at work.
type ethernetChecker struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

func startEthernetChecker(t *testing.T) *ethernetChecker {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 (on Debian: apt-get install python3)")
	}
	cmd := exec.Command(python, "testdata/ethernetchecker.py", "--jobs")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("ethernetchecker.py: %v", err)
		}
	})
	return &ethernetChecker{in: in, out: bufio.NewScanner(out)}
}

// folderVerdict is what either says of a folder: members of weft verify --json, and the exit code.
type folderVerdict struct {
	Exit         int
	Verdict      string
	Devices      int
	Cables       int
	Prefixes     int
	HostPrefixes int `json:"host_prefixes"`
	Pairs        int
	Unreachable  int
	Loops        int `json:"forwarding_loops"`
	Dependencies int
	Priorities   []int `json:"lossless_priorities"`
}

// ask is what the checker says, why it refuses the folder, and whether buffers can wait for each other in a circle.
func (c *ethernetChecker) ask(t *testing.T, dir, vrf, endpoints string) (v folderVerdict, why string, buffers bool) {
	t.Helper()
	if err := json.NewEncoder(c.in).Encode(map[string]string{"folder": dir, "vrf": vrf, "endpoints": endpoints}); err != nil {
		t.Fatal(err)
	}
	if !c.out.Scan() {
		t.Fatal("ethernetchecker.py ended", c.out.Err())
	}
	var more struct {
		Why     string
		Buffers bool
	}
	if err := json.Unmarshal(c.out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(c.out.Bytes(), &more); err != nil {
		t.Fatal(err)
	}
	return v, more.Why, more.Buffers
}

// readByWeft is what weft verify says, and its error.
func readByWeft(t *testing.T, dir, vrf, endpoints string) (v folderVerdict, why string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"verify", dir, "--json", "--vrf", vrf, "--endpoints", endpoints}, strings.NewReader(""), &out, &errs)
	if code == exit.BadInput {
		return folderVerdict{Exit: code, Verdict: "refused"}, errs.String()
	}
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), errs.String())
	}
	v.Exit = code
	return v, ""
}

// save writes files in place of those that a folder had.
func save(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// damage changes a folder: parts are missing, or say something else.
func (n *drawnFolder) damage() string {
	r := n.r
	names := slices.Sorted(maps.Keys(n.files))
	plain := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return !strings.HasSuffix(s, ".json") && !strings.HasSuffix(s, ".txt") })
	if len(plain) == 0 {
		return "nothing"
	}
	name := plain[r.IntN(len(plain))]
	switch r.IntN(6) {
	case 0: // a device is missing
		device := name[:strings.IndexAny(name, "/.")]
		maps.DeleteFunc(n.files, func(file, _ string) bool {
			return strings.HasPrefix(file, device+".") || strings.HasPrefix(file, device+"/")
		})
		return "without " + device
	case 1:
		delete(n.files, name)
		return "without " + name
	case 2: // as of another device, or before something happened
		other := plain[r.IntN(len(plain))]
		n.files[name], n.files[other] = n.files[other], n.files[name]
		return "exchanged " + name + " and " + other
	case 3:
		n.files[name] = scramble.Of(n.files[name])[1+r.IntN(60)]
		return "scrambled " + name
	}
	var v any
	d := json.NewDecoder(strings.NewReader(n.files[name]))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return "nothing"
	}
	what := ""
	for range 1 + r.IntN(3) {
		what += " " + n.spoil(v)
	}
	n.files[name] = n.text(v)
	return name + what
}

// spoil takes something out of a value of JSON, or gives it another.
func (n *drawnFolder) spoil(v any) string {
	type place struct {
		in  any
		key string
	}
	var places []place
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case fields:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				places = append(places, place{v, k})
				walk(v[k])
			}
		case []any:
			for i := range v {
				places = append(places, place{v, strconv.Itoa(i)})
				walk(v[i])
			}
		}
	}
	walk(v)
	if len(places) == 0 {
		return ""
	}
	p, q := places[n.r.IntN(len(places))], places[n.r.IntN(len(places))]
	get := func(p place) any {
		if list, ok := p.in.([]any); ok {
			i, _ := strconv.Atoi(p.key)
			return list[i]
		}
		return p.in.(fields)[p.key]
	}
	put := func(p place, v any) {
		if list, ok := p.in.([]any); ok {
			i, _ := strconv.Atoi(p.key)
			list[i] = v
			return
		}
		p.in.(fields)[p.key] = v
	}
	switch old, list := get(p), p.in; {
	case n.one(3):
		if _, ok := list.([]any); !ok {
			delete(list.(fields), p.key)
			return "without " + p.key
		}
		put(p, fields{})
	case n.one(2): // of the same kind, from elsewhere
		b, _ := json.Marshal(get(q))
		var other any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if d.Decode(&other) == nil && reflect.TypeOf(other) == reflect.TypeOf(old) {
			put(p, other)
		}
	default:
		switch old := old.(type) {
		case bool:
			put(p, !old)
		case string:
			put(p, []string{"", "0", "7", "8", "3", "4", "down", "10.0.0.1", "default", "Ethernet4", old + ".7"}[n.r.IntN(11)])
		case json.Number:
			put(p, json.Number("9"))
		default:
			put(p, nil)
		}
	}
	return "other " + p.key
}

// weft verify says of drawn folders what the checker does, and of damaged ones nothing better.
func TestFoldersReadBack(t *testing.T) {
	c := startEthernetChecker(t)
	seed, networks, damages := uint64(20261127), testnet.Of(30, 4), testnet.Of(2, 1)
	if s, err := strconv.ParseUint(os.Getenv("WEFT_SEED"), 10, 64); err == nil {
		seed = s
	}
	if os.Getenv("WEFT_THOROUGH") != "" {
		networks, damages = 2000, 200
	}
	kinds := map[string]int{}
	dir := filepath.Join(t.TempDir(), "folder")
	compare := func(n *drawnFolder, endpoints, what string, damaged bool) {
		save(t, dir, n.files)
		vrf := cmp.Or(n.vrf, "default")
		want, refused, buffers := c.ask(t, dir, vrf, endpoints)
		got, why := readByWeft(t, dir, vrf, endpoints)
		alike := reflect.DeepEqual(got, want) && !(buffers && got.Verdict == "deadlock-free")
		kind := fmt.Sprintf("%s, exit code %d", want.Verdict, want.Exit)
		if damaged {
			// weft may refuse what the checker does not look at.
			alike = alike || got.Exit == exit.BadInput
			kind = "damaged: " + kind
		}
		if !alike {
			t.Errorf("%s: weft %+v %s\nchecker %+v %s, buffers in a circle %v", what, got, why, want, refused, buffers)
			if keep := os.Getenv("WEFT_KEEP"); keep != "" {
				save(t, filepath.Join(keep, fmt.Sprint(len(kinds), "-", strings.ReplaceAll(what, "/", " "))), n.files)
			}
		}
		kinds[kind]++
	}
	real, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("WEFT_CORPUS"), "../../../shared"), "ethernet", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob("../../examples/ethernet/*")
	if err != nil || len(examples) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range real {
		examples = append(examples, filepath.Dir(file))
	}
	slices.Sort(examples)
	for i, example := range slices.Compact(examples) {
		for _, endpoints := range [...]string{"hosts", "all"} {
			n := &drawnFolder{r: rand.New(rand.NewPCG(seed, uint64(i))), files: map[string]string{}}
			if err := filepath.WalkDir(example, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				n.files[strings.TrimPrefix(path, example+"/")] = string(text)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			compare(n, endpoints, example, false)
			for range damages {
				n := &drawnFolder{r: n.r, files: maps.Clone(n.files)}
				what := n.damage()
				compare(n, endpoints, example+", "+what, true)
			}
		}
	}
	for i := range networks {
		n := drawFolder(rand.New(rand.NewPCG(seed, uint64(i))))
		endpoints := []string{"hosts", "hosts", "all"}[i%3]
		compare(n, endpoints, fmt.Sprintf("network %d", i), false)
		compare(n, endpoints, fmt.Sprintf("network %d, %s", i, n.damage()), true)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%s: %d folders", kind, kinds[kind])
	}
	for _, kind := range [...]string{"deadlock-free, exit code 0", "deadlock-free, exit code 1", "credit-loop, exit code 1", "refused, exit code 3", "damaged: credit-loop, exit code 1"} {
		if kinds[kind] < max(1, networks/30) {
			t.Errorf("%s: %d folders, which tests little", kind, kinds[kind])
		}
	}
}
