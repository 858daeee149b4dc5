// Package certificate reads and writes the proof that tables cannot deadlock: a
// rank for every lane in use, as package deadlock defines it.
//
//	weft certificate 1
//	contract honored
//	endpoints hca
//	lanes 8
//	# switch GUID, out-port, lane, rank
//	0x0002c90200000001 3 0 17
//	…
//	end 1234
//
// The last line counts the ranks, so that a truncated file is recognised. Lanes that
// are not listed carry nothing.
package certificate

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

const firstLine = "weft certificate 1"

// Write writes the certificate of tables of f.
func Write(w io.Writer, f *fabric.Fabric, c *deadlock.Certificate) error {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(out, "%s\ncontract %s\nendpoints %s\nlanes %d\n# switch GUID, out-port, lane, rank\n", firstLine, c.Contract, c.Scope, c.Lanes)
	count := 0
	for v, rank := range c.Rank {
		if rank == deadlock.Unused {
			continue
		}
		ch := f.Channel(fabric.ChannelID(v / c.Lanes))
		line := append(out.AvailableBuffer(), f.Node(ch.From).GUID.String()...)
		for _, n := range [...]int64{int64(ch.FromPort), int64(v % c.Lanes), int64(rank)} {
			line = strconv.AppendInt(append(line, ' '), n, 10)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
		count++
	}
	fmt.Fprintf(out, "end %d\n", count)
	return out.Flush()
}

// Read reads a certificate for tables of f; file is the name for errors. It checks that
// each rank is given once, for a cable between switches of f; deadlock.CheckCertificate
// checks that the ranks rise.
func Read(r io.Reader, file string, f *fabric.Fabric) (*deadlock.Certificate, error) {
	p := &parser{lines: reading.NewTableLines(r, file), f: f}
	if err := p.header(); err != nil {
		return nil, err
	}
	for p.lines.Next() {
		done, err := p.rank(p.lines.Text())
		if err != nil {
			return nil, err
		}
		if done {
			return p.cert, p.nothingFollows()
		}
	}
	if err := p.lines.Err(); err != nil {
		return nil, err
	}
	return nil, p.lines.Errorf("truncated: the last line of a certificate is \"end\" and the number of ranks")
}

// parser reads a certificate line by line.
type parser struct {
	lines *reading.Lines
	f     *fabric.Fabric
	cert  *deadlock.Certificate
	count uint64 // ranks so far
}

// header reads the lines up to the first rank.
func (p *parser) header() error {
	var contract, scope string
	lanes := uint64(0)
	for _, want := range [...]struct {
		word string
		read func(reading.Cursor) bool
	}{
		{firstLine, func(c reading.Cursor) bool { return c.Empty() }},
		{"contract ", func(c reading.Cursor) bool { contract = string(c); return true }},
		{"endpoints ", func(c reading.Cursor) bool { scope = string(c); return true }},
		{"lanes ", func(c reading.Cursor) (ok bool) {
			lanes, ok = c.Uint(routing.MaxDataVLs)
			return ok && lanes > 0 && c.Empty()
		}},
	} {
		if !p.lines.Next() {
			if err := p.lines.Err(); err != nil {
				return err
			}
			return p.lines.Errorf("truncated: expected %q", want.word)
		}
		if c := p.lines.Text(); !c.Cut(want.word) || !want.read(c) {
			return p.lines.Errorf("expected %q and what belongs to it: this is no certificate", want.word)
		}
	}
	k, err := routing.ParseContract(contract)
	if err != nil {
		return p.lines.ErrorAt(2, "%v", err)
	}
	s, err := routing.ParseScope(scope)
	if err != nil {
		return p.lines.ErrorAt(3, "%v", err)
	}
	p.cert = &deadlock.Certificate{Contract: k, Scope: s, Lanes: int(lanes), Rank: slices.Repeat([]int32{deadlock.Unused}, p.f.Trunks()*int(lanes))}
	return nil
}

// nothingFollows refuses a file that goes on after its end: it might be two proofs, of
// which one was not read.
func (p *parser) nothingFollows() error {
	for p.lines.Next() {
		if !p.lines.Text().Empty() {
			return p.lines.Errorf("the certificate ended before")
		}
	}
	return p.lines.Err()
}

// rank reads one line; done says that it was the last.
func (p *parser) rank(c reading.Cursor) (done bool, err error) {
	if c.Empty() || c.Cut("#") {
		return false, nil
	}
	if c.Cut("end ") {
		if n, ok := c.Uint(math.MaxInt64); !ok || n != p.count || !c.Empty() {
			return true, p.lines.Errorf("the file has %d ranks, its last line says otherwise", p.count)
		}
		return true, nil
	}
	guid, ok1 := c.Hex(math.MaxUint64)
	port, ok2 := c.Uint(fabric.MaxPorts)
	lane, ok3 := c.Uint(uint64(p.cert.Lanes) - 1)
	rank, ok4 := c.Uint(math.MaxInt32)
	if !ok1 || !ok2 || !ok3 || !ok4 || !c.Empty() {
		return false, p.lines.Errorf("expected a switch GUID, an out-port, a lane below %d and a rank", p.cert.Lanes)
	}
	n := p.f.NodeByGUID(fabric.GUID(guid))
	if n == fabric.None {
		return false, p.lines.Errorf("node %s is not in this fabric", fabric.GUID(guid))
	}
	trunk := p.f.Trunk(n, uint8(port))
	if trunk == fabric.None {
		return false, p.lines.Errorf("port %d of %s has no cable to another switch", port, p.f.Label(n))
	}
	slot := &p.cert.Rank[int(trunk)*p.cert.Lanes+int(lane)]
	if *slot != deadlock.Unused {
		return false, p.lines.Errorf("a second rank for port %d, lane %d of %s", port, lane, p.f.Label(n))
	}
	*slot = int32(rank)
	p.count++
	return false, nil
}
