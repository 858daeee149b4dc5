package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/opensm/advice"
	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// installed is what a stock OpenSM makes of a configuration, told naively: by its
// files alone, and by what is in the switches where it writes nothing.
type installed struct {
	f    *fabric.Fabric
	conf *conf.Conf
}

// configured reads lines of opensm.conf, and sees that OpenSM has no other way to
// tables than the file.
func configured(t *testing.T, f *fabric.Fabric, lines string) *installed {
	t.Helper()
	c, err := conf.Read(strings.NewReader(lines), "opensm.conf")
	if err != nil {
		t.Fatal(err)
	}
	if names, only := c.Engines(); !slices.Equal(names, []string{"file"}) || !only {
		t.Fatalf("engines %q, no_fallback %v", names, only)
	}
	for _, o := range c.Options {
		if !conf.Known(o.Key) {
			t.Errorf("OpenSM knows no option %s", o.Key)
		}
	}
	return &installed{f, c}
}

func opened(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// tables is the forwarding tables with the service levels of PathRecords. left is
// the SL2VL maps that ports have where OpenSM writes none.
func (i *installed) tables(t *testing.T, left *routing.SL2VL) *routing.Tables {
	t.Helper()
	name, _ := i.conf.Get("lfts_file")
	dump, err := lft.Read(opened(t, name), name, i.f, lft.Join{})
	if err != nil {
		t.Fatal(err)
	}
	tables := &routing.Tables{Fabric: i.f, Forwarding: dump.Forwarding}
	if !i.conf.Bool("qos", false) {
		tables.Lanes = routing.OneSL(i.f, left)
		return tables
	}
	var lane [routing.SLs]uint8
	text, _ := i.conf.Get("qos_swe_sl2vl")
	for sl, vl := range strings.Split(text, ",") {
		n, err := strconv.Atoi(vl)
		if err != nil {
			t.Fatal(err)
		}
		lane[sl] = uint8(n)
	}
	tables.Lanes = routing.NewLanes(i.f, routing.UniformSL2VL(lane))
	levels := i.policy(t)
	for lid, e := range i.f.LIDs() {
		row := tables.Lanes.SLRow(lid)
		for s := range row {
			row[s] = levels[i.f.Endpoint(e).PortGUID]
		}
	}
	return tables
}

// policy is the service level of each port by the QoS policy: the groups are called
// weft-slN, and whoever is in none has the DEFAULT of 0.
func (i *installed) policy(t *testing.T) map[fabric.GUID]uint8 {
	t.Helper()
	name, ok := i.conf.Get("qos_policy_file")
	if !ok {
		t.Fatal("QoS without a policy")
	}
	guid := regexp.MustCompile(`0x[0-9a-f]{16}`)
	levels, sl := map[fabric.GUID]uint8{}, 0
	lines := bufio.NewScanner(opened(t, name))
	for lines.Scan() {
		if _, number, ok := strings.Cut(lines.Text(), "name: weft-sl"); ok {
			sl, _ = strconv.Atoi(number)
		}
		for _, g := range guid.FindAllString(lines.Text(), -1) {
			n, err := strconv.ParseUint(g, 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			levels[fabric.GUID(n)] = uint8(sl)
		}
	}
	return levels
}

func isFree(t *testing.T, tables *routing.Tables, contract string) bool {
	t.Helper()
	k, err := routing.ParseContract(contract)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: k, NoCycle: true})
	if err != nil {
		t.Fatal(err)
	}
	return v.Free()
}

// Whatever route advises, installed as advised, has no credit loop; and where it
// advises against the file alone, the file alone has one. On every kind of network
// by every engine; in a sample every engine on a third of them.
func TestAdviceIsSafeAsInstalled(t *testing.T) {
	_, list, _ := runWeft("engines", "--json")
	var all []result.Engine
	if err := json.Unmarshal([]byte(list), &all); err != nil {
		t.Fatal(err)
	}
	ways := map[advice.By]int{}
	for j, spec := range []string{"ring:7,hosts=2", "torus:4x4", "torus:5x5", "dragonfly:p=2", "karytree:k=3,n=2"} {
		f := testnet.Build(t, spec)
		for i, e := range all {
			if (i+j)%3 > 0 && !testnet.Whole() {
				continue
			}
			for _, contract := range []string{"", "single:0", "directed"} {
				args := []string{"route", spec, "--engine", e.Name, "--out", filepath.Join(t.TempDir(), "t"), "--json"}
				if contract != "" {
					args = append(args, "--contract", contract)
				}
				code, out, stderr := runWeft(args...)
				if code == exit.Found || code == exit.BadUsage { // refused, or a loop, or an engine that takes several addresses
					continue
				}
				var s result.Route
				if err := json.Unmarshal([]byte(out), &s); code != exit.OK || err != nil || s.Install == nil {
					t.Fatalf("%q: exit code %d, %v\n%s", args, code, err, stderr)
				}
				ways[advice.By(s.Install.By)]++
				checkAdvice(t, f, args, &s)
			}
		}
	}
	for _, by := range []advice.By{advice.File, advice.Policy, advice.Plugin} {
		if ways[by] == 0 {
			t.Errorf("nothing was to be installed by %s: %v", by, ways)
		}
	}
}

// checkAdvice installs what weft route said.
func checkAdvice(t *testing.T, f *fabric.Fabric, args []string, s *result.Route) {
	t.Helper()
	dir := args[slices.Index(args, "--out")+1]
	maps, err := slvl.Read(opened(t, filepath.Join(dir, tablefiles.SL2VLFile)), tablefiles.SL2VLFile, f)
	if err != nil {
		t.Fatal(err)
	}
	byFileAlone := "routing_engine file,no_fallback\nlfts_file " + filepath.Join(dir, tablefiles.ForwardingFile) + "\n"
	if advice.By(s.Install.By) == advice.File {
		byFileAlone = strings.Join(s.Install.Lines, "\n")
	}
	alone := configured(t, f, byFileAlone)
	// Those of the tables may have been left by the plugin, others by anybody.
	free := true
	for _, left := range []*routing.SL2VL{maps, anyMaps(f, 1), anyMaps(f, 2), routing.LanePerSL(1), routing.LanePerSL(15)} {
		free = free && isFree(t, alone.tables(t, left), "any")
	}
	if free != (advice.By(s.Install.By) == advice.File) {
		t.Errorf("%q: by the file alone free %v, and the advice is %+v", args, free, s.Install)
	}
	const permit = "event_plugin_options weft.contract=directed"
	if advice.By(s.Install.By) == advice.Plugin && (s.Install.Contract == "directed") != slices.Contains(s.Install.Lines, permit) {
		t.Errorf("%q: the plugin takes tables for directed only with %s, and for others without: %q", args, permit, s.Install.Lines)
	}
	if advice.By(s.Install.By) != advice.Policy {
		return
	}
	args = strings.Fields(s.Install.Command)[1:]
	if code, _, stderr := runWeft(args...); code != exit.OK {
		t.Fatalf("%q: exit code %d\n%s", args, code, stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir+"-opensm", "opensm.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if !isFree(t, configured(t, f, string(text)).tables(t, nil), s.Install.Contract) {
		t.Errorf("%q: with its policy it has a credit loop under contract %s", args, s.Install.Contract)
	}
}

// anyMaps is maps that differ at every pair of ports.
func anyMaps(f *fabric.Fabric, seed uint64) *routing.SL2VL {
	chance := rand.New(rand.NewPCG(seed, 0))
	m := routing.LanePerSL(1).PerPort(f)
	for s := range fabric.NodeID(f.Switches()) {
		for in := range f.Node(s).Ports + 1 {
			for out := range f.Node(s).Ports + 1 {
				for sl := range uint8(routing.SLs) {
					m.Set(s, uint8(in), uint8(out), sl, uint8(chance.IntN(routing.DefaultVLs)))
				}
			}
		}
	}
	return m
}

// The command that is advised routes as the one before it did, whatever its flags,
// and a shell reads it so.
func TestAdvisedCommand(t *testing.T) {
	at := filepath.Join(t.TempDir(), "o'ut")
	args := []string{"torus:4x4", "--engine", "nue", "--contract", "directed", "--vls", "4", "--sls", "8", "--lmc", "0", "--endpoints", "ca"}
	code, text, stderr := runWeft(append([]string{"route", "--out", at, "--json"}, args...)...)
	if code != exit.OK {
		t.Fatal(stderr)
	}
	var s result.Route
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Install == nil {
		t.Fatalf("%v in %s", err, text)
	}
	want := "weft deploy files torus:4x4 --engine nue --contract directed --endpoints ca --lmc 0 --sls 8 --vls 4 --out '" + strings.ReplaceAll(at, "'", `'\''`) + "-opensm'"
	if s.Install.Command != want {
		t.Errorf("%s, want %s", s.Install.Command, want)
	}
}
