package version

import (
	"runtime/debug"
	"testing"

	"github.com/weft-fabric/weft/result"
)

func TestFrom(t *testing.T) {
	stamped := &debug.BuildInfo{
		Main:     debug.Module{Version: "v1.2.0"},
		Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: "cafe"}},
	}
	plain := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
	const raw, archive = "$Format:%H %ct %(describe)$\n", "beef 1700000000 v1.1.0-3-gbeef\n"
	for _, c := range []struct {
		name, version, revision string
		info                    *debug.BuildInfo
		archived                string
		want                    result.Version
	}{
		{"by make", "1.2.0+2026.gabba", "abba", stamped, archive, result.Version{Version: "1.2.0+2026.gabba", Revision: "abba"}},
		{"by go install", "", "", stamped, archive, result.Version{Version: "1.2.0", Revision: "cafe, modified"}},
		{"with -buildvcs=false", "", "", plain, raw, result.Version{Version: "devel", Revision: "unknown revision"}},
		{"from an archive", "", "", plain, archive, result.Version{Version: "1.1.0-3-gbeef", Revision: "beef"}},
		{"from an archive without tags", "", "", plain, "beef 1700000000 \n", result.Version{Version: "devel", Revision: "beef"}},
		{"without anything", "", "", nil, "", result.Version{Version: "devel", Revision: "unknown revision"}},
	} {
		if got := from(c.version, c.revision, c.info, c.archived); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
