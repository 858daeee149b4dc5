package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/live"
)

type object = map[string]any

// collected is a folder of a lossless Ethernet network that a collector writes anew while weft watch looks at it.
type collected struct {
	t   *testing.T
	dir string
}

// write writes the folder as an example of FRR's routers has it, but for files that are changed: by name, what they say then.
func (c *collected) write(example string, change map[string]func(text string) string) {
	c.t.Helper()
	from := filepath.Join("..", "..", "examples", "ethernet", example)
	entries, err := os.ReadDir(from)
	if err != nil {
		c.t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			c.t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	for name, f := range change {
		files[name] = f(files[name])
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(files[name]), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

// routes changes what a router says of its routes.
func (c *collected) routes(change func(table object)) func(string) string {
	return func(text string) string {
		table := object{}
		if err := json.Unmarshal([]byte(text), &table); err != nil {
			c.t.Fatal(err)
		}
		change(table)
		b, err := json.MarshalIndent(table, "", " ")
		if err != nil {
			c.t.Fatal(err)
		}
		return string(b)
	}
}

// hopsOf is the next hops of a route.
func hopsOf(table object, prefix string) []any {
	return table[prefix].([]any)[0].(object)["nexthops"].([]any)
}

// viaHops is a route with some next hops.
func viaHops(prefix string, hops ...any) []any {
	return []any{object{"prefix": prefix, "protocol": "bgp", "vrfName": "default", "selected": true, "destSelected": true, "nexthops": hops}}
}

// A weft watch that runs sees in a folder that is written again and again what goes wrong in it, and when it is over: a pin that
// was withdrawn, a leaf that lost a session, a credit loop, dumps that are cut short, a storm of pauses.
func TestWatchSeesEthernet(t *testing.T) {
	t.Parallel()
	c := &collected{t, t.TempDir()}
	dir := t.TempDir()
	const pin = "10.1.1.11/32"
	pinned := func(more map[string]func(object)) map[string]func(string) string {
		change := map[string]func(string) string{}
		for _, name := range []string{"lf2", "lf3", "lf4", "sp1"} {
			change[name+".route.json"] = c.routes(func(table object) {
				if name == "sp1" {
					table[pin] = viaHops(pin, hopsOf(table, "10.1.1.0/24")...)
				} else { // by sp1 only
					table[pin] = viaHops(pin, slices.DeleteFunc(slices.Clone(hopsOf(table, "10.1.1.0/24")), func(h any) bool {
						return h.(object)["interfaceName"] != name+"-sp1"
					})...)
				}
				if f := more[name]; f != nil {
					f(table)
				}
			})
		}
		return change
	}
	pins, config := filepath.Join(dir, "pins.csv"), filepath.Join(dir, "watch.yaml")
	for name, text := range map[string]string{
		pins:   "name,prefix,leaf,up,up2\nnic," + pin + ",lf1,sp1,\n",
		config: fmt.Sprintf("ethernet: %s\npins: %s\nsettle: 200ms\nevery: 1s\npause_rate: 1\nstate: %s\n", c.dir, pins, filepath.Join(dir, "state")),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.write("clos-healthy", pinned(nil))
	w := startWatch(t, live.Weft(t), config)
	w.await(t, `msg=look look=1 verdict=deadlock-free`)
	if strings.Contains(w.log.String(), "msg=alarm ") {
		t.Fatalf("an alarm before anything is wrong:\n%s", w.log.String())
	}
	over := func(kinds ...string) {
		t.Helper()
		c.write("clos-healthy", pinned(nil))
		for _, kind := range kinds {
			w.await(t, `msg="alarm over" kind=`+kind)
		}
	}

	c.write("clos-healthy", nil)
	w.await(t, `msg=alarm kind=pins-fell-back what="1 pin is of 1 not in force, .*: `+pin)
	over("pins-fell-back")

	c.write("clos-healthy", pinned(map[string]func(object){"lf2": func(table object) {
		table["10.1.4.0/24"] = viaHops("10.1.4.0/24", hopsOf(table, "10.1.4.0/24")[0])
	}}))
	w.await(t, `msg=alarm kind=narrow-group what="[^"]*lf2`)
	w.await(t, `msg=alarm kind=next-hops-gone what="[^"]*lf2 does not send to 10.1.4.0/24 by sp2 any more`)
	over("narrow-group", "next-hops-gone")

	c.write("clos-two-links-down", nil)
	w.await(t, `msg=alarm kind=credit-loop what="pauses can wait for each other in a circle of 4 links`)
	over("credit-loop")

	change := pinned(nil)
	change["lf4.route.json"] = func(text string) string { return text[:len(text)/2] }
	c.write("clos-healthy", change)
	w.await(t, `msg=alarm kind=unproven what="the verdict does not cover: \S*/lf4.route.json:\d+: .*no routes of lf4`)
	w.await(t, `msg=alarm kind=cut-off`)
	if strings.Contains(w.log.String(), "kind=unreadable") {
		t.Errorf("one broken file hides the others:\n%s", w.log.String())
	}
	over("unproven", "cut-off")

	change = pinned(nil)
	change["lf1.pfcwd.txt"] = func(string) string {
		return "QUEUE STATUS STORM-DETECTED/RESTORED TX-OK/DROP RX-OK/DROP\n----- ------ --- --- ---\nlf1-sp1:3 stormed 1/0 0/0 0/0\n"
	}
	c.write("clos-healthy", change)
	w.await(t, `msg=alarm kind=watchdog-drops what="the watchdog of lf1, lf1-sp1 sees a storm of priority 3, which goes on; the pauses come from sp1`)
}
