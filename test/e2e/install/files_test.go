package install

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// make uninstall takes away what make install put, all of it and nothing else.
func TestInstallAndUninstall(t *testing.T) {
	t.Parallel()
	dest := t.TempDir()
	for _, dir := range []string{
		"etc/systemd/system", "usr/local/bin", "usr/local/include", "usr/local/lib", "usr/local/share/man/man1", "usr/local/share/doc",
		"usr/local/share/bash-completion/completions", "usr/local/share/zsh/site-functions", "usr/local/share/fish/vendor_completions.d",
	} { // what every system has
		write(t, filepath.Join(dest, dir, "other"), dir)
	}
	write(t, filepath.Join(dest, "usr/local/share/man/man1/weft-of-others.1"), "not ours")
	before := files(t, dest)

	build(t, "install", "DESTDIR="+dest)
	installed := files(t, dest)
	for name := range before {
		delete(installed, name)
	}
	checkFiles(t, installed, "/usr/local")
	for name := range installed {
		if strings.Contains(name, ".so") {
			checkHardened(t, dest+name)
		}
	}
	for name, text := range installed {
		if strings.Contains(text, dest) && !strings.Contains(name, ".so") {
			t.Errorf("%s names the folder in which it was built", name)
		}
	}
	build(t, "uninstall", "DESTDIR="+dest)
	if diff := cmp.Diff(before, files(t, dest)); diff != "" {
		t.Errorf("after make uninstall:\n%s", diff)
	}

	// What somebody changed or added is theirs, and there again after the next.
	config, note := "/etc/weft/weft.yaml", "/usr/local/share/doc/weft/mine.txt"
	write(t, dest+config, "engine: updn\n")
	build(t, "install", "DESTDIR="+dest)
	write(t, dest+note, "mine")
	build(t, "uninstall", "DESTDIR="+dest)
	before[config], before[note] = "engine: updn\n", "mine"
	for _, name := range []string{config, note} {
		before[path.Dir(name)+"/"] = ""
	}
	if diff := cmp.Diff(before, files(t, dest)); diff != "" {
		t.Errorf("after make uninstall:\n%s", diff)
	}
}

// Where make install is about this system and not about a folder, the linker knows
// of the plugin afterwards, and after make uninstall no more.
func TestLinkerIsTold(t *testing.T) {
	t.Parallel()
	if !hasHeaders() {
		t.Skip("no headers of OpenSM to build the plugin with")
	}
	build(t, "plugin")
	script, err := os.ReadFile(filepath.Join(root, "build/scripts/told.sh"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(out, "told.sh"), string(script))
	got := newMachine(t).run(t, `known() { ldconfig -p | grep -c libweft.so || true; }
install -m 644 /mnt/libweft.so /usr/local/lib/
known
DESTDIR=/elsewhere bash /mnt/told.sh; known
DESTDIR= bash /mnt/told.sh; known
rm /usr/local/lib/libweft.so
DESTDIR= bash /mnt/told.sh; known`)
	if got != "0\n0\n1\n0" {
		t.Errorf("the linker knows %q", got)
	}
}

// checkFiles checks what is installed: programs, manual, completions, documents.
func checkFiles(t *testing.T, installed map[string]string, prefix string) {
	t.Helper()
	has := func(name, what string) {
		t.Helper()
		if text, ok := installed[name]; !ok || !strings.Contains(text, what) {
			t.Errorf("%s is not installed, or is not what it is for", name)
		}
	}
	has(prefix+"/bin/weft", "\x7fELF")
	if hasHeaders() {
		has(prefix+"/lib/libweft.so", "OpenSM")
	}
	if _, err := exec.LookPath("cc"); err == nil {
		has(prefix+"/lib/libweft-c.so.1", "weft_judge")
		has(prefix+"/lib/libweft-c.so", "weft_judge")
		has(prefix+"/include/weft.h", "weft_judge")
	}
	has("/etc/systemd/system/weft.service", "\nExecStart="+prefix+"/bin/weft serve --config /etc/weft/weft.yaml\n")
	has("/etc/weft/weft.yaml", "socket:")
	has("/etc/systemd/system/weft-watch.service", "\nExecStart="+prefix+"/bin/weft watch --config /etc/weft/watch.yaml\n")
	has("/etc/weft/watch.yaml", "folder:")
	has(prefix+"/share/bash-completion/completions/weft", "complete ")
	has(prefix+"/share/zsh/site-functions/_weft", "#compdef weft")
	has(prefix+"/share/fish/vendor_completions.d/weft.fish", "complete -c weft")

	list := installed[prefix+"/share/doc/weft/docs/commands.md"]
	commands := regexp.MustCompile("`weft ([a-z]+(?:-[a-z]+)*)").FindAllStringSubmatch(list, -1)
	if len(commands) < 10 {
		t.Errorf("docs/commands.md names %d commands", len(commands))
	}
	for _, c := range commands {
		if c[1] == "help" { // cobra's own
			continue
		}
		has(prefix+"/share/man/man1/weft-"+c[1]+".1", `\fBweft `+c[1])
	}
	has(prefix+"/share/man/man1/weft.1", "OpenSM")
	has(prefix+"/share/man/man1/weft-deploy-check.1", "weft deploy check")
	if _, ok := installed[prefix+"/share/man/man1/weft-man.1"]; ok {
		t.Error("a command that is not shown has a page")
	}

	doc := prefix + "/share/doc/weft/"
	has(doc+"copyright", "BSD-2-Clause")
	has(doc+"LICENSE", "Apache License")
	for _, module := range []string{"=== github.com/spf13/cobra v", "=== Go go1.", "=== go.yaml.in/yaml/v3 v"} {
		has(doc+"LICENSES-of-modules", module)
	}
	unit := installed["/etc/systemd/system/weft.service"]
	for _, page := range regexp.MustCompile(`file://(\S+)`).FindAllStringSubmatch(unit, -1) {
		has(page[1], "OpenSM")
	}
	checkLinks(t, installed, doc)
}

func hasHeaders() bool {
	_, err := os.Stat("/usr/include/infiniband/opensm/osm_event_plugin.h")
	return err == nil
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	quoted  = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)*\\.(?:md|sh|ibnetdiscover|csv))`")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	named   = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	symbols = regexp.MustCompile(`[^\w\- ]`)
)

// checkLinks follows the links of every document, and looks for files of the
// repository that a document names.
func checkLinks(t *testing.T, installed map[string]string, doc string) {
	t.Helper()
	links := 0
	for _, name := range slices.Sorted(maps.Keys(installed)) {
		if !strings.HasPrefix(name, doc) || !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, l := range link.FindAllStringSubmatch(installed[name], -1) {
			target, anchor, _ := strings.Cut(l[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			text, isFile := installed[to]
			_, isDir := installed[to+"/"]
			if !isFile && !isDir {
				t.Errorf("%s links to %s, which is not installed", name, l[1])
			}
			if anchor != "" && !slices.Contains(anchors(text), anchor) {
				t.Errorf("%s links to %s, where there is no such heading", name, l[1])
			}
		}
		for _, q := range quoted.FindAllStringSubmatch(installed[name], -1) {
			inRepository, err := os.Stat(filepath.Join(root, q[1]))
			if _, ok := installed[doc+q[1]]; !ok && err == nil && inRepository.Mode().IsRegular() {
				t.Errorf("%s names %s, which is not installed", name, q[1])
			}
		}
	}
	if links < 10 {
		t.Errorf("%d links in the documents", links)
	}
}

// anchors is the headings of a document as links name them, and what has a name.
func anchors(text string) []string {
	var all []string
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.ReplaceAll(symbols.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	for _, id := range named.FindAllStringSubmatch(text, -1) {
		all = append(all, id[1])
	}
	return all
}
