package files

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-fabric/weft/format/internal/topo"
	"github.com/weft-fabric/weft/internal/reading"
)

// installed is where ibutils and ibutils2 have their system definitions.
var installed = [...]string{"/usr/share/ibdm*/ibnl", "/usr/lib/ibdm*/ibnl", "/usr/lib64/ibdm*/ibnl", "/usr/lib/*/ibdm*/ibnl", "/usr/local/lib/ibdm*/ibnl"}

// systemsFor finds the system definitions for a .topo file: those in its folder, in the folder
// ibnl within, in the folders of the environment variable IBDM_IBNL_PATH, with commas or colons
// between them, and those that are installed. The first counts.
func systemsFor(name string) topo.Find {
	var known map[string]string // files by type
	return func(kind string) (io.ReadCloser, string, error) {
		if known == nil {
			known = map[string]string{}
			for _, dir := range systemFolders(name) {
				found, _ := filepath.Glob(filepath.Join(plainGlob(dir), "*.ibnl")) // in order
				for _, file := range found {
					for _, kind := range systemsIn(file) {
						if known[kind] == "" {
							known[kind] = file
						}
					}
				}
			}
		}
		file := known[kind]
		if file == "" {
			return nil, "", nil
		}
		f, err := reading.OpenPlain(file)
		return f, file, err
	}
}

// systemFolders is the folders that systemsFor looks into, in order.
func systemFolders(name string) []string {
	var dirs []string
	if name != "-" {
		dirs = append(dirs, filepath.Dir(name), filepath.Join(filepath.Dir(name), "ibnl"))
	}
	dirs = append(dirs, strings.FieldsFunc(os.Getenv("IBDM_IBNL_PATH"), func(r rune) bool { return r == ',' || r == ':' })...)
	for _, pattern := range installed {
		found, _ := filepath.Glob(pattern)
		dirs = append(dirs, found...)
	}
	return dirs
}

// plainGlob is a pattern that fits a folder and nothing else.
func plainGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// systemsIn is the types of systems that a file defines: the names in its TOPSYSTEM line, and its
// own.
func systemsIn(file string) []string {
	f, err := reading.OpenPlain(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := reading.NewLines(f, file)
	for lines.Next() {
		text := strings.TrimSpace(string(lines.Text()))
		if rest, ok := strings.CutPrefix(text, "TOPSYSTEM"); ok {
			names := strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
			return append(names, strings.TrimSuffix(filepath.Base(file), ".ibnl"))
		}
	}
	return nil
}
