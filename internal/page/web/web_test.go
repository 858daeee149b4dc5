package web_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/page/web"
)

// The program that is kept is what its sources give.
func TestBundleIsThatOfItsSources(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is missing: make test installs it as root on Debian")
	}
	if _, err := os.Stat("node_modules/esbuild"); err != nil {
		t.Skip("the packages of web are missing: npm ci in internal/page/web installs them")
	}
	dir := t.TempDir()
	if out, err := exec.Command("node", "build.mjs", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, kept := range map[string]string{"report.js": web.Script, "licenses.txt": web.Licenses} {
		made, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, []byte(kept)) {
			t.Errorf("dist/%s is not what the sources give: make web", name)
		}
	}
}

// Nothing in the page leads outside.
func TestPageAsksNobody(t *testing.T) {
	for name, text := range map[string]string{"page.html": web.Page, "style.css": web.Style} {
		for _, word := range []string{"http://", "https://", "@import", "url(", " src=", "<link"} {
			if strings.Contains(text, word) {
				t.Errorf("%s contains %s", name, word)
			}
		}
	}
	for _, word := range []string{"fetch(", "XMLHttpRequest", "WebSocket(", "importScripts"} {
		if strings.Contains(web.Script, word) {
			t.Errorf("dist/report.js contains %s", word)
		}
	}
}
