package watch

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/result"
)

// Where OpenSM has no tables since the daemon is dead or refuses, no alarm sends people to OpenSM first.
func TestAdviceWithoutDaemon(t *testing.T) {
	t.Parallel()
	for lack, want := range map[string]string{"": "SIGHUP to opensm", "ERR W001: no tables for sweep 3": "start the daemon"} {
		l := &result.WatchLook{Lack: lack}
		l.Verdict, l.CutOff, l.Circles, l.Multicast = result.CreditLoop, 12, 2, &result.LookTrees{Groups: 3, Split: []string{"0xc001"}}
		found := 0
		for _, a := range alarms(l, nil, &Snapshot{Stale: []string{"a switch has no table"}, Maps: true}, 0) {
			if a.Kind == SweepFailed {
				continue
			}
			found++
			if !strings.HasPrefix(a.Do, want) {
				t.Errorf("%q: %s: %s", lack, a.Kind, a.Do)
			}
		}
		if found != 5 {
			t.Errorf("%q: %d alarms", lack, found)
		}
	}
}
