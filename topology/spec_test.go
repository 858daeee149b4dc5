package topology

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

func TestParse(t *testing.T) {
	tests := []struct {
		spec string
		want Family
	}{
		{"ring:8,hosts=2", &ring{N: 8, Hosts: 2}},
		{"ring:hosts=2,n=8", &ring{N: 8, Hosts: 2}},
		{"mesh:4x3", &mesh{Dims: []int{4, 3}, Hosts: 1}},
		{"torus:dims=8x8x8,hosts=2", &torus{Dims: []int{8, 8, 8}, Hosts: 2}},
		{"hypercube:6", &hypercube{N: 6, Hosts: 1}},
		{"karytree:k=18,n=3", &karyTree{K: 18, N: 3}},
		{"xgft:m=18x36,w=18x9", &xgft{M: []int{18, 36}, W: []int{18, 9}, Hosts: 18}},
		{"dragonfly:p=4", &dragonfly{P: 4, A: 8, H: 4, G: 33, Global: "palmtree"}},
		{"dragonfly:h=2,p=4,a=4", &dragonfly{P: 4, A: 4, H: 2, G: 9, Global: "palmtree"}},
		{"random:switches=64,links=128,hosts=16,seed=18446744073709551615", &random{Switches: 64, Links: 128, Hosts: 16, Seed: math.MaxUint64}},
		{"random:switches=2,links=1", &random{Switches: 2, Links: 1, Hosts: 1}},
		{"fattree:ports=24,hosts=16", &fatTree{P: 24, Levels: 2, Hosts: 16, Leaves: 24, Pods: 1}},
		{"fattree:ports=36,levels=3", &fatTree{P: 36, Levels: 3, Hosts: 18, Leaves: 18, Pods: 36}},
		{"director:144,hosts=128", &directors{Ports: 144, Radix: 24, Hosts: 128}},
		{"director:radix=36,ports=648", &directors{Ports: 648, Radix: 36, Hosts: 648}},
		{"director", &directors{Ports: 288, Radix: 24, Hosts: 288}},
		{"director:radix=8", &directors{Ports: 32, Radix: 8, Hosts: 32}},
		{"dragonfly:p=2,global=random,seed=3", &dragonfly{P: 2, A: 4, H: 2, G: 9, Global: "random", Seed: 3}},
		{"slimfly:q=5,hosts=7", &slimFly{Q: 5, Hosts: 7}},
		{"slimfly:q=8", &slimFly{Q: 8, Hosts: 6}},
		{"polarfly:q=8", &polarFly{Q: 8, Hosts: 5}},
		{"polarstar:q=3,d=3", &polarStar{Q: 3, D: 3, Supernode: "iq", Hosts: 3}},
		{"polarstar:d=4,q=5,supernode=paley,hosts=2", &polarStar{Q: 5, D: 4, Supernode: "paley", Hosts: 2}},
		{"bundlefly:q=7,p=9", &bundlefly{Q: 7, P: 9, Hosts: 5}},
		{"oft:k=18", &oft{K: 18}},
		{"kautz:b=3,n=3", &kautz{B: 3, N: 3, Hosts: 1}},
		{"hyperx:3x4,k=2x1", &hyperX{Dims: []int{3, 4}, K: []int{2, 1}, Hosts: 1}},
		{"hyperx:3x4", &hyperX{Dims: []int{3, 4}, K: []int{1, 1}, Hosts: 1}},
		{"jellyfish:switches=43,degree=12,hosts=12,seed=1", &jellyfish{Switches: 43, Degree: 12, Hosts: 12, Seed: 1}},
		{"table1:family=kautz,endpoints=256", &tableOne{Family: "kautz", Endpoints: 256}},
		{"table1:endpoints=256", &tableOne{Family: "xgft", Endpoints: 256}},
		{"odin", &odin{Hosts: "spread"}},
		{"deimos", &deimos{Cables: "spread", Hosts: "spread"}},
		{"deimos:", &deimos{Cables: "spread", Hosts: "spread"}},
	}
	for _, test := range tests {
		got, err := Parse(test.spec)
		if err != nil {
			t.Errorf("%s: %v", test.spec, err)
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.spec, diff)
		}
	}
}

func TestRefusals(t *testing.T) {
	const lids = "LIDs, one for each switch and each host; InfiniBand has 49151; nearest that works: "
	const families = "ring, mesh, torus, hypercube, karytree, xgft, fattree, planes, patchwork, director, dragonfly, slimfly, polarfly, polarstar, bundlefly, oft, kautz, hyperx, jellyfish, random, deimos, odin, table1)"
	tests := []struct{ spec, want string }{
		{"", `no family "" (families: ` + families},
		{"tours:8x8", `no family "tours"; nearest is "torus" (families: ` + families},
		{"torus:8x8,host=2", `torus: no key "host"; nearest is "hosts" (keys: dims, hosts)`},
		{"dragonfly:q=4", `dragonfly: no key "q" (keys: p, a, h, g, global, seed)`},
		{"dragonfly:4", `dragonfly: "4" is not key=value (keys: p, a, h, g, global, seed; example: dragonfly:p=4)`},
		{"torus:8,8", `torus: "8" is not key=value (keys: dims, hosts; example: torus:8x8x8,hosts=2)`},
		{"deimos:4", `deimos: "4" is not key=value (keys: cables, hosts, seed; example: deimos)`},
		{"deimos:p=4", `deimos: no key "p" (keys: cables, hosts, seed)`},
		{"dragonfly:p=4,p=5", `dragonfly: p is given twice`},

		{"ring", "ring: n (switches) is missing: it is 2 to 24575; an example that works: ring:8,hosts=1"},
		{"ring:1", "ring: n=1 is too small: it is 2 to 24575; nearest that works: n=2"},
		{"ring:30000,hosts=2", "ring: n=30000 is too large: it is 2 to 24575; nearest that works: n=16383"},
		{"ring:8,hosts=0", "ring: hosts=0 is too small: it is 1 to 254; nearest that works: hosts=1"},
		{"ring:8,hosts=253", "ring: n=8,hosts=253 makes a switch with 255 ports; InfiniBand numbers at most 254; nearest that works: hosts=252 or n=2"},
		{"ring:eight", `ring: n="eight" is not a whole number; an example that works: ring:8,hosts=1`},
		{"ring:+8", `ring: n="+8" is not a whole number; an example that works: ring:8,hosts=1`},

		{"mesh:", "mesh: dims (switches along each dimension) is missing: it is numbers from 1 to 24575 with x between them; an example that works: mesh:4x4x4,hosts=2"},
		{"mesh:4x", `mesh: dims="4x" is not whole numbers with x between them; an example that works: mesh:4x4x4,hosts=2`},
		{"torus:0x4", "torus: dims=0x4 has a number that is too small: each is 1 to 24575; nearest that works: dims=1x4"},
		{"torus:99999x99999x99999", "torus: dims=99999x99999x99999 has a number that is too large: each is 1 to 24575; nearest that works: dims=29x29x29"},
		{"torus:20000x20000x20000", "torus: dims=20000x20000x20000,hosts=1 makes over two billion " + lids + "dims=29x29x29"},
		{"torus:8x8x99999999999999999999,hosts=2", "torus: dims=8x8x99999999999999999999 has a number that is too large: each is 1 to 24575; nearest that works: dims=8x8x255"},
		{"torus:1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", "torus: dims has 17 numbers; it may have 1 to 16; an example that works: torus:8x8x8,hosts=2"},
		{"hypercube:15", "hypercube: n=15 is too large: it is 1 to 14; nearest that works: n=14"},
		{"hypercube:14,hosts=9", "hypercube: n=14,hosts=9 makes 163840 " + lids + "hosts=1 or n=12"},

		{"karytree:k=200,n=2", "karytree: k=200,n=2 makes a switch with 400 ports; InfiniBand numbers at most 254; nearest that works: k=127 or n=1"},
		{"karytree:k=18,n=4", "karytree: k=18,n=4 makes 128304 " + lids + "k=13 or n=3"},
		{"xgft:m=18x36,w=18", "xgft: m=18x36 has 2 levels and w=18 has 1; they have one number each for every level; an example that works: xgft:m=18x36,w=18x18,hosts=18"},
		{"xgft:m=18x36", "xgft: w (parents by level, w1 first) is missing: it is numbers from 1 to 254 with x between them; an example that works: xgft:m=18x36,w=18x18,hosts=18"},
		{"xgft:m=18x36x36,w=18x18x18,hosts=18", "xgft: m=18x36x36,w=18x18x18,hosts=18 makes 484056 " + lids + "m=12x12x12"},

		{"dragonfly:p=4,g=34", "dragonfly: g=34 is too large: it is 1 to 33; nearest that works: g=33 or p=5"},
		{"dragonfly:p=11", "dragonfly: p=11,a=22,h=11,g=243,global=palmtree,seed=0 makes 64152 " + lids + "p=10"},
		{"dragonfly:p=2,global=palm", `dragonfly: global="palm" is none of palmtree, consecutive, random; nearest that works: global=palmtree`},
		{"fattree:ports=24,hosts=24", "fattree: hosts=24 is too large: it is 1 to 23; nearest that works: hosts=23 or ports=25"},
		{"fattree:ports=24,pods=2", "fattree: pods=2 is too large: it is 1 to 1; nearest that works: pods=1"},
		{"fattree:ports=64,levels=3", "fattree: ports=64,levels=3,hosts=32,leaves=32,pods=64 makes 70656 " + lids + "levels=2 or ports=57"},
		{"director:250", "director: ports=250 does not work: it is a multiple of radix/2 from 24 to 288; nearest that works: ports=240 or ports=252"},
		{"director:radix=23", "director: radix=23 does not work: it is an even number from 4 to 254; nearest that works: radix=22 or radix=24"},
		{"director:144,hosts=145", "director: hosts=145 is too large: it is 1 to 144; nearest that works: hosts=144 or ports=156"},
		{"slimfly:q=6", "slimfly: q=6 does not work: it is a prime power from 3 to 109; nearest that works: q=5 or q=7"},
		{"slimfly:q=2", "slimfly: q=2 does not work: it is a prime power from 3 to 109; nearest that works: q=3"},
		{"slimfly:q=109,hosts=4", "slimfly: q=109,hosts=4 makes 118810 " + lids + "hosts=1 or q=67"},
		{"slimfly", "slimfly: q (prime power; there are 2q² switches) is missing: it is one of 3, 4, 5, 7, 8, 9, 11, 13, …, 109; an example that works: slimfly:q=5,hosts=7"},
		{"polarfly:q=6", "polarfly: q=6 does not work: it is a prime power from 2 to 151; nearest that works: q=5 or q=7"},
		{"polarstar:q=3,d=5", "polarstar: d=5 does not work: it is 3, 4, 7, 8 and so on: 0 or 3 modulo 4; nearest that works: d=4 or d=7"},
		{"polarstar:q=3,d=3,supernode=paley", "polarstar: d=3 does not work: 2d+1 has to be a prime power that is 1 modulo 4; nearest that works: d=2 or d=4"},
		{"polarstar:q=3,d=3,supernode=petersen", `polarstar: supernode="petersen" is none of iq, paley; an example that works: polarstar:q=3,d=3`},
		{"bundlefly:q=3,p=7", "bundlefly: p=7 does not work: it has to be a prime power that is 1 modulo 4; nearest that works: p=5 or p=9"},
		{"slimfly:q=five", `slimfly: q="five" is not a whole number; an example that works: slimfly:q=5,hosts=7`},
		{"oft:k=16", "oft: k=16 does not work: k-1 has to be a prime power, as no projective plane of another order is known (and over 28 there are not LIDs enough); nearest that works: k=14 or k=17"},
		{"oft:k=30", "oft: k=30 makes 54873 " + lids + "k=28"},
		{"kautz:b=3", "kautz: n (letters of a word: the diameter) is missing: it is 2 to 14; an example that works: kautz:b=3,n=3,hosts=7"},
		{"kautz:b=36,n=4", "kautz: b=36,n=4,hosts=1 makes 3452544 " + lids + "b=12 or n=2"},
		{"hyperx:4x4,k=2", "hyperx: dims=4x4 has 2 dimensions and k=2 has 1; they have one number each for every dimension; an example that works: hyperx:4x4,hosts=4"},
		{"hyperx:200x200", "hyperx: dims=200x200,k=1x1,hosts=1 makes 80000 " + lids + "dims=127x127"},
		{"jellyfish:switches=43,degree=11", "jellyfish: degree=11 does not work: it is 3 to 42, and even if switches is odd; nearest that works: degree=10 or degree=12"},
		{"jellyfish:switches=8,degree=8", "jellyfish: degree=8 does not work: it is 3 to 7, and even if switches is odd; nearest that works: degree=7"},
		{"table1:endpoints=1000", "table1: endpoints=1000 does not work: it is a row of the table: 64, 128, 256, 512, 1024, 2048 or 4096; nearest that works: endpoints=512 or endpoints=1024"},
		{"table1:family=xfgt,endpoints=64", `table1: family="xfgt" is none of xgft, kautz, karytree; nearest that works: family=xgft`},
		{"dragonfly:p=0", "dragonfly: p=0 is too small: it is 1 to 254; nearest that works: p=1"},
		{"random:switches=64,links=62", "random: links=62 is too small: it is 63 to 2698; nearest that works: links=63 or switches=63"},
		{"random:switches=64,links=9999", "random: links=9999 is too large: it is 63 to 2698; nearest that works: links=2698 or switches=238"},
		{"random:switches=64", "random: links (cables between switches) is missing: it is 63 to 2698; an example that works: random:switches=64,links=128,hosts=16,seed=1"},
		{"random:switches=4,links=4,seed=-1", `random: seed="-1" is not a whole number from 0 to 18446744073709551615; an example that works: random:switches=64,links=128,hosts=16,seed=1`},
	}
	for _, test := range tests {
		start := time.Now()
		f, err := Parse(test.spec)
		if err == nil {
			t.Errorf("%q is not refused: %s", test.spec, f)
			continue
		}
		if diff := cmp.Diff(test.want, err.Error()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.spec, diff)
		}
		if took := time.Since(start); took > 10*time.Second { // what it would take to build and to count
			t.Errorf("%q took %v to refuse", test.spec, took)
		}
	}
}

// TestRefusalsByHand: Build refuses what Parse refuses.
func TestRefusalsByHand(t *testing.T) {
	tests := []struct {
		family Family
		want   string
	}{
		{torus{}, "torus: dims (switches along each dimension) is missing: it is numbers from 1 to 24575 with x between them; an example that works: torus:8x8x8,hosts=2"},
		{torus{Dims: []int{4, 0}}, "torus: dims=4x0 has a number that is too small: each is 1 to 24575; nearest that works: dims=4x1"},
		{ring{N: -3}, "ring: n=-3 is too small: it is 2 to 24575; an example that works: ring:8,hosts=1"},
		{ring{N: math.MaxInt}, "ring: n=9223372036854775807 is too large: it is 2 to 24575; nearest that works: n=24575"},
		{dragonfly{P: 4, G: 1000}, "dragonfly: g=1000 is too large: it is 1 to 33; nearest that works: g=33"},
		{xgft{M: []int{4}, W: []int{2, 2}}, "xgft: m=4 has 1 levels and w=2x2 has 2; they have one number each for every level; an example that works: xgft:m=18x36,w=18x18,hosts=18"},
		{hypercube{N: math.MinInt}, "hypercube: n=-9223372036854775808 is too small: it is 1 to 14; an example that works: hypercube:6,hosts=1"},
	}
	for _, test := range tests {
		_, err := test.family.Build()
		if err == nil {
			t.Errorf("%s is not refused", test.family)
		} else if diff := cmp.Diff(test.want, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.family, diff)
		}
	}
}

// TestNearestWorks: what a refusal proposes is accepted, whatever was wrong.
func TestNearestWorks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		_, err := Parse(spec)
		if err == nil {
			return
		}
		msg := err.Error()
		if _, example, ok := strings.Cut(msg, "an example that works: "); ok {
			if _, err := Parse(example); err != nil {
				t.Fatalf("%s: the example does not work: %v", msg, err)
			}
		}
		name, rest, _ := strings.Cut(spec, ":")
		_, hint, ok := strings.Cut(msg, "nearest that works: ")
		if !ok {
			return
		}
		for change := range strings.SplitSeq(hint, " or ") {
			key, _, _ := strings.Cut(change, "=")
			parts := strings.Split(rest, ",")
			for i, part := range parts {
				if k, _, keyed := strings.Cut(part, "="); k == key || !keyed && key == rowNamed(name).bare {
					parts[i] = change
				}
			}
			if _, err := Parse(name + ":" + strings.Join(parts, ",")); err != nil {
				t.Fatalf("%s: %s does not work: %v", msg, change, err)
			}
		}
	})
}

// drawSpec draws specs with every key, mostly near the limits.
func drawSpec(t *rapid.T) string {
	r := rapid.SampledFrom(table).Draw(t, "family")
	var p params
	r.new().declare(&p)
	var parts []string
	for i, key := range p.keys() {
		if words := p.seen[i].words; words != nil {
			parts = append(parts, key+"="+rapid.SampledFrom(append(words, "palm")).Draw(t, key))
			continue
		}
		if choices := p.seen[i].choices; choices != nil && rapid.Bool().Draw(t, "one that works") {
			parts = append(parts, key+"="+strconv.Itoa(rapid.SampledFrom(choices).Draw(t, key)))
			continue
		}
		numbers := rapid.SliceOfN(rapid.SampledFrom([]string{"0", "1", "2", "3", "5", "14", "60", "127", "300", "30000", "99999999999"}), 1, 3).Draw(t, key)
		if key != "dims" && key != "m" && key != "w" && r.name != "hyperx" {
			numbers = numbers[:1]
		}
		parts = append(parts, key+"="+strings.Join(numbers, "x"))
	}
	return r.name + ":" + strings.Join(parts, ",")
}

func TestFamilies(t *testing.T) {
	var names []string
	for _, info := range Families() {
		names = append(names, info.Name)
		if !IsSpec(info.Name) || !IsSpec(info.Example) || info.Summary == "" {
			t.Errorf("%+v", info)
		}
		f := build(t, info.Example)
		if f.Count().HCA == 0 {
			t.Errorf("%s has no hosts", info.Example)
		}
		for _, key := range info.Keys {
			if key.Name == "" || key.Meaning == "" {
				t.Errorf("%s: key %+v", info.Name, key)
			}
		}
	}
	if want := []string{
		"ring", "mesh", "torus", "hypercube", "karytree", "xgft", "fattree", "planes", "patchwork", "director", "dragonfly", "slimfly", "polarfly", "polarstar", "bundlefly", "oft", "kautz", "hyperx",
		"jellyfish", "random", "deimos", "odin", "table1",
	}; !slices.Equal(names, want) {
		t.Errorf("families %v, want %v", names, want)
	}
	dragonfly := Families()[10]
	if want := []Key{
		{"p", "hosts on each router", false},
		{"a", "routers in each group (default 2p)", false},
		{"h", "global ports of each router (default p)", false},
		{"g", "groups (default a*h+1)", false},
		{"global", "how global cables are laid: palmtree (default), consecutive or random", false},
		{"seed", "of the random stream, for global=random (default 0)", false},
	}; !slices.Equal(dragonfly.Keys, want) {
		t.Errorf("keys %+v", dragonfly.Keys)
	}
	if bare := Families()[2].Keys[0]; !bare.Bare || bare.Name != "dims" {
		t.Errorf("first key of torus: %+v", bare)
	}
}

func TestIsSpec(t *testing.T) {
	for s, want := range map[string]bool{
		"torus:8x8x8": true, "deimos": true, "ring:nonsense": true,
		"": false, ":": false, "fabric.ibnetdiscover": false, "Torus:8": false, "./torus": false, "C:torus": false,
	} {
		if got := IsSpec(s); got != want {
			t.Errorf("IsSpec(%q) = %v", s, got)
		}
	}
}

// TestDeterminism: the same spec makes the same fabric, and so does the spec that
// the family writes.
func TestDeterminism(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		if rapid.Bool().Draw(t, "an example") {
			spec = rapid.SampledFrom(Families()).Draw(t, "of").Example
		}
		family, err := Parse(spec)
		if err != nil || !small(t, family) {
			return
		}
		again, err := Parse(family.String())
		if err != nil {
			t.Fatalf("%s writes %s: %v", spec, family, err)
		}
		var built [2]*fabric.Fabric
		for i, f := range []Family{family, again} {
			if built[i], err = f.Build(); err != nil {
				t.Fatal(err)
			}
		}
		if !same(built[0], built[1]) {
			t.Errorf("%s makes another fabric than %s, which it writes", spec, family)
		}
	})
}

// TestAsDeclared: what is built is as large as was counted before.
func TestAsDeclared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		family, err := Parse(spec)
		if err != nil {
			return
		}
		checkBuilt(t, family)
	})
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// declared is what a family says that it needs.
func declared(t failer, family Family) size {
	t.Helper()
	f, ok := family.(form)
	if !ok {
		t.Fatalf("%s is a %T, which is not in the table", family, family)
	}
	var p params
	return f.declare(&p)
}

// small reports whether a family is not too large to be built often.
func small(t failer, family Family) bool {
	t.Helper()
	need := declared(t, family)
	r, ok := family.(*random)
	return need.switches+need.hosts <= 3000 && (!ok || r.Links <= 3000)
}

// checkBuilt builds a family, if it is small.
func checkBuilt(t failer, family Family) {
	t.Helper()
	if !small(t, family) {
		return
	}
	need := declared(t, family)
	built, err := family.Build()
	if err != nil {
		t.Fatalf("%s: %v", family, err)
	}
	got := built.Count()
	if got.Switches != need.switches || got.HCA != need.hosts || len(built.Parts()) != 1 {
		t.Fatalf("%s declares %+v and has %+v in %d parts", family, need, got, len(built.Parts()))
	}
	largest := 0
	for v := range fabric.NodeID(built.Switches()) {
		largest = max(largest, built.Node(v).Ports)
	}
	if _, random := family.(*random); !random && largest != need.ports {
		t.Fatalf("%s declares %d ports and has %d", family, need.ports, largest)
	}
}

// FuzzParse: any text is a family that builds as declared and whose String reads
// back as itself, or an error; never a panic, never a network beyond the limits.
func FuzzParse(f *testing.F) {
	for _, info := range Families() {
		f.Add(info.Example)
	}
	for _, spec := range []string{"torus:99999x99999x99999", "xgft:m=1x2x3,w=3x2x1", "dragonfly:p=1,a=1,h=1,g=1", "random:switches=9,links=99,seed=7", "mesh:,=", "deimos:", "ring:\x00"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		family, err := Parse(spec)
		if err != nil {
			return
		}
		again, err := Parse(family.String())
		if err != nil {
			t.Fatalf("%q is %s, which does not read: %v", spec, family, err)
		}
		if diff := cmp.Diff(family, again); diff != "" {
			t.Fatalf("%q reads back differently:\n%s", spec, diff)
		}
		if !IsSpec(spec) {
			t.Fatalf("%q is read but is no spec", spec)
		}
		checkBuilt(t, family)
	})
}

// TestAnyStruct: structs made by hand may hold anything.
func TestAnyStruct(t *testing.T) {
	extreme := []int{math.MinInt, -1, 0, 1, 2, 3, 7, 254, 255, 30000, math.MaxInt32, math.MaxInt}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom(extreme)
		list := rapid.SliceOfN(n, 0, 18)
		one := func(name string) int { return n.Draw(t, name) }
		for _, f := range []form{
			&ring{N: one("n"), Hosts: one("hosts")},
			&mesh{Dims: list.Draw(t, "dims"), Hosts: one("hosts")},
			&torus{Dims: list.Draw(t, "dims"), Hosts: one("hosts")},
			&hypercube{N: one("n"), Hosts: one("hosts")},
			&karyTree{K: one("k"), N: one("n")},
			&xgft{M: list.Draw(t, "m"), W: list.Draw(t, "w"), Hosts: one("hosts")},
			&dragonfly{P: one("p"), A: one("a"), H: one("h"), G: one("g")},
			&random{Switches: one("switches"), Links: one("links"), Hosts: one("hosts")},
			&fatTree{P: one("ports"), Levels: one("levels"), Hosts: one("hosts"), Leaves: one("leaves"), Pods: one("pods")},
			&planes{
				P: one("ports"), Groups: one("groups"), Leaves: one("leaves"), Planes: one("planes"), Wide: one("wide"), On: one("on"), Up: one("up"),
				Tops: one("tops"), Tails: one("tails"), Tail: one("tail"), Trunk: one("trunk"), Hosts: one("hosts"),
			},
			&directors{Ports: one("ports"), Radix: one("radix"), Hosts: one("hosts")},
			&dragonfly{P: one("p"), Global: rapid.SampledFrom([]string{"", "random", "consecutive", "no"}).Draw(t, "global")},
			&slimFly{Q: one("q"), Hosts: one("hosts")},
			&oft{K: one("k")},
			&kautz{B: one("b"), N: one("n"), Hosts: one("hosts")},
			&hyperX{Dims: list.Draw(t, "dims"), K: list.Draw(t, "k"), Hosts: one("hosts")},
			&jellyfish{Switches: one("switches"), Degree: one("degree"), Hosts: one("hosts")},
			&tableOne{Family: rapid.SampledFrom([]string{"", "xgft", "kautz", "no"}).Draw(t, "family"), Endpoints: one("endpoints")},
		} {
			_ = f.String()
			if err := rowOf(f).complete(f, nil); err == nil {
				checkBuilt(t, f)
			}
		}
	})
}

// A network in want of LIDs alone is refused, and made for whoever goes without them; others are refused for either.
func TestWithoutLIDs(t *testing.T) {
	type beyond interface {
		WithoutLIDs() (*fabric.Fabric, error)
	}
	_, err := Build("fattree:ports=58,levels=3")
	var few beyond
	if !errors.As(err, &few) {
		t.Fatal(err)
	}
	f, err := few.WithoutLIDs()
	if err != nil {
		t.Fatal(err)
	}
	if n, want := len(f.Endpoints()), 5*58*58/4+58*58*58/4; n != want || n <= int(fabric.MaxLID) {
		t.Errorf("%d endpoints, not %d", n, want)
	}
	if i := slices.IndexFunc(f.Endpoints(), func(e fabric.Endpoint) bool { return e.LID != 0 }); i >= 0 || f.TopLID() != 0 {
		t.Errorf("endpoint %d has a LID, the last one is %d", i, f.TopLID())
	}
	_, err = Build("fattree:ports=128,levels=3")
	if !errors.As(err, &few) {
		t.Fatal(err)
	}
	const want = "fattree: ports=128,levels=3,hosts=64,leaves=64,pods=128 makes 544768 switches and hosts; networks of Ethernet are computed with up to 131072"
	if _, err = few.WithoutLIDs(); err == nil || err.Error() != want {
		t.Errorf("%v, not %s", err, want)
	}
	for _, spec := range []string{"fattree:ports=300", "fattree:ports=16,levels=4", "oft:k=16"} {
		if _, err := Build(spec); err == nil || errors.As(err, &few) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
