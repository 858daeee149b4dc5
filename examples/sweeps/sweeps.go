// Package sweeps holds campaigns to begin with, and the experiments of the papers, each named
// after a figure, as weft reproduce takes them.
package sweeps

import "embed"

//go:embed *.yaml
var files embed.FS

// Text is the SPEC of a name, such as hoti2009-4a; nothing where there is none.
func Text(name string) []byte {
	text, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil
	}
	return text
}
