package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

const groupsFile = "groups.far"

// routedWhole routes a network on all lanes.
func routedWhole(t *testing.T, f *fabric.Fabric) *routing.Tables {
	t.Helper()
	return routed.Of(t, f, "weave-any", routing.Budget{VLs: routing.DefaultVLs, Contract: routing.Any})
}

// edit changes a file of a folder.
func edit(t *testing.T, path string, f func(text string) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := f(string(text))
	if changed == string(text) {
		t.Fatalf("%s stays as it is", path)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

func emptied(string) string { return "" }

// cutAt leaves out all from the second place on where a text stands.
func cutAt(mark string) func(string) string {
	return func(text string) string {
		first := strings.Index(text, mark) + len(mark)
		return text[:first+strings.Index(text[first:], mark)]
	}
}

// instead puts one text in place of another, once.
func instead(old, now string) func(string) string {
	return func(text string) string { return strings.Replace(text, old, now, 1) }
}

// refusedAt asks weft-proof, which has to refuse a file with its line.
func refusedAt(t *testing.T, p *prover, file string, arguments ...string) {
	t.Helper()
	got, err := p.ask(arguments...)
	if err == nil || !strings.Contains(err.Error(), "(exit code 3)") || !regexp.MustCompile(regexp.QuoteMeta(file)+`:[1-9][0-9]*: `).MatchString(err.Error()) {
		t.Errorf("not refused with file and line: %+v, %v", got, err)
	}
}

func mustHold(t *testing.T, p *prover, arguments ...string) {
	t.Helper()
	if got, err := p.ask(arguments...); err != nil || !got.Holds {
		t.Errorf("not proven: %+v, %v", got, err)
	}
}

func writeUnion(dir string, f *fabric.Fabric, c *deadlock.Certificate) error {
	return writeFile(dir, transitionFile, func(w io.Writer) error { return certificate.Write(w, f, c) })
}

// The tables before a step are proven only if they are there: whatever their files lack of a switch that was there is
// refused, with a fabric of their own and without.
func TestProvenStepWantsAllOfBefore(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	tables := routed.Choosing(t, "dragonfly:p=2", "weave-any", 1, false)
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil || !v.Free() {
		t.Fatal(err)
	}
	top := t.TempDir()
	before, now, other := filepath.Join(top, "before"), filepath.Join(top, "now"), filepath.Join(top, "other")
	fresh := func() {
		t.Helper()
		if err := errors.Join(os.RemoveAll(before), os.RemoveAll(now), os.Mkdir(before, 0o700), os.Mkdir(now, 0o700),
			writeWhole(before, tables), writeWhole(now, tables), writeUnion(now, tables.Fabric, v.Certificate)); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(before, fabricFile)
	for _, c := range []struct {
		name string
		f    func(string) string
	}{
		{lftFile, emptied},
		{lftFile, cutAt("Unicast lids")},
		{sl2vlFile, emptied},
		{sl2vlFile, cutAt("Switch ")},
		{sl2vlFile, func(text string) string { return text[:strings.LastIndex(text, " : ")-8] }},
		{groupsFile, emptied},
		{groupsFile, cutAt("\nSwitch ")},
	} {
		fresh()
		mustHold(t, p, "--step", before, now)
		edit(t, filepath.Join(before, c.name), c.f)
		refusedAt(t, p, filepath.Join(before, c.name), "--step", before, now)
		if err := os.Remove(own); err != nil {
			t.Fatal(err)
		}
		refusedAt(t, p, filepath.Join(before, c.name), "--step", before, now)
	}
	// A fabric to which they do not belong: one with fewer switches, and one of other switches.
	fresh()
	if err := errors.Join(os.Mkdir(other, 0o700), mustWriteFabric(other, testnet.Build(t, "ring:4"))); err != nil {
		t.Fatal(err)
	}
	refusedAt(t, p, filepath.Join(before, lftFile), "--step", before, now, "--old-fabric", filepath.Join(other, fabricFile))
	elsewhere := func(text string) string {
		return strings.NewReplacer("0002c9", "0002ca", "0x2c9", "0x2ca", "(2c9", "(2ca").Replace(text)
	}
	for _, name := range []string{fabricFile, lftFile, sl2vlFile, pslFile, groupsFile} {
		edit(t, filepath.Join(before, name), func(text string) string { return elsewhere(text) + "\n" })
	}
	refusedAt(t, p, filepath.Join(before, lftFile), "--step", before, now)
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	refusedAt(t, p, filepath.Join(before, lftFile), "--step", before, now)
}

// A line that OLD lost would prove another step: no entry, level or choice goes missing unseen. Files that do not say how
// many lines they have, as OpenSM's dump of tables, are read, and the verdict says so.
func TestProvenStepSeesLostLines(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	tables := routed.Choosing(t, "torus:3x3", "dfsssp", 1, false)
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Honored})
	if err != nil || !v.Free() {
		t.Fatal(err)
	}
	top := t.TempDir()
	before, now := filepath.Join(top, "before"), filepath.Join(top, "now")
	fresh := func(form psl.Form) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(before), os.RemoveAll(now), os.Mkdir(before, 0o700), os.Mkdir(now, 0o700),
			writeWhole(before, tables), writeWhole(now, tables), writeUnion(now, tables.Fabric, v.Certificate),
			writeFile(before, pslFile, func(w io.Writer) error { return psl.Write(w, tables, form) })); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	says := regexp.MustCompile(`^(0x|[0-9]|Unicast|Switch|#port|#none|LFT|PLFT)`)
	for _, name := range []string{lftFile, sl2vlFile, pslFile, groupsFile} {
		for _, form := range []psl.Form{psl.Compact, psl.Full} {
			fresh(form)
			path := filepath.Join(before, name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := slices.Collect(strings.Lines(string(text)))
			for range 60 {
				at := rng.IntN(len(lines))
				if !says.MatchString(lines[at]) {
					continue
				}
				lost := strings.Join(slices.Delete(slices.Clone(lines), at, at+1), "")
				if err := os.WriteFile(path, []byte(lost), 0o600); err != nil {
					t.Fatal(err)
				}
				refusedAt(t, p, path, "--step", before, now)
				if t.Failed() {
					t.Fatalf("%s without line %d: %q", name, at+1, lines[at])
				}
			}
		}
	}
	uncounted := func(text string) string {
		return regexp.MustCompile(`\d+ valid lids dumped`).ReplaceAllString(text, fmt.Sprint(tables.Fabric.TopLID())+" lids dumped")
	}
	endless := func(text string) string { return text[:strings.LastIndex(text, "#end ")] }
	for _, c := range []struct {
		name, says string
		f          func(string) string
	}{{lftFile, "tables without counts", uncounted}, {pslFile, "no number of lines", endless}, {groupsFile, "no number of lines", endless}} {
		for _, dir := range []string{before, now} {
			fresh(psl.Compact)
			edit(t, filepath.Join(dir, c.name), c.f)
			got, err := p.ask("--step", before, now)
			if want := filepath.Join(dir, c.name) + ": " + c.says; err != nil || !got.Holds || len(got.Assumed) != 1 || !strings.HasPrefix(got.Assumed[0], want) {
				t.Errorf("%s without a number of lines: %+v, %v", c.name, got, err)
			}
		}
	}
	fresh(psl.Compact)
	if got, err := p.ask("--step", before, now); err != nil || !got.Holds || len(got.Assumed) != 0 {
		t.Errorf("with all numbers of lines: %+v, %v", got, err)
	}
	for _, c := range []struct{ name, old, now string }{
		{lftFile, " valid lids dumped", " lids dumped"}, // one table in another form than the others
		{pslFile, "#end ", "#end 1"},
		{groupsFile, "#end ", "#end 1"},
		{pslFile, "#end ", "#end x"},
	} {
		fresh(psl.Compact)
		edit(t, filepath.Join(before, c.name), instead(c.old, c.now))
		refusedAt(t, p, filepath.Join(before, c.name), "--step", before, now)
	}
	for _, name := range []string{pslFile, groupsFile} { // two files in one
		fresh(psl.Compact)
		edit(t, filepath.Join(before, name), func(text string) string { return text + text[strings.LastIndex(text, "\n0x")+1:] })
		refusedAt(t, p, filepath.Join(before, name), "--step", before, now)
	}
	fresh(psl.Compact)
	if err := os.Remove(filepath.Join(before, groupsFile)); err != nil {
		t.Fatal(err)
	}
	if got, err := p.ask("--step", before, now); err == nil || !strings.Contains(err.Error(), groupsFile+": missing") {
		t.Errorf("without its groups of ports: %+v, %v", got, err)
	}
}

func mustWriteFabric(dir string, f *fabric.Fabric) error {
	return writeFile(dir, fabricFile, func(w io.Writer) error { return ibnet.Write(w, f) })
}

// Switches go and come: what was not there before need not be in the tables of before.
func TestProvenStepsWhenSwitchesGoAndCome(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	whole := testnet.Build(t, "torus:4x4")
	failure := change.Switches(whole)[5]
	less, err := whole.Without(failure.Channels, failure.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to *fabric.Fabric
		bare     bool // without a fabric of their own as well
	}{{whole, less, true}, {less, whole, false}} {
		was := routedWhole(t, c.from)
		plan, err := change.Mend(t.Context(), was, c.to, change.Options{Contract: routing.Any})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Steps) == 0 {
			t.Fatal("no step")
		}
		before, now := filepath.Join(t.TempDir(), "before"), filepath.Join(t.TempDir(), "now")
		mustWriteFolder(t, before, was)
		mustWriteFolder(t, now, plan.Steps[0].Tables)
		if err := writeUnion(now, c.to, plan.Steps[0].Union.Certificate); err != nil {
			t.Fatal(err)
		}
		mustHold(t, p, "--step", before, now)
		if err := os.Rename(filepath.Join(before, fabricFile), filepath.Join(before, "fabric")); err != nil {
			t.Fatal(err)
		}
		mustHold(t, p, "--step", before, now, "--old-fabric", filepath.Join(before, "fabric"))
		if c.bare {
			mustHold(t, p, "--step", before, now)
		} else {
			refusedAt(t, p, filepath.Join(before, lftFile), "--step", before, now)
		}
	}
}

// Damage in text on which no verdict depends, or which decides who is in scope, is refused all the same.
func TestProvenCheckerRefusesDamagedText(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	tables := routedWhole(t, testnet.Build(t, "torus:3x3"))
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct{ name, old, now string }{
		{fabricFile, "devid=0x101b", "devid=0xcf09zz"},
		{fabricFile, "devid=0x101b", "devid=0x"},
		{fabricFile, "devid=0x101b", "devid=0x-1"},
		{fabricFile, "vendid=0x2c9", "vendid=0x..."},
		{fabricFile, "vendid=0x2c9", "vendid=0x10000002c9"},
		{fabricFile, "sysimgguid=0x", "sysimgguid=0xz"},
		{fabricFile, "(2c90200000001)", "(2c902000000z1)"},
		{fabricFile, "(2c90200000001)", "()"},
		{fabricFile, "(2c90100000000)\n", "(2c90100000000\n"},
		{fabricFile, "\nCa\t", "\n#Ca\t"},
		{fabricFile, "", ""},
		{lftFile, "portguid 0x0002", "portguid 0xz002"},
		{lftFile, "portguid", "portgiud"},
		{lftFile, "portguid 0x0002c90200000001", "portguid 0x0002c90200000002"},
		{lftFile, "\n0x0002 ", "\n#x0002 "},
		{sl2vlFile, "\n1   2 ", "\n#   2 "},
		{pslFile, "#weft\n", "#weft\n#nome 0x0002c90200000000 17\n"},
		{pslFile, "\n0x", "\n#x"},
		{lftFile, "", ""},
		{sl2vlFile, "", ""},
		{pslFile, "", ""},
		{pslFile, "\n0x0002c90200000000 11 0\n", "\n"},
		{certificateFile, "", ""},
	} {
		if err := errors.Join(writeFolder(dir, tables, psl.Full), writeCertificate(dir, tables.Fabric, v.Certificate)); err != nil {
			t.Fatal(err)
		}
		mustHold(t, p, dir)
		change := instead(c.old, c.now)
		if c.old == "" {
			change = emptied
		}
		edit(t, filepath.Join(dir, c.name), change)
		t.Log(c.name, c.now)
		refusedAt(t, p, filepath.Join(dir, c.name), dir)
	}
}

// A file that ends within a line may end within a number, of which the beginning is another one.
func TestProvenCheckerRefusesCutLines(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	tables := routedWhole(t, testnet.Build(t, "torus:3x3"))
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{fabricFile, lftFile, sl2vlFile, pslFile, certificateFile} {
		if err := errors.Join(writeFolder(dir, tables, psl.Full), writeCertificate(dir, tables.Fabric, v.Certificate)); err != nil {
			t.Fatal(err)
		}
		mustHold(t, p, dir)
		edit(t, filepath.Join(dir, name), func(text string) string { return strings.TrimRight(text, "\n") })
		refusedAt(t, p, filepath.Join(dir, name), dir)
	}
}

// A line that is lost within groups of ports would hide that a switch chooses.
func TestProvenCheckerRefusesLostChoices(t *testing.T) {
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	tables := routed.Choosing(t, "dragonfly:p=2", "weave-any", 1, false)
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil || !v.Free() {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(writeWhole(dir, tables), writeCertificate(dir, tables.Fabric, v.Certificate)); err != nil {
		t.Fatal(err)
	}
	mustHold(t, p, dir)
	path := filepath.Join(dir, groupsFile)
	edit(t, path, func(text string) string {
		at := regexp.MustCompile(`(?m)^0x.* Free .*\n`).FindStringIndex(text)
		return text[:at[0]] + text[at[1]:]
	})
	refusedAt(t, p, path, dir)
}

// Trees for multicast are outside of a verdict on a step, too, whichever of its folders has them.
func TestProvenStepNamesTrees(t *testing.T) {
	program := buildProver(t)
	if program == "" {
		t.SkipNow()
	}
	tables := routedWhole(t, testnet.Build(t, "ring:4"))
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		folders := []string{t.TempDir(), t.TempDir()}
		for _, dir := range folders {
			if err := errors.Join(writeFolder(dir, tables, psl.Full), writeUnion(dir, tables.Fabric, v.Certificate)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folders[i], "multicast.mcfdbs"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, code := runProver(t, program, "--json", "--step", folders[0], folders[1]); code != 0 || !strings.Contains(out, `"outside":["multicast"]`) {
			t.Errorf("trees in folder %d: %d, %s", i, code, out)
		}
	}
}

// runProver runs weft-proof for no longer than a moment.
func runProver(t *testing.T, program string, arguments ...string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, arguments...)
	text, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// What is there and cannot be opened is not absent, a pipe is not waited for, and an answer that cannot be written is an error.
func TestProvenCheckerOpensAndWrites(t *testing.T) {
	program := buildProver(t)
	if program == "" {
		t.SkipNow()
	}
	tables := routedWhole(t, testnet.Build(t, "ring:4"))
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(writeFolder(dir, tables, psl.Compact), writeCertificate(dir, tables.Fabric, v.Certificate)); err != nil {
		t.Fatal(err)
	}
	groups := filepath.Join(dir, groupsFile)
	for name, put := range map[string]func() error{
		"a link that leads nowhere": func() error { return os.Symlink("nowhere", groups) },
		"a link to itself":          func() error { return os.Symlink(groupsFile, groups) },
		"a folder":                  func() error { return os.Mkdir(groups, 0o700) },
		"a pipe":                    func() error { return exec.Command("mkfifo", groups).Run() },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		for _, arguments := range [][]string{{dir}, {"--deadlock", dir}} {
			if out, code := runProver(t, program, arguments...); code != 3 || !strings.Contains(out, groups) {
				t.Errorf("groups of ports are %s: %d, %s", name, code, out)
			}
		}
		if err := os.Remove(groups); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := runProver(t, program, dir); code != 0 {
		t.Errorf("%d, %s", code, out)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	for _, arguments := range []string{dir, "--json " + dir, "--help", "--deadlock " + dir} {
		if out, code := runProver(t, "/bin/sh", "-c", program+" "+arguments+" >/dev/full"); code != 4 || !strings.Contains(out, "standard output") {
			t.Errorf("%s to a full disk: %d, %s", arguments, code, out)
		}
	}
}

// An order by which packets come to stand is for the contract that the tables were made for, and for static ports.
func TestProvenDeadlockSaysWhatItIsAbout(t *testing.T) {
	program := buildProver(t)
	if program == "" {
		t.SkipNow()
	}
	tables := routed.Of(t, testnet.Build(t, "torus:4x4"), "minhop", routing.Budget{VLs: 1, Contract: routing.Any})
	dir := t.TempDir()
	if err := writeFolder(dir, tables, psl.Compact); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Deadlocks     bool
		Contract      string
		ContractFrom  string `json:"contract_from"`
		Endpoints     string
		EndpointsFrom string `json:"endpoints_from"`
		Outside       []string
	}
	ask := func(want int, flags ...string) (a answer) {
		t.Helper()
		out, code := runProver(t, program, append(flags, "--json", "--deadlock", dir)...)
		if err := json.Unmarshal([]byte(out), &a); err != nil || code != want {
			t.Fatalf("%d, not %d: %s", code, want, out)
		}
		return a
	}
	if a := ask(0); !a.Deadlocks || a.Contract != "any" || a.ContractFrom != "default" || len(a.Outside) != 0 {
		t.Errorf("%+v", a)
	}
	cert := &deadlock.Certificate{Contract: routing.Directed, Scope: routing.Adapters, Lanes: 1, Rank: make([]int32, tables.Fabric.Trunks())}
	if err := writeCertificate(dir, tables.Fabric, cert); err != nil {
		t.Fatal(err)
	}
	if a := ask(0); a.Contract != "directed" || a.ContractFrom != "certificate" || a.Endpoints != "ca" || a.EndpointsFrom != "certificate" {
		t.Errorf("%+v", a)
	}
	if a := ask(0, "--contract", "honored"); a.Contract != "honored" || a.ContractFrom != "flag" || a.Endpoints != "ca" {
		t.Errorf("%+v", a)
	}
	choosing := *tables
	choosing.Groups = routing.NewGroups(tables.Fabric, 1)
	for s := range fabric.NodeID(tables.Fabric.Switches()) {
		all := routing.PortSet{}
		for port := 1; port <= tables.Fabric.Node(s).Ports; port++ {
			all.Add(uint8(port))
		}
		choosing.Groups.Set(s, 0, all)
		for lid := range tables.Fabric.LIDs() {
			choosing.Groups.Row(0, lid)[s] = routing.ChoiceOf(0, true)
		}
	}
	if err := writeWhole(dir, &choosing); err != nil {
		t.Fatal(err)
	}
	if a := ask(1); a.Deadlocks || strings.Join(a.Outside, " ") != "groups of ports" {
		t.Errorf("%+v", a)
	}
	if out, _ := runProver(t, program, "--deadlock", dir); !strings.Contains(out, "static ports") {
		t.Error(out)
	}
}

// Aggregation nodes are outside of a proof for host adapters, and the verdict says so, and which of them only their device makes one.
func TestProvenCheckerNamesAggregationNodes(t *testing.T) {
	program := buildProver(t)
	if program == "" {
		t.SkipNow()
	}
	tables := routedWhole(t, testnet.Build(t, "ring:4"))
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(writeFolder(dir, tables, psl.Compact), writeCertificate(dir, tables.Fabric, v.Certificate)); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(dir, fabricFile), instead("devid=0x101b", "devid=0xcf09"))
	if out, code := runProver(t, program, dir); code != 0 || !strings.Contains(out, "aggregation nodes: 1; 0x0002c90200000000 is one by the device, but not called one") {
		t.Errorf("%d, %s", code, out)
	}
	if out, code := runProver(t, program, "--json", dir); code != 0 || !strings.Contains(out, `"outside":["aggregation nodes"]`) {
		t.Errorf("%d, %s", code, out)
	}
}
