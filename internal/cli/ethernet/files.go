package ethernet

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/internal/reading"
)

// named matches the names of files of some kinds, as package folder has them: in a folder of the device's name, or with the
// device's name and a point before it, packed or not. Its groups are the device and the kind.
func named(kinds ...string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:(.+)\.)?(` + strings.Join(kinds, "|") + `)\.(?:json|conf|txt|xml)` + reading.EndingsPattern)
}

// eachFile calls use for each file of a folder, or of the folders of devices in it, whose name matches a pattern of named.
func eachFile(ctx context.Context, dir string, name *regexp.Regexp, use func(r io.Reader, path, device, kind string) error) error {
	open := func(path, device, kind string) error {
		r, err := reading.OpenFound(ctx, path)
		if err != nil {
			return err
		}
		defer r.Close()
		return use(r, path, device, kind)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !folder.IsFolder(path) {
			if m := name.FindStringSubmatch(e.Name()); m != nil && m[1] != "" {
				if err := open(path, m[1], m[2]); err != nil {
					return err
				}
			}
			continue
		}
		if strings.HasPrefix(e.Name(), ".") {
			continue // what weft collect or an editor has not finished
		}
		inside, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		for _, f := range inside {
			if m := name.FindStringSubmatch(f.Name()); m != nil && (m[1] == "" || m[1] == e.Name()) {
				if err := open(filepath.Join(path, f.Name()), e.Name(), m[2]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
