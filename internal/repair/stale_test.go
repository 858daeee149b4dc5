package repair_test

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Of a host that goes with a cable the entries over it go, others stay; with the next failure all
// of them do.
func TestStaleEntries(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	was, contract := route(t, f, "weave-any")
	host := routing.HCA.Endpoints(f)[0]
	lid := f.Endpoint(host).LID
	over, beside := fabric.ChannelID(fabric.None), fabric.ChannelID(fabric.None) // a cable on the way to the host, and one that is not
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		switch uses := was.Forwarding.Port(ch.From, lid) == ch.FromPort; {
		case uses && ch.To != f.Endpoint(host).Switch:
			over = c
		case !uses && was.Forwarding.Port(ch.To, lid) != ch.ToPort:
			beside = c
		}
	}
	gone := []fabric.ChannelID{over}
	for i, want := range []int{f.Switches() - 1, 0} {
		live, err := f.Without(gone, []fabric.NodeID{f.Endpoint(host).Node})
		if err != nil {
			t.Fatal(err)
		}
		before, err := transition.On(live, was, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := repair.Mend(t.Context(), before, was, repair.Options{Contract: contract})
		if err != nil || len(plan.Steps) == 0 {
			t.Fatalf("%d steps, %v", len(plan.Steps), err)
		}
		for _, s := range plan.Steps {
			n := 0
			for _, port := range s.Tables.Forwarding.Row(lid) {
				if port != routing.NoPort {
					n++
				}
			}
			if n != want {
				t.Errorf("failure %d: %d entries for the host are left, want %d", i+1, n, want)
			}
			was = s.Tables
		}
		gone = append(gone, beside)
	}
}
