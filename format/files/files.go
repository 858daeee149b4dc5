// Package files reads networks, and tables for them, from files in whatever of the formats
// they are: a text is recognised by its beginning.
//
//	f, err := files.Open("fabric.ibnetdiscover")
//	t, err := files.OpenTables(f, files.Names{LFTs: "opensm-lfts.dump", List: "opensm-subnet.lst"})
//	r, err := weft.Verify(ctx, t, weft.Request{Contract: &routing.Honored})
//
// What does not fit the network is an error with file and line.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/format/internal/cablelist"
	"github.com/weft-fabric/weft/format/internal/graphs"
	"github.com/weft-fabric/weft/format/internal/iblinkinfo"
	"github.com/weft-fabric/weft/format/internal/topo"
	"github.com/weft-fabric/weft/internal/format/far"
	"github.com/weft-fabric/weft/internal/format/ibdiagnet"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/mcfdbs"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// Fabric reads a network: ibnetdiscover output, an ibsim net file, iblinkinfo output, an opensm-subnet.lst, an
// ibdiagnet2.db_csv, a list of cables as .ndt files of UFM or as its links in JSON, a .topo file
// of ibutils, or a graph in GraphML, GML, NetworkX's node-link JSON, DOT or BookSim2's anynet.
// The name is for errors, and says where the system definitions of a .topo file may be.
func Fabric(r io.Reader, name string) (*fabric.Fabric, error) {
	return FabricWithCables(r, name, nil)
}

// FabricWithCables is Fabric; cables, if not nil, opens the ibdiagnet2.net_dump beside an
// ibdiagnet2.db_csv, as ibdiagnet.Read has it.
func FabricWithCables(r io.Reader, name string, cables func() (io.ReadCloser, string, error)) (*fabric.Fabric, error) {
	kind, r, err := reading.Peek(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch kind {
	case reading.IBNet:
		return ibnet.Read(r, name)
	case reading.SubnetList:
		return subnetlst.Read(r, name)
	case reading.DBCSV:
		return ibdiagnet.Read(r, name, cables)
	case reading.GraphML:
		return graphs.ReadGraphML(r, name)
	case reading.NodeLink:
		return graphs.ReadNodeLink(r, name)
	case reading.DOT:
		return graphs.ReadDOT(r, name)
	case reading.Anynet:
		return graphs.ReadAnynet(r, name)
	case reading.GML:
		return graphs.ReadGML(r, name)
	case reading.UFMLinks:
		return cablelist.ReadLinks(r, name)
	case reading.CableList:
		return cablelist.ReadColumns(r, name)
	case reading.LinkInfo:
		return iblinkinfo.Read(r, name)
	case reading.Topo:
		return topo.Read(r, name, systemsFor(name))
	}
	if instead := kind.Instead(); instead != "" {
		return nil, format.Errorf(name, 1, "this is %s; give %s", kind, instead)
	}
	return nil, format.Errorf(name, 1, "this is %s; a fabric is ibnetdiscover output, an ibsim net file, iblinkinfo output, an opensm-subnet.lst, an ibdiagnet2.db_csv, a .ndt or .topo file, UFM's list of links, or a graph in GraphML, GML, node-link JSON, DOT or BookSim2's anynet", kind)
}

// Text is a text with the name that errors give it. Without a text, the zero Text, there is
// none.
type Text struct {
	Name string
	Text io.Reader
}

// Texts is the tables of a network.
type Texts struct {
	LFTs  Text // forwarding tables
	List  Text // opensm-subnet.lst of the OpenSM they are from, if they speak of other LIDs than the network
	SL2VL Text // lanes by service level: an opensm-sl2vl.dump, or ibdmchk's; without, SL n rides VL n
	PSL   Text // service levels by source and destination, as for ibdmchk; without, all packets have SL 0

	Groups    Text // what switches of adaptive routing choose from, as ibdiagnet2.far
	Private   Text // by which of their private tables packets go, as ibdiagnet2.plft; only with Groups
	Multicast Text // trees of multicast groups, whose packets have SL 0, as OpenSM's opensm.mcfdbs
}

// Tables reads tables of a network.
func Tables(f *fabric.Fabric, t Texts) (*routing.Tables, error) {
	if t.LFTs.Text == nil {
		return nil, errors.New("there are no forwarding tables to read")
	}
	var join lft.Join
	var err error
	if t.List.Text != nil {
		if join.List, err = subnetlst.ReadMap(t.List.Text, t.List.Name); err != nil {
			return nil, err
		}
	}
	dump, err := lft.Read(t.LFTs.Text, t.LFTs.Name, f, join)
	if err != nil {
		return nil, err
	}
	maps := routing.LanePerSL(routing.MaxDataVLs)
	if t.SL2VL.Text != nil {
		if maps, err = slvl.Read(t.SL2VL.Text, t.SL2VL.Name, f); err != nil {
			return nil, err
		}
	}
	lanes := routing.OneSL(f, maps)
	if t.PSL.Text != nil {
		if lanes, err = psl.Read(t.PSL.Text, t.PSL.Name, f, maps, dump.LIDs); err != nil {
			return nil, err
		}
	}
	tables := &routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: lanes}
	if t.Groups.Text != nil {
		if tables.Groups, err = far.Read(t.Groups.Text, t.Groups.Name, f, dump.Forwarding); err != nil {
			return nil, err
		}
		switch {
		case t.Private.Text != nil:
			err = far.ReadPrivate(t.Private.Text, t.Private.Name, f, tables.Groups)
		case tables.Groups.Tables() > 1:
			err = fmt.Errorf("%s has private forwarding tables, and no file says which packets go by them", t.Groups.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.Multicast.Text != nil {
		if tables.Multicast, err = mcfdbs.Read(t.Multicast.Text, t.Multicast.Name, f, 1); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// Open reads a network from a file, packed or not.
func Open(name string) (*fabric.Fabric, error) {
	r, err := reading.Open(context.Background(), name, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return Fabric(r, name)
}

// Names is the names of the files of Texts; empty: there is none.
type Names struct{ LFTs, List, SL2VL, PSL, Groups, Private, Multicast string }

// OpenTables reads tables of a network from files.
func OpenTables(f *fabric.Fabric, n Names) (*routing.Tables, error) {
	var opened []io.Closer
	defer func() {
		for _, r := range opened {
			r.Close()
		}
	}()
	var texts Texts
	for _, file := range []struct {
		name string
		text *Text
	}{{n.LFTs, &texts.LFTs}, {n.List, &texts.List}, {n.SL2VL, &texts.SL2VL}, {n.PSL, &texts.PSL}, {n.Groups, &texts.Groups}, {n.Private, &texts.Private}, {n.Multicast, &texts.Multicast}} {
		if file.name == "" {
			continue
		}
		r, err := reading.Open(context.Background(), file.name, nil)
		if err != nil {
			return nil, err
		}
		opened = append(opened, r)
		*file.text = Text{file.name, r}
	}
	return Tables(f, texts)
}
