package daemon

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/jobfiles"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// A wrong line is told by its number, whether it cannot be read or means nothing.
func TestWrongLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"socket: /s\n\nendpoint: ca\n":                "line 3: field endpoint not found; nearest is \"endpoints\" (there are socket, group, ",
		"# a comment\nvls: 4x\n":                      `line 2: vls: "4x" is no whole number`,
		"limit: 10\n":                                 `line 1: limit: "10" is no time; it is a number with a unit`,
		"engine: {a: b}\n":                            "line 1: engine is one name, several with commas between, or a list of names",
		"state: [a, b]\n":                             "line 1: state is one word",
		"vls: 1\n\nvls: 1\n":                          "line 3: vls stands in line 1 already",
		"budget: 1s\ntime-budget: 2s\n":               "line 2: budget stands in line 1 already",
		"sokket: /s\nlimits: 5s\n":                    "line 1: field sokket not found; nearest is \"socket\"",
		"vls:\n- 1\n":                                 "line 1: vls",
		"engine: auto\n\tvls: 1\n":                    "line 2",
		"socket: /s\ncontract: none\n":                "line 2: contract: a contract is ",
		"socket: /s\nengine: updn, nosuch\n":          `line 2: engine: no engine is called "nosuch"`,
		"socket: /s\nengine: nue\n\naim: alltoall\n":  "line 4: aim is for balance, weave, weave-any, auto; nue does not look at it",
		"socket: s\n":                                 `line 1: socket "s" is no absolute path`,
		"socket: /" + strings.Repeat("s", 101) + "\n": "line 1: socket \"/sss",
		"socket: /s\nmetrics: 192.0.2.1:9\n":          "line 2: metrics \"192.0.2.1:9\" is no loopback address",
		"socket: /s\nvls: 16\n":                       "line 2: vls 16; there are 1 to 15 data lanes",
		"socket: /s\nweight: storage\n":               `line 2: weight: "storage": it is NAME=WEIGHT`,
		"socket: /s\ngroup: nosuchgroup\n":            "line 2: group: ",
	} {
		c, err := ReadConfig(strings.NewReader(text))
		if err == nil {
			_, err = c.Check()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What a flag says in place of the file is no fault of the file's line.
func TestTake(t *testing.T) {
	t.Parallel()
	c, err := ReadConfig(strings.NewReader("socket: /s\ncontract: any\nlimit: 5s\n"))
	if err != nil {
		t.Fatal(err)
	}
	c.Take("contract", &Config{Contract: "none", Limit: time.Hour})
	if c.Contract != "none" || c.Limit != 5*time.Second {
		t.Errorf("%+v", c)
	}
	if _, err := c.Check(); err == nil || strings.Contains(err.Error(), "line") {
		t.Errorf("%v", err)
	}
}

// Roots and weights are found in each fabric; what is down is said, and if no root is
// there, nothing is routed in their name.
func TestRootsAndWeights(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "karytree:k=2,n=2")
	set := func(c Config) *settings {
		c.Socket = "/s"
		s, err := c.check()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := set(Config{Engine: Names{"updn", "weave"}, Roots: Names{"sw-l1-0", "sw-l1-*", "gone"}, Weight: Names{"host-*=20", "host-1=90", "down=1"}, Aim: "alltoall"})
	told, missing, err := s.forFabric(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(told.told.Roots) != 2 || told.told.Aim != balance.AllToAll || len(s.told.Roots) != 0 {
		t.Errorf("%+v", told.told)
	}
	most := uint8(0)
	for _, w := range told.told.Weights {
		most = max(most, w)
	}
	if most != 90 || jobfiles.MaxWeight != balance.MaxWeight {
		t.Errorf("the largest weight is %d, the largest there may be %d and %d", most, jobfiles.MaxWeight, balance.MaxWeight)
	}
	if len(missing) != 2 || !strings.Contains(missing[0], `roots: `) || !strings.Contains(missing[0], "gone") || !strings.Contains(missing[1], "down") {
		t.Errorf("%q", missing)
	}
	if _, _, err := set(Config{Roots: Names{"gone"}}).forFabric(f); err == nil || !strings.Contains(err.Error(), "none of the roots that are set: gone") {
		t.Errorf("%v", err)
	}
}

// Orders of ranks are told; hosts of a list that are down are left out, and said.
func TestRankOrder(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "karytree:k=2,n=2")
	for _, c := range []struct {
		orders        Names
		want, missing string
	}{
		{nil, "", ""},
		{Names{"switch", "name"}, "switch 4, name 4", ""},
		{Names{"host-[3,0", "9]"}, "host-[3,0,9] 2", "host-9"},
		{Names{"host-[0,9]", "switch"}, "switch 4", "takes two"},
	} {
		s, err := Config{Socket: "/s", RankOrder: c.orders}.check()
		if err != nil {
			t.Fatal(err)
		}
		told, missing, err := s.forFabric(f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range told.told.Orders {
			got = append(got, fmt.Sprintf("%s %d", o.Name, len(o.Ranks)))
		}
		if strings.Join(got, ", ") != c.want || !strings.Contains(strings.Join(missing, "; "), c.missing) {
			t.Errorf("%q: %q, missing %q", c.orders, got, missing)
		}
	}
	for text, want := range map[string]string{"nam": "there are switch, name, rail, and lists of hosts", "node[1-": "node[1-"} {
		if _, err := (Config{Socket: "/s", RankOrder: Names{text}}).check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := (Config{Socket: "/s", Engine: Names{"nue"}, RankOrder: Names{"name"}}).check(); err == nil {
		t.Error("nue heeds no order of ranks")
	}
}

// Settings get to the engines, and other settings are other tables.
func TestSettingsAreHeeded(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: Names{"updn"}, Roots: Names{"sw-3", "gone"}})
	q := request(t, "ring:n=7,hosts=2", 1)
	first := r.ask(q)
	s := r.after(1)
	if first.Refusal != "" || len(s.Last.Missing) != 1 || !strings.Contains(r.log.String(), "missing=\"roots: ") {
		t.Errorf("%q, %+v\n%s", first.Refusal, s.Last, r.log)
	}
	r.mu.Lock()
	r.config.Roots = Names{"sw-5"}
	r.mu.Unlock()
	r.reload <- nil
	r.until(func(result.Status) bool { return strings.Contains(r.log.String(), "msg=reloaded") })
	q.Sweep = 2
	if second := r.ask(q); bytes.Equal(second.OutPorts, first.OutPorts) {
		t.Error("another root makes the same tables")
	}
	r.mu.Lock()
	r.config.Roots = Names{"gone"}
	r.mu.Unlock()
	r.reload <- nil
	r.until(func(result.Status) bool { return strings.Count(r.log.String(), "msg=reloaded") == 2 })
	if a := r.ask(q); !strings.Contains(a.Refusal, "none of the roots") {
		t.Errorf("%q", a.Refusal)
	}
	// Few service levels: lash needs two here, a layer each.
	r = start(t, Config{Engine: Names{"lash", "updn"}, Contract: "directed", SLs: 1})
	if a := r.ask(request(t, "ring:n=7,hosts=2", 1)); a.Engine != "updn" {
		t.Errorf("%q, %q", a.Engine, a.Refusal)
	}
}
