package policy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var cInclude = regexp.MustCompile(`(?m)^#include "(?:\.\./)?(\w+)\.h"`)

// TestPluginFilesAreInLayers sees that no C files of the plugin call each other in a circle: a file
// calls what is declared in the headers that it includes, and each header is of the file of its name.
func TestPluginFilesAreInLayers(t *testing.T) {
	files, err := filepath.Glob("../../plugin/*.[ch]")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	uses := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		for _, m := range cInclude.FindAllStringSubmatch(string(text), -1) {
			if m[1] != name {
				uses[name] = append(uses[name], m[1])
			}
		}
	}
	done := map[string]bool{}
	var visit func(name string, above []string)
	visit = func(name string, above []string) {
		if at := slices.Index(above, name); at >= 0 {
			t.Errorf("a circle of C files: %s", strings.Join(append(above[at:], name), " → "))
			return
		}
		if done[name] {
			return
		}
		for _, next := range uses[name] {
			visit(next, append(above, name))
		}
		done[name] = true
	}
	for name := range uses {
		visit(name, nil)
	}
}
