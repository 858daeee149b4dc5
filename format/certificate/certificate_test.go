package certificate_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// contracts is how contracts are compared: their fields are their own.
var contracts = cmpopts.EquateComparable(routing.Contract{})

func write(t testing.TB, f *fabric.Fabric, c *deadlock.Certificate) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := certificate.Write(&b, f, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A ring of three switches has six trunks; sw-0's GUID is the lowest, its ports
// 2 and 3 lead to the others.
const (
	head = "weft certificate 1\ncontract honored\nendpoints hca\nlanes 2\n"
	sw0  = "0x0002c90100000000"
)

// Proofs of real tables, through text and back, still hold and are still the same.
func TestRoundTripOfProofs(t *testing.T) {
	for _, tc := range []struct{ spec, engine string }{
		{"ring:5", "lash"}, {"torus:4x4,hosts=2", "dfsssp"}, {"dragonfly:p=2", "updn"}, {"karytree:k=2,n=3", "minhop"}, {"mesh:1", "updn"},
	} {
		t.Run(tc.spec+" "+tc.engine, func(t *testing.T) {
			f := testnet.Build(t, tc.spec)
			tables := route(t, f, tc.engine)
			v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{})
			if err != nil || !v.Free() {
				t.Fatal(v, err)
			}
			text := write(t, f, v.Certificate)
			c, err := certificate.Read(bytes.NewReader(text), "proof", f)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(v.Certificate, c, contracts); diff != "" {
				t.Error(diff)
			}
			if _, err := deadlock.CheckCertificate(t.Context(), tables, c, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func route(t *testing.T, f *fabric.Fabric, engine string) *routing.Tables {
	return routed.Of(t, f, engine, routing.Budget{})
}

// Any ranks at all come back as they were.
func TestRoundTrip(t *testing.T) {
	f := testnet.Build(t, "torus:3x3")
	rapid.Check(t, func(t *rapid.T) {
		lanes := rapid.IntRange(1, routing.MaxDataVLs).Draw(t, "lanes")
		c := &deadlock.Certificate{
			Contract: rapid.SampledFrom([]routing.Contract{routing.Honored, routing.Any, contract("single:0"), contract("single:15")}).Draw(t, "contract"),
			Scope:    rapid.SampledFrom([]routing.Scope{routing.HCA, routing.Adapters, scope("all")}).Draw(t, "scope"),
			Lanes:    lanes,
			Rank:     make([]int32, f.Trunks()*lanes),
		}
		for i := range c.Rank {
			c.Rank[i] = rapid.Int32Range(deadlock.Unused, 1<<31-1).Draw(t, "rank")
		}
		var b bytes.Buffer
		if err := certificate.Write(&b, f, c); err != nil {
			t.Fatal(err)
		}
		got, err := certificate.Read(&b, "proof", f)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, got, contracts); diff != "" {
			t.Fatal(diff)
		}
	})
}

func contract(text string) routing.Contract {
	c, err := routing.ParseContract(text)
	if err != nil {
		panic(err)
	}
	return c
}

func scope(text string) routing.Scope {
	s, err := routing.ParseScope(text)
	if err != nil {
		panic(err)
	}
	return s
}

func TestWrite(t *testing.T) {
	f := testnet.Build(t, "ring:3")
	c := &deadlock.Certificate{Contract: contract("single:3"), Scope: routing.Adapters, Lanes: 2, Rank: make([]int32, f.Trunks()*2)}
	for i := range c.Rank {
		c.Rank[i] = deadlock.Unused
	}
	trunk := f.Channel(0)
	c.Rank[0], c.Rank[1] = 0, 41
	want := "weft certificate 1\ncontract single:3\nendpoints ca\nlanes 2\n# switch GUID, out-port, lane, rank\n"
	for lane, rank := range []int{0, 41} {
		want += fmt.Sprintf("%s %d %d %d\n", f.Node(trunk.From).GUID, trunk.FromPort, lane, rank)
	}
	want += "end 2\n"
	if diff := cmp.Diff(want, string(write(t, f, c))); diff != "" {
		t.Error(diff)
	}
}

// full is a writer that takes so many bytes.
type full int

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > int(*f) {
		return 0, errFull
	}
	*f -= full(len(p))
	return len(p), nil
}

// A writer that fails, early or in the last bytes, fails Write.
func TestWriteFails(t *testing.T) {
	f := testnet.Build(t, "torus:20x20")
	c := &deadlock.Certificate{Lanes: 8, Rank: make([]int32, f.Trunks()*8)}
	size := len(write(t, f, c))
	for _, room := range []int{0, size / 2, size - 1} {
		w := full(room)
		if err := certificate.Write(&w, f, c); !errors.Is(err, errFull) {
			t.Errorf("room for %d of %d bytes: %v", room, size, err)
		}
	}
}

func TestRead(t *testing.T) {
	f := testnet.Build(t, "ring:3")
	for name, text := range map[string]string{
		"plain":          head + sw0 + " 2 1 17\nend 1\n",
		"no line end":    head + sw0 + " 2 1 17\nend 1",
		"DOS line ends":  strings.ReplaceAll(head+sw0+" 2 1 17\nend 1\n", "\n", "\r\n"),
		"comments":       head + "# a remark\n\n" + sw0 + " 2 1 17\n# another\nend 1\n",
		"GUID without 0": head + "2c90100000000\t2  1 17 \nend 1\n",
	} {
		c, err := certificate.Read(strings.NewReader(text), "proof", f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		trunk := f.Out(f.NodeByGUID(0x0002c90100000000), 2)
		for i, rank := range c.Rank {
			want := int32(deadlock.Unused)
			if i == int(trunk)*2+1 {
				want = 17
			}
			if rank != want {
				t.Errorf("%s: rank %d is %d, not %d", name, i, rank, want)
			}
		}
	}
	if c, err := certificate.Read(strings.NewReader(head+"end 0\n"), "proof", f); err != nil || len(c.Rank) != f.Trunks()*2 {
		t.Errorf("a proof without ranks: %v, %v", c, err)
	}
}

func TestReadRefuses(t *testing.T) {
	f := testnet.Build(t, "ring:3")
	rank := sw0 + " 2 1 17\n"
	for _, tc := range []struct {
		name, text string
		line       int
		msg        string
	}{
		{"nothing", "", 1, "truncated"},
		{"another file", "Unicast lids [0-3]\n", 1, "no certificate"},
		{"another version", "weft certificate 2\n", 1, "no certificate"},
		{"something behind the version", "weft certificate 1.5\n", 1, "no certificate"},
		{"cut short in the header", "weft certificate 1\ncontract any\n", 2, "truncated"},
		{"unknown contract", "weft certificate 1\ncontract perhaps\nendpoints hca\nlanes 1\nend 0\n", 2, "perhaps"},
		{"unknown endpoints", "weft certificate 1\ncontract any\nendpoints some\nlanes 1\nend 0\n", 3, "some"},
		{"no lanes", "weft certificate 1\ncontract any\nendpoints hca\nlanes 0\nend 0\n", 4, "lanes"},
		{"too many lanes", "weft certificate 1\ncontract any\nendpoints hca\nlanes 16\nend 0\n", 4, "lanes"},
		{"no end", head + rank, 5, "truncated"},
		{"cut short in a number", head + rank + "en", 6, "expected a switch GUID"},
		{"too few", head + rank + "end 2\n", 6, "the file has 1 ranks"},
		{"too many", head + rank + "end 0\n", 6, "the file has 1 ranks"},
		{"no number at the end", head + rank + "end \n", 6, "the file has 1 ranks"},
		{"a second rank", head + rank + sw0 + " 2 1 18\nend 2\n", 6, "a second rank for port 2, lane 1 of sw-0"},
		{"another fabric", head + "0x99 2 1 17\nend 1\n", 5, "0x0000000000000099 is not in this fabric"},
		{"a lane too high", head + sw0 + " 2 2 17\nend 1\n", 5, "a lane below 2"},
		{"a negative rank", head + sw0 + " 2 1 -1\nend 1\n", 5, "expected"},
		{"a rank too high", head + sw0 + " 2 1 2147483648\nend 1\n", 5, "expected"},
		{"a word too many", head + sw0 + " 2 1 17 18\nend 1\n", 5, "expected"},
		{"a host", head + sw0 + " 1 1 17\nend 1\n", 5, "port 1 of sw-0 has no cable to another switch"},
		{"port 0", head + sw0 + " 0 1 17\nend 1\n", 5, "port 0 of sw-0 has no cable to another switch"},
		{"no such port", head + sw0 + " 200 1 17\nend 1\n", 5, "port 200 of sw-0 has no cable to another switch"},
		{"binary", head + "\x00\n", 5, "NUL"},
		{"more after the end", head + rank + "end 1\n\n" + rank, 8, "ended before"},
	} {
		c, err := certificate.Read(strings.NewReader(tc.text), "proof", f)
		var at *format.ParseError
		if !errors.As(err, &at) {
			t.Errorf("%s: read as %v, %v", tc.name, c, err)
			continue
		}
		if at.File != "proof" || at.Line != tc.line || !strings.Contains(at.Msg, tc.msg) {
			t.Errorf("%s: %v; want line %d and %q", tc.name, err, tc.line, tc.msg)
		}
	}
	node := f.Node(f.Endpoint(f.Owner(f.TopLID())).Node)
	if _, err := certificate.Read(strings.NewReader(fmt.Sprintf("%s%s 1 1 17\nend 1\n", head, node.GUID)), "proof", f); err == nil {
		t.Errorf("a rank for a port of %s was taken", node.Name)
	}
}

// Wherever a proof is cut short, it is refused; only its last line end may lack.
func TestReadCutShort(t *testing.T) {
	f := testnet.Build(t, "ring:3")
	text := head + sw0 + " 2 1 17\n" + sw0 + " 3 0 4\nend 2"
	for n := range len(text) {
		if c, err := certificate.Read(strings.NewReader(text[:n]), "proof", f); err == nil {
			t.Errorf("the first %d of %d bytes were read as %v", n, len(text), c)
		}
	}
	if _, err := certificate.Read(strings.NewReader(text), "proof", f); err != nil {
		t.Error(err)
	}
}

// FuzzRead: no text panics, and what is read is a proof that is written and read
// back the same.
func FuzzRead(f *testing.F) {
	ring := testnet.Build(f, "ring:3")
	rank := sw0 + " 2 1 17\n"
	for _, seed := range []string{
		"", head, head + rank + "end 1\n", head + rank + rank + "end 2\n", head + sw0 + " 300 1 17\nend 1\n",
		"weft certificate 1\ncontract single:3\nendpoints all\nlanes 15\n# x\n" + sw0 + " 3 14 2147483647\nend 1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := certificate.Read(bytes.NewReader(text), "proof", ring)
		if err != nil {
			if at := (*format.ParseError)(nil); !errors.As(err, &at) || at.Line < 1 {
				t.Errorf("no line in %v", err)
			}
			return
		}
		again, err := certificate.Read(bytes.NewReader(write(t, ring, c)), "proof", ring)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, again, contracts); diff != "" {
			t.Error(diff)
		}
	})
}
