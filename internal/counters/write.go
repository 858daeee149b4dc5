package counters

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
)

// Write writes what ports have sent and how long they waited in the form that infiniband_exporter gives Prometheus. Errors
// are not written.
func Write(w io.Writer, f *fabric.Fabric, c *Counters) error {
	out := bufio.NewWriter(w)
	for _, metric := range []struct {
		name   string
		values []float64
	}{{"transmit_data_bytes_total", c.Bytes}, {"transmit_wait_total", c.Wait}} {
		for _, kind := range []struct {
			name, label string
			has         func(fabric.Kind) bool
		}{
			{"switch_port_", "switch", func(k fabric.Kind) bool { return k == fabric.Switch }},
			{"hca_port_", "hca", func(k fabric.Kind) bool { return k != fabric.Switch }},
		} {
			name := "infiniband_" + kind.name + metric.name
			fmt.Fprintf(out, "# TYPE %s counter\n", name)
			for i, ch := range f.Channels() {
				if n := f.Node(ch.From); c.Known[i] && kind.has(n.Kind) {
					fmt.Fprintf(out, "%s{guid=\"%s\",port=\"%d\",%s=\"%s\"} %s\n", name, n.GUID, ch.FromPort, kind.label, strings.ReplaceAll(n.Name, `"`, "'"), strconv.FormatFloat(metric.values[i], 'f', -1, 64))
				}
			}
		}
	}
	return out.Flush()
}
