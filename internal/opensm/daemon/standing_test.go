package daemon

import (
	"os"
	"os/exec"
	"testing"
)

// OpenSM is there between an answer and its next question, unless its process is dead: then that is told at once.
func TestOpenSMThatIsDeadIsToldAtOnce(t *testing.T) {
	t.Parallel()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		pid   int
		there bool
	}{{"alive", os.Getpid(), true}, {"dead", dead.Process.Pid, false}, {"of another container", 0, true}} {
		var n standing
		if n.connected() {
			t.Error("nobody has asked")
		}
		end := n.begin(c.pid)
		if !n.connected() {
			t.Errorf("%s: a question is open", c.name)
		}
		if end(); n.connected() != c.there {
			t.Errorf("%s: there %v", c.name, !c.there)
		}
	}
}
