// Package version says which weft this is.
package version

import (
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/weft-fabric/weft/result"
)

// What the Makefile knows of the tree (build/scripts/version.sh); empty after a plain go
// build or go install.
var madeVersion, madeRevision string

// archived is the commit, its time and its description, where the source came as
// an archive made by git.
//
//go:embed archived.txt
var archived string

// Text is a version for people.
func Text(v result.Version) string {
	return fmt.Sprintf("%s (%s, %s)", v.Version, v.Revision, v.Go)
}

// Current is the version of this program.
func Current() result.Version {
	info, _ := debug.ReadBuildInfo()
	v := from(madeVersion, madeRevision, info, archived)
	v.Go = runtime.Version()
	return v
}

// from takes the version and the revision each from the first that knows it:
// the Makefile; the Go tool, which notes the commit unless it is told not to
// (-buildvcs=false) or finds no repository; the archive.
func from(version, revision string, info *debug.BuildInfo, archived string) result.Version {
	v := result.Version{Version: version, Revision: revision}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	if v.Version == "" && info.Main.Version != "(devel)" {
		v.Version = strings.TrimPrefix(info.Main.Version, "v")
	}
	if v.Revision == "" {
		v.Revision = noted(info)
	}
	if words := strings.Fields(archived); len(words) >= 2 && !strings.HasPrefix(archived, "$") {
		if v.Revision == "" {
			v.Revision = words[0]
		}
		if v.Version == "" && len(words) == 3 {
			v.Version = strings.TrimPrefix(words[2], "v")
		}
	}
	if v.Version == "" {
		v.Version = "devel"
	}
	if v.Revision == "" {
		v.Revision = "unknown revision"
	}
	return v
}

// noted is the commit that the Go tool noted; empty if it noted none.
func noted(info *debug.BuildInfo) string {
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}
