package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/result"
)

// weft runs the command in this process.
func runWeft(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// Every engine on every kind of network routes with a proof that holds, shows a
// credit loop, or refuses with a reason. Only the first leaves a folder behind,
// and whoever promises to be free of deadlock makes no loops. What tables engines make is the
// business of test/conformance: here each meets two of the networks, with WEFT_THOROUGH all.
func TestEveryEngine(t *testing.T) {
	_, list, _ := runWeft("engines", "--json")
	var all []result.Engine
	if err := json.Unmarshal([]byte(list), &all); err != nil || len(all) < 5 {
		t.Fatal(all, err)
	}
	for i, e := range all {
		for k, spec := range []string{"ring:5", "mesh:3x3", "torus:4x4", "hypercube:3", "karytree:k=2,n=3", "dragonfly:p=1", "random:switches=12,links=20,seed=3", "mesh:1,hosts=2"} {
			if (i+k)%4 != 0 && os.Getenv("WEFT_THOROUGH") == "" {
				continue
			}
			t.Run(e.Name+" "+spec, func(t *testing.T) {
				if e.Contract == "adaptive" {
					routeAdaptively(t, e.Name, spec)
					return
				}
				out := filepath.Join(t.TempDir(), "tables")
				code, stdout, stderr := runWeft("route", spec, "--engine", e.Name, "--json", "--out", out)
				var s result.Route
				if err := json.Unmarshal([]byte(stdout), &s); stdout != "" && err != nil {
					t.Fatal(err)
				}
				_, err := os.Stat(out)
				switch {
				case code == exit.OK:
					if s.Engine != e.Name || s.Word != result.DeadlockFree || s.Unreachable != 0 || len(s.Files) != 5 || stderr != "" {
						t.Errorf("%+v, %s", s, stderr)
					}
					verifyTables(t, spec, out, &s)
				case code == exit.Found && s.Word == result.CreditLoop:
					if e.Safe || len(s.Cycle) == 0 || !strings.Contains(stderr, "nothing was written") || !errors.Is(err, os.ErrNotExist) {
						t.Errorf("%+v, %s, %v", s, stderr, err)
					}
				case code == exit.Found:
					if !strings.Contains(stderr, e.Name+" refuses: ") || !errors.Is(err, os.ErrNotExist) {
						t.Errorf("%s, %v", stderr, err)
					}
				default:
					t.Errorf("exit code %d, %s", code, stderr)
				}
				if left, err := filepath.Glob(filepath.Join(filepath.Dir(out), ".*")); err != nil || len(left) > 0 {
					t.Errorf("%q was left behind, %v", left, err)
				}
			})
		}
	}
}

// routeAdaptively runs an engine that has a verdict but no tables to write.
func routeAdaptively(t *testing.T, engine, spec string) {
	code, stdout, stderr := runWeft("route", spec, "--engine", engine, "--json")
	var s result.Adaptive
	if err := json.Unmarshal([]byte(stdout), &s); err != nil || code != exit.OK || stderr != "" {
		t.Fatalf("exit code %d, %s, %v", code, stderr, err)
	}
	if !s.Adaptive || s.Engine != engine || s.Verdict != result.DeadlockFree || s.Unreachable != 0 || len(s.Cycle) != 0 {
		t.Errorf("%+v", s)
	}
}

// verifyTables judges what was written again, with and without its proof.
func verifyTables(t *testing.T, spec, out string, s *result.Route) {
	for _, proof := range [][]string{{"--contract", s.Contract}, {"--certificate", filepath.Join(out, tablefiles.CertificateFile)}} {
		args := []string{"verify", spec, "--json", "--tables", filepath.Join(out, tablefiles.ForwardingFile), "--sl2vl", filepath.Join(out, tablefiles.SL2VLFile), "--psl", filepath.Join(out, tablefiles.PSLFile)}
		code, stdout, stderr := runWeft(append(args, proof...)...)
		var v result.Verify
		if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != exit.OK {
			t.Errorf("%q: exit code %d, %s, %v", proof, code, stderr, err)
			continue
		}
		if v.Word != s.Word || v.Contract != s.Contract || v.Endpoints != s.Endpoints || v.Pairs != s.Pairs || v.Dependencies != s.Dependencies || v.VLs != s.VLsUsed {
			t.Errorf("%q: %+v; weft route said %+v", proof, v, s)
		}
	}
}
