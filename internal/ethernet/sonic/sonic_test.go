package sonic

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

func FuzzRead(f *testing.F) {
	for _, name := range [...]string{"dual-tor/leaf-1", "dual-tor/tor-a", "dual-tor-remapped/tor-a"} {
		text, err := os.ReadFile("../../../examples/ethernet/" + name + "/config_db.json")
		if err != nil {
			f.Fatal(err)
		}
		for _, text := range scramble.Of(string(text)) {
			f.Add(text)
		}
		f.Add(string(text[:len(text)/2]))
	}
	for _, text := range scramble.Of(`{"PORT_QOS_MAP":{"global":{"dscp_to_tc_map":"A"},"e0,e1":{"dscp_to_tc_map":"[DSCP_TO_TC_MAP|A]","dot1p_to_tc_map":"A","tc_to_dscp_map":"A","pfc_enable":"3, 4"}},"DSCP_TO_TC_MAP":{"A":{"63":"7"}},"TC_TO_DSCP_MAP":{"A":{"7":"63"}}}`) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Read(strings.NewReader(text), "f")
		var at *format.ParseError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a line: %v", err)
		}
		if err != nil {
			return
		}
		for port, q := range c.Ports {
			for dscp := range q.TC {
				tc := q.TC[dscp]
				if tc > 7 || q.Group[tc] > 7 || q.Queue[tc] > 15 || q.Paused[tc] > 15 || q.GroupOf[tc] > 7 || q.Remark != nil && q.Remark[tc] > 63 {
					t.Fatalf("%s: %+v", port, q)
				}
			}
		}
		if tunnel := c.Tunnel; tunnel != nil && (!tunnel.Peer.IsValid() || len(tunnel.Servers) == 0) {
			t.Fatalf("%+v", tunnel)
		}
	})
}
