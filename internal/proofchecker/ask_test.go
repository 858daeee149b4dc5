package proofchecker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Programs that are not weft-proof, or hang, or print without end, are no verdict, and neither is an answer to
// another question.
func TestOthersAreNoVerdict(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5")
	got, err := weft.Route(t.Context(), f, weft.Request{Engine: "updn", Contract: new(routing.Any)})
	if err != nil {
		t.Fatal(err)
	}
	q := Question{Tables: got.Tables, Certificate: got.Verdict.Certificate}
	answer := func(contract, endpoints string, switches int, step bool) string {
		return fmt.Sprintf(`echo '{"schema":"weft/proof/1","holds":true,"delivers":true,"contract":"%s","endpoints":"%s","switches":%d,"in_scope":5,"step":%v,"outside":[],"why":null}'`, contract, endpoints, switches, step)
	}
	for _, c := range []struct{ name, script, want string }{
		{"right", answer("any", "hca", 5, false), ""},
		{"another contract", answer("single:9", "hca", 5, false), "another question"},
		{"other endpoints", answer("any", "all", 5, false), "another question"},
		{"another network", answer("any", "hca", 6, false), "another question"},
		{"a step", answer("any", "hca", 5, true), "another question"},
		{"another exit code", answer("any", "hca", 5, false) + "\nexit 1", "contradicts"},
		{"refuses to read", "echo bad line >&2\nexit 3", "bad line"},
		{"text", "echo all is well; echo indeed", `is not the weft-proof of this version of weft: it printed "all is well", which is no answer`},
		{"a long text", "echo " + strings.Repeat("x", 100), strings.Repeat("x", 80) + `…", which is no answer`},
		{"nothing", "true", "printed nothing"},
		{"another version", strings.Replace(answer("any", "hca", 5, false), "proof/1", "proof/2", 1), `answers in the schema "weft/proof/2", and "weft/proof/1" is the one that is read`},
		{"without a verdict", `echo '{"schema":"weft/proof/1"}'`, "which is no answer"},
		{"nothing about arrivals", strings.Replace(answer("any", "hca", 5, false), `"delivers":true`, `"delivers":null`, 1), "does not say whether packets arrive"},
		{"other flags", "echo no such flag >&2\nexit 2", `ended with exit code 2, and said "no such flag"`},
		{"no end", "yes '{\"schema\":\"weft/proof/1\",\"holds\":true,\"delivers\":true}'", "more than 1 MiB"},
		{"hangs with a child", "sleep 300\nexit 0", "killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "checker")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			limit := 10 * time.Minute
			if strings.HasPrefix(c.name, "hangs") {
				limit = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			a, err := Ask(ctx, program, q)
			for strings.Contains(fmt.Sprint(err), "text file busy") { // a process that another test begins just now has it open for a moment
				time.Sleep(10 * time.Millisecond)
				a, err = Ask(ctx, program, q)
			}
			switch {
			case c.want == "" && (err != nil || !a.Holds || !*a.Delivers):
				t.Errorf("%+v, %v", a, err)
			case c.want != "" && (a != nil || !strings.Contains(fmt.Sprint(err), c.want)):
				t.Errorf("%+v, %v; want %q", a, err, c.want)
			}
		})
	}
}
