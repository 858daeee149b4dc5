package weft

import (
	"errors"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
)

// With a tree the verdict is about unicast and multicast, on the first set of service levels
// for which there is one. Where there is none the loop of the shortest tree says why.
func TestWithMulticast(t *testing.T) {
	f := testnet.Build(t, "ring:7,hosts=2")
	for _, c := range []struct {
		engine string
		want   uint16 // service levels; 0: none has a tree
	}{{"weave-any", AnySL}, {"lash", 1}} {
		s := route(t, f, Request{Engine: c.engine})
		with, err := s.WithMulticast(t.Context(), AnySL, 1)
		if err != nil {
			t.Fatal(err)
		}
		if m := with.Tables.Multicast; m.SLs != c.want || with.Verdict.Multicast == nil || !with.Verdict.Free() || with.Verdict.Outside()[0] == s.Verdict.Outside()[0] {
			t.Errorf("%s: service levels %#x, want %#x; verdict %+v", c.engine, m.SLs, c.want, with.Verdict)
		}
		if s.Tables.Multicast != nil || s.Verdict.Multicast != nil {
			t.Errorf("%s: the result without a tree was changed", c.engine)
		}
	}
	no := (*NoTree)(nil)
	_, err := route(t, f, Request{Engine: "lash"}).WithMulticast(t.Context(), AnySL)
	if !errors.As(err, &no) || no.Tried == 0 || no.Loop == nil || len(no.Loop.Cycle) != 7 {
		t.Errorf("lash on all service levels: %v", err)
	}
}
