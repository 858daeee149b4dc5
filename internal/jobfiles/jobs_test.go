package jobfiles_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/jobfiles"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/traffic"
)

// hosts is a switch with four adapters: two on one host, and LIDs 2 to 5.
func hosts(t testing.TB) (*fabric.Fabric, []fabric.EndpointID) {
	t.Helper()
	var b fabric.Builder
	sw := b.Node(fabric.Node{GUID: 1, Ports: 8, Name: "leaf"}, "")
	for i, name := range []string{"node1 mlx5_0", "node2 mlx5_0", "node3 mlx5_0", "node3 mlx5_1"} {
		h := b.Node(fabric.Node{GUID: fabric.GUID(0x100 * (i + 1)), Kind: fabric.Adapter, Ports: 1, Name: name}, "")
		b.Port(h, 1, fabric.Port{LID: fabric.LID(2 + i)})
		b.Cable(sw, uint8(4-i), h, 1, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f, []fabric.EndpointID{1, 2, 3, 4}
}

// endpoints is the names of some endpoints.
func endpoints(t testing.TB, f *fabric.Fabric, among []fabric.EndpointID) *names.Endpoints {
	t.Helper()
	n, err := names.New(f).Endpoints(among)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPairs(t *testing.T) {
	f, among := hosts(t)
	names := endpoints(t, f, among)
	p, place, err := jobfiles.Pairs(strings.NewReader("src,dst,bytes\n# the first job\nnode2, node1 ,10\n0x0000000000000300,0x0000000000000401,20\n\n5,2,30\n"), "t.csv", names)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(traffic.Placement{2, 1, 3, 4}, place); diff != "" {
		t.Error(diff)
	}
	want := []traffic.Pair{{From: 0, To: 1, Bytes: 10}, {From: 2, To: 3, Bytes: 20}, {From: 3, To: 1, Bytes: 30}}
	if n, err := p.Phases(4); n != 1 || err != nil || p.Random() || p.String() != "t.csv" {
		t.Errorf("%d phases, %v, %s", n, err, p)
	}
	if diff := cmp.Diff(want, p.Append(nil, 4, 0, nil)); diff != "" {
		t.Error(diff)
	}
	if _, err := p.Phases(5); err == nil {
		t.Error("five ranks in a file about four")
	}
	for text, want := range map[string]string{
		"node1,node2\nnode1,node4": `t.csv:2: no endpoint is called "node4"; nearest is "node1"`,

		"node1":                         "t.csv:1: 1 fields; a line is src,dst or src,dst,bytes",
		"node1,node2,many":              `t.csv:1: "many" is no number of bytes`,
		"node1,node2,0":                 "is no number of bytes",
		"node1,node2,5\nnode2,node1,-7": `t.csv:2: "-7" is no number of bytes: whole and above 0`,
		"node1,node2,1.5":               "is no number of bytes",
		`node1,"node[2-4]"`:             `t.csv:1: node[2-4]: no endpoint is called "node4"`,
		"nod*s,node1":                   `t.csv:1: no endpoint is called "nod*s"`,
		"":                              "t.csv: no pair in it",
		"node1,node2,5\n2,3":            "t.csv:2: bytes on some lines and not on others",
		"node1,leaf":                    `no endpoint is called "leaf": it is switch leaf, with no endpoint in scope`,
		"node1,\"":                      "t.csv:1: ",
		"src,dst\n":                     "t.csv: no pair in it",
		"1,2":                           `t.csv:1: no endpoint is called "1"`,
	} {
		if _, _, err := jobfiles.Pairs(strings.NewReader(text), "t.csv", names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// By rank, who sends to itself is skipped.
func TestRankPairs(t *testing.T) {
	p, err := jobfiles.RankPairs(strings.NewReader("src,dst,bytes\n0, 3,10\n2,2,7\n3,0,20\n"), "m.csv", 4)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]traffic.Pair{{From: 0, To: 3, Bytes: 10}, {From: 3, To: 0, Bytes: 20}}, p.Append(nil, 4, 0, nil)); diff != "" {
		t.Error(diff)
	}
	if n, err := p.Phases(4); n != 1 || err != nil {
		t.Errorf("%d phases, %v", n, err)
	}
	for text, want := range map[string]string{
		"0,1\n1,4":     `m.csv:2: "4" is no rank of the job, which are 0 to 3`,
		"-1,1":         `m.csv:1: "-1" is no rank of the job`,
		"node1,node2":  `m.csv:1: "node1" is no rank of the job`,
		"0,1\n1,2,5":   "m.csv:2: bytes on some lines and not on others",
		"1,1,5":        "m.csv: no pair of two ranks in it",
		"":             "m.csv: no pair of two ranks in it",
		"0,1,0":        "is no number of bytes",
		"4294967296,1": `"4294967296" is no rank of the job`,
	} {
		if _, err := jobfiles.RankPairs(strings.NewReader(text), "m.csv", 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A group is every host that matches, and nobody of it sends to itself: three hosts, one of
// them with two adapters, which share what it sends and receives.
func TestGroupsOfHosts(t *testing.T) {
	f, among := hosts(t)
	for _, text := range []string{"node*,node*,10\n", "\"node[1-3]\",node*,10\n", "node1,\"node[2,3]\",10\nnode2,node1,10\nnode2,node3,10\nnode3,\"node[1-2]\",10\n"} {
		p, place, err := jobfiles.Pairs(strings.NewReader(text), "t.csv", endpoints(t, f, among))
		if err != nil {
			t.Fatal(err)
		}
		bytes := map[[2]fabric.EndpointID]int64{}
		for _, x := range p.Append(nil, len(place), 0, nil) {
			bytes[[2]fabric.EndpointID{place[x.From], place[x.To]}] += x.Bytes
		}
		want := map[[2]fabric.EndpointID]int64{{1, 2}: 10, {2, 1}: 10, {1, 3}: 10, {2, 3}: 10, {3, 1}: 10, {3, 2}: 10}
		for _, both := range [][2]fabric.EndpointID{{1, 3}, {2, 3}, {3, 1}, {3, 2}} { // rails in common are used alone
			want[both] = 10
		}
		if diff := cmp.Diff(want, bytes); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// A pair of hosts talks on each rail that both have, and shares the bytes among
// them; ports of no common rail take turns.
func TestPairsOfHosts(t *testing.T) {
	var b fabric.Builder
	sw := b.Node(fabric.Node{GUID: 1, Ports: 9, Name: "leaf"}, "")
	for i, name := range []string{"a HCA-1", "a HCA-2", "a HCA-3", "b mlx5_1", "b mlx5_2", "b mlx5_7", "c mlx5_8"} {
		h := b.Node(fabric.Node{GUID: fabric.GUID(0x100 * (i + 1)), Kind: fabric.Adapter, Ports: 1, Name: name}, "")
		b.Cable(sw, uint8(i+1), h, 1, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	type flow struct {
		from, to string
		bytes    int64
	}
	for text, want := range map[string][]flow{
		"a,b":              {{"a HCA-2", "b mlx5_1", 0}, {"a HCA-3", "b mlx5_2", 0}},
		"b,a,101":          {{"b mlx5_1", "a HCA-2", 51}, {"b mlx5_2", "a HCA-3", 50}},
		"b,a,1":            {{"b mlx5_1", "a HCA-2", 1}},
		"b,c,3":            {{"b mlx5_1", "c mlx5_8", 1}, {"b mlx5_2", "c mlx5_8", 1}, {"b mlx5_7", "c mlx5_8", 1}},
		"a/HCA-1,b":        {{"a HCA-1", "b mlx5_1", 0}, {"a HCA-1", "b mlx5_2", 0}, {"a HCA-1", "b mlx5_7", 0}},
		"a/HCA-3,b":        {{"a HCA-3", "b mlx5_2", 0}},
		"a HCA-1,b/mlx5_7": {{"a HCA-1", "b mlx5_7", 0}},
	} {
		p, place, err := jobfiles.Pairs(strings.NewReader(text), "t.csv", endpoints(t, f, []fabric.EndpointID{1, 2, 3, 4, 5, 6, 7}))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []flow
		for _, q := range p.Append(nil, len(place), 0, nil) {
			got = append(got, flow{f.Node(f.Endpoint(place[q.From]).Node).Name, f.Node(f.Endpoint(place[q.To]).Node).Name, q.Bytes})
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(flow{})); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// Few processes on a host with many adapters take the first of them, one each.
func TestRanksOnRails(t *testing.T) {
	var b fabric.Builder
	sw := b.Node(fabric.Node{GUID: 1, Ports: 8, Name: "leaf"}, "")
	for i, name := range []string{"q mlx5_0", "q mlx5_1", "q mlx5_2", "q mlx5_3"} {
		h := b.Node(fabric.Node{GUID: fabric.GUID(0x100 * (i + 1)), Kind: fabric.Adapter, Ports: 1, Name: name}, "")
		b.Cable(sw, uint8(i+1), h, 1, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]traffic.Placement{
		"q slots=2": {1, 2}, "q:8": {1, 1, 2, 2, 3, 3, 4, 4}, "q": {1, 2, 3, 4}, "rank 1=q\nrank 0=q": {1, 2},
	} {
		got, err := jobfiles.Ranks(strings.NewReader(text), "ranks", endpoints(t, f, []fabric.EndpointID{1, 2, 3, 4}))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestRanks(t *testing.T) {
	f, among := hosts(t)
	names := endpoints(t, f, among)
	for text, want := range map[string]traffic.Placement{
		"node2\nnode1\n": {2, 1},
		"# two\nnode2:2\nnode1 slots=1 max_slots=4":                       {2, 2, 1},
		"rank 1=node1 slot=0\nrank 0 = node3 mlx5_1\nrank 2=node1 slot=1": {4, 1, 1},
		"node3 mlx5_1": {4},
		// As Slurm lists hosts.
		"node[1-2]":               {1, 2},
		"node[2,1]:2\nnode3:1":    {2, 2, 1, 1, 3},
		"node[2-3] slots=1":       {2, 3},
		"node2,node[1,3]:1":       {2, 1, 3},
		"node[1-2],node3 slots=2": {1, 2, 3, 4},
		// A host with two adapters has a rank on each, or its processes share them.
		"node3":       {3, 4},
		"node3:1":     {3},
		"node3:5":     {3, 3, 3, 4, 4},
		"node*":       {1, 2, 3, 4},
		"node*:2":     {1, 1, 2, 2, 3, 4},
		"*/mlx5_1\n5": {4, 4}, // by LID, too
		"rank 0=node3\nrank 1=node1\nrank 2=node3\nrank 3=node3": {3, 1, 3, 4},
		"rank 0=node3\nrank 1=node3/mlx5_0":                      {3, 3},
	} {
		got, err := jobfiles.Ranks(strings.NewReader(text), "ranks", names)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"":                                 "ranks: no host in it: the allocation is empty",
		"node1\n\nnode[3-1]":               `ranks:3: "node[3-1]": the range 3-1 ends before it begins`,
		"node1\nnode[2-9]":                 `ranks:2: node[2-9]: no endpoint is called "node4"; nearest is "node1"`,
		"node[1-2":                         `ranks:1: "node[1-2" has a [ without a ]`,
		"node1,nod[1-2]":                   `ranks:1: nod[1-2]: no endpoint is called "nod1"; nearest is "node1"`,
		"node[1-99999]":                    `ranks:1: "node[1-99999]" is more than 65536 hosts`,
		"node1\nnode9":                     `ranks:2: no endpoint is called "node9"; nearest is "node1"`,
		"rank 0=node1\nrank 2=node2":       "ranks: rank 1 is missing; the last is 2",
		"rank 0=node1\nrank 0=node2":       "ranks:2: rank 0 is on line 1 already",
		"rank 0=node1\nnode2":              `ranks:2: "node2" is not "rank N=host"`,
		"node2\nrank 0=node1":              "ranks:2: a rank in a list of hosts",
		"rank 0=node*":                     `ranks:1: "node*" fits 3 hosts`,
		"node1:99999999999":                "ranks:1: more than",
		"rank 99999999999=node1":           "ranks:1: more than",
		"node1 slots=0":                    "the allocation is empty",
		strings.Repeat("x", 70_000) + "\n": "ranks:1: ",
	} {
		if _, err := jobfiles.Ranks(strings.NewReader(text), "ranks", names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
}

func TestPlace(t *testing.T) {
	f, among := hosts(t)
	for spec, want := range map[string]traffic.Placement{
		"all":      {4, 3, 2, 1}, // by port
		"linear:2": {4, 3},
		"guid":     {1, 2, 3, 4},
		"guid:1":   {1},
	} {
		got, err := traffic.Place(spec, f, among, 1)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", spec, diff)
		}
	}
	drawn := map[string]bool{}
	for seed := range uint64(50) {
		p, err := traffic.Place("random:2", f, among, seed)
		if err != nil || len(p) != 2 || p[0] == p[1] {
			t.Fatal(p, err)
		}
		drawn[string([]byte{byte(p[0]), byte(p[1])})] = true
	}
	if len(drawn) != 12 {
		t.Errorf("%d of 12 placements drawn", len(drawn))
	}
	if diff := cmp.Diff(traffic.Placement{1, 1, 2, 2}, jobfiles.Times(traffic.Placement{1, 2}, 2)); diff != "" {
		t.Error(diff)
	}
	for spec, want := range map[string]string{
		"rnadom:3":  `no placement "rnadom"; nearest is "random"`,
		"linear":    "placements are all or switch",
		"all:3":     "placements are all or switch",
		"linear:9":  "there are 4 endpoints in scope",
		"linear:-1": `"-1" is no number of endpoints`,
	} {
		if _, err := traffic.Place(spec, f, among, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	if _, err := traffic.Place("all", f, nil, 1); err == nil {
		t.Error("nobody in scope")
	}
}

func FuzzPairs(fz *testing.F) {
	f, among := hosts(fz)
	names := endpoints(fz, f, among)
	fz.Add("src,dst,bytes\nnode2,node1,10\n2,0x100,7\n")
	fz.Fuzz(func(t *testing.T, text string) {
		p, place, err := jobfiles.Pairs(strings.NewReader(text), "t.csv", names)
		if err != nil {
			return
		}
		for _, q := range p.Append(nil, len(place), 0, nil) {
			if int(max(q.From, q.To)) >= len(place) || min(q.From, q.To) < 0 || q.Bytes < 0 {
				t.Fatalf("%+v among %d", q, len(place))
			}
		}
	})
}

func FuzzRanks(fz *testing.F) {
	f, among := hosts(fz)
	names := endpoints(fz, f, among)
	fz.Add("rank 1=node1 slot=0\nrank 0=node2")
	fz.Add("node2:2\nnode1 slots=3\n")
	fz.Fuzz(func(t *testing.T, text string) {
		p, err := jobfiles.Ranks(strings.NewReader(text), "ranks", names)
		if err == nil && len(p) == 0 {
			t.Fatal("an empty allocation")
		}
	})
}
