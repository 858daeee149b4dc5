package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"unicode/utf8"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Answer is the daemon's answer: tables, or why there are none.
type Answer struct {
	Sweep   uint64
	Refusal string // empty: the fields below are set

	SoFar    bool   // better tables may follow: ask with Request.Again
	Orders   bool   // others may be ordered at any time: ask with Request.Again, which is answered then
	Step     bool   // Ranks hold, too, while the tables in use are replaced by these
	Drops    bool   // of a step: it may cut pairs, until the next
	More     int    // steps that are to follow, at least
	Number   uint64 // of these tables: Request.InUse once they are
	Engine   string
	Switches int
	LIDs     int // one more than the largest
	Lanes    int // of the proof
	Scope    routing.Scope
	Contract uint16 // service levels that any client may use, as bits; 0: clients use the PathRecord's
	Directed bool   // no client uses the service level of the opposite direction
	Groups   uint16 // service levels of multicast groups that Tree is proven for, as bits; 0: there is no tree

	// NewTree, of a step: the tree is another than that of the tables in use.
	NewTree bool

	Adapters [routing.SLs]uint8   // lanes on which adapters send
	OutPorts []uint8              // [switch × LIDs + LID], in the order of the request's switches
	SLs      []uint8              // [switch × LIDs + LID]
	Maps     [][routing.SLs]uint8 // different SL2VL maps
	Pairs    []uint16             // indices into Maps, by switch, in-port, out-port; nil: all pairs use the first
	Ranks    []int32              // by switch, out-port (from 0 to its number of ports), lane
	Tree     []uint8              // [switch] the port towards the root of the spanning tree, 0 for the root; nil: there is no tree
}

// Ask sends a request to the daemon at a socket and reads the answer.
func Ask(ctx context.Context, socket string, q *Request) (*Answer, error) {
	c, hangUp, err := dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer hangUp()
	if end, ok := ctx.Deadline(); ok {
		if err := c.SetDeadline(end); err != nil {
			return nil, err
		}
	}
	if err := q.Write(c); err != nil {
		return nil, err
	}
	return ReadAnswer(c, q)
}

// dial connects to the daemon at a socket, at most until the context ends.
func dial(ctx context.Context, socket string) (c net.Conn, hangUp func(), err error) {
	c, err = new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	return c, func() { stop(); c.Close() }, nil
}

// ReadAnswer reads the answer to a request and checks that its sizes fit the request.
// It does not check the tables.
func ReadAnswer(r io.Reader, q *Request) (*Answer, error) {
	k, body, err := readMessage(r, MaxReply)
	if err != nil {
		return nil, err
	}
	switch k {
	case kindTables:
		return decodeTables(body, q)
	case kindRefusal:
		if len(body) < refusalSize || len(body) > refusalSize+reasonMax || !utf8.Valid(body[refusalSize:]) {
			return nil, fmt.Errorf("a malformed refusal of %d bytes", len(body))
		}
		a := &Answer{Sweep: le.Uint64(body), Refusal: string(body[refusalSize:])}
		if a.Refusal == "" {
			a.Refusal = "no reason given"
		}
		return a, a.fits(q)
	}
	return nil, fmt.Errorf("message of kind %d where an answer is expected", k)
}

// fits is an error if the answer is to another question.
func (a *Answer) fits(q *Request) error {
	if a.Sweep != q.Sweep {
		return fmt.Errorf("the answer is for sweep %d, the question was %d", a.Sweep, q.Sweep)
	}
	return nil
}

// shape is the sizes of an answer that follow from the request: pairs is the pairs of ports of all switches, ports
// their ports with port 0, lids one more than the largest LID.
func (q *Request) shape() (switches, lids, ports, pairs int) {
	for i := range q.Nodes {
		n := &q.Nodes[i]
		if n.Kind == fabric.Switch {
			switches++
			ports += n.Ports + 1
			pairs += (n.Ports + 1) * (n.Ports + 1)
		}
		for _, p := range n.Has {
			if p.LID != 0 {
				lids = max(lids, int(p.LID)+1<<p.LMC)
			}
		}
	}
	return switches, lids, ports, pairs
}

// decodeTables reads the body of an answer with tables, and checks its sizes.
func decodeTables(b []byte, q *Request) (*Answer, error) {
	if len(b) < tablesSize {
		return nil, fmt.Errorf("tables of %d bytes; they have %d at least", len(b), tablesSize)
	}
	a := &Answer{
		Sweep: le.Uint64(b), Switches: int(le.Uint32(b[8:])), LIDs: int(le.Uint32(b[12:])),
		Lanes: int(b[26]), Scope: routing.Scope(b[27]), Contract: le.Uint16(b[28:]), Directed: b[30]&flagDirected != 0,
		SoFar: b[30]&flagSoFar != 0, Step: b[30]&flagStep != 0, Drops: b[30]&flagDrops != 0, More: int(b[31]), Number: le.Uint64(b[80:]), Engine: unpadded(b[48:80]), Groups: le.Uint16(b[88:]), NewTree: b[30]&flagNewTree != 0, Orders: b[30]&flagOrders != 0,
	}
	copy(a.Adapters[:], b[32:])
	if slices.Max(a.Adapters[:]) > routing.MaxDataVLs {
		return nil, fmt.Errorf("adapters are to send on lane %d", slices.Max(a.Adapters[:]))
	}
	switches, lids, ports, pairs := q.shape()
	gotPairs, maps := int(le.Uint32(b[20:])), int(le.Uint16(b[24:]))
	switch {
	case a.Switches != switches || a.LIDs != lids || int(le.Uint32(b[16:])) != ports || gotPairs != pairs && gotPairs != 0:
		return nil, fmt.Errorf("tables for %d switches, %d LIDs, %d ports and %d pairs; the fabric has %d, %d, %d and %d",
			a.Switches, a.LIDs, le.Uint32(b[16:]), gotPairs, switches, lids, ports, pairs)
	case a.Lanes < 1 || a.Lanes > routing.MaxDataVLs || a.Scope > routing.All || maps < 1 || a.Number == 0:
		return nil, fmt.Errorf("tables with %d lanes, scope %d, %d maps and number 0x%x", a.Lanes, a.Scope, maps, a.Number)
	case a.Step && q.InUse == 0 && !(q.Filled && a.More > 0):
		return nil, errors.New("a step from tables in use, where there are none")
	case b[30]&^(flagSoFar|flagDirected|flagStep|flagDrops|flagNewTree|flagOrders) != 0 || a.Drops && !a.Step || a.NewTree && (!a.Step || a.Groups == 0) || le.Uint16(b[90:])|le.Uint16(b[92:])|le.Uint16(b[94:]) != 0 || a.Directed && a.Contract != 0:
		return nil, fmt.Errorf("tables with a contract of service levels %#x and flags %#x", a.Contract, b[30])
	}
	cells, tree := switches*lids, 0
	if a.Groups != 0 {
		tree = switches
	}
	if want := tablesSize + 2*cells + maps*routing.SLs + 2*gotPairs + 4*ports*a.Lanes + tree; len(b) != want {
		return nil, fmt.Errorf("tables of %d bytes; their figures make it %d", len(b), want)
	}
	cut := func(n int) []byte {
		part := b[:n]
		b = b[n:]
		return part
	}
	cut(tablesSize)
	a.OutPorts, a.SLs = cut(cells), cut(cells)
	a.Maps = make([][routing.SLs]uint8, maps)
	for i := range a.Maps {
		copy(a.Maps[i][:], cut(routing.SLs))
		if slices.Max(a.Maps[i][:]) > routing.MaxDataVLs {
			return nil, fmt.Errorf("map %d has lane %d", i, slices.Max(a.Maps[i][:]))
		}
	}
	if gotPairs != 0 {
		a.Pairs = make([]uint16, gotPairs)
	}
	for i := range a.Pairs {
		if a.Pairs[i] = le.Uint16(cut(2)); int(a.Pairs[i]) >= maps {
			return nil, fmt.Errorf("pair %d has map %d of %d", i, a.Pairs[i], maps)
		}
	}
	a.Ranks = make([]int32, ports*a.Lanes)
	for i := range a.Ranks {
		a.Ranks[i] = int32(le.Uint32(cut(4)))
	}
	if tree > 0 {
		a.Tree = cut(tree)
	}
	if err := a.serves(q); err != nil {
		return nil, err
	}
	return a, a.fits(q)
}

// serves refuses an answer with entries for LIDs that are not assigned, or that would
// keep adapters from sending: the maps of adapters are on no path between switches, so
// that the proof does not cover them.
func (a *Answer) serves(q *Request) error {
	owned, sends := make([]bool, a.LIDs), []bool{} // [LID] somebody has it; [row] an adapter is cabled to the switch
	for i := range q.Nodes {
		n := &q.Nodes[i]
		adapters := false
		for _, p := range n.Has {
			for lid := int(p.LID); p.LID != 0 && lid < int(p.LID)+1<<p.LMC; lid++ {
				owned[lid] = true
			}
			adapters = adapters || p.Peer >= 0 && q.Nodes[p.Peer].Kind != fabric.Switch
		}
		if n.Kind == fabric.Switch {
			sends = append(sends, adapters)
		}
	}
	used := a.Contract
	for row, adapters := range sends {
		for lid, has := range owned {
			at := row*a.LIDs + lid
			switch {
			case !has && (a.OutPorts[at] != routing.NoPort || a.SLs[at] != 0):
				return fmt.Errorf("an out-port or a service level for LID %d, which nobody has", lid)
			case has && adapters:
				used |= 1 << (a.SLs[at] % routing.SLs)
			}
		}
	}
	for sl, lane := range a.Adapters {
		if used>>sl&1 == 1 && lane == routing.MaxDataVLs {
			return fmt.Errorf("adapters are to drop SL %d, which is in use", sl)
		}
	}
	return nil
}
