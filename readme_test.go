package weft

import (
	"os"
	"strings"
	"testing"
)

// What the page of the library shows programmers is the example that runs here.
func TestLibraryPageShowsTheExample(t *testing.T) {
	var texts [2]string
	for i, name := range []string{"docs/library.md", "example_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	_, code, _ := strings.Cut(texts[1], "func Example() {\n")
	code, _, found := strings.Cut(code, "\t// Output:")
	code = strings.TrimPrefix(strings.ReplaceAll(code, "\n\t", "\n"), "\t")
	if !found || !strings.Contains(texts[0], "```go\n"+code+"```\n") {
		t.Errorf("docs/library.md does not have\n%s", code)
	}
}
