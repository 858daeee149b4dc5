package browser

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli"
	"github.com/weft-fabric/weft/internal/page"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// update keeps the pictures of this run as those of docs/pictures.
var update = flag.Bool("update", false, "write docs/pictures anew")

const root = "../../.."

// pictures is the pages of which docs/pictures has a picture.
var pictures = []string{"loop", "dragonfly", "dgx", "psmn"}

// need skips the test unless there are Node, the packages of web and Chromium.
func need(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("no browser in short mode")
	}
	for _, tool := range []string{"node", "chromium"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: make test installs it as root on Debian (build/scripts/test-deps.sh)", tool)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "internal/page/web/node_modules/playwright-core")); err != nil {
		t.Skip("playwright-core is missing: npm ci in internal/page/web installs it, and so does make test as root on Debian")
	}
}

// given is tables for a fabric by an engine, judged.
func given(t *testing.T, f *fabric.Fabric, engine string) *page.Given {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(context.Background(), f, engines.Options{Seed: 1}, routing.Budget{Contract: e.Contract}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: e.Contract, Lost: -1})
	if err != nil {
		t.Fatal(err)
	}
	return &page.Given{Name: engine, Source: engine, Tables: tables, Verdict: v, Available: routing.DefaultVLs}
}

// network is a fabric as a report has it, routed by some engines.
func network(t *testing.T, name string, f *fabric.Fabric, with ...string) *result.ReportNetwork {
	t.Helper()
	n := page.NewNetwork(name, f)
	var tables []*page.Given
	for _, engine := range with {
		g := given(t, f, engine)
		tables = append(tables, g)
		if err := page.Add(context.Background(), n, g, page.Options{Seed: 1, Precision: 0.01}); err != nil {
			t.Fatal(err)
		}
	}
	if len(tables) == 2 {
		if err := page.Compare(context.Background(), n, tables[0].Tables, tables[1].Tables, deadlock.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// savePage writes a report.
func savePage(t *testing.T, dir, file string, results []*result.ReportResult, networks ...*result.ReportNetwork) {
	t.Helper()
	d := &result.Report{Title: networks[0].Name, Made: "weft", Networks: networks, Results: results}
	var b bytes.Buffer
	if err := page.Write(&b, d); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, file+".html"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// changed writes a report with what weft what-if printed of its network.
func changed(t *testing.T, dir string) {
	t.Helper()
	const file = "internal/cli/testdata/what-if.json"
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	networks := []*result.ReportNetwork{network(t, "torus:4x4,hosts=2", testnet.Build(t, "torus:4x4,hosts=2"), "updn")}
	r, err := page.ReadResult(text, file, networks)
	if err != nil {
		t.Fatal(err)
	}
	savePage(t, dir, "changed", []*result.ReportResult{r}, networks...)
}

// TestMain is weft itself where a test asks for it, which alone makes pages of Ethernet networks.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		cli.Main()
	}
	os.Exit(m.Run())
}

const asCommand = "WEFT_BROWSER_COMMAND"

// saveEthernet writes the report of a lossless Ethernet network.
func saveEthernet(t *testing.T, dir, file string, args ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"report", "-o", filepath.Join(dir, file+".html")}, args...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	out, err := cmd.CombinedOutput()
	if finding := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &finding) || finding.ExitCode() != 1) {
		t.Fatalf("weft report %v: %v\n%s", args, err, out)
	}
}

// evil is a small network whose names are markup.
func evil(t *testing.T) (string, *fabric.Fabric) {
	t.Helper()
	name := `</script><script>window.broken=1</script><img src=x onerror="window.broken=2">"'&` + "\u2028🦊"
	var b fabric.Builder
	var switches []fabric.Ref
	for i := range 3 {
		switches = append(switches, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Kind: fabric.Switch, Ports: 4, Name: name}, ""))
	}
	for i := range 3 {
		h := b.Node(fabric.Node{GUID: fabric.GUID(i + 11), Kind: fabric.Adapter, Ports: 1, Name: name}, "")
		b.Cable(switches[i], 3, h, 1, fabric.Rate{})
		b.Cable(switches[i], 1, switches[(i+1)%3], 2, fabric.Rate{Width: 4, Speed: fabric.Speed(`<b>"x"`)})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return name, f
}

// uneven is a tree with cables of two rates between the same switches, a trunk of one cable
// where the others have two, and a host whose cable is slow.
func uneven(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	fast, slow := fabric.Rate{Width: 4, Speed: "HDR"}, fabric.Rate{Width: 4, Speed: "EDR"}
	guid := fabric.GUID(0)
	add := func(kind fabric.Kind, ports int, name string) fabric.Ref {
		guid++
		return b.Node(fabric.Node{GUID: guid, Kind: kind, Ports: ports, Name: name}, "")
	}
	spines := []fabric.Ref{add(fabric.Switch, 16, "spine-0"), add(fabric.Switch, 16, "spine-1")}
	for i := range 5 {
		leaf := add(fabric.Switch, 16, fmt.Sprintf("leaf-%d", i))
		for h := range 6 {
			rate := fast
			if i == 2 && h == 3 {
				rate = slow
			}
			b.Cable(leaf, uint8(1+h), add(fabric.Adapter, 1, fmt.Sprintf("host-%d-%d", i, h)), 1, rate)
		}
		for s, spine := range spines {
			for k := range 2 {
				rate := fast
				if i == 0 && s == 0 && k == 1 {
					rate = slow
				}
				if i != 0 || s != 1 || k != 1 {
					b.Cable(leaf, uint8(8+2*s+k), spine, uint8(1+2*i+k), rate)
				}
			}
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPages opens pages in a browser: a torus with a credit loop, a Dragonfly, two real
// fabrics, one with names that are markup, one with odd cables, several in one page, a change,
// a large one, and two of lossless Ethernet. What is tried there is in internal/page/web/test/browser.mjs.
func TestPages(t *testing.T) {
	need(t)
	dir := t.TempDir()
	none := []*result.ReportResult{}
	changed(t, dir)
	testnet.Corpus(t)
	savePage(t, dir, "loop", none, network(t, "torus:6x5x5", testnet.Build(t, "torus:6x5x5"), "minhop"))
	savePage(t, dir, "dragonfly", none, network(t, "dragonfly:p=2", testnet.Build(t, "dragonfly:p=2"), "weave"))
	for _, f := range []struct{ file, dump string }{{"dgx", "topograph-ndr-dgx-2025"}, {"psmn", "psmn-x5-2020"}} {
		savePage(t, dir, f.file, none, network(t, f.dump+".ibnetdiscover", testnet.Dump(t, f.dump), "balance"))
	}
	name, f := evil(t)
	savePage(t, dir, "evil", none, network(t, name, f, "minhop"))
	savePage(t, dir, "odd", none, network(t, "odd", uneven(t), "updn"))
	savePage(t, dir, "several", none, network(t, "torus:4x4", testnet.Build(t, "torus:4x4"), "minhop", "weave"), network(t, "fattree:ports=8", testnet.Build(t, "fattree:ports=8"), "ftree"))
	savePage(t, dir, "large", none, network(t, "random", testnet.Build(t, "random:switches=2000,links=8000,hosts=1"), "updn"))

	saveEthernet(t, dir, "pauses", filepath.Join(testnet.Corpus(t), "ethernet/clos-two-links-down"))
	saveEthernet(t, dir, "clos", "fattree:ports=32,levels=3", "--routes", "bgp")

	cmd := exec.Command("node", "test/browser.mjs", dir)
	cmd.Dir = filepath.Join(root, "internal/page/web")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	checks := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		switch what, bad := strings.CutPrefix(line, "not ok "); {
		case bad:
			t.Error(what)
			checks++
		default:
			t.Log(line)
			checks++
		}
	}
	if err := cmd.Wait(); err != nil || checks < 25 {
		t.Fatalf("%d checks: %v", checks, err)
	}
	for _, p := range pictures {
		compare(t, filepath.Join(dir, p+".png"), filepath.Join(root, "docs/pictures", p+".png"))
	}
}

// compare holds a picture against the one that is kept, coarsely: fonts and how a browser
// smooths lines differ from one machine to the next.
func compare(t *testing.T, got, kept string) {
	t.Helper()
	if *update {
		text, err := os.ReadFile(got)
		if err == nil {
			err = os.WriteFile(kept, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	a, b := coarse(t, got), coarse(t, kept)
	if len(a) != len(b) {
		t.Errorf("%s has another size than %s", got, kept)
		return
	}
	differ := 0
	for i := range a {
		if d := a[i] - b[i]; d > 24 || d < -24 {
			differ++
		}
	}
	if share := float64(differ) / float64(len(a)); share > 0.08 {
		t.Errorf("%.1f %% of %s is not as it was; look at the pages, then go test ./test/e2e/browser -update", 100*share, kept)
	}
}

// coarse is the mean brightness of squares of 16 pixels.
func coarse(t *testing.T, file string) []int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	const side = 16
	var all []int
	size := img.Bounds().Size()
	for y := 0; y+side <= size.Y; y += side {
		for x := 0; x+side <= size.X; x += side {
			all = append(all, brightness(img, x, y, side))
		}
	}
	return all
}

func brightness(img image.Image, x, y, side int) int {
	sum := 0
	for i := range side {
		for j := range side {
			r, g, b, _ := img.At(x+i, y+j).RGBA()
			sum += int(r>>8) + int(g>>8) + int(b>>8)
		}
	}
	return sum / (3 * side * side)
}
