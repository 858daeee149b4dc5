// Package input reads fabrics, and the tables that are in force on them, and says what
// the two do not have in common.
package input

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/topology"
)

// Fabric reads the FABRIC argument: a file, an output folder of ibdiagnet2, - or the spec
// of a computed network. A file of that name wins over a spec.
func Fabric(c *console.Console, arg string) (*fabric.Fabric, error) {
	if console.Missing(arg) {
		return Compute(arg)
	}
	cables := flags.NetDumpIn(arg)
	arg, err := flags.NetworkIn(arg)
	if err != nil {
		return nil, err
	}
	r, err := c.Open(arg)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, note := reading.InUTF8(r)
	f, err := files.FabricWithCables(text, arg, func() (io.ReadCloser, string, error) {
		if cables == "" {
			return nil, "", nil
		}
		r, err := reading.OpenFound(c.Context, cables)
		return r, cables, err
	})
	if err != nil {
		return nil, err
	}
	if f.Switches() == 0 {
		return nil, fmt.Errorf("%s: no switch in it (%s): there is nothing to route", arg, words.Plural(f.Count().Adapters, "adapter"))
	}
	all := f.Warnings()
	if note != "" && !slices.Contains(all, note) {
		all = append([]string{note}, all...)
	}
	warn(c, all)
	return f, nil
}

// Compute builds the network of a spec.
func Compute(arg string) (*fabric.Fabric, error) {
	if arg == "" {
		return nil, exit.Usage("the fabric is empty: name a file, - for standard input, or a spec such as torus:4x4x4")
	}
	if !topology.IsSpec(arg) {
		if family, _, ok := strings.Cut(arg, ":"); ok && !strings.ContainsAny(family, "/.") {
			_, err := topology.Parse(arg)
			return nil, exit.Usage("%w (and there is no such file)", err)
		}
		return nil, fmt.Errorf("%s: no such file, and no family of computed networks is called that (see weft topologies)", arg)
	}
	f, err := topology.Build(arg)
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	return f, nil
}

// warn keeps the oddities of a fabric for programs, and tells people the first few.
func warn(c *console.Console, all []string) {
	c.Warnings = append(c.Warnings, all...)
	few := all[:min(5, len(all))]
	for _, w := range few {
		c.Note("%s", w)
	}
	if more := len(all) - len(few); more > 0 {
		c.Note("%d more (weft info shows all)", more)
	}
}

// FabricWithLMC is Fabric with the addresses that --lmc asks for.
func FabricWithLMC(c *console.Console, arg string, lmc int) (*fabric.Fabric, error) {
	f, err := Fabric(c, arg)
	if err != nil || lmc == flags.NoLMC {
		return f, err
	}
	if f, err = f.WithLMC(uint8(lmc)); err != nil {
		return nil, exit.Usage("--lmc %d: %w", lmc, err)
	}
	return f, nil
}
