package main

import (
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
func load(c *console, arg string) (*fabric.Fabric, error) {
	if missing(arg) {
		return compute(arg)
	}
	r, err := c.open(arg)
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
	warn(c, f)
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
func warn(c *console, f *fabric.Fabric) {
	const most = 5
	warnings := f.Warnings()
	for i, w := range warnings {
		if c.quiet {
			return
		}
		if i == most {
			fmt.Fprintf(c.stderr, "weft: warning: %d more (weft info shows all)\n", len(warnings)-most)
			return
		}
		fmt.Fprintf(c.stderr, "weft: warning: %s\n", w)
	}
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
