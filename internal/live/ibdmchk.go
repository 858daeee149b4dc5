package live

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Verdict is the verdict of ibdmchk on a routing.
type Verdict uint8

// The verdicts.
const (
	// Undecided: a path is missing or endless, or a service level or lane is not
	// given. The output says which.
	Undecided Verdict = iota
	NoLoop
	Loop
)

func (v Verdict) String() string {
	return [...]string{"undecided", "no credit loop", "credit loop"}[v]
}

// Input is the files of a routing. The package comment says how ibdmchk reads them.
type Input struct {
	Subnet string // subnet.lst
	FDBs   string // forwarding tables in the form of opensm.fdbs
	MCFDBs string // multicast tables, which are looked at but not judged; empty: none
	PSL    string // service levels; empty: SL 0 everywhere
	SLVL   string // lanes, as SLVL lines or as opensm-sl2vl.dump; empty: lane n for SL n
	LMC    int    // of every adapter port; 0: one LID each

	Switches bool // judge the paths from and to switches too
}

// Input is the routing that OpenSM dumped, for ibdmchk, with SL 0 everywhere.
func (d Dumps) Input() Input {
	return Input{Subnet: d.Subnet, FDBs: d.FDBs, MCFDBs: d.MCFDBs}
}

// Check asks ibdmchk for credit loops, and returns what it printed as well.
func Check(t testing.TB, in Input) (v Verdict, said string) {
	t.Helper()
	Need(t)
	tools, _ := find()
	dir := t.TempDir()
	if in.MCFDBs == "" {
		in.MCFDBs = filepath.Join(dir, "none.mcfdbs")
		write(t, in.MCFDBs, "")
	}
	args := []string{"-s", in.Subnet, "-f", in.FDBs, "-m", in.MCFDBs, "-l", fmt.Sprint(in.LMC)}
	if in.PSL != "" {
		args = append(args, "-c", in.PSL)
	}
	if in.SLVL != "" {
		args = append(args, "-d", in.SLVL)
	}
	if in.Switches {
		args = append(args, "-a")
	}
	for _, memory := range layouts {
		out, err := command(t.Context(), dir, []string{memory}, tools.ibdmchk, args...).Output()
		// It crashes at the end, so its status says nothing, except that it did not
		// run or ran out of time.
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == timedOut) {
			t.Fatalf("live: ibdmchk: %v", err)
		}
		said = string(out)
		if v = judge(said); v != Undecided {
			break
		}
	}
	return v, said
}

// layouts is how ibdmchk may have its memory. It reads and writes past the end of its tables of hops: by
// what lies there, which the lengths of its arguments decide, it crashes before it looks for loops.
var layouts = []string{"MALLOC_TOP_PAD_=268435456", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"}

// judge reads the verdict from what ibdmchk prints.
func judge(out string) Verdict {
	switch {
	case strings.Contains(out, "-E- credit loops in routing"):
		return Loop
	case strings.Contains(out, "-I- no credit loops found"):
		return NoLoop
	}
	return Undecided
}
