package export

import (
	"bufio"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/result"
)

// writeCSV writes a line for every cable between switches, and its loads by the first
// tables.
func writeCSV(w *bufio.Writer, n *result.ReportNetwork) error {
	c, load := &n.Cables, &n.Tables[0].Load
	out := reading.NewCSVWriter(w)
	if err := out.Write([]string{"from", "from_guid", "from_port", "to", "to_guid", "to_port", "rate", "routes_there", "routes_back", "lanes_there", "lanes_back"}); err != nil {
		return err
	}
	for i := range c.Trunks {
		from, to := strconv.Itoa(int(c.APort[i])), strconv.Itoa(int(c.BPort[i]))
		if n.Ethernet {
			from, to = c.AName[i], c.BName[i]
		}
		line := []string{
			label(n, c.A[i]), n.Nodes.GUID[c.A[i]], from, label(n, c.B[i]), n.Nodes.GUID[c.B[i]], to, n.Rates[c.Rate[i]],
			strconv.FormatUint(uint64(load.There[i]), 10), strconv.FormatUint(uint64(load.Back[i]), 10), lanes(load.LanesA[i]), lanes(load.LanesB[i]),
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Close()
}

// lanes is lanes given as bits, with spaces between.
func lanes(mask int32) string {
	var list []string
	for vl := range 16 {
		if mask&(1<<vl) != 0 {
			list = append(list, strconv.Itoa(vl))
		}
	}
	return strings.Join(list, " ")
}
