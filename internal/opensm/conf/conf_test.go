package conf

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// The options are sorted, and are those that this machine's OpenSM writes.
func TestOptionsAreOpenSMs(t *testing.T) {
	if !slices.IsSorted(options) {
		t.Error("the list is not sorted")
	}
	opensm, err := exec.LookPath("opensm")
	if err != nil {
		t.Skip("opensm is not installed")
	}
	file := filepath.Join(t.TempDir(), "opensm.conf")
	out, err := exec.CommandContext(t.Context(), opensm, "-c", file).CombinedOutput()
	text, readErr := os.ReadFile(file)
	if readErr != nil {
		t.Skipf("opensm -c: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "OpenSM 3.3.23") {
		t.Skip("another version of OpenSM is installed")
	}
	missing := map[string]bool{}
	for _, key := range options {
		missing[key] = true
	}
	for _, o := range read(t, string(text)).Options {
		if !Known(o.Key) {
			t.Errorf("%s is not in the list", o.Key)
		}
		delete(missing, o.Key)
	}
	if delete(missing, "dimn_ports_file"); len(missing) > 0 {
		t.Errorf("OpenSM does not write %v", missing)
	}
}

// What is no opensm.conf is refused, with its first strange line; a file that is
// empty, or of some options only, is not.
func TestNoConfiguration(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a fabric":     {"# Topology\nvendid=0x2c9\ndevid=0x5a06\n", `f:2: "vendid=0x2c9" is no option`},
		"YAML":         {"socket: /run/weft/opensm.sock\nengine: auto\n", `f:1: "socket:"`},
		"one by luck":  {strings.Repeat("the quick fox\n", 20) + "guid 5\n", "of 21 lines 1 are"},
		"empty":        {"", ""},
		"comments":     {"# nothing\n\n", ""},
		"one of ours":  {"routing_engine updn\n", ""},
		"a newer SM's": {"qos TRUE\nar_mode 1\nar_sl_mask 0xFFFF\n", ""},
	} {
		_, err := Read(strings.NewReader(c.text), "f")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for word, want := range map[string]string{"routing_engin": "routing_engine", "QOS": "qos", "root_guids_file": "root_guid_file", "max_op_vl": "max_op_vls"} {
		if got := Nearest(word); got != want || Known(word) || !Known(got) {
			t.Errorf("nearest to %s is %s", word, got)
		}
	}
}

func TestLongLines(t *testing.T) {
	c := read(t, "lmc 1\nevent_plugin_options "+strings.Repeat("x", 1200)+"\nqos TRUE\n")
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
