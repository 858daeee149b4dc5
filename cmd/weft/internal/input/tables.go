package input

import (
	"fmt"
	"io"

	"github.com/weft-fabric/weft/cmd/weft/internal/console"
	"github.com/weft-fabric/weft/cmd/weft/internal/flags"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/psl"
	"github.com/weft-fabric/weft/format/slvl"
	"github.com/weft-fabric/weft/format/subnetlst"
	"github.com/weft-fabric/weft/routing"
)

// Given is tables read from files.
type Given struct {
	Tables     *routing.Tables
	Rule       lft.Rule    // how destinations were found
	Mismatches *Mismatches // what tables and fabric do not have in common; nil: nothing
}

// Read reads a fabric, and tables for it.
func Read(c *console.Console, name string, lmc int, o *flags.Tables) (*Given, error) {
	f, err := FabricWithLMC(c, name, lmc)
	if err != nil {
		return nil, err
	}
	return TablesOf(c, name, f, o)
}

// TablesOf reads the tables of a fabric.
func TablesOf(c *console.Console, name string, f *fabric.Fabric, o *flags.Tables) (*Given, error) {
	err := o.Settle()
	if err != nil {
		return nil, err
	}
	join := lft.Join{Lenient: !o.Strict}
	if o.List != "" {
		if join.List, err = console.ReadFile(c, o.List, subnetlst.ReadMap); err != nil {
			return nil, err
		}
	}
	dump, err := console.ReadFile(c, o.LFTs, func(r io.Reader, name string) (*lft.Dump, error) {
		switch kind, r, err := format.Peek(r); {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case kind == format.Unknown || kind == format.LFT || kind == format.FDBS:
			return lft.Read(r, name, f, join) // its error names the line
		default:
			return nil, format.Errorf(name, 1, "this is %s; forwarding tables are an opensm-lfts.dump, an opensm.fdbs, or what dump_fts or ibroute print", kind)
		}
	})
	if err != nil {
		return nil, err
	}
	m := misfitsOf(f, dump)
	if o.Strict {
		if err := m.refuse(o.LFTs, name); err != nil {
			return nil, err
		}
	}
	maps, err := readSL2VL(c, f, o, m)
	if err != nil {
		return nil, err
	}
	lanes := routing.OneSL(f, maps)
	if o.PSL != "" {
		if lanes, err = readPSL(c, f, o, maps, dump.LIDs, m); err != nil {
			return nil, err
		}
	}
	if !m.found() {
		m = nil
	}
	return &Given{&routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: lanes}, dump.Rule, m}, nil
}

// readSL2VL reads the maps of --sl2vl; without it SL n uses lane n.
func readSL2VL(c *console.Console, f *fabric.Fabric, o *flags.Tables, m *Mismatches) (*routing.SL2VL, error) {
	if o.SL2VL == "" {
		return routing.LanePerSL(routing.MaxDataVLs), nil
	}
	return console.ReadFile(c, o.SL2VL, func(r io.Reader, name string) (*routing.SL2VL, error) {
		if o.Strict {
			return slvl.Read(r, name, f)
		}
		maps, fit, err := slvl.ReadLenient(r, name, f)
		m.SL2VL = fileMisfits(name, fit, "pair of ports has", "pairs of ports have", "no map, and are taken to have that of the first entry")
		return maps, err
	})
}

// readPSL reads the service levels of --psl; lids translates the LIDs of the dump.
func readPSL(c *console.Console, f *fabric.Fabric, o *flags.Tables, maps *routing.SL2VL, lids []fabric.LID, m *Mismatches) (*routing.Lanes, error) {
	return console.ReadFile(c, o.PSL, func(r io.Reader, name string) (*routing.Lanes, error) {
		if o.Strict {
			return psl.Read(r, name, f, maps, lids)
		}
		lanes, fit, err := psl.ReadLenient(r, name, f, maps, lids)
		m.PSL = fileMisfits(name, fit, "pair of endpoints has", "pairs of endpoints have", "no service level, and are taken to have that of their neighbours, or SL 0")
		return lanes, err
	})
}
