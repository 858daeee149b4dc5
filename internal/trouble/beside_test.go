package trouble_test

import (
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/result"
)

// What another found is joined: each cable once, with the signs of both, whichever end either calls the first; one that is
// not there is kept as it was said.
func TestListOfAnother(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:5,hosts=1")
	ch := f.Channel(0)
	now := time.Now()
	c := &counters.Counters{Received: map[fabric.ChannelID]counters.Received{ch.Reverse: {Errors: counters.Errors{counters.Symbol: 100}}}}
	limits := trouble.Default()
	beside := trouble.Find(trouble.Evidence{Fabric: f, Limits: limits, Counted: c, Time: time.Hour, Now: now})
	if len(beside.Cables) != 1 {
		t.Fatalf("%+v", beside.Cables)
	}
	var went []result.Event
	for i := range 3 {
		went = append(went, result.Event{At: now.Add(-time.Duration(i) * time.Minute), From: "serve", What: events.Gone, Part: trouble.Element(&beside.Cables[0])})
	}
	gone := result.CableInTrouble{Name: "x:1 – y:2", Level: trouble.Bad, Command: "weft drain --live x:1", Signs: []result.TroubleSign{{Kind: trouble.Missing, Level: trouble.Bad, Text: "it is not there"}}}
	beside.Cables = append(beside.Cables, gone)
	turned := &beside.Cables[0]
	turned.A, turned.B = turned.B, turned.A
	for i := range turned.Signs {
		turned.Signs[i].At = map[string]string{"a": "b", "b": "a"}[turned.Signs[i].At]
	}
	for range 2 { // once more, with what was found so: nothing comes twice
		l := trouble.Find(trouble.Evidence{Fabric: f, Limits: limits, Events: went, Now: now, Beside: beside})
		if len(l.Cables) != 2 || l.Cables[0].Name != gone.Name || !l.Cables[0].Gone || l.Cables[0].Command != "" {
			t.Fatalf("%+v", l.Cables)
		}
		k := l.Cables[1]
		if len(k.Signs) != 2 || k.Signs[0].Kind != trouble.Flaps || k.Signs[1].Kind != trouble.Symbol || k.Do != trouble.Replace || k.Command == "" || k.Name != events.CableName(f, ch) {
			t.Errorf("%+v", k)
		}
		if at := map[string]string{"a": k.A.GUID, "b": k.B.GUID}[k.Signs[1].At]; at != f.Node(ch.To).GUID.String() {
			t.Errorf("errors are counted at %s, by %+v", at, k)
		}
		beside = l
	}
}
