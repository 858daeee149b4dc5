package counters_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/counters"
)

// Rates of errors and modes of FEC stand in tables of their own of an ibdiagnet2.db_csv, in any order beside PM_INFO.
func TestRatesOfADBCSV(t *testing.T) {
	t.Parallel()
	f := pair(t)
	const (
		phy = "START_PHY_DB16\nNodeGuid,PortGuid,PortNum,Version,field12,field13,field14,field15,field16,field17\n" +
			"0x10,0x10,2,1,7,9,15,255,3,13\n0x10,0x10,1,1,7,9,2,1933785040,N/A,N/A\n0x77,0x77,1,1,7,9,2,3,4,5\nEND_PHY_DB16\n"
		ports = "START_PORTS\nNodeGuid,PortGuid,PortNum,LID,FECActv,RetransActv\n0x10,0x10,0,1,0,0\n0x10,0x10,2,1,14,0\n0x10,0x10,1,1,4,3\nEND_PORTS\n"
	)
	for _, text := range []string{phy + ports + pmInfo, pmInfo + ports + phy, ports + phy, strings.ReplaceAll(ports+phy, "PortNum", "PortNumber")} {
		c, err := counters.Read(strings.NewReader(text), "ibdiagnet2.db_csv", f)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		a := c.Received[f.Out(f.NodeByGUID(0x10), 2)]
		near := func(v, want float64) bool { return math.Abs(v-want) <= want/1e6 }
		if !near(a.Raw, 7e-9) || !near(a.Effective, 15e-255) || !near(a.Symbol, 3e-13) || a.FEC != "MLNX_RS_271_257_PLR" || !a.Resends() || a.Level() != counters.Bad {
			t.Errorf("%+v\n%s", a, text)
		}
		if b := c.Received[f.Out(f.NodeByGUID(0x10), 1)]; !near(b.Raw, 7e-9) || !math.IsNaN(b.Effective) || !math.IsNaN(b.Symbol) || b.FEC != "RS_FEC_544_514" || !b.Resends() {
			t.Errorf("%+v\n%s", b, text)
		}
	}
	// Numbers of modes that are reserved, and not known; and without the column of retransmission.
	for text, want := range map[string]string{
		strings.Replace(ports, "1,4,3", "1,5,9", 1):                                                           "FEC mode 5",
		strings.Replace(ports, "1,4,3", "1,255,0", 1):                                                         "",
		strings.Replace(ports, "1,4,3", "1,N/A,0", 1):                                                         "",
		strings.NewReplacer(",RetransActv", "", "1,4,3", "1,10", "14,0", "14", "1,0,0", "1,0").Replace(ports): "MLNX-ADAPT-RS",
	} {
		c, err := counters.Read(strings.NewReader(phy+text), "ibdiagnet2.db_csv", f)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if b := c.Received[f.Out(f.NodeByGUID(0x10), 1)]; b.FEC != want || b.Retransmission != "" && want != "" {
			t.Errorf("%+v, want %s\n%s", b, want, text)
		}
	}
	if _, err := counters.Read(strings.NewReader(ports), "ibdiagnet2.db_csv", f); !errors.Is(err, counters.ErrNone) {
		t.Errorf("%v is not that there are no counters", err) // a watch reads the file of a folder only if it has some
	}
	for text, why := range map[string]string{
		ports: "this ibdiagnet2.db_csv has no table PM_INFO", // modes alone count nothing
		"START_PHY_DB16\nNodeGuid,PortNum,other\n0x10,2,3\nEND_PHY_DB16\n": "this ibdiagnet2.db_csv has no table PM_INFO", // an earlier version
		strings.Replace(phy, "3,13", "3", 1):                               "ibdiagnet2.db_csv:3: 9 cells",
		strings.TrimSuffix(phy, "END_PHY_DB16\n"):                          "truncated",
	} {
		if _, err := counters.Read(strings.NewReader(text), "ibdiagnet2.db_csv", f); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %s\n%s", err, why, text)
		}
	}
}
