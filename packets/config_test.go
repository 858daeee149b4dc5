package packets

import (
	"math/big"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Every limit of a Config holds at the limit and not one beyond.
func TestLimitsOfAConfig(t *testing.T) {
	good := Config{MTU: 100, Header: 28, Cable: 1, Buffer: 128}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string // "": it is good
	}{
		"as it is":                 {func(*Config) {}, ""},
		"MTU 1":                    {func(c *Config) { c.MTU = 1 }, ""},
		"MTU 0":                    {func(c *Config) { c.MTU = 0 }, "packets of 0 + 28 bytes"},
		"largest MTU":              {func(c *Config) { c.MTU = 1 << 20 }, "a buffer of 128 bytes holds 2 blocks"},
		"MTU beyond":               {func(c *Config) { c.MTU = 1<<20 + 1 }, "payload is 1 to 1048576"},
		"no header":                {func(c *Config) { c.Header = 0 }, ""},
		"negative header":          {func(c *Config) { c.Header = -1 }, "payload is 1 to"},
		"largest header":           {func(c *Config) { c.Header, c.Buffer = 1024, 2048 }, ""},
		"header beyond":            {func(c *Config) { c.Header, c.Buffer = 1025, 2048 }, "the header 0 to 1024"},
		"no cable":                 {func(c *Config) { c.Cable = 0 }, "at least 1 ps"},
		"negative forward":         {func(c *Config) { c.Forward = -1 }, "at least 1 ps"},
		"negative credit":          {func(c *Config) { c.Credit = -1 }, "at least 1 ps"},
		"negative gap":             {func(c *Config) { c.Gap = -1 }, "at least 1 ps"},
		"negative flit time":       {func(c *Config) { c.FlitTime = -1 }, "at least 1 ps"},
		"negative lifetime":        {func(c *Config) { c.Lifetime = -1 }, "at least 1 ps"},
		"buffer of one packet":     {func(c *Config) { c.Header, c.Buffer = 28, 128 }, ""},
		"packet one byte longer":   {func(c *Config) { c.Header = 29 }, "a packet of 129 bytes needs 3"},
		"output buffer":            {func(c *Config) { c.OutBuffer, c.Forward = 128, 1 }, ""},
		"output buffer too small":  {func(c *Config) { c.OutBuffer, c.Forward = 127, 1 }, "an output buffer of 127 bytes is smaller"},
		"output buffer in no time": {func(c *Config) { c.OutBuffer = 128 }, "at least 1 ps to forward"},
		"largest buffer":           {func(c *Config) { c.Buffer = 2048 * 64 }, ""},
		"buffer beyond":            {func(c *Config) { c.Buffer = 2049 * 64 }, "flow control reaches to 131072"},
		"output buffer beyond":     {func(c *Config) { c.OutBuffer, c.Forward = 2049*64, 1 }, "flow control reaches to 131072"},
		"speed-up 16":              {func(c *Config) { c.Speedup = 16 }, ""},
		"speed-up 17":              {func(c *Config) { c.Speedup = 17 }, "a speed-up of 17"},
		"speed-up -1":              {func(c *Config) { c.Speedup = -1 }, "a speed-up of -1"},
		"15 lanes":                 {func(c *Config) { c.Lanes = routing.MaxDataVLs }, ""},
		"16 lanes":                 {func(c *Config) { c.Lanes = 16 }, "16 lanes; there are 1 to 15"},
		"-1 lanes":                 {func(c *Config) { c.Lanes = -1 }, "-1 lanes"},
		"a rate":                   {func(c *Config) { c.Rate = fabric.Rate{Width: 4, Speed: fabric.HDR} }, ""},
		"no such rate":             {func(c *Config) { c.Rate = fabric.Rate{Width: 4, Speed: "ZDR"} }, "a rate that is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			config := good
			c.change(&config)
			switch err := config.check(); {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want == "" && (config.Speedup < 1):
				t.Errorf("speed-up %d", config.Speedup)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A packet takes its bytes at the rate of the link, rounded to the nearest picosecond
// and never none at all.
func TestSerial(t *testing.T) {
	for _, rate := range []fabric.Rate{{}, {Width: 1, Speed: fabric.SDR}, {Width: 4, Speed: fabric.QDR}, {Width: 4, Speed: fabric.FDR}, {Width: 4, Speed: fabric.NDR}, {Width: 12, Speed: fabric.EDR}} {
		var c Config
		known := rate
		if known == (fabric.Rate{}) {
			known = fabric.Rate{Width: 4, Speed: fabric.HDR}
		}
		for _, bytes := range []int32{1, 2, 3, 5, 7, 63, 64, 65, 1000, 2048, 4122, 1 << 20} {
			// bytes × 8 bits × 10⁶ ps and Mbit/s, one half more, rounded down.
			want := new(big.Int).Mul(big.NewInt(int64(bytes)), big.NewInt(8_000_000*2))
			want.Add(want, big.NewInt(int64(known.Mbps())))
			want.Div(want, big.NewInt(2*int64(known.Mbps())))
			if got := serial(bytes, c.perByte(rate)); got != Time(want.Int64()) {
				t.Errorf("%d bytes at %s take %d ps, want %s", bytes, known, got, want)
			}
		}
	}
	for _, c := range []struct {
		flit  Time
		bytes int32
		want  Time
	}{
		{1, 64, 1}, {1, 128, 2}, {1, 0, 1}, {1, 31, 1}, {1, 95, 1}, {1, 96, 2}, {1000, 64, 1000}, {1000, 1, 16}, {1000, 3, 47},
	} {
		config := Config{FlitTime: c.flit, Rate: fabric.Rate{Width: 4, Speed: fabric.NDR}}
		if got := serial(c.bytes, config.perByte(fabric.Rate{Width: 1, Speed: fabric.SDR})); got != c.want {
			t.Errorf("%d bytes in flits of %d take %d, want %d", c.bytes, c.flit, got, c.want)
		}
	}
	own := Config{Rate: fabric.Rate{Width: 4, Speed: fabric.NDR}}
	if serial(1000, own.perByte(fabric.Rate{Width: 1, Speed: fabric.SDR})) != serial(1000, (&Config{}).perByte(own.Rate)) {
		t.Error("the rate of a Config is not that of every link")
	}
}

// Payload travels with a header, in whole flits where time is counted in flits.
func TestWire(t *testing.T) {
	for _, c := range []struct {
		header  int
		flit    Time
		payload int64
		want    int32
	}{{0, 0, 100, 100}, {26, 0, 2048, 2074}, {0, 1, 64, 64}, {0, 1, 65, 128}, {26, 1, 38, 64}, {26, 1, 39, 128}, {0, 1, 1, 64}} {
		config := Config{Header: c.header, FlitTime: c.flit}
		if got := config.wire(c.payload); got != c.want {
			t.Errorf("%d bytes with %d of header and flits of %d are %d, want %d", c.payload, c.header, c.flit, got, c.want)
		}
	}
	for bytes, want := range map[int]int{0: 0, 1: 1, 63: 1, 64: 1, 65: 2, 128: 2, 129: 3} {
		if got := blocksOf(bytes); got != want {
			t.Errorf("%d bytes are %d blocks, want %d", bytes, got, want)
		}
	}
}

// The hops of a packet are the trunks on its way, and no cable to or from an adapter.
func TestHopsAreTrunks(t *testing.T) {
	n := routed(t, "mesh:1x3,hosts=2", "updn", 1, mustPreset(t, "unit"))
	hosts := routing.HCA.Endpoints(n.Fabric)
	for from, a := range hosts {
		for to, b := range hosts {
			if from == to {
				continue
			}
			want := 0
			for at := n.Fabric.Endpoint(a).Switch; at != n.Fabric.Endpoint(b).Switch; want++ {
				at = n.Fabric.Channel(n.Fabric.Out(at, n.tables.Forwarding.Port(at, n.Fabric.Endpoint(b).LID))).To
			}
			r := measured(t, n, Injection{Offered: 0.2, Pattern: pattern{{From: int32(from), To: int32(to)}}, Placement: hosts, Seed: 1}, Window{Length: 20_000, WarmUp: 2_000, Exactly: true})
			if r.Hops != float64(want) {
				t.Errorf("from %d to %d: %.3f hops, want %d", from, to, r.Hops, want)
			}
		}
	}
}
