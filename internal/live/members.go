package live

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Membership is a port that joins a multicast group, or leaves it.
type Membership struct {
	Group int    // of the caller's own numbering
	Port  uint64 // GUID, as ibsim makes it: that of the node plus the number of the port
	SL    uint8  // of the group, if this is who creates it
	Leave bool
}

// Joined is the MLID of a group by its number, of those that were joined.
type Joined map[int]uint16

// Members has ports join and leave groups, one after the other, from a host that asks for all
// of them. A request that the SA does not grant fails the test.
func (s *Subnet) Members(t testing.TB, host string, list []Membership) Joined {
	t.Helper()
	var input strings.Builder
	for _, m := range list {
		what := "join"
		if m.Leave {
			what = "leave"
		}
		fmt.Fprintf(&input, "%s %d %x %d\n", what, m.Group, m.Port, m.SL)
	}
	program := filepath.Join(once(t, "members", func(dir string) *exec.Cmd {
		source := filepath.Join(root(t), "internal", "live", "testdata", "members.c")
		return exec.Command("sh", "-c", `mkdir -p "$0" && cc -std=gnu11 -Wall -Wextra -Werror -O1 -o "$0/members" "$1" -libumad`, dir, source)
	}), "members")
	cmd := command(t.Context(), inMemory(t), s.env(host), program)
	cmd.Stdin = strings.NewReader(input.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("live: members: %v\n%s", err, lastLines(string(out)))
	}
	joined := Joined{}
	answers := regexp.MustCompile(`(?m)^(\w+) (\d+) \S+ status 0x(\w+) mlid 0x(\w+)$`).FindAllStringSubmatch(string(out), -1)
	if len(answers) != len(list) {
		t.Fatalf("live: %d answers to %d requests of members\n%s", len(answers), len(list), lastLines(string(out)))
	}
	for i, a := range answers {
		mlid, err := strconv.ParseUint(a[4], 16, 16)
		if a[3] != "0" || err != nil {
			t.Fatalf("live: %+v: %s", list[i], a[0])
		}
		if !list[i].Leave {
			joined[list[i].Group] = uint16(mlid)
		}
	}
	return joined
}
