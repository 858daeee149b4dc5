package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
)

// watching is a weft watch that runs.
type watching struct {
	process *exec.Cmd
	ended   chan struct{}
	log     live.Text
}

func startWatch(t *testing.T, weft, config string) *watching {
	t.Helper()
	w := &watching{process: exec.Command(weft, "watch", "--config", config), ended: make(chan struct{})}
	w.process.Stderr = &w.log
	if err := w.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		w.process.Wait() // it is killed
		close(w.ended)
	}()
	t.Cleanup(func() { w.kill(t) })
	return w
}

func (w *watching) kill(t *testing.T) {
	t.Helper()
	w.process.Process.Signal(syscall.SIGKILL) // it may have ended
	<-w.ended
}

// await waits for a line of the log.
func (w *watching) await(t *testing.T, like string) string {
	t.Helper()
	re := regexp.MustCompile(like)
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if found := re.FindString(w.log.String()); found != "" {
			return found
		}
	}
	t.Fatalf("the log has nothing like %s:\n%s", like, w.log.String())
	return ""
}

// A real OpenSM falls back to MinHop: the next look says so, by its log and without it, and
// through a SIGKILL nothing of the history is lost. A real Prometheus reads the metrics, and
// has an answer to every question of the dashboard.
func TestWatchSeesTheFallback(t *testing.T) {
	live.Need(t)
	t.Parallel()
	weft := live.Weft(t)
	net := netFile(t, testnet.Build(t, "xgft:m=4x4,w=2x2,hosts=4"))
	s := live.Simulate(t, net)
	m := s.Manage(t, "", t.TempDir(), map[string]string{"routing_engine": "ftree"})
	m.Await(t, live.Up, soon)
	dir := t.TempDir()
	config := func(name, more string) string {
		path := filepath.Join(dir, name+".yaml")
		text := fmt.Sprintf("folder: %s\nengine: ftree\nsettle: 300ms\nevery: 5s\nendpoints: ca\nstate: %s\n%s", m.Dir, filepath.Join(dir, name), more)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	byLog, byTables := config("log", "log: "+live.LogIn(m.Dir)+"\nmetrics: 127.0.0.1:0\n"), config("tables", "")
	w, other := startWatch(t, weft, byLog), startWatch(t, weft, byTables)
	w.await(t, `msg=look look=\d+ verdict=deadlock-free .* engine=ftree`)
	other.await(t, `msg=look look=\d+ verdict=deadlock-free`)
	if strings.Contains(w.log.String(), "msg=alarm") || strings.Contains(other.log.String(), "msg=alarm") {
		t.Errorf("an alarm before anything is wrong:\n%s\n%s", w.log.String(), other.log.String())
	}

	// OpenSM cannot route as asked, and takes MinHop.
	m.Stop()
	m = s.Manage(t, "", m.Dir, map[string]string{"routing_engine": "torus-2QoS"})
	m.Await(t, live.Up, soon)
	const fallback = `msg=alarm kind=fallback what="OpenSM was asked for ftree, and the tables are those of minhop: `
	said := w.await(t, fallback+`(as OpenSM's log says"|[\d.]+ % of the entries)`)
	if !strings.Contains(said, "as OpenSM's log says") {
		// A busy OpenSM writes its next line long after its tables: until then the log is behind, the tables tell, and a look after it goes by the log.
		w.await(t, `msg=look .* engine=minhop log_stale=true`)
		w.await(t, `msg=look .* engine=minhop entries_changed=0`)
	}
	w.await(t, `msg=look .* engine=minhop`) // alarms are raised before a look is kept
	other.await(t, fallback+`[\d.]+ % of the entries`)

	address := strings.TrimPrefix(w.await(t, `address=\S+`), "address=")
	metrics := get(t, "http://"+address+"/metrics")
	for _, line := range []string{`weft_watch_alarm{kind="fallback"} 1`, `weft_watch_alarm{kind="cut-off"} 0`, `weft_watch_engine_info{asked="ftree",made="minhop"} 1`, "weft_watch_proven 1", "weft_watch_switches 28"} {
		if !strings.Contains(metrics, "\n"+line+"\n") {
			t.Errorf("the metrics have no %s\n%s", line, metrics)
		}
	}
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ok\n", "/look": `"kind":"fallback"`} {
		if got := get(t, "http://"+address+path); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	askPrometheus(t, dir, address)

	w.kill(t)
	w = startWatch(t, weft, byLog)
	w.await(t, `msg=metrics`)
	time.Sleep(time.Second)
	if strings.Contains(w.log.String(), "msg=look") || strings.Contains(w.log.String(), "level=WARN") {
		t.Errorf("it does not continue where it was killed:\n%s", w.log.String())
	}
	runs(t, weft)(finding, "watch", "log", "--config", byLog)
	runs(t, weft)(proven, "watch", "diff", "--config", byLog, "1")
}

func get(t *testing.T, address string) string {
	t.Helper()
	r, err := http.Get(address) //nolint:gosec,noctx // of this test
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", address, r.Status, err, text)
	}
	return string(text)
}

// askPrometheus has a real Prometheus read the metrics, and asks it all that the dashboard
// asks.
func askPrometheus(t *testing.T, dir, target string) {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Log("prometheus is not installed: the dashboard was asked nothing")
		return
	}
	rules, err := filepath.Abs("../../build/packaging/monitoring/weft-watch.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s]\nscrape_configs: [{job_name: weft, static_configs: [{targets: ['%s']}]}]\n", rules, target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := exec.CommandContext(ctx, program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address=127.0.0.1:0", "--log.level=info")
	logs := filepath.Join(dir, "prometheus.log")
	out, err := os.Create(logs)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p.Stderr = out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		p.Wait() // it was ended
	}()
	address := ""
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		said, err := os.ReadFile(logs)
		if found := regexp.MustCompile(`Listening on" address=(\S+)`).FindSubmatch(said); err == nil && found != nil {
			address = string(found[1])
			break
		}
	}
	if address == "" {
		said, _ := os.ReadFile(logs)
		t.Fatalf("Prometheus does not say where it answers:\n%s", said)
	}
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if r, err := http.Get("http://" + address + "/-/ready"); err == nil { //nolint:noctx // of this test
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				break
			}
		}
	}
	board, err := os.ReadFile("../../build/packaging/monitoring/weft-watch.grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(board, &dashboard); err != nil {
		t.Fatal(err)
	}
	questions := []string{`ALERTS{alertname="FabricRoutedByAnother"}`}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			questions = append(questions, target.Expr)
		}
	}
	if len(questions) < 10 {
		t.Errorf("%d questions", len(questions))
	}
	for _, q := range questions {
		answer := ""
		for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(100 * time.Millisecond) { // two scrapes and an evaluation
			answer = get(t, "http://"+address+"/api/v1/query?query="+url.QueryEscape(q))
			if strings.Contains(answer, `"status":"success"`) && !strings.Contains(answer, `"result":[]`) {
				answer = ""
				break
			}
		}
		if answer != "" {
			t.Errorf("%s: %s", q, answer)
		}
	}
}
