package networks

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

type convertFlags struct {
	fabric, lst string
	compact     bool
}

// Convert makes the command weft convert.
func Convert(a *console.Console) *cobra.Command {
	var o convertFlags
	c := &cobra.Command{
		Use:   "convert IN [OUT]",
		Short: "Read a file of one form and write it in another",
		Long: `Read a file, tell what it is by its contents, and write the same in weft's form:

  a fabric (whatever FABRIC may be elsewhere)             as ibnetdiscover does; ibsim reads it
  forwarding tables (lfts.dump, fdbs, dump_fts, ibroute)  as opensm-lfts.dump, LIDs of --fabric
  opensm-sl2vl.dump                                       as SLVL lines of ibdmchk
  SLVL lines of ibdmchk                                   as opensm-sl2vl.dump
  service levels of paths (PSL)                           with every pair, or --compact

All but the first need --fabric. OUT ending in .gz is compressed; - is standard
output, and so is no OUT.`,
		Example: `  weft convert /var/log/opensm fabric.ibnet.gz
  weft convert opensm.fdbs lfts.dump --fabric fabric.ibnet --lst opensm-subnet.lst`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			write, err := converter(a, args[0], &o)
			if err != nil {
				return err
			}
			return output.WriteFile(a, append(args, "-")[1], write)
		},
	}
	f := c.Flags()
	f.StringVar(&o.fabric, "fabric", "", "the fabric that tables are for")
	f.StringVar(&o.lst, "lst", "", "opensm-subnet.lst of the OpenSM that wrote the tables")
	f.BoolVar(&o.compact, "compact", false, "write service levels of paths in the compact form")
	return c
}

// converter reads a file and returns what writes it in its other form.
func converter(a *console.Console, in string, o *convertFlags) (func(io.Writer) error, error) {
	if console.Missing(in) {
		f, err := input.Compute(in)
		return fabricConverter(a, f), err
	}
	if found, err := flags.NetworkIn(in); err == nil && found != in { // a folder of ibdiagnet
		f, err := input.Fabric(a, in)
		return fabricConverter(a, f), err
	}
	r, err := a.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	kind, text, err := reading.Peek(a.Text(r, in))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in, err)
	}
	switch {
	case kind.Network(), kind.Instead() != "":
		f, err := files.Fabric(text, in)
		return fabricConverter(a, f), err
	case !slices.Contains([]reading.Kind{reading.LFT, reading.FDBS, reading.SL2VLDump, reading.SLVL, reading.PSL}, kind):
		return nil, format.Errorf(in, 1, "this is %s, which weft cannot convert", kind)
	}
	if o.fabric == "" {
		return nil, exit.Usage("%s is %s: give the fabric it is for with --fabric", in, kind)
	}
	f, err := input.Fabric(a, o.fabric)
	if err != nil {
		return nil, err
	}
	return tableConverter(a, text, in, kind, f, o)
}

// fabricConverter writes a fabric as ibnetdiscover does; f may be nil where reading it failed, and is
// not written then.
func fabricConverter(a *console.Console, f *fabric.Fabric) func(io.Writer) error {
	return func(w io.Writer) error {
		noteLanes(a, f)
		return ibnet.Write(w, f)
	}
}

// tableConverter reads the text of a file of tables, which has a kind and is for fabric f, and returns
// what writes it.
func tableConverter(a *console.Console, text io.Reader, in string, kind reading.Kind, f *fabric.Fabric, o *convertFlags) (func(io.Writer) error, error) {
	switch kind {
	case reading.LFT, reading.FDBS:
		var join lft.Join
		var err error
		if o.lst != "" {
			if join.List, err = console.ReadFile(a, o.lst, subnetlst.ReadMap); err != nil {
				return nil, err
			}
		}
		d, err := lft.Read(text, in, f, join)
		if err != nil {
			return nil, err
		}
		return func(w io.Writer) error { return lft.Write(w, f, d.Forwarding, lft.PortGUIDs) }, nil
	case reading.PSL:
		lanes, err := psl.Read(text, in, f, routing.LanePerSL(routing.MaxDataVLs), nil)
		if err != nil {
			return nil, err
		}
		form := psl.Full
		if o.compact {
			form = psl.Compact
		}
		t := &routing.Tables{Fabric: f, Lanes: lanes}
		return func(w io.Writer) error { return psl.Write(w, t, form) }, nil
	}
	m, err := slvl.Read(text, in, f)
	if err != nil {
		return nil, err
	}
	form := slvl.Dump
	if kind == reading.SL2VLDump {
		form = slvl.Lines
	}
	return func(w io.Writer) error { return slvl.Write(w, f, m, form) }, nil
}

// noteLanes warns that a file in ibnetdiscover's form does not say which data lanes cables of a fabric are stated
// to run, and counts these cables.
func noteLanes(a *console.Console, f *fabric.Fabric) (cables int) {
	for c := range f.Channels() {
		if ch := f.Channel(fabric.ChannelID(c)); ch.DataVLs > 0 && int(ch.Reverse) > c {
			cables++
		}
	}
	if cables == 0 {
		return 0
	}
	limit := ""
	if l := routing.LimitOf(f); l.Lanes > 0 {
		limit = fmt.Sprintf("; commands that route by it need --vls %d, which all cables between switches run", l.Lanes)
	}
	a.Note("the data lanes that ports of %s are stated to run are left out, since ibnetdiscover's form has no place for them%s", words.Counted(cables, "cable", "cables"), limit)
	return cables
}
