package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/testnet"
)

// hostileNames is what any host can call itself, and what others write into files.
var hostileNames = []string{
	"\x1b[31mred\x1b]0;title\x07", "\u009b2J\u0085next", "\u202egpj.exe\u2066\u200f\u2028", "=cmd|'/C calc'!A0", "</script><script>alert(1)</script><!--", "a\"b'c\\d",
	"\xff\xfe\x80lat\xe9", strings.Repeat("A", 10000), "+1+cmd|x", "-oProxyCommand=x", "@SUM(1)", "nul\x00", "new\nline\r\nPartitionName=x\n", "${IFS}$(id)`id`;&|<>%s%n{{.}}", "a,b;c\td ]]>",
	"'=quoted", "# comment", "rank 0=host", "x slots=9", "\u200b\ufeff", " ", "--force",
}

// hostileNetworks writes networks whose nodes have such names: as ibnetdiscover prints them,
// without line ends, and as JSON.
func hostileNetworks(t *testing.T, dir string) (dump, graph string) {
	t.Helper()
	_, text, _ := runWeft("generate", "ring:6,hosts=3", "-o", "-")
	_, nodes, _ := runWeft("export", "ring:6,hosts=3", "--to", "json", "--engine", "updn")
	order := regexp.MustCompile(`"(sw|host)-\d+"`)
	names := map[string]string{}
	for _, name := range order.FindAllString(text, -1) {
		if _, ok := names[name]; !ok {
			names[name] = hostileNames[len(names)%len(hostileNames)]
		}
	}
	text = order.ReplaceAllStringFunc(text, func(name string) string {
		return `"` + strings.NewReplacer("\n", " ", "\r", " ", "\x00", " ").Replace(names[name]) + `"`
	})
	nodes = order.ReplaceAllStringFunc(nodes, func(name string) string {
		quoted, err := json.Marshal(names[name])
		if err != nil {
			t.Fatal(err)
		}
		return string(quoted)
	})
	dump, graph = filepath.Join(dir, "dump\x1b[31m\u202e=.ibnet"), filepath.Join(dir, "graph\u009b2J.json")
	if err := errors.Join(os.WriteFile(dump, []byte(text), 0o600), os.WriteFile(graph, []byte(nodes), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dump, graph
}

// raw is the first character of a text that a terminal obeys or nobody sees.
func raw(text []byte) string {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n < 2 || r != '\n' && r != '\t' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) {
			return fmt.Sprintf("%q in %q", text[i:i+n], text[max(0, i-60):min(len(text), i+60)])
		}
		i += n
	}
	return ""
}

// wellFormed says what is wrong with an output of a form.
func wellFormed(name string, text []byte) error {
	switch {
	case strings.HasSuffix(name, ".json"):
		return json.Unmarshal(text, new(any))
	case strings.HasSuffix(name, ".svg"), strings.HasSuffix(name, ".graphml"):
		d := xml.NewDecoder(bytes.NewReader(text))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	case strings.HasSuffix(name, ".csv"):
		rows, err := reading.NewCSV(bytes.NewReader(text), name).Reader.ReadAll() // cells as spreadsheets see them
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && !regexp.MustCompile(`^[-+]?[0-9.]+(e[-+]?\d+)?$`).MatchString(cell) {
					return fmt.Errorf("a spreadsheet calculates %q", cell)
				}
			}
		}
		return err
	case strings.HasSuffix(name, ".html"):
		if bytes.Contains(text, []byte("<script>alert")) || bytes.Contains(text, []byte("<!--")) {
			return errors.New("a name is a part of the page's program")
		}
	case strings.HasSuffix(name, ".conf"), strings.HasSuffix(name, ".yaml"):
		if regexp.MustCompile(`(?m)^\s*(- )?PartitionName`).Match(text) {
			return errors.New("a name is a setting of Slurm")
		}
	}
	return nil
}

// No name of others reaches a terminal, a log or a file raw, by any command and in any form.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	dump, graph := hostileNetworks(t, dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	rates := write("rates", strings.ReplaceAll(string(text), "4x", "4x\x1b[31m"))
	guids := write("guids", strings.ReplaceAll(string(text), "guid=0x", "guid=0x\x1b[31m\u202e"))
	evil := strings.Join(hostileNames, "\n")
	foreign := write("foreign\x1b[31m", strings.ReplaceAll(evil, "\x00", ""))
	pairs := write("pairs", "\"\x1b[31m\u202e\",b\n")
	settings := write("settings", "socket: \"/s\\e[31m\"\nengine: \"\\e[31m\\u202e\"\n")
	tables := in("tables\x1b[31m\u009b")
	for i, name := range []string{"\x1b[31m\u202e=lf1-sp1", "</script><script>alert(1)", "=cmd|'/C calc'!A0"} { // an interface; such a name is refused, or is text
		at := in(fmt.Sprintf("devices%d", i))
		if err := os.CopyFS(at, os.DirFS(filepath.Join("..", "..", "examples", "ethernet", "clos-two-links-down"))); err != nil {
			t.Fatal(err)
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"lf1.route.json", "lf1.interface.json"} {
			text, err := os.ReadFile(filepath.Join(at, file))
			if err != nil {
				t.Fatal(err)
			}
			write(filepath.Join(filepath.Base(at), file), strings.ReplaceAll(string(text), `"lf1-sp1"`, string(quoted)))
		}
	}
	runs := 0
	const trunk = "0x0002c90100000000:4"
	for _, network := range []string{dump, graph}[:testnet.Of(2, 1)] {
		updn := func(args ...string) []string { return append(args, "--engine", "updn") }
		commands := [][]string{
			{"info", network}, {"info", network, "--json"}, updn("route", network), updn("route", network, "--json"), {"route", network, "--engine", "minhop"}, {"route", network},
			updn("route", network, "--out", tables, "--force"), {"verify", network, "--tables", tables}, {"verify", network, "--tables", tables, "--json", "--write-certificate", in("proof")},
			{"verify", network, "--tables", filepath.Join(tables, "lfts.dump"), "--sl2vl", filepath.Join(tables, "sl2vl.dump"), "--psl", filepath.Join(tables, "paths.psl"), "--certificate", filepath.Join(tables, "certificate")},
			{"compare", network, "--engine", "updn,minhop"}, {"compare", network, "--engine", "updn,minhop", "--json"}, {"compare", network, "--engine", "updn,minhop", "--csv"},
			{"simulate", network, "--engine", "minhop", "--runs", "3"}, updn("simulate", network, "--pattern", "alltoall", "--json"),
			updn("place", network, "--pattern", "shifts", "--out", in("hosts")), {"simulate", network, "--engine", "updn", "--pattern", "shifts", "--ranks", in("hosts")},
			updn("packets", network, "--load", "0.1", "--time", "2us", "--warm-up", "1us", "--plot", in("plot.svg"), "--counters", in("counters")), {"packets", network, "--engine", "minhop", "--replay-cycle"},
			{"report", network, "--engine", "minhop", "-o", in("page.html")}, {"report", network, "--engine", "minhop", "--json", "-o", in("page2.html")},
			updn("explain", network), {"explain", network, "--engine", "ftree"}, {"lanes", network, "--engine", "minhop"}, {"convert", network, in("again.ibnet")}, {"convert", filepath.Join(tables, "lfts.dump"), in("lfts2.dump"), "--fabric", network},
			{"drain", network, "--tables", tables, "--cable", trunk, "--steps", in("steps"), "--force"}, {"what-if", network, "--tables", tables, "--cable", trunk}, {"what-if", network, "--tables", tables, "--cable", trunk, "--json"}, {"what-if", network, "--tables", tables, "--switch", "*cmd*"},
			{"degrade", network, "--cable", trunk, "-o", in("degraded.ibnet")}, {"diff", network, in("degraded.ibnet")}, {"diff", network, in("degraded.ibnet"), "--json"}, {"repair", in("degraded.ibnet"), "--tables", tables}, updn("deploy", "files", network, "--out", in("deployed"), "--force"),
			{"repair", network, "--tables", tables, "--json"}, updn("route", network, "--survive", "links"),
			{"route", network, "--engine", "weave", "--traffic", foreign}, {"route", network, "--engine", "weave", "--traffic", pairs}, updn("simulate", network, "--ranks", foreign), {"route", network, "--engine", "weave", "--weight", "\x1b[31m=3"},
			{"verify", network, "--tables", foreign}, {"verify", network, "--tables", tables, "--psl", foreign}, {"verify", network, "--tables", tables, "--sl2vl", foreign}, {"compare", network, "--measured", foreign}, {"report", network, "--engine", "updn", "--job", "\x1b[31mj\u202e=host-3", "--title", "\x1b[31m\u202e</title>", "-o", in("page3.html")},
			{"route", network, "--engine", "\x1b[31m"}, {"info", "\x1b[31mno\u202esuch"}, {"info", "torus:\x1b[31m"},
		}
		for _, form := range []string{"dot", "graphml", "json", "anynet", "csv", "slurm", "slurm-yaml", "prometheus"} {
			name := map[string]string{"slurm": "topology.conf", "slurm-yaml": "topology.yaml", "prometheus": "loads.prom", "anynet": "network.anynet"}[form]
			if name == "" {
				name = "graph." + form
			}
			commands = append(commands, updn("export", network, "--to", form, "-o", in(name)), updn("export", network, "--to", form))
		}
		for _, form := range []string{"graph.json", "graph.graphml", "graph.dot", "again.ibnet"} { // read back
			commands = append(commands, []string{"info", in(form)})
		}
		for _, args := range append(commands, [][]string{
			{"verify", in("devices0")}, {"verify", in("devices1")}, {"verify", in("devices2")}, {"verify", in("devices1"), "--json"}, {"priorities", in("devices1"), "--lossless", "2", "--bounces", "1", "--out", in("rules1"), "--force"},
			{"priorities", in("devices2"), "--lossless", "2", "--bounces", "1", "--out", in("rules2"), "--force"}, {"packets", in("devices1"), "--replay-cycle"},
			{"info", rates}, {"info", guids}, {"info", foreign}, {"sweep", foreign, "-o", in("results")}, {"serve", "--config", settings, "--check-config"}, {"serve", "--config", foreign, "--check-config"}, {"watch", "--config", settings, "--check-config"},
			{"deploy", "check", "--conf", foreign}, {"verify", foreign, "--routes", "ecmp"}, {"sweep", "csv", foreign},
		}...) {
			runs++
			code, stdout, stderr := runWeft(args...)
			if args[1] == in("graph.dot") && code == 3 {
				t.Errorf("what was written cannot be read: %s", stderr)
			}
			if strings.Contains(stderr, "unknown flag") || strings.Contains(stderr, "unknown command") || strings.Contains(stderr, "arg(s)") || code == 4 {
				t.Errorf("%q: exit code %d: %s", args, code, stderr)
			}
			for stream, text := range map[string]string{"standard output": stdout, "standard error": stderr} {
				if found := raw([]byte(text)); found != "" {
					t.Errorf("%q: raw on %s: %s", args, stream, found)
				}
			}
		}
	}
	files := 0
	given := map[string]bool{dump: true, graph: true, rates: true, guids: true, foreign: true, pairs: true, settings: true}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || given[name] || strings.HasPrefix(filepath.Base(filepath.Dir(name)), "devices") {
			return err
		}
		files++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if found := raw(text); found != "" {
			t.Errorf("raw in %q: %s", name, found)
		}
		if err := wellFormed(name, text); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d runs, %d files", runs, files)
	if files < 20 {
		t.Errorf("only %d files were written", files)
	}
}
