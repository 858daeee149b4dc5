package wire

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Request is a fabric as OpenSM discovered it, with the lanes that OpenSM will
// configure.
type Request struct {
	Sweep    uint64
	Deadline time.Duration // how long the plugin waits for the whole answer; whole milliseconds
	OpenSM   string        // its version
	MaxVLs   int           // data lanes that max_op_vls allows
	QoS      bool          // without it OpenSM writes no SL2VL table
	Improves bool          // the sender understands Answer.SoFar
	Again    bool          // tables of such an answer for this fabric are in use; the sender waits for better ones
	Filled   bool          // none are in use, and some switch forwards by tables of before OpenSM began: the sender also takes a step that others follow
	Stands   bool          // the sender keeps a question open where Answer.Orders says so
	Nodes    []Node

	InUse    uint64        // Answer.Number of the tables in use; 0: none, or OpenSM's own
	Lifetime time.Duration // that a packet may wait in a switch, whole microseconds; 0: for ever
	Blocks   []Block       // those that switches have otherwise than the tables in use say
}

// Block is 64 entries of a switch's forwarding table as it confirmed them last.
type Block struct {
	Switch int     // row: index among the switches of the request
	Number int     // the first LID over 64
	Ports  []uint8 // by LID; routing.NoPort: no path
}

// Node is a node of the fabric. Switches, in the order of Request.Nodes, are the
// rows of the answer.
type Node struct {
	GUID       fabric.GUID
	SystemGUID fabric.GUID // zero: not known
	Kind       fabric.Kind
	Ports      int    // external ports, 0 … fabric.MaxPorts
	VendorID   uint32 // zero: not known
	DeviceID   uint32 // zero: not known
	Name       string // at most 64 bytes
	Has        []Port // ascending by Number: port 0 of a switch, and what has a cable
}

// Port is port 0 of a switch, or a port with a cable.
type Port struct {
	GUID     fabric.GUID
	Peer     int        // index of the node at the other end; -1 for port 0
	LID      fabric.LID // 0 for the external ports of a switch
	LMC      uint8
	Number   uint8
	PeerPort uint8
	VLs      uint8 // data lanes; 0 not known
	Rate     fabric.Rate
}

// speeds is the speeds by their numbers in the wire format.
var speeds = [...]fabric.Speed{"", fabric.SDR, fabric.DDR, fabric.QDR, fabric.FDR10, fabric.FDR, fabric.EDR, fabric.HDR, fabric.NDR, fabric.XDR}

// Write sends the request.
func (q *Request) Write(w io.Writer) error {
	ports := 0
	for i := range q.Nodes {
		ports += len(q.Nodes[i].Has)
	}
	m := newMessage(kindRequest, requestSize+len(q.Nodes)*nodeSize+ports*portSize+len(q.Blocks)*blockSize+len(q.OpenSM))
	m = le.AppendUint64(m, q.Sweep)
	m = le.AppendUint32(m, uint32(len(q.Nodes)))
	m = le.AppendUint32(m, uint32(ports))
	m = le.AppendUint32(m, uint32(min(q.Deadline.Milliseconds(), math.MaxUint32)))
	flags := byte(0)
	for _, f := range []struct {
		set bool
		bit byte
	}{{q.QoS, flagQoS}, {q.Improves, flagImproves}, {q.Again, flagAgain}, {q.Filled, flagFilled}, {q.Stands, flagStands}} {
		if f.set {
			flags |= f.bit
		}
	}
	version := q.OpenSM[:min(len(q.OpenSM), math.MaxUint16)]
	m = append(m, byte(q.MaxVLs), flags)
	m = le.AppendUint16(m, uint16(len(version)))
	m = le.AppendUint64(m, q.InUse)
	m = le.AppendUint32(m, uint32(min(q.Lifetime.Microseconds(), math.MaxUint32)))
	m = le.AppendUint32(m, uint32(len(q.Blocks)))
	m = le.AppendUint64(m, 0)
	for i := range q.Nodes {
		m = q.Nodes[i].append(m)
	}
	for i := range q.Nodes {
		for _, p := range q.Nodes[i].Has {
			m = p.append(m)
		}
	}
	for _, b := range q.Blocks {
		m = le.AppendUint32(m, uint32(b.Switch))
		m = le.AppendUint16(m, uint16(b.Number))
		m = append(le.AppendUint16(m, 0), b.Ports[:blockLIDs]...)
	}
	return send(w, append(m, version...))
}

// append appends the record of a node, without its ports.
func (n *Node) append(m []byte) []byte {
	m = le.AppendUint64(m, uint64(n.GUID))
	m = le.AppendUint64(m, uint64(n.SystemGUID))
	m = append(m, byte(n.Kind), byte(n.Ports))
	m = le.AppendUint16(m, uint16(len(n.Has)))
	m = le.AppendUint32(m, n.VendorID)
	m = le.AppendUint32(m, n.DeviceID)
	m = le.AppendUint32(m, 0)
	return padded(m, n.Name, nameSize)
}

// append appends the record of a port.
func (p *Port) append(m []byte) []byte {
	peer := uint32(noPeer)
	if p.Peer >= 0 {
		peer = uint32(p.Peer)
	}
	m = le.AppendUint64(m, uint64(p.GUID))
	m = le.AppendUint32(m, peer)
	m = le.AppendUint16(m, uint16(p.LID))
	m = append(m, p.LMC, p.Number, p.PeerPort, p.VLs, p.Rate.Width, byte(max(0, slices.Index(speeds[:], p.Rate.Speed))))
	return le.AppendUint32(m, 0)
}

// ReadRequest reads a request. It allocates memory only for bytes that arrive, whatever
// the length fields say; Request.Fabric checks the rest.
func ReadRequest(r io.Reader) (*Request, error) {
	k, body, err := readMessage(r, MaxRequest)
	if err != nil {
		return nil, err
	}
	if k != kindRequest {
		return nil, fmt.Errorf("message of kind %d where a request is expected", k)
	}
	return decodeRequest(body)
}

// decodeRequest reads the body of a request.
func decodeRequest(b []byte) (*Request, error) {
	if len(b) < requestSize {
		return nil, fmt.Errorf("a request of %d bytes; it has %d at least", len(b), requestSize)
	}
	nodes, ports, version, blocks := int(le.Uint32(b[8:])), int(le.Uint32(b[12:])), int(le.Uint16(b[22:])), int(le.Uint32(b[36:]))
	if want := requestSize + nodes*nodeSize + ports*portSize + blocks*blockSize + version; len(b) != want {
		return nil, fmt.Errorf("a request of %d bytes; %d nodes, %d ports and %d blocks make it %d", len(b), nodes, ports, blocks, want)
	}
	q := &Request{
		Sweep:    le.Uint64(b),
		Deadline: time.Duration(le.Uint32(b[16:])) * time.Millisecond,
		OpenSM:   string(b[len(b)-version:]),
		MaxVLs:   int(b[20]),
		QoS:      b[21]&flagQoS != 0,
		Improves: b[21]&flagImproves != 0,
		Again:    b[21]&flagAgain != 0,
		Filled:   b[21]&flagFilled != 0,
		Stands:   b[21]&flagStands != 0,
		Nodes:    make([]Node, nodes),
		InUse:    le.Uint64(b[24:]),
		Lifetime: time.Duration(le.Uint32(b[32:])) * time.Microsecond,
	}
	if q.MaxVLs < 1 || q.MaxVLs > routing.MaxDataVLs || b[21]&^(flagQoS|flagImproves|flagAgain|flagFilled|flagStands) != 0 || q.Filled && q.InUse != 0 {
		return nil, fmt.Errorf("a request with %d lanes and flags %#x", q.MaxVLs, b[21])
	}
	if le.Uint64(b[40:]) != 0 || blocks > 0 && q.InUse == 0 {
		return nil, fmt.Errorf("a request with %d blocks beside tables 0x%x, and 0x%x where nothing is to be", blocks, q.InUse, le.Uint64(b[40:]))
	}
	end := len(b) - version - blocks*blockSize
	records := b[requestSize+nodes*nodeSize : end]
	for i := range q.Nodes {
		n := &q.Nodes[i]
		r := b[requestSize+i*nodeSize:][:nodeSize]
		*n = Node{
			GUID: fabric.GUID(le.Uint64(r)), SystemGUID: fabric.GUID(le.Uint64(r[8:])), Kind: fabric.Kind(r[16]), Ports: int(r[17]),
			VendorID: le.Uint32(r[20:]), DeviceID: le.Uint32(r[24:]), Name: unpadded(r[32:]),
		}
		has := int(le.Uint16(r[18:]))
		if n.Kind > fabric.Router || n.Ports > fabric.MaxPorts || n.GUID == 0 || le.Uint32(r[28:]) != 0 {
			return nil, fmt.Errorf("node %d is malformed: GUID %s, kind %d, %d ports", i, n.GUID, n.Kind, n.Ports)
		}
		if has*portSize > len(records) {
			return nil, fmt.Errorf("the nodes have more ports than the %d of the request", ports)
		}
		var err error
		if n.Has, err = decodePorts(records[:has*portSize], n, nodes); err != nil {
			return nil, fmt.Errorf("node %d (%s): %w", i, n.GUID, err)
		}
		records = records[has*portSize:]
	}
	if len(records) != 0 {
		return nil, fmt.Errorf("%d port records belong to no node", len(records)/portSize)
	}
	if err := q.decodeBlocks(b[end:][:blocks*blockSize]); err != nil {
		return nil, err
	}
	return q, q.check()
}

// decodeBlocks reads the block records: of switches of the request, ascending, and of
// LIDs that there are.
func (q *Request) decodeBlocks(b []byte) error {
	switches := 0
	for i := range q.Nodes {
		if q.Nodes[i].Kind == fabric.Switch {
			switches++
		}
	}
	last := int64(-1)
	for ; len(b) > 0; b = b[blockSize:] {
		row, number := le.Uint32(b), le.Uint16(b[4:])
		at := int64(row)<<16 | int64(number)
		if row >= uint32(switches) || number > uint16(fabric.MaxLID/blockLIDs) || le.Uint16(b[6:]) != 0 || at <= last {
			return fmt.Errorf("a malformed block record: block %d of switch %d of %d", number, row, switches)
		}
		last = at
		q.Blocks = append(q.Blocks, Block{Switch: int(row), Number: int(number), Ports: b[8:blockSize:blockSize]})
	}
	return nil
}

var errPort = errors.New("a malformed port record")

// decodePorts reads the port records of a node, of which there are so many in the request.
func decodePorts(b []byte, n *Node, nodes int) ([]Port, error) {
	ports := make([]Port, len(b)/portSize)
	last := -1
	for i := range ports {
		r := b[i*portSize:][:portSize]
		p := Port{
			GUID: fabric.GUID(le.Uint64(r)), Peer: -1, LID: fabric.LID(le.Uint16(r[12:])), LMC: r[14],
			Number: r[15], PeerPort: r[16], VLs: r[17], Rate: fabric.Rate{Width: r[18]},
		}
		if int(p.Number) <= last || int(p.Number) > n.Ports || p.LMC > 7 || p.VLs > routing.MaxDataVLs || int(r[19]) >= len(speeds) || le.Uint32(r[20:]) != 0 {
			return nil, errPort
		}
		last = int(p.Number)
		p.Rate.Speed = speeds[r[19]]
		switch peer := le.Uint32(r[8:]); {
		case p.Number == 0 && (n.Kind != fabric.Switch || peer != noPeer || p.PeerPort != 0):
			return nil, errPort
		case p.Number != 0 && (peer >= uint32(nodes) || p.PeerPort == 0):
			return nil, errPort
		case p.Number != 0 && n.Kind == fabric.Switch && (p.LID != 0 || p.LMC != 0):
			return nil, errPort
		case p.Number != 0:
			p.Peer = int(peer)
		}
		ports[i] = p
	}
	return ports, nil
}

// at finds a port of a node, or nil.
func (n *Node) at(number uint8) *Port {
	i, ok := slices.BinarySearchFunc(n.Has, number, func(p Port, x uint8) int { return int(p.Number) - int(x) })
	if !ok {
		return nil
	}
	return &n.Has[i]
}

// check is an error if the two ends of a cable disagree, or a switch has no port 0.
func (q *Request) check() error {
	for i := range q.Nodes {
		n := &q.Nodes[i]
		if n.Kind == fabric.Switch && n.at(0) == nil {
			return fmt.Errorf("switch %s has no port 0", n.GUID)
		}
		for _, p := range n.Has {
			if p.Peer < 0 {
				continue
			}
			if z := q.Nodes[p.Peer].at(p.PeerPort); z == nil || z.Peer != i || z.PeerPort != p.Number {
				return fmt.Errorf("port %d of %s says it leads to port %d of %s, which says otherwise", p.Number, n.GUID, p.PeerPort, q.Nodes[p.Peer].GUID)
			}
		}
	}
	return nil
}
