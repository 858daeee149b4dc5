package input

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/format/far"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/mcfdbs"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Given is tables read from files.
type Given struct {
	Tables     *routing.Tables
	Unowned    map[fabric.LID][]uint8 // rows of LIDs that nobody has, as lft.Dump.Unowned
	Rule       lft.Rule               // how LIDs of the files were matched with endpoints of the fabric
	Renumbered *result.Renumbered     // the tables are those of another subnet manager; nil: they are not
	Mismatches *result.Mismatches     // what tables and fabric do not have in common; nil: nothing
	ByLane     []result.ByLane        // switches that look up lanes by lanes
	Doubts     []result.Doubt         // other reasons for which switches may not do what the verdict is about

	stated  *routing.Contract // that summary.json beside the tables names; nil: none
	summary string            // that file
	gone    []fabric.GUID     // switches that have tables and that the fabric lacks
}

// Read reads a fabric by its FABRIC argument, and tables for it. An lmc other than
// flags.NoLMC replaces the fabric's own.
func Read(c *console.Console, name string, lmc int, o *flags.Tables) (*Given, error) {
	f, err := FabricWithLMC(c, name, lmc)
	if err != nil {
		return nil, err
	}
	return TablesOf(c, name, f, o)
}

// TablesOf reads the tables of a fabric; name is the fabric's, for errors. A folder in o is
// replaced by the files in it. What does not fit is in Given.Mismatches, or under
// --strict an error.
func TablesOf(c *console.Console, name string, f *fabric.Fabric, o *flags.Tables) (*Given, error) {
	err := o.Settle()
	if err != nil {
		return nil, err
	}
	join := lft.Join{Lenient: !o.Strict, SkipPrivate: o.Groups != "" && !o.StaticOnly}
	if o.List != "" {
		if join.List, err = console.ReadFile(c, o.List, subnetlst.ReadMap); err != nil {
			return nil, err
		}
	}
	dump, err := forwardingOf(c, f, o, join)
	if err != nil {
		return nil, err
	}
	m := mismatchesOf(f, dump)
	if o.Strict {
		if err := refuse(m, dump, o.LFTs, name); err != nil {
			return nil, err
		}
	}
	maps, err := readSL2VL(c, f, o, m)
	if err != nil {
		return nil, err
	}
	lanes := routing.OneSL(f, maps) // without --psl: SL 0 for all
	if o.PSL != "" {
		if lanes, err = readPSL(c, f, o, maps, dump.LIDs, m); err != nil {
			return nil, err
		}
	}
	if !outputs.AnyMisfit(m) {
		m = nil
	}
	t := &routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: lanes}
	if t.Groups, err = readGroups(c, t, dump, o); err != nil {
		return nil, err
	}
	if o.Multicast != "" && o.MulticastSLs != 0 {
		if t.Multicast, err = console.ReadFile(c, o.Multicast, func(r io.Reader, name string) (*routing.Multicast, error) {
			return mcfdbs.Read(r, name, f, o.MulticastSLs, goneIn(dump)...)
		}); err != nil {
			return nil, err
		}
	}
	g := &Given{Tables: t, Unowned: dump.Unowned, Rule: dump.Rule, Renumbered: renumberedIn(f, dump), Mismatches: m, stated: statedIn(c, o.Summary), summary: o.Summary, gone: goneIn(dump)}
	if e := leftOut(f, dump); e != fabric.None {
		g.find(LIDLeftOut, "whether LID %d of %s is reached is not in %s: %s", dump.LeftOut, f.EndpointLabel(e), o.LFTs, whyLeftOut)
	}
	if err := cmp.Or(g.readRuns(c, name, o), g.readUse(c, o)); err != nil {
		return nil, err
	}
	for _, d := range g.Doubts {
		if !o.Findings {
			c.Note("%s", d.What)
		}
	}
	return g, nil
}

// Contract is the contract that is given, or else that which the tables are proven for, as their folder says. A repair
// under another would let go of that: clients do what route advised.
func (g *Given) Contract(given *routing.Contract) routing.Contract {
	if given == nil && !g.Tables.Lanes.SL2VL.IgnoresSL() {
		given = g.stated
	}
	return flags.ContractOf(given, g.Tables)
}

// OtherContract names the contract that serves where Contract asks too much, for whom a plan is refused; empty: there is none,
// or the contract was given. A summary may be of tables that were here before, and service levels may be in force.
func (g *Given) OtherContract(given *routing.Contract) string {
	k, other := g.Contract(given), flags.ContractOf(nil, g.Tables)
	if given != nil || k == other {
		return ""
	}
	return fmt.Sprintf("Contract %s is what %s says; --contract %s takes it that clients use the service levels of their paths.", k, g.summary, other)
}

// statedIn is the contract in a summary.json of weft route; nil: there is none. What is beside tables by chance, or
// damaged, says nothing.
func statedIn(c *console.Console, summary string) *routing.Contract {
	if summary == "" {
		return nil
	}
	k, err := console.ReadFile(c, summary, func(r io.Reader, name string) (*routing.Contract, error) {
		data, err := reading.ReadAll(r, name, reading.MaxSettings)
		if err != nil {
			return nil, err
		}
		var s struct {
			Schema   string `json:"schema"`
			Contract string `json:"contract"`
		}
		if err := json.Unmarshal(data, &s); err != nil || !strings.HasPrefix(s.Schema, "weft/") {
			return nil, err
		}
		k, err := routing.ParseContract(s.Contract)
		return &k, err
	})
	if err != nil {
		return nil
	}
	return k
}

// forwardingOf reads the forwarding tables of a fabric, from one file or from one for each switch, and warns of those
// that were cut short.
func forwardingOf(c *console.Console, f *fabric.Fabric, o *flags.Tables, join lft.Join) (dump *lft.Dump, err error) {
	if len(o.BySwitch) > 0 {
		var parts []reading.Part
		for _, name := range o.BySwitch {
			parts = append(parts, reading.Part{Name: name, Open: func() (io.ReadCloser, error) { return reading.OpenFound(c.Context, name) }})
		}
		dump, err = lft.ReadFiles(parts, f, join)
	} else {
		dump, err = console.ReadFile(c, o.LFTs, func(r io.Reader, file string) (*lft.Dump, error) {
			return lft.Read(r, file, f, join)
		})
	}
	if err != nil {
		return nil, err
	}
	if len(dump.Cut) > 0 {
		first := dump.Cut[0]
		text := fmt.Sprintf("the table of %s ends", first.Switch)
		if n := len(dump.Cut); n > 1 {
			text = fmt.Sprintf("%s tables end, the first that of %s,", words.Thousands(n), first.Switch)
		}
		text += fmt.Sprintf(" in an error of the program that dumped it; LIDs behind have no port there: %s", first.Message)
		c.Warn(text)
	}
	return dump, nil
}

// goneIn is the switches that have forwarding tables and that the fabric lacks. What the files beside these say of them
// is left out with the tables, which Given.Mismatches names.
func goneIn(dump *lft.Dump) []fabric.GUID {
	var gone []fabric.GUID
	for _, s := range dump.Mismatches.UnknownSwitches {
		gone = append(gone, s.GUID)
	}
	return gone
}

// readGroups reads what switches with adaptive routing choose from. The file goes by LIDs,
// so the forwarding tables must speak of those of the fabric.
func readGroups(c *console.Console, t *routing.Tables, dump *lft.Dump, o *flags.Tables) (*routing.Groups, error) {
	switch {
	case o.Groups == "" && o.Whole && dump.Groups != "":
		return nil, fmt.Errorf("%s: switches choose from the groups of ports in %s, which is missing: bring it back, or name it by --groups", o.LFTs, reading.Printable(dump.Groups))
	case o.Groups == "":
		return nil, nil
	case o.StaticOnly:
		c.Note("%s is left out: switches are taken to forward by the static ports alone", o.Groups)
		return nil, nil
	}
	for lid, ours := range dump.LIDs {
		if ours != 0 && int(ours) != lid {
			return nil, fmt.Errorf("%s goes by LIDs, and LID %d of %s is LID %d in the fabric; give the network of the same time", o.Groups, lid, o.LFTs, ours)
		}
	}
	groups, err := console.ReadFile(c, o.Groups, func(r io.Reader, name string) (*routing.Groups, error) {
		return far.Read(r, name, t.Fabric, t.Forwarding, goneIn(dump)...)
	})
	switch {
	case err != nil || groups.Tables() == 1 && o.Private == "":
		return groups, err
	case o.Private == "":
		return nil, fmt.Errorf("%s has private forwarding tables, and there is no ibdiagnet2.plft beside it that says which packets go by them", o.Groups)
	}
	return console.ReadFile(c, o.Private, func(r io.Reader, name string) (*routing.Groups, error) {
		return groups, far.ReadPrivate(r, name, t.Fabric, groups, goneIn(dump)...)
	})
}

// readSL2VL reads the maps of --sl2vl, and notes in m what does not fit; without a file SL
// n uses lane n, and SL 15 lane 0.
func readSL2VL(c *console.Console, f *fabric.Fabric, o *flags.Tables, m *result.Mismatches) (*routing.SL2VL, error) {
	if o.SL2VL == "" {
		return routing.LanePerSL(routing.MaxDataVLs), nil
	}
	return console.ReadFile(c, o.SL2VL, func(r io.Reader, name string) (*routing.SL2VL, error) {
		if o.Strict {
			return slvl.Read(r, name, f)
		}
		maps, fit, err := slvl.ReadLenient(r, name, f)
		m.SL2VL = fileMisfits(name, fit)
		return maps, err
	})
}

// readPSL reads the service levels of --psl, and notes in m what does not fit. The file
// goes by the LIDs of the dump: lids is the fabric's LID for each of them, or 0.
func readPSL(c *console.Console, f *fabric.Fabric, o *flags.Tables, maps *routing.SL2VL, lids []fabric.LID, m *result.Mismatches) (*routing.Lanes, error) {
	return console.ReadFile(c, o.PSL, func(r io.Reader, name string) (*routing.Lanes, error) {
		if o.Strict {
			return psl.Read(r, name, f, maps, lids)
		}
		lanes, fit, err := psl.ReadLenient(r, name, f, maps, lids)
		m.PSL = fileMisfits(name, fit)
		return lanes, err
	})
}
