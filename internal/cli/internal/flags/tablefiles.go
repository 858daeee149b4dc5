// Package flags has the flags that several commands share, with their checks.
package flags

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Tables is where finished tables are, and how well they have to fit.
type Tables struct {
	LFTs, SL2VL, PSL, List, Groups, Private string   // files; LFTs: also a folder, until Settle
	BySwitch                                []string // LFTs is a folder of these files, forwarding tables by switch; empty: it is a file
	Strict                                  bool     // what does not fit is an error
	Whole                                   bool     // the files are those of a folder: what belongs to them has to be there

	Summary string // beside tables of weft's: what says which contract the tables are proven for

	// Of a folder of ibdiagnet2: what says which switches have adaptive routing on, and which
	// of them look lanes up by lanes.
	Adaptive, ByLane string

	// StaticOnly leaves out what switches with adaptive routing choose from, for commands
	// that cannot take it into account; they say so.
	StaticOnly bool

	// Findings is for commands that report input.Given.Doubts as findings; others have them noted.
	Findings bool

	// Multicast is the trees of multicast groups, and MulticastSLs the service levels of the
	// groups, as bits; none: for commands that are not about multicast.
	Multicast    string
	MulticastSLs uint16
}

// AddMulticastTo declares the flags about multicast.
func (o *Tables) AddMulticastTo(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.Multicast, "multicast", "", "multicast forwarding tables, opensm.mcfdbs, ibdiagnet2.mcfdbs, or what dump_fts -M prints (default: those beside --tables, if it is a folder)")
	Parse(f, &o.MulticastSLs, "multicast-sl", "0", routing.ParseLevels, "service levels of the multicast groups, such as 0, 0,2 or any")
}

// SLs declares a flag that takes service levels with commas between, or any; into gets them as bits.
func SLs(f *pflag.FlagSet, into *uint16, name, usage string) {
	Parse(f, into, name, "", routing.ParseLevels, usage)
}

// StrictUsage describes --strict.
const StrictUsage = "refuse tables that do not fit the fabric exactly (exit code 3), in place of judging what fits"

// AddTo declares the flags.
func (o *Tables) AddTo(c *cobra.Command) {
	f := c.Flags()
	takeOne(f, &o.LFTs, "tables in force: "+tablesUsage+", as OpenSM's or ibdiagnet2's, or of dump_fts or ibroute")
	f.StringVar(&o.SL2VL, "sl2vl", "", "SL to VL maps of --tables: opensm-sl2vl.dump or SLVL lines of ibdmchk (default: SL n on lane n)")
	f.StringVar(&o.PSL, "psl", "", "service levels of the paths of --tables, as ibdmchk reads them (default: SL 0 for all)")
	f.StringVar(&o.Groups, "groups", "", "what switches with adaptive routing choose from: ibdiagnet2.far (default: the ports of --tables alone)")
	f.StringVar(&o.List, "lst", "", "opensm-subnet.lst of the OpenSM that wrote --tables, if its LIDs are others")
	f.BoolVar(&o.Strict, "strict", false, StrictUsage)
}

// tablesUsage says what --tables takes.
const tablesUsage = "a folder, of weft, OpenSM, ibdiagnet2 or ibroute's output by switch, or a file of forwarding tables"

// AddInForce declares --tables where they are one folder or file.
func AddInForce(f *pflag.FlagSet, to *string) {
	takeOne(f, to, "tables in force: "+tablesUsage)
}

// takeOne declares --tables of a command that takes one: of several the last would be judged, and the others passed over.
func takeOne(f *pflag.FlagSet, to *string, usage string) {
	Take(f, "tables", "", func(path string) error {
		if *to != "" && *to != path {
			return fmt.Errorf("it is given twice, %s and %s, and this command takes one; weft compare takes several, as NAME=PATH", *to, path)
		}
		*to = path
		return nil
	}, usage)
}

// Named is tables with the name that the user gives them.
type Named struct {
	Name, Path string
	Tables     // the files there
}

// AddNamed declares --tables where several are put beside something.
func AddNamed(f *pflag.FlagSet, to *[]string, usage string) {
	f.StringArrayVar(to, "tables", nil, usage+", NAME=PATH: "+tablesUsage+"; may be repeated")
}

// NamedPath is the name and the path of a value of --tables, NAME=PATH. A file of that name wins; what has no name is
// called unnamed.
func NamedPath(arg, unnamed string) (name, path string, err error) {
	name, path, ok := strings.Cut(arg, "=")
	switch {
	case !ok || !console.Missing(arg):
		return unnamed, arg, nil
	case name == "" || path == "":
		return "", "", exit.Usage("--tables %s: it is PATH or NAME=PATH, as in current=/var/log/opensm", arg)
	}
	return name, path, nil
}

// NamedTables reads the values of such a flag. Tables without a name are called installed; a name that
// is in seen already is refused, and others are added to it.
func NamedTables(args []string, seen map[string]bool) (list []Named, err error) {
	for _, arg := range args {
		name, path, err := NamedPath(arg, "installed")
		switch {
		case err != nil:
			return nil, err
		case seen[name]:
			return nil, exit.Usage("%s is named twice: give the tables names, as in --tables current=%s", name, path)
		case console.Missing(path):
			return nil, fmt.Errorf("--tables %s: no such file or folder", path)
		}
		seen[name] = true
		t := Named{Name: name, Path: path, Tables: Tables{LFTs: path}}
		if err := t.Settle(); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// SettleFor is Settle where FABRIC may be a folder with tables, which are meant if no flag names any.
func (o *Tables) SettleFor(fabric string) error {
	if o.LFTs == "" && o.SL2VL == "" && o.PSL == "" && o.List == "" && o.Groups == "" && o.Multicast == "" && HasTables(fabric) {
		o.LFTs = fabric
	}
	return o.Settle()
}

// The files of an output folder of ibdiagnet2.
const (
	network = "ibdiagnet2.db_csv"
	fdbs    = "ibdiagnet2.fdbs"
	maps    = "ibdiagnet2.slvl"
	groups  = "ibdiagnet2.far"
	trees   = "ibdiagnet2.mcfdbs"
	private = "ibdiagnet2.plft"
	byLane  = "ibdiagnet2.vl2vl"
	cables  = "ibdiagnet2.net_dump"
)

// subnetList is the network as OpenSM dumps it, beside its tables.
const subnetList = "opensm-subnet.lst"

// Files of NVLSM, the OpenSM of NVLink switches: what OpenSM calls opensm-subnet.lst and so on.
const (
	nvlinkList  = "nvlsm-subnet.lst"
	nvlinkFDBs  = "nvlsm.fdbs"
	nvlinkTrees = "nvlsm.mcfdbs"
)

// IsIbdiagnet reports whether a name is that of a folder with a file of ibdiagnet2 in it.
func IsIbdiagnet(name string) bool { return FileIn(name, network, fdbs) != "" }

// OfIbdiagnet reports whether a file has the name of one of ibdiagnet2, packed or not.
func OfIbdiagnet(file string) bool { return strings.HasPrefix(filepath.Base(file), "ibdiagnet2.") }

// HasNetwork reports whether a FABRIC is a folder that ibdiagnet2 or OpenSM dumped a network into.
func HasNetwork(name string) bool { return FileIn(name, network, subnetList, nvlinkList, fdbs) != "" }

// HasTables reports whether a FABRIC is a folder of HasNetwork with forwarding tables in it.
func HasTables(name string) bool {
	return FileIn(name, fdbs) != "" || HasNetwork(name) && FileIn(name, "opensm-lfts.dump", "opensm.fdbs", nvlinkFDBs) != ""
}

// NetworkIn is the file to read a FABRIC from: the one in a folder of ibdiagnet2 or OpenSM, else
// the argument itself.
func NetworkIn(arg string) (string, error) {
	if info, err := os.Stat(arg); err != nil || !info.IsDir() {
		return arg, refuseEthernet(arg) // or what opening it will say
	}
	path := FileIn(arg, network, subnetList, nvlinkList)
	if path == "" {
		if err := refuseEthernet(arg); err != nil {
			return "", err
		}
		return "", fmt.Errorf("%s is a folder without %s or %s (plain or packed): a folder as FABRIC is the output of ibdiagnet2 or OpenSM, or of lossless Ethernet, with files such as leaf1.route.json (docs/ethernet.md)", arg, network, subnetList)
	}
	return path, plainFiles(path)
}

// NetDumpIn is the ibdiagnet2.net_dump of a folder; empty: it has none.
func NetDumpIn(arg string) string { return FileIn(arg, cables) }

// FileIn is the path of the first of some files that a folder has, plain or packed; empty: it has none.
func FileIn(dir string, names ...string) string {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	for _, name := range names {
		for _, packed := range reading.Endings {
			if path := filepath.Join(dir, name+packed); !console.Missing(path) {
				return path
			}
		}
	}
	return ""
}

// Settle checks the flags, and where --tables is a folder puts its files in place of it and of flags
// that are not given. Doing so again changes nothing.
func (o *Tables) Settle() error {
	if o.LFTs == "" {
		for _, f := range []struct{ flag, value string }{{"sl2vl", o.SL2VL}, {"psl", o.PSL}, {"groups", o.Groups}, {"multicast", o.Multicast}, {"lst", o.List}} {
			if f.value != "" {
				return exit.Usage("--%s goes with --tables, which is not given", f.flag)
			}
		}
		if o.Strict {
			return exit.Usage("--strict goes with --tables, which is not given")
		}
		return nil
	}
	if info, err := os.Stat(o.LFTs); err != nil || !info.IsDir() { // a file, or what opening it will say
		if dir := filepath.Dir(o.LFTs); FileIn(dir, tablefiles.ForwardingFile) == filepath.Clean(o.LFTs) {
			o.Summary = summaryIn(dir)
		}
		return nil
	}
	in, err := TablesIn(o.LFTs)
	if err != nil {
		return err
	}
	o.LFTs, o.BySwitch, o.Whole, o.Summary = in.LFTs, in.BySwitch, true, in.Summary
	for _, f := range []struct {
		to   *string
		find string
	}{{&o.SL2VL, in.SL2VL}, {&o.PSL, in.PSL}, {&o.List, in.List}, {&o.Groups, in.Groups}, {&o.Multicast, in.Multicast}, {&o.Private, in.Private}, {&o.Adaptive, in.Adaptive}, {&o.ByLane, in.ByLane}} {
		if *f.to == "" {
			*f.to = f.find
		}
	}
	return nil
}

// TablesIn finds the files of a folder: OpenSM's, weft's own, or those of ibdiagnet2.
func TablesIn(dir string) (Tables, error) {
	var o Tables
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return o, fmt.Errorf("%s: there is no such folder", dir)
	}
	o.LFTs, o.List = FileIn(dir, "opensm-lfts.dump", tablefiles.ForwardingFile, "opensm.fdbs", nvlinkFDBs, fdbs), FileIn(dir, subnetList, nvlinkList)
	o.SL2VL, o.PSL = FileIn(dir, "opensm-sl2vl.dump", tablefiles.SL2VLFile, maps), FileIn(dir, tablefiles.PSLFile)
	o.Groups, o.Multicast = FileIn(dir, groups, tablefiles.GroupsFile), FileIn(dir, "opensm.mcfdbs", nvlinkTrees, trees, tablefiles.MulticastFile)
	o.Private, o.Adaptive, o.ByLane = FileIn(dir, private), FileIn(dir, network), FileIn(dir, byLane)
	if o.LFTs == "" && FileIn(dir, output.Plan) != "" {
		step := filepath.Join(dir, "step-1")
		if _, err := os.Stat(step); err != nil {
			return o, fmt.Errorf("%s: it holds a plan without steps, by which the tables in force stay", dir)
		}
		return o, fmt.Errorf("%s: it holds the steps of a plan, each in a folder of its own; name one, such as %s", dir, step)
	}
	o.Summary = summaryIn(dir)
	if o.LFTs == "" {
		var err error
		if o.BySwitch, err = dumpsIn(dir); err != nil {
			return o, err
		}
		if len(o.BySwitch) == 0 {
			return o, fmt.Errorf("%s: no forwarding tables in it (opensm-lfts.dump, %s, opensm.fdbs or %s, plain or packed), nor files of what ibroute prints", dir, tablefiles.ForwardingFile, fdbs)
		}
		o.LFTs = dir
		return o, plainFiles(o.List, o.SL2VL, o.PSL, o.Groups, o.Multicast, o.Private, o.Adaptive, o.ByLane)
	}
	return o, plainFiles(o.LFTs, o.List, o.SL2VL, o.PSL, o.Groups, o.Multicast, o.Private, o.Adaptive, o.ByLane)
}

// summaryIn is the summary beside the tables of a folder; empty: there is none, or what is called so is no file and so is
// there by chance.
func summaryIn(dir string) string {
	path := FileIn(dir, output.Summary)
	if plainFiles(path) != nil {
		return ""
	}
	return path
}

// dumpsIn is the files of a folder that begin as what ibroute prints, one for each switch, whatever they are called.
func dumpsIn(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if kind, err := kindOf(path); err == nil && kind == reading.LFT { // others have another purpose there
			files = append(files, path)
		}
	}
	return files, nil
}

// kindOf is the kind of a plain file, packed or not.
func kindOf(path string) (reading.Kind, error) {
	r, err := reading.OpenFound(context.Background(), path)
	if err != nil {
		return reading.Unknown, err
	}
	defer r.Close()
	kind, _, err := reading.Peek(r)
	return kind, err
}

// plainFiles refuses what was found in a folder and is no plain file: a pipe would be waited
// for. Empty names are of files that are not there.
func plainFiles(names ...string) error {
	for _, name := range names {
		if name == "" {
			continue
		}
		f, err := reading.OpenPlain(name)
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

// Assumed is where the service levels and lanes of tables come from.
func (o *Tables) Assumed() result.Assumed {
	return result.Assumed{
		ServiceLevels: cmp.Or(o.PSL, "0 everywhere"),
		Lanes:         cmp.Or(o.SL2VL, "of the same number as the service level"),
	}
}
