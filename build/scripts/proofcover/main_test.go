package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const theory = `Definition kept (n : nat) : Prop := n = n.
Definition spare (n : nat) : Prop := n = n.
Inductive colour : Type := Red | Blue.
Section Held.
Variable m : nat.
Hypothesis Given : m = 0.
Lemma helper : kept m.
Proof. unfold kept. rewrite Given. reflexivity. Qed.
Theorem through : kept m.
Proof. exact helper. Qed.
End Held.
Theorem itself : spare 1.
Proof. reflexivity. Qed.
Theorem never : forall c : colour, c = c.
Proof. intros c. pose proof (helper 0 eq_refl). reflexivity. Qed.
`

const listed = `From WeftProof Require A.
Print Assumptions A.through.
Print Assumptions itself.
Print Assumptions A.never.
`

// A change counts for the theorems whose statement it touches and whose proof, or that of a lemma, it breaks.
func TestCover(t *testing.T) {
	coqc, err := exec.LookPath("coqc")
	if err != nil {
		t.Skip("no Coq")
	}
	dir := t.TempDir()
	for file, text := range map[string]string{"A.v": theory, "Theorems.v": listed} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), coqc, "-Q", dir, "WeftProof", filepath.Join(dir, "A.v"))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("coqc: %v\n%s", err, out)
	}
	kept, spare, given, red := at("n = n"), at("n = n.\nInductive"), at("m = 0"), at("Red")
	for _, c := range []struct{ broken, want string }{
		{"", "no change breaks through of A.v\nno change breaks itself of A.v\nno change breaks never of A.v\n"},
		// A lemma's proof, by a definition of the statement and by an assumption of the section. Of never, which
		// rests on the lemma too, kept is nothing that it says.
		{kept + " A helper\n" + given + " A helper\n", "through of A.v: 2 in helper\nno change breaks itself of A.v\nno change breaks never of A.v\n"},
		// A proof of something else that rests on the change, not the theorem on it.
		{kept + " A itself\n", "no change breaks through of A.v\nno change breaks itself of A.v\nno change breaks never of A.v\n"},
		{kept + " A through\n" + spare + " A itself\n" + red + " A never\n", "through of A.v: 1 in its own proof\nitself of A.v: 1 in its own proof\nnever of A.v: 1 in its own proof\n"},
	} {
		var said strings.Builder
		missing, err := cover([]string{dir}, strings.NewReader(c.broken), &said)
		if err != nil {
			t.Fatal(err)
		}
		if said.String() != c.want || missing != strings.Count(c.want, "no change") {
			t.Errorf("broken %q: %d missing,\n%swant\n%s", c.broken, missing, said.String(), c.want)
		}
	}
	for _, broken := range []string{"A 1", "A one A helper", "B 1 A helper", "A 30 A other", "A 30 B helper"} {
		if _, err := cover([]string{dir}, strings.NewReader(broken), &strings.Builder{}); err == nil {
			t.Errorf("broken %q: no error", broken)
		}
	}
}

// at is where a text stands in the theory, as a line for a change begins.
func at(text string) string { return "A " + strconv.Itoa(strings.Index(theory, text)) }
