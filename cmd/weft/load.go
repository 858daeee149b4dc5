package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/format/subnetlst"
	"github.com/weft-fabric/weft/topology"
)

// load reads the FABRIC argument: a file, - or the spec of a computed network. A
// file of that name wins over a spec.
func (a *app) load(arg string) (*fabric.Fabric, error) {
	if missing(arg) {
		return compute(arg)
	}
	r, err := a.open(arg)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := readFabric(r, arg)
	if err != nil {
		return nil, err
	}
	if f.Switches() == 0 {
		return nil, fmt.Errorf("%s: no switch in it (%d adapters): there is nothing to route", arg, f.Count().Adapters)
	}
	a.warn(f)
	return f, nil
}

// missing says whether an argument is no file and not standard input.
func missing(arg string) bool {
	_, err := os.Stat(arg)
	return arg != "-" && errors.Is(err, os.ErrNotExist)
}

// compute builds the network of a spec.
func compute(arg string) (*fabric.Fabric, error) {
	if arg == "" {
		return nil, usage("the fabric is empty: name a file, - for standard input, or a spec such as torus:4x4x4")
	}
	if !topology.IsSpec(arg) {
		if family, _, ok := strings.Cut(arg, ":"); ok && !strings.ContainsAny(family, "/.") {
			_, err := topology.Parse(arg)
			return nil, usage("%w (and there is no such file)", err)
		}
		return nil, fmt.Errorf("%s: no such file, and no family of computed networks is called that (see weft topologies)", arg)
	}
	family, err := topology.Parse(arg)
	if err != nil {
		return nil, usage("%w", err)
	}
	f, err := family.Build()
	if err != nil {
		return nil, usage("%w", err)
	}
	return f, nil
}

// readFabric reads a fabric of whatever kind.
func readFabric(r io.Reader, name string) (*fabric.Fabric, error) {
	kind, r, err := format.Peek(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch kind {
	case format.IBNet:
		return ibnet.Read(r, name)
	case format.SubnetList:
		return subnetlst.Read(r, name)
	}
	return nil, format.Errorf(name, 1, "this is %s; a fabric is ibnetdiscover output, an ibsim net file or an opensm-subnet.lst", kind)
}

// warn prints the oddities of a fabric, the first few of them.
func (a *app) warn(f *fabric.Fabric) {
	const most = 5
	warnings := f.Warnings()
	for i, w := range warnings {
		if a.quiet {
			return
		}
		if i == most {
			fmt.Fprintf(a.stderr, "weft: warning: %d more (weft info shows all)\n", len(warnings)-most)
			return
		}
		fmt.Fprintf(a.stderr, "weft: warning: %s\n", w)
	}
}

// note prints a warning about how weft was called.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, "weft: warning: "+format+"\n", args...)
	}
}

// describeParts says which parts a network falls into, a line each.
func describeParts(f *fabric.Fabric, parts [][]fabric.NodeID) string {
	const most = 4
	var b strings.Builder
	for i, part := range parts {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d smaller parts", len(parts)-most)
			break
		}
		adapters := 0
		for _, s := range part {
			adapters += len(f.Attached(s)) - 1
		}
		fmt.Fprintf(&b, "\n  %s with %s: %s", plural(len(part), "switch"), plural(adapters, "endpoint"), firstOf(labels(f, part)))
	}
	return b.String()
}

// open opens a file, or standard input, which may only be read once. Reading
// ends when the user interrupts, even if a terminal or a pipe has nothing to say.
func (a *app) open(name string) (io.ReadCloser, error) {
	if name == "" {
		return nil, usage("the name of a file is empty; - is standard input")
	}
	if name != "-" {
		return format.Open(name, nil)
	}
	if a.stdin == nil {
		return nil, usage("- is given twice, and standard input can be read only once")
	}
	r, w := io.Pipe()
	go func(stdin io.Reader) {
		_, err := io.Copy(w, stdin)
		w.CloseWithError(err)
	}(a.stdin)
	context.AfterFunc(a.ctx, func() { w.CloseWithError(a.ctx.Err()) })
	a.stdin = nil
	return format.Open(name, r)
}

// readFile opens a file and reads it with one of the format packages.
func readFile[T any](a *app, name string, read func(r io.Reader, name string) (T, error)) (T, error) {
	var none T
	r, err := a.open(name)
	if err != nil {
		return none, err
	}
	defer r.Close()
	return read(r, name)
}

// lmcUsage describes --lmc.
const lmcUsage = "give every adapter port 2^N LIDs, N from 0 to 7 (default: as in the fabric)"

// checkLMC checks --lmc; -1 is that it was not given.
func checkLMC(lmc int) error {
	if lmc < -1 || lmc > 7 {
		return usage("--lmc %d: it is 0 to 7", lmc)
	}
	return nil
}

// withLMC gives every adapter port the addresses that --lmc asks for.
func withLMC(f *fabric.Fabric, lmc int) (*fabric.Fabric, error) {
	if lmc < 0 {
		return f, nil
	}
	f, err := f.WithLMC(uint8(lmc))
	if err != nil {
		return nil, usage("--lmc %d: %w", lmc, err)
	}
	return f, nil
}
