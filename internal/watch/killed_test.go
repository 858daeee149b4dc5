package watch

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
)

// killedState makes the test a watch that looks without a rest, in the state folder that it
// names.
const killedState = "WEFT_TEST_KILLED_STATE"

// Whenever a watch is killed, what it kept is whole, and the next one continues.
func TestKilledAtAnyTime(t *testing.T) {
	if state := os.Getenv(killedState); state != "" {
		w := newScene(t, Config{State: state, Keep: 5})
		now := &Snapshot{Tables: tablesBy(t, testnet.Build(t, "ring:n=4"), "updn", 1)}
		for i := 0; ; i++ {
			w.shown = map[string]*Snapshot{}
			text := fmt.Sprintf("%d: %0*d", w.status.Look, 500_000*(1+i%7), i) // writing takes a while
			w.shown[text] = now
			if i == 0 {
				fmt.Println("begun")
			}
			w.write(text)
			if _, err := w.look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	rng := rand.New(rand.NewPCG(5, 6))
	last := 0
	for kills, all := 0, testnet.Of(24, 4); kills < all || last < 3 && kills < all*20; kills++ {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), killedState+"="+state, "TMPDIR="+dir) // its own folders stay when it is killed
		child.Stderr = t.Output()
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
			t.Fatalf("%q, %v", line, err)
		}
		time.Sleep(time.Duration((5+rng.IntN(60))*(1+kills/all)) * time.Millisecond) // longer where the machine is too busy for looks
		child.Process.Kill()                                                         // it may not have ended
		child.Wait()                                                                 // it was killed
		last = checkWhole(t, state, last)
	}
	if last < 3 {
		t.Errorf("%d looks in all through all kills", last)
	}
}

// checkWhole checks that every look in a state folder can be read with all its files, and
// that the last one is no earlier than it was.
func checkWhole(t *testing.T, state string, was int) (last int) {
	t.Helper()
	s, err := OpenStore(state)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := s.Numbers()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		l, err := s.Look(n)
		if err != nil {
			t.Errorf("look %d: %v", n, err)
			continue
		}
		for _, f := range l.Files {
			if got := sumOf(t, filepath.Join(state, packedName(f))); got != f.SHA256 {
				t.Errorf("look %d: %s has %s", n, f.Name, got)
			}
		}
		last = n
	}
	if st, err := s.Health(); err != nil || st != nil && st.Look > last || last < was {
		t.Errorf("the last look is %d, it was %d; %+v, %v", last, was, st, err)
	}
	return last
}

func sumOf(t *testing.T, packed string) string {
	t.Helper()
	in, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, z); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
