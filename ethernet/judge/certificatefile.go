package judge

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
)

const certificateLine = "weft ethernet certificate 1"

// WriteCertificate writes a proof: a line for each rank, with device, interface, lane and rank
// between tabs, and at the end their number, so that a truncated file is recognised.
func WriteCertificate(w io.Writer, n *ethernet.Network, c *Certificate) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\nendpoints\t%s\nlanes\t%d\n", certificateLine, c.Scope, c.Lanes)
	count := 0
	for v, rank := range c.Rank {
		if rank != Unused {
			e := n.End(ethernet.LinkID(v / c.Lanes))
			fmt.Fprintf(out, "%s\t%s\t%d\t%d\n", e.Device, e.Interface, v%c.Lanes, rank)
			count++
		}
	}
	fmt.Fprintf(out, "end\t%d\n", count)
	return out.Flush()
}

// ReadCertificate reads a proof for a network; file is the name for errors. Check says whether
// it holds.
func ReadCertificate(r io.Reader, file string, n *ethernet.Network) (*Certificate, error) {
	lines := reading.NewTableLines(r, file)
	c := &Certificate{}
	header := [3]string{}
	for i := range header {
		if !lines.Next() {
			return nil, lines.Errorf("truncated: this is not a certificate")
		}
		header[i] = string(lines.Text())
	}
	scope, _ := strings.CutPrefix(header[1], "endpoints\t")
	text, _ := strings.CutPrefix(header[2], "lanes\t")
	lanes, err := strconv.Atoi(text)
	switch {
	case header[0] != certificateLine:
		return nil, format.Errorf(file, 1, "the first line is not %q", certificateLine)
	case scope != ethernet.HostScope.String() && scope != ethernet.AllScope.String():
		return nil, format.Errorf(file, 2, "endpoints are hosts or all")
	case err != nil || lanes < 0 || lanes > ethernet.MaxPriorities:
		return nil, format.Errorf(file, 3, "lanes are 0 to %d", ethernet.MaxPriorities)
	}
	if scope == ethernet.AllScope.String() {
		c.Scope = ethernet.AllScope
	}
	c.Lanes = lanes
	c.Rank = make([]int32, len(n.Links)*lanes)
	for i := range c.Rank {
		c.Rank[i] = Unused
	}
	count := 0
	for lines.Next() {
		f := strings.Split(string(lines.Text()), "\t")
		if len(f) == 2 && f[0] == "end" {
			if f[1] != strconv.Itoa(count) {
				return nil, lines.Errorf("%s ranks are counted at the end, and there are %d", f[1], count)
			}
			if lines.Next() {
				return nil, lines.Errorf("a certificate ends with the line before")
			}
			return c, lines.Err()
		}
		if err := c.readRank(f, n); err != nil {
			return nil, lines.Errorf("%v", err)
		}
		count++
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return nil, lines.Errorf("truncated: the last line of a certificate is \"end\" and the number of ranks")
}

// readRank puts the rank of one line, split at its tabs, into the certificate.
func (c *Certificate) readRank(f []string, n *ethernet.Network) error {
	if len(f) != 4 {
		return fmt.Errorf("a line has device, interface, lane and rank, with tabs between")
	}
	link := ethernet.LinkID(ethernet.None)
	if d := n.Device(f[0]); d != ethernet.None {
		link = n.LinkAt(d, f[1])
	}
	lane, laneErr := strconv.Atoi(f[2])
	rank, rankErr := strconv.ParseInt(f[3], 10, 32)
	switch {
	case link == ethernet.None:
		return fmt.Errorf("there is no cable at %s, %s", f[0], f[1])
	case laneErr != nil || lane < 0 || lane >= c.Lanes:
		return fmt.Errorf("lane %q; there are %d", f[2], c.Lanes)
	case rankErr != nil || rank < 0 || rank > math.MaxInt32:
		return fmt.Errorf("rank %q is not a number from 0", f[3])
	case c.Rank[int(link)*c.Lanes+lane] != Unused:
		return fmt.Errorf("a second rank of %s, %s, lane %d", f[0], f[1], lane)
	}
	c.Rank[int(link)*c.Lanes+lane] = int32(rank)
	return nil
}
