package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
)

// What takes a minute in production takes so long here: the time between two looks, and what alert rules wait for.
const (
	lookEvery = 6 * time.Second
	scrapes   = 3 * time.Second // until a value is scraped and a rule evaluated, which takes as long as in production
)

// plant is a fabric with everything that looks after it: OpenSM with the plugin, weft serve, weft watch and a Prometheus
// with the rules as they are installed, but for the time that they wait.
type plant struct {
	f       *fabric.Fabric
	dir     string
	disk    string // of the daemon's state folder, which is small; empty: there is none
	subnet  *live.Subnet
	opensm  *live.Manager
	library string
	address string // of Prometheus
	ports   [2]int // of weft serve and weft watch
	serve   *exec.Cmd
	served  live.Text
	watch   *watching
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of tcp
}

func newPlant(t *testing.T) *plant {
	t.Helper()
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed; build/scripts/test-deps.sh does that")
	}
	dir, err := os.MkdirTemp("", "weft") // short: the path of a socket has 107 letters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &plant{f: testnet.Build(t, "xgft:m=3x3,w=2x2,hosts=2"), dir: dir, library: "LD_LIBRARY_PATH=" + live.Plugin(t, "libweft.so", ""), ports: [2]int{freePort(t), freePort(t)}}
	p.disk = filepath.Join(dir, "disk")
	if err := os.Mkdir(p.disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", p.disk, "tmpfs", 0, "size=16m,mode=755"); err != nil {
		p.disk = ""
	} else {
		t.Cleanup(func() { _ = syscall.Unmount(filepath.Join(dir, "disk"), syscall.MNT_DETACH) })
	}
	p.subnet = live.Simulate(t, p.netFile(t))
	p.subnet.Console(t, `Unlink "%s"[%d]`, nodeID(p.f, p.slow().From), p.slow().FromPort) // until somebody plugs it in
	p.startServe(t)
	p.startOpenSM(t, "weft,no_fallback")
	config := filepath.Join(dir, "watch.yaml")
	text := fmt.Sprintf("folder: %s\nengine: weft\nlog: %s\nsettle: 300ms\nevery: %s\nstate: %s\nexpect: %s\nmetrics: 127.0.0.1:%d\ncounters: %s\n", filepath.Join(dir, "osm"), live.LogIn(filepath.Join(dir, "osm")), lookEvery, filepath.Join(dir, "watch"), filepath.Join(p.state(), "last-good"), p.ports[1], p.count(t, 0))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.watch = startWatch(t, live.Weft(t), config)
	p.startPrometheus(t, prometheus)
	return p
}

// slow is a cable that trains with one lane.
func (p *plant) slow() *fabric.Channel { return p.f.Channel(fabric.ChannelID(p.f.Trunks() - 1)) }

// dirty is a cable whose ends count errors.
func (p *plant) dirty() *fabric.Channel { return p.f.Channel(3) }

// count writes what ibqueryerrors prints, in which an end of a cable has so many errors.
func (p *plant) count(t *testing.T, errors int) (name string) {
	t.Helper()
	name = filepath.Join(p.dir, "ibqueryerrors.txt")
	node, port := p.f.Node(p.dirty().From), p.dirty().FromPort
	text := fmt.Sprintf("Errors for %s \"%s\"\n   GUID %s port %d: [SymbolErrorCounter == %d] [PortXmitWait == 17]\n\n## Summary: 37 nodes checked, 1 bad nodes found\n", node.GUID, node.Name, node.GUID, port, errors)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// netFile is the network, in which the ends of one cable come up narrow.
func (p *plant) netFile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(netFile(t, p.f))
	if err != nil {
		t.Fatal(err)
	}
	slow, at := p.slow(), ""
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if m := regexp.MustCompile(`^Switch.*"(S-[0-9a-f]+)"`).FindStringSubmatch(line); m != nil {
			at = m[1]
		}
		for _, end := range []struct {
			node, far fabric.NodeID
			port      uint8
			to        uint8
		}{{slow.From, slow.To, slow.FromPort, slow.ToPort}, {slow.To, slow.From, slow.ToPort, slow.FromPort}} {
			head := fmt.Sprintf("[%d]\t\"%s\"[%d]", end.port, nodeID(p.f, end.far), end.to)
			if at == nodeID(p.f, end.node) && strings.HasPrefix(line, head) {
				line = strings.Replace(line, " 4x", " 1x", 1) // ibsim reads it
			}
		}
		b.WriteString(line)
	}
	if strings.Count(b.String(), " 1x") != 2 {
		t.Fatalf("no slow cable:\n%s", b.String())
	}
	name := filepath.Join(p.dir, "slow.ibnet")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func nodeID(f *fabric.Fabric, n fabric.NodeID) string {
	letter := "H"
	if f.Node(n).Kind == fabric.Switch {
		letter = "S"
	}
	return fmt.Sprintf("%s-%016x", letter, uint64(f.Node(n).GUID))
}

func (p *plant) state() string {
	if p.disk != "" {
		return filepath.Join(p.disk, "state")
	}
	return filepath.Join(p.dir, "state")
}

func (p *plant) startServe(t *testing.T) {
	t.Helper()
	os.Remove(filepath.Join(p.dir, "s")) // of one that was killed
	p.serve = exec.Command(live.Weft(t), "serve", "--socket", filepath.Join(p.dir, "s"), "--state", p.state(), "--engine", "updn", "--contract", "any", "--metrics", fmt.Sprintf("127.0.0.1:%d", p.ports[0]), "--watch", fmt.Sprintf("127.0.0.1:%d", p.ports[1]))
	p.serve.Stderr = &p.served
	if err := p.serve.Start(); err != nil {
		t.Fatal(err)
	}
	cmd := p.serve
	t.Cleanup(func() { end(cmd) })
	for until := time.Now().Add(soon); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(p.dir, "s")); err == nil {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("weft serve does not begin:\n%s", p.served.String())
		}
	}
}

// end kills a process that may have ended.
func end(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func (p *plant) startOpenSM(t *testing.T, engine string) {
	t.Helper()
	dir := filepath.Join(p.dir, "osm")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	live.Pin(t, dir, p.f)
	p.opensm = p.subnet.Manage(t, "", dir, map[string]string{
		"event_plugin_name": "weft", "event_plugin_options": fmt.Sprintf("weft.socket=%s,weft.owner=%d", filepath.Join(p.dir, "s"), os.Getuid()),
		"routing_engine": engine, "qos": "TRUE", "packet_life_time": "0x0c", "force_link_width": "0", "force_link_speed": "0", // links stay as they train
	}, p.library)
	p.opensm.Await(t, live.Up, soon)
}

// startPrometheus runs it on the rules of the packages, which wait a tenth as long.
func (p *plant) startPrometheus(t *testing.T, program string) {
	t.Helper()
	var files []string
	for _, name := range []string{"weft-serve.rules.yaml", "weft-watch.rules.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../build/packaging/monitoring", name))
		if err != nil {
			t.Fatal(err)
		}
		quick := regexp.MustCompile(`for: (\d+[ms])`).ReplaceAllStringFunc(string(text), func(line string) string {
			wait, err := time.ParseDuration(strings.TrimPrefix(line, "for: "))
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("for: %ds", int(wait.Minutes()*lookEvery.Seconds()))
		})
		files = append(files, filepath.Join(p.dir, name))
		if err := os.WriteFile(files[len(files)-1], []byte(quick), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, port := filepath.Join(p.dir, "prometheus.yml"), freePort(t)
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s]\nscrape_configs: [{job_name: weft, static_configs: [{targets: ['127.0.0.1:%d']}]}, {job_name: weft-watch, static_configs: [{targets: ['127.0.0.1:%d']}]}]\n", strings.Join(files, ", "), p.ports[0], p.ports[1])
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(p.dir, "tsdb"), fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port), "--log.level=warn")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(cmd) })
	p.address = fmt.Sprintf("http://127.0.0.1:%d", port)
	for until := time.Now().Add(soon); ; time.Sleep(100 * time.Millisecond) {
		if r, err := http.Get(p.address + "/-/ready"); err == nil { //nolint:noctx // of this test
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(until) {
			t.Fatal("Prometheus does not answer")
		}
	}
}

// firing is the alerts that fire, with the part that they name.
func (p *plant) firing(t *testing.T) string {
	t.Helper()
	return p.alerts(t, "query?query="+url.QueryEscape(`ALERTS{alertstate="firing"}`))
}

// fired is the alerts that fired at any time since one.
func (p *plant) fired(t *testing.T, since time.Time) string {
	t.Helper()
	return p.alerts(t, fmt.Sprintf("query_range?query=%s&start=%d&end=%d&step=1", url.QueryEscape(`ALERTS{alertstate="firing"}`), since.Unix()+1, time.Now().Unix()+1))
}

func (p *plant) alerts(t *testing.T, query string) string {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string `json:"metric"`
			} `json:"result"`
		} `json:"data"`
	}
	text := get(t, p.address+"/api/v1/"+query)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, r := range answer.Data.Result {
		name := r.Metric["alertname"]
		for _, label := range []string{"kind", "name", "switch"} {
			if v := r.Metric[label]; v != "" {
				name += " " + v
			}
		}
		all[name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), "; ")
}

// until waits until exactly some alerts fire, and on the way exactly those before; how long that took.
func (p *plant) until(t *testing.T, want, before string, limit time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		switch now := p.firing(t); {
		case now == want:
			return time.Since(began)
		case !between(now, before, want):
			p.tell(t)
			t.Fatalf("after %v %q fires, want %q", time.Since(began).Round(time.Second), now, want)
		case time.Since(began) > limit:
			p.tell(t)
			t.Fatalf("after %v %q fires, want %q", limit, now, want)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// between reports whether alerts that fire are on the way from some to others: none is of neither.
func between(now, before, want string) bool {
	all := append(strings.Split(before, "; "), strings.Split(want, "; ")...)
	return !slices.ContainsFunc(strings.Split(now, "; "), func(a string) bool { return a != "" && !slices.Contains(all, a) })
}

// summaries is what alerts that fire say.
func (p *plant) summaries(t *testing.T) string {
	t.Helper()
	var answer struct {
		Data struct {
			Alerts []struct {
				State       string            `json:"state"`
				Annotations map[string]string `json:"annotations"`
			} `json:"alerts"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(get(t, p.address+"/api/v1/alerts")), &answer); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, a := range answer.Data.Alerts {
		if a.State == "firing" {
			all = append(all, a.Annotations["summary"])
		}
	}
	return strings.Join(all, "\n")
}

// stay sees that for two looks the alerts stay as they are.
func (p *plant) stay(t *testing.T, want string, thorough bool) {
	t.Helper()
	for until := time.Now().Add(2 * lookEvery); thorough && time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		p.until(t, want, want, 0)
	}
}

func (p *plant) tell(t *testing.T) {
	t.Helper()
	last := func(text string) string {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		return strings.Join(lines[max(0, len(lines)-25):], "\n")
	}
	t.Logf("weft serve:\n%s\nweft watch:\n%s", last(p.served.String()), last(p.watch.log.String()))
	for _, port := range p.ports {
		if r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", port)); err == nil { //nolint:noctx // of this test
			r.Body.Close()
			var b strings.Builder
			for line := range strings.Lines(get(t, fmt.Sprintf("http://127.0.0.1:%d/metrics", port))) {
				if strings.HasPrefix(line, "weft_") && !strings.Contains(line, "_seconds_") {
					b.WriteString(line)
				}
			}
			t.Log("\n" + b.String())
		}
	}
}

// console has ibsim do something, and OpenSM find it out, which takes as long as in production.
func (p *plant) console(t *testing.T, format string, args ...any) {
	t.Helper()
	p.subnet.Console(t, format, args...)
	p.opensm.Resweep(t, soon)
}

// outage is something that happens to a plant.
type outage struct {
	name  string
	do    func(t *testing.T, p *plant)
	want  func(p *plant) string // the alert, and no other
	undo  func(t *testing.T, p *plant)
	short bool // also without WEFT_THOROUGH
}

func fixed(text string) func(*plant) string { return func(*plant) string { return text } }

func outages() []outage {
	kill := func(t *testing.T, p *plant) { end(p.serve) }
	serve := func(t *testing.T, p *plant) { p.startServe(t) }
	stop := func(t *testing.T, p *plant) { p.opensm.Stop() }
	opensm := func(t *testing.T, p *plant) { p.startOpenSM(t, "weft,no_fallback") }
	trunk := func(p *plant) *fabric.Channel { return p.f.Channel(0) }
	host := func(p *plant) *fabric.Endpoint { return p.f.Endpoint(fabric.EndpointID(len(p.f.Endpoints()) - 1)) }
	cable := func(c *fabric.Channel, p *plant) string {
		return fmt.Sprintf("%s:%d – %s:%d", p.f.Label(c.From), c.FromPort, p.f.Label(c.To), c.ToPort)
	}
	return []outage{
		{"the daemon is dead", kill, fixed("WeftDown"), serve, true},
		{"OpenSM is dead", stop, fixed("OpenSMGone"), opensm, false},
		{"both are dead", func(t *testing.T, p *plant) { kill(t, p); stop(t, p) }, fixed("FabricOpenSMGone opensm-gone; WeftDown"), func(t *testing.T, p *plant) { serve(t, p); opensm(t, p) }, false},
		{"a cable", func(t *testing.T, p *plant) {
			p.console(t, `Unlink "%s"[%d]`, nodeID(p.f, trunk(p).From), trunk(p).FromPort)
		},
			func(p *plant) string { return "WeftPartMissing cable " + cable(trunk(p), p) },
			func(t *testing.T, p *plant) {
				p.console(t, `ReLink "%s"[%d]`, nodeID(p.f, trunk(p).From), trunk(p).FromPort)
			}, true},
		{"a cable, and the daemon is dead", func(t *testing.T, p *plant) {
			kill(t, p)
			p.until(t, "WeftDown", "", soon)
			p.console(t, `Unlink "%s"[%d]`, nodeID(p.f, trunk(p).From), trunk(p).FromPort)
		}, fixed("FabricSweepFailed sweep-failed; WeftDown"), func(t *testing.T, p *plant) {
			if told := p.summaries(t); !strings.Contains(told, "Gone: cable "+cable(trunk(p), p)+". Cut off: ") {
				t.Errorf("the alert does not say what is gone and who is cut off: %s", told)
			}
			p.console(t, `ReLink "%s"[%d]`, nodeID(p.f, trunk(p).From), trunk(p).FromPort)
			serve(t, p)
		}, false},
		{"a switch", func(t *testing.T, p *plant) { p.console(t, `Unlink "%s"`, nodeID(p.f, p.f.Channel(1).To)) },
			func(p *plant) string { return "WeftPartMissing switch " + p.f.Label(p.f.Channel(1).To) },
			func(t *testing.T, p *plant) { p.console(t, `ReLink "%s"`, nodeID(p.f, p.f.Channel(1).To)) }, false},
		{"a host", func(t *testing.T, p *plant) { p.console(t, `Unlink "%s"`, nodeID(p.f, host(p).Node)) },
			func(p *plant) string { return "WeftPartMissing host " + p.f.Label(host(p).Node) },
			func(t *testing.T, p *plant) { p.console(t, `ReLink "%s"`, nodeID(p.f, host(p).Node)) }, false},
		{"the disk is full", func(t *testing.T, p *plant) {
			text := make([]byte, 32<<20)
			_ = os.WriteFile(filepath.Join(p.disk, "full"), text, 0o600) // as far as it goes
		}, fixed("WeftStateNotWritten"), func(t *testing.T, p *plant) {
			if err := os.Remove(filepath.Join(p.disk, "full")); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"MinHop in silence", func(t *testing.T, p *plant) { p.opensm.Stop(); p.startOpenSM(t, "minhop") },
			fixed("FabricRoutedByAnother fallback"), func(t *testing.T, p *plant) { p.opensm.Stop(); opensm(t, p) }, false},
		// The last two stay: a cable counts as flapping for an hour, and who pulls a slow one has it gone.
		{"a cable flaps", func(t *testing.T, p *plant) {
			for range 3 {
				p.subnet.Console(t, `Unlink "%s"[%d]`, nodeID(p.f, trunk(p).From), trunk(p).FromPort)
				p.opensm.Resweep(t, soon)
				p.subnet.Console(t, `ReLink "%s"[%d]`, nodeID(p.f, trunk(p).From), trunk(p).FromPort)
				p.opensm.Resweep(t, soon)
			}
		}, func(p *plant) string { return "WeftCableInTrouble flaps " + cable(trunk(p), p) }, nil, false},
		{"a slow cable", func(t *testing.T, p *plant) {
			p.console(t, `ReLink "%s"[%d]`, nodeID(p.f, p.slow().From), p.slow().FromPort)
		},
			func(p *plant) string {
				return "FabricLinkDegraded narrow-link " + p.f.Label(min(p.slow().From, p.slow().To))
			},
			nil, false},
		{"a dirty cable", func(t *testing.T, p *plant) { p.count(t, 5000) },
			func(p *plant) string {
				return "FabricCableInTrouble symbol " + cable(p.dirty(), p) + " " + p.f.Label(p.dirty().From)
			},
			nil, true},
	}
}

// TestOutages has everything happen that an operator must be told: each time exactly the right alert fires in a real
// Prometheus, within two looks, and no other, and ends when it is over.
func TestOutages(t *testing.T) {
	live.Need(t)
	t.Parallel()
	thorough := os.Getenv("WEFT_THOROUGH") != ""
	p := newPlant(t)
	p.watch.await(t, `msg=look look=\d+ verdict=deadlock-free`)
	p.until(t, "", "", 0)
	time.Sleep(2 * lookEvery)
	p.until(t, "", "", 0)
	standing := "" // what fires already
	slow := p.slow()
	t.Logf("the slow cable is %s:%d", p.f.Label(slow.From), slow.FromPort)
	for _, o := range outages() {
		if !thorough && !o.short || o.name == "the disk is full" && p.disk == "" {
			continue
		}
		t.Logf("%s …", o.name)
		began := time.Now()
		o.do(t, p)
		limit := 2*lookEvery + scrapes
		if !thorough {
			limit = soon // the other tests keep the machine busy
		}
		all := slices.DeleteFunc([]string{standing, o.want(p)}, func(text string) bool { return text == "" })
		slices.Sort(all)
		want := strings.Join(all, "; ")
		took := p.until(t, want, standing, limit)
		t.Logf("%s: %s after %.1f looks", o.name, o.want(p), took.Seconds()/lookEvery.Seconds())
		p.stay(t, want, thorough)
		if o.name == "MinHop in silence" {
			p.told(t, "OpenSM has other tables than these", "weft watch")
		}
		if all := p.fired(t, began); all != want {
			t.Errorf("%s: %q fired meanwhile, want %q", o.name, all, want)
		}
		if o.undo == nil {
			standing = want
			continue
		}
		o.undo(t, p)
		p.until(t, standing, want, soon)
		p.stay(t, standing, thorough)
		if all := p.fired(t, began); all != want {
			t.Errorf("%s: %q fired until it was over, want %q", o.name, all, want)
		}
	}
	p.names(t, thorough)
	p.dashboards(t, thorough)
}

// told waits until weft status says all of some texts.
func (p *plant) told(t *testing.T, texts ...string) {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(time.Second) {
		out, err := exec.Command(live.Weft(t), "status", "--socket", filepath.Join(p.dir, "s")).CombinedOutput()
		plain := strings.Join(strings.Fields(string(out)), " ")
		switch {
		case err != nil && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(plain, text) }):
			return
		case time.Now().After(end):
			t.Errorf("status does not say %q: %v\n%s", texts, err, out)
			return
		}
	}
}

// names sees that status, status --json and the first pages of both daemons name every cable in trouble, with what is the
// matter.
func (p *plant) names(t *testing.T, thorough bool) {
	t.Helper()
	want := map[string]string{fmt.Sprintf("%s:%d", p.f.Label(p.dirty().From), p.dirty().FromPort): "symbol errors"}
	if thorough {
		want[fmt.Sprintf("%s:%d", p.f.Label(p.slow().From), p.slow().FromPort)] = "with more lanes"
	}
	flaps := fmt.Sprintf("%s:%d", p.f.Label(p.f.Channel(0).From), p.f.Channel(0).FromPort)
	status := func(more ...string) string {
		out, err := exec.Command(live.Weft(t), append([]string{"status", "--socket", filepath.Join(p.dir, "s")}, more...)...).CombinedOutput()
		if err != nil && len(out) == 0 {
			t.Fatal(err)
		}
		return string(out)
	}
	for where, read := range map[string]func() string{
		"weft status":                func() string { return status() },
		"weft status --json":         func() string { return status("--json") },
		"the page of weft serve":     func() string { return get(t, fmt.Sprintf("http://127.0.0.1:%d/", p.ports[0])) },
		"the page of weft watch":     func() string { return get(t, fmt.Sprintf("http://127.0.0.1:%d/", p.ports[1])) },
		"weft watch's /status":       func() string { return get(t, fmt.Sprintf("http://127.0.0.1:%d/status", p.ports[1])) },
		"weft_cable_trouble":         func() string { return get(t, fmt.Sprintf("http://127.0.0.1:%d/metrics", p.ports[0])) },
		"the metrics of weft watch":  func() string { return get(t, fmt.Sprintf("http://127.0.0.1:%d/metrics", p.ports[1])) },
		"what a browser has of them": func() string { return p.browsed(t) },
	} {
		var lacks string
		for until := time.Now().Add(20 * time.Second); ; time.Sleep(500 * time.Millisecond) {
			text := read()
			if lacks = ""; text == "" {
				break // there is no browser
			}
			for name, why := range want {
				if !strings.Contains(text, name) || !strings.Contains(where, "metrics") && where != "weft_cable_trouble" && !strings.Contains(text, why) {
					lacks += fmt.Sprintf("%s does not name %s (%s):\n%s\n", where, name, why, text)
				}
			}
			// What goes between two looks weft watch tells later, by OpenSM's log.
			if thorough && !strings.Contains(where, "weft watch") && !strings.Contains(text, flaps) {
				lacks += fmt.Sprintf("%s does not name %s:\n%s\n", where, flaps, text)
			}
			if lacks == "" || time.Now().After(until) {
				break
			}
		}
		if lacks != "" {
			t.Error(lacks)
		}
	}
}

// browsed is the text of weft serve's first page in a real browser; empty: there is none.
func (p *plant) browsed(t *testing.T) string {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Log("no chromium: the page is not looked at in a browser")
		return ""
	}
	out, err := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(p.dir, "browser"), "--dump-dom", fmt.Sprintf("http://127.0.0.1:%d/", p.ports[0])).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// dashboards asks Prometheus every question of the dashboards: each has an answer, and each metric in it is scraped. Grafana
// itself is not in Debian.
func (p *plant) dashboards(t *testing.T, thorough bool) {
	t.Helper()
	type panel struct {
		Title   string
		Targets []struct{ Expr string }
		Panels  []json.RawMessage
	}
	metric := regexp.MustCompile(`\bweft_[a-z0-9_]+|\bup\b`)
	asked := 0
	for _, name := range []string{"weft-serve", "weft-watch"} {
		text, err := os.ReadFile("../../build/packaging/monitoring/" + name + ".grafana.json")
		var d struct{ Panels []panel }
		if err == nil {
			err = json.Unmarshal(text, &d)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, panel := range d.Panels {
			if len(panel.Panels) > 0 {
				t.Errorf("%s: panels in panels, of which the questions are not asked", name)
			}
			for _, q := range panel.Targets {
				asked++
				// What is back by now has no answer, but had one.
				if expr := q.Expr; p.answers(t, expr) == 0 && expr != "weft_missing" {
					t.Errorf("%s, %s: %s has no answer", name, panel.Title, expr)
				}
				for _, m := range metric.FindAllString(q.Expr, -1) {
					if !thorough && m == "weft_watch_link_degraded" {
						continue // no cable is slow
					}
					if p.answers(t, fmt.Sprintf("last_over_time(%s[1h])", m)) == 0 {
						t.Errorf("%s, %s: there is no metric %s", name, panel.Title, m)
					}
				}
			}
		}
	}
	if asked < 25 {
		t.Errorf("only %d questions are asked", asked)
	}
	t.Logf("%d questions of the dashboards have answers", asked)
}

// answers is how many series answer a question.
func (p *plant) answers(t *testing.T, expr string) int {
	t.Helper()
	var answer struct {
		Data struct {
			Result []json.RawMessage `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(get(t, p.address+"/api/v1/query?query="+url.QueryEscape(expr))), &answer); err != nil {
		t.Fatal(err)
	}
	return len(answer.Data.Result)
}
