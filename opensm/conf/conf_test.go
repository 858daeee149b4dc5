package conf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, text string) *Conf {
	t.Helper()
	c, err := Read(strings.NewReader(text), "opensm.conf")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRead(t *testing.T) {
	c := read(t, "# qos TRUE\n\n  routing_engine\tftree,  updn\tno_fallback \r\nqos true\nqos TRUE\nlog_file \"/var/log/o sm.log\"\nname 'x'\n"+
		"lfts_file (null)\nmax_op_vls 0x4\nalone\nlmc two\n")
	engines, no := c.Engines()
	if d := cmp.Diff([]string{"ftree", "updn"}, engines); d != "" || !no {
		t.Errorf("%v %s", no, d)
	}
	if !c.Bool("qos", false) || c.Line("qos") != 5 || !c.Bool("nothing", true) {
		t.Errorf("qos is on line %d", c.Line("qos"))
	}
	if v, ok := c.Get("log_file"); v != "/var/log/o sm.log" || !ok {
		t.Errorf("%q", v)
	}
	if v, ok := c.Get("name"); v != "x" || !ok {
		t.Errorf("%q", v)
	}
	for _, key := range []string{"lfts_file", "alone", "nothing"} {
		if v, ok := c.Get(key); ok {
			t.Errorf("%s is %q", key, v)
		}
	}
	if n, ok := c.Int("max_op_vls"); n != 4 || !ok {
		t.Errorf("%d", n)
	}
	if _, ok := c.Int("lmc"); ok {
		t.Error("two is a number")
	}
}

// OpenSM takes TRUE and nothing else.
func TestBool(t *testing.T) {
	for value, want := range map[string]bool{"TRUE": true, "true": false, "1": false, "yes": false, "FALSE": false} {
		if got := read(t, "qos "+value+"\n").Bool("qos", false); got != want {
			t.Errorf("%s is %v", value, got)
		}
	}
}

func TestLongLines(t *testing.T) {
	c := read(t, "a 1\nevent_plugin_options "+strings.Repeat("x", 1200)+"\nqos TRUE\n")
	if d := cmp.Diff([]int{2}, c.Cut); d != "" {
		t.Error(d)
	}
	if v, _ := c.Get("event_plugin_options"); len(v) != 1022-len("event_plugin_options ") || !c.Bool("qos", false) {
		t.Errorf("%d bytes", len(v))
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("routing_engine weft,no_fallback\nqos TRUE\nx '"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Read(strings.NewReader(string(text)), "f")
		if err != nil {
			return
		}
		c.Engines()
		for _, o := range c.Options {
			if o.Key == "" || strings.ContainsAny(o.Key, " \t\n") || c.Line(o.Key) < o.Line {
				t.Fatalf("%+v", o)
			}
		}
	})
}
