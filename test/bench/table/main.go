// Command table measures weft as a user runs it, with a process for every network and
// engine, and prints a Markdown table: time, memory, lanes, service levels, largest
// load, and OpenSM's figures for the same if a reference is given.
//
//	go run ./test/bench/table -weft bin/weft [-reference FILE] [-networks REGEXP] [-engines a,b]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weft-fabric/weft/result"
)

// network is a row of the reference: our spec, and the beginning of the reference's
// row; empty if it has none.
type network struct {
	spec string
	row  string
}

var networks = []network{
	{"dragonfly:p=4", "dragonfly p=4"},
	{"dragonfly:p=6", "dragonfly p=6"},
	{"dragonfly:p=8", "dragonfly p=8"},
	{"xgft:m=18x36,w=18x18,hosts=18", "3-level fat tree, 36 ports"},
	{"xgft:m=36,w=18,hosts=18", "2-level fat tree"},
	{"deimos", "Deimos-like"},
	{"kautz:b=5,n=3,hosts=7", "Kautz b=5 n=3"},
	{"slimfly:q=5,hosts=7", "Slim Fly q=5"},
	{"slimfly:q=13,hosts=9", "Slim Fly q=13"},
	{"torus:4x4x4,hosts=2", "torus 4x4x4"},
	{"torus:6x5x5,hosts=7", "torus 6x5x5"},
	{"torus:8x8x8,hosts=2", "torus 8x8x8"},
	{"random:switches=64,links=128,hosts=16,seed=1", "random 64 switches, 128 links"},
	{"random:switches=128,links=256,hosts=16,seed=1", "random 128 switches, 256 links"},
	{"random:switches=128,links=512,hosts=16,seed=1", "random 128 switches, 512 links"},
	{"random:switches=128,links=1024,hosts=16,seed=1", "random 128 switches, 1,024 links"},
}

// answer is what weft route --json prints: tables, or why there are none.
type answer struct {
	result.Route
	Refused string `json:"refused"`
	Need    int    `json:"vls_needed"`
}

func main() {
	weft := flag.String("weft", "bin/weft", "the weft to measure")
	reference := flag.String("reference", "", "README.md with OpenSM's figures; empty: none")
	only := flag.String("networks", "", "regular expression for the specs to run; empty: all")
	names := flag.String("engines", "", "engines, with commas between; empty: all")
	vls := flag.Int("vls", 8, "lanes available")
	limit := flag.Duration("limit", 2*time.Minute, "time for one network and engine")
	flag.Parse()
	if err := run(&bench{weft: *weft, vls: *vls, limit: *limit}, *reference, *only, *names); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// bench is what to measure, and how long at the most.
type bench struct {
	weft  string
	vls   int
	limit time.Duration
}

func (b *bench) engines() ([]string, error) {
	out, err := exec.Command(b.weft, "engines", "--json").Output()
	if err != nil {
		return nil, err
	}
	var list []result.Engine
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names, nil
}

func run(b *bench, reference, only, list string) error {
	names := strings.Split(list, ",")
	if list == "" {
		var err error
		if names, err = b.engines(); err != nil {
			return err
		}
	}
	pick, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	peers, err := readReference(reference)
	if err != nil {
		return err
	}
	fmt.Println("| network | engine | paths s | lanes s | verify s | CPU s | MiB | lanes | SLs | largest load | verdict | OpenSM: CPU s / MB / lanes | times faster |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, n := range networks {
		if !pick.MatchString(n.spec) {
			continue
		}
		for _, engine := range names {
			line, err := b.measure(n, engine, peers)
			if err != nil {
				return err
			}
			fmt.Println(line)
		}
	}
	return nil
}

// measure runs weft once and returns a row of the table.
func (b *bench) measure(n network, engine string, peers reference) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.weft, "route", n.spec, "--engine", engine, "--vls", strconv.Itoa(b.vls), "--quiet", "--json")
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return fmt.Sprintf("| %s | %s | | | | | | not within %v | | | | %s | |", n.spec, engine, b.limit, peers.cell(n.row, engine).text), nil
	}
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return "", fmt.Errorf("%s on %s: %w", engine, n.spec, err)
	}
	peer := peers.cell(n.row, engine)
	if len(out) == 0 { // a refusal that is not about lanes
		return fmt.Sprintf("| %s | %s | | | | | | refused | | | | %s | |", n.spec, engine, peer.text), nil
	}
	var r answer
	if err := json.Unmarshal(out, &r); err != nil {
		return "", fmt.Errorf("%s on %s: %w", engine, n.spec, err)
	}
	if r.Refused != "" {
		why := "refused"
		if r.Need > 0 {
			why = fmt.Sprintf("refused: needs %d", r.Need)
		}
		return fmt.Sprintf("| %s | %s | | | | | | %s | | | | %s | |", n.spec, engine, why, peer.text), nil
	}
	compute := r.Seconds.Paths + r.Seconds.Lanes
	faster := ""
	if peer.seconds > 0 && compute > 0 {
		faster = fmt.Sprintf("%s%.0f", peer.bound, peer.seconds/compute)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return fmt.Sprintf("| %s | %s | %.3f | %.3f | %.3f | %.2f | %d | %d | %d | %d | %s | %s | %s |", n.spec, engine,
		r.Seconds.Paths, r.Seconds.Lanes, r.Seconds.Verify, cpu.Seconds(), r.PeakRSS>>20, r.VLs, r.SLs, r.MaxLoad, r.Word, peer.text, faster), nil
}
