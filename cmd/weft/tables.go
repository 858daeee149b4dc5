package main

import (
	"fmt"
	"io"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/psl"
	"github.com/weft-fabric/weft/format/slvl"
	"github.com/weft-fabric/weft/format/subnetlst"
	"github.com/weft-fabric/weft/routing"
)

// givenTables is tables read from files.
type givenTables struct {
	tables  *routing.Tables
	rule    lft.Rule // by which destinations were found
	misfits *misfits // between tables and fabric; nil: none
}

// readTables reads a fabric, and tables for it.
func readTables(c *console, name string, lmc int, o *tableFiles) (*givenTables, error) {
	f, err := load(c, name)
	if err != nil {
		return nil, err
	}
	if f, err = withLMC(f, lmc); err != nil {
		return nil, err
	}
	return o.read(c, name, f)
}

// read reads the tables of a fabric.
func (o *tableFiles) read(c *console, name string, f *fabric.Fabric) (*givenTables, error) {
	join := lft.Join{Lenient: !o.strict}
	var err error
	if o.lst != "" {
		if join.List, err = readFile(c, o.lst, subnetlst.ReadMap); err != nil {
			return nil, err
		}
	}
	dump, err := readFile(c, o.lfts, func(r io.Reader, name string) (*lft.Dump, error) {
		switch kind, r, err := format.Peek(r); {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case kind == format.Unknown || kind == format.LFT || kind == format.FDBS:
			return lft.Read(r, name, f, join) // which says where it is none
		default:
			return nil, format.Errorf(name, 1, "this is %s; forwarding tables are an opensm-lfts.dump, an opensm.fdbs, or what dump_fts or ibroute print", kind)
		}
	})
	if err != nil {
		return nil, err
	}
	m := misfitsOf(f, dump)
	if o.strict {
		if err := m.refuse(o.lfts, name); err != nil {
			return nil, err
		}
	}
	maps, err := o.readSL2VL(c, f, m)
	if err != nil {
		return nil, err
	}
	lanes := routing.OneSL(f, maps)
	if o.psl != "" {
		if lanes, err = o.readPSL(c, f, maps, dump.LIDs, m); err != nil {
			return nil, err
		}
	}
	if !m.found() {
		m = nil
	}
	return &givenTables{&routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: lanes}, dump.Rule, m}, nil
}

// readSL2VL reads the maps of --sl2vl; without, SL n rides lane n.
func (o *tableFiles) readSL2VL(c *console, f *fabric.Fabric, m *misfits) (*routing.SL2VL, error) {
	if o.sl2vl == "" {
		return routing.LanePerSL(routing.MaxDataVLs), nil
	}
	return readFile(c, o.sl2vl, func(r io.Reader, name string) (*routing.SL2VL, error) {
		if o.strict {
			return slvl.Read(r, name, f)
		}
		maps, fit, err := slvl.ReadLenient(r, name, f)
		m.SL2VL = fileMisfits(name, fit, "pair of ports has", "pairs of ports have", "no map, and are taken to have that of the first entry")
		return maps, err
	})
}

// readPSL reads the service levels of --psl; lids translates the LIDs of the dump.
func (o *tableFiles) readPSL(c *console, f *fabric.Fabric, maps *routing.SL2VL, lids []fabric.LID, m *misfits) (*routing.Lanes, error) {
	return readFile(c, o.psl, func(r io.Reader, name string) (*routing.Lanes, error) {
		if o.strict {
			return psl.Read(r, name, f, maps, lids)
		}
		lanes, fit, err := psl.ReadLenient(r, name, f, maps, lids)
		m.PSL = fileMisfits(name, fit, "pair of endpoints has", "pairs of endpoints have", "no service level, and are taken to have that of their neighbours, or SL 0")
		return lanes, err
	})
}
