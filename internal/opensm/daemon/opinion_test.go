//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// standIn is a program that answers about the files it is given as weft-proof does, after noting how it was asked.
func standIn(t *testing.T, dir, answer string, code string) string {
	t.Helper()
	path := filepath.Join(dir, "weft-proof")
	script := `#!/bin/sh
echo "$*" >> ` + dir + `/asked
step=false
for last; do test "$last" = --step && step=true; done
for f in fabric.ibnetdiscover lfts.dump sl2vl.dump paths.psl; do test -s "$last/$f" || exit 3; done
stated=$(sed -nE 's/^(contract|endpoints) (.*)/"\1":"\2",/p' "$last"/*certificate)
echo '{"schema":"weft/proof/1",'"$stated"'"switches":'$(grep -c ^Switch "$last/fabric.ibnetdiscover")',"step":'$step',` + answer + `}'
exit ` + code + "\n"
	if err := os.WriteFile(path+".new", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// counted waits until the metrics have a count of answers.
func (r *running) counted(want string) {
	r.t.Helper()
	for end := time.Now().Add(busy); !strings.Contains(r.metricsText(), want); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("no %s; the log:\n%s", want, r.log)
		}
	}
}

// What was handed over is asked about behind the answer, a step together with what it replaces;
// what is not accepted is an error, and what is the same is not asked about twice.
func TestProofCheckerIsAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := standIn(t, dir, `"holds":true,"delivers":true,"why":null`, "0")
	r := start(t, Config{Engine: Names{"updn"}, Keep: "never", Contract: "any", Metrics: "127.0.0.1:0", ProofChecker: program})
	q := request(t, "torus:3x3", 1)
	first := r.ask(q)
	if first.Refusal != "" {
		t.Fatal(first.Refusal)
	}
	r.counted(`weft_proof_checker_answers_total{answer="holds"} 1`)
	if a := r.ask(q); a.Refusal != "" {
		t.Fatal(a.Refusal)
	}
	r.after(2)
	standIn(t, dir, `"holds":false,"delivers":null,"why":"the rank does not rise"`, "1")
	if a := r.ask(request(t, "torus:4x3", 2)); a.Refusal != "" {
		t.Fatal(a.Refusal)
	}
	r.counted(`weft_proof_checker_answers_total{answer="refused"} 1`)
	if log := r.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "the rank does not rise") {
		t.Errorf("no alarm in\n%s", log)
	}
	standIn(t, dir, `"holds":true,"delivers":false,"why":"packets are discarded"`, "1")
	if a := r.ask(request(t, "torus:4x4", 3)); a.Refusal != "" {
		t.Fatal(a.Refusal)
	}
	r.counted(`weft_proof_checker_answers_total{answer="refused"} 2`)
	standIn(t, dir, "fine", "0")
	if a := r.ask(request(t, "torus:5x3", 4)); a.Refusal != "" {
		t.Fatal(a.Refusal)
	}
	r.counted(`weft_proof_checker_answers_total{answer="failed"} 1`)
	if asked, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || strings.Count(string(asked), "\n") != 4 || strings.Contains(string(asked), "--step") {
		t.Errorf("asked %q, %v", asked, err)
	}
}

// A repair is asked about together with the tables that it replaces; weft-proof itself, where there is
// OCaml, accepts both.
func TestProofCheckerIsAskedAboutSteps(t *testing.T) {
	testnet.OnlyWhole(t)
	t.Parallel()
	dir := t.TempDir()
	program := standIn(t, dir, `"holds":true,"delivers":'$(test $step = true && echo null || echo true)',"why":null`, "0")
	if _, err := exec.LookPath("ocamlopt"); err == nil {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$*\" >> "+dir+"/asked\nexec "+live.ProofChecker(t)+" \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	o := openSM(start(t, Config{Engine: Names{"weave-any"}, Metrics: "127.0.0.1:0", ProofChecker: program}))
	f := testnet.Build(t, "torus:4x4,hosts=2")
	o.settles(f)
	o.counted(`answer="holds"} 1`)
	if steps := o.settles(less(t, f, []fabric.ChannelID{0})); !steps[0].Step {
		t.Fatal("no step")
	}
	o.counted(`answer="holds"} 3`)
	if text := o.metricsText(); !strings.Contains(text, `answer="refused"} 0`) || !strings.Contains(text, `answer="failed"} 0`) {
		t.Error(o.log)
	}
	if asked, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || strings.Count(string(asked), "--step") != 1 {
		t.Errorf("asked %q, %v", asked, err)
	}
}

// Whoever has the state folder can ask weft-proof the same: it has the network, and of a step the proof of every
// mixture with the tables of before, which after a restart the folder alone tells.
func TestFolderHasTheProofOfSteps(t *testing.T) {
	testnet.OnlyWhole(t)
	t.Parallel()
	program := ""
	if _, err := exec.LookPath("ocamlopt"); err == nil {
		program = live.ProofChecker(t)
	}
	c := Config{Engine: Names{"weave-any"}, State: stateDir(t)}
	o := openSM(start(t, c))
	f := testnet.Build(t, "torus:4x4,hosts=2")
	gone := less(t, f, []fabric.ChannelID{0})
	for i, now := range []*fabric.Fabric{f, gone, f, gone} {
		if i == 3 {
			o.end()
			o.running = start(t, c)
		}
		sweeps := o.Status().Sweeps
		steps := o.settles(now)
		o.after(sweeps + int64(len(steps)))
		last, earlier := filepath.Join(c.State, lastGood), filepath.Join(c.State, before)
		_, err := os.Stat(filepath.Join(last, tablefiles.UnionCertificateFile))
		if step := steps[len(steps)-1].Step; step != (i > 0) || step != (err == nil) {
			t.Fatalf("hand-over %d: a step: %v, its proof: %v\n%s", i, step, err, o.log)
		}
		asked := [][]string{{last}, {"--step", earlier, last}}
		if i == 0 {
			asked = asked[:1]
		}
		for _, arguments := range asked {
			if program == "" {
				continue
			}
			if out, err := exec.CommandContext(t.Context(), program, arguments...).CombinedOutput(); err != nil {
				t.Errorf("hand-over %d: weft-proof %q: %v\n%s", i, arguments, err, out)
			}
		}
	}
}

// A checker that hangs keeps no answer waiting, nor the end; of what waits for it, all but the newest is left out.
func TestProofCheckerHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "weft-proof")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho x >> "+dir+"/asked\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := start(t, Config{Engine: Names{"updn"}, Keep: "never", Metrics: "127.0.0.1:0", ProofChecker: program})
	for i, spec := range []string{"torus:3x3", "torus:4x3", "torus:5x3", "torus:6x3"} {
		if a := r.ask(request(t, spec, uint64(i))); a.Refusal != "" {
			t.Fatal(a.Refusal)
		}
		r.after(int64(i + 1))
		if i == 0 {
			r.untilFile(filepath.Join(dir, "asked"))
		}
	}
	r.counted(`answer="skipped"} 2`)
	r.end()
}

func (r *running) untilFile(path string) {
	r.t.Helper()
	r.until(func(result.Status) bool { _, err := os.Stat(path); return err == nil })
}

// A checker that is not there is an error for each answer, and keeps nothing from being answered.
func TestProofCheckerIsNotThere(t *testing.T) {
	t.Parallel()
	if _, err := (Config{Socket: "/s", ProofChecker: "weft-proof"}).check(); err == nil || !strings.Contains(err.Error(), "proof_checker") {
		t.Error(err)
	}
	r := start(t, Config{Engine: Names{"updn"}, Metrics: "127.0.0.1:0", ProofChecker: "/nowhere/weft-proof"})
	if a := r.ask(request(t, "torus:3x3", 1)); a.Refusal != "" {
		t.Fatal(a.Refusal)
	}
	r.counted(`weft_proof_checker_answers_total{answer="failed"} 1`)
}
