package lined

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/format"
)

// yamlLine finds the line in an error of the YAML library.
var yamlLine = regexp.MustCompile(`line (\d+): `)

// YAML is an error of the YAML library at the line it is about, the first if it says none. hint
// is what to write instead; it may be empty.
func YAML(file string, err error, hint string) error {
	line := 1
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		line, _ = strconv.Atoi(text[m[2]:m[3]])
		text = text[m[1]:]
	}
	text, _, _ = strings.Cut(text, "\n")
	if hint != "" {
		text += "; " + hint
	}
	return format.Errorf(file, line, "not as expected: %s", text)
}
