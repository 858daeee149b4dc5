package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// maxLost is how many lost pairs a verdict lists.
const maxLost = 20

// verify judges tables, has the twin judge them, and says where the two differ.
func verify(t *routing.Tables, contract routing.Contract, scope routing.Scope) (*deadlock.Verdict, *findings, error) {
	v, err := deadlock.Verify(context.Background(), t, deadlock.Options{Contract: contract, Scope: scope})
	if err != nil {
		return nil, nil, err
	}
	r := judge(t, contract, scope)
	if err := compare(v, r, maxLost); err != nil {
		return v, r, fmt.Errorf("contract %s, scope %s: %w", contract, scope, err)
	}
	if v.Free() {
		err = checkCertificate(t, v, r)
	} else {
		err = checkCycle(t, v, r)
	}
	return v, r, err
}

// compare compares counts, and the lost pairs as far as the judge lists them.
func compare(v *deadlock.Verdict, r *findings, listed int) error {
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"pairs", v.Pairs, r.pairs},
		{"unreachable", v.Unreachable, r.unreachable},
		{"stray", v.Stray, r.stray},
		{"loops", v.Loops, r.loops},
		{"drops", v.Dropped > 0, r.drops},
		{"dependencies", v.Dependencies, len(r.edges)},
		{"lanes", v.VLs, r.vls()},
		{"lane mask", v.LaneMask, r.laneMask},
		{"service levels", v.SLs, max(1, bits.OnesCount16(r.sls))},
		{"free", v.Free(), r.free()},
		{"certificate or cycle", v.Free(), v.Cycle == nil},
		{"complete", v.Complete(), r.unreachable == 0 && r.loops == 0 && !r.drops},
	} {
		if c.got != c.want {
			return fmt.Errorf("%s: the judge says %v, the twin %v", c.what, c.got, c.want)
		}
	}
	if lost := r.lost[:min(len(r.lost), listed)]; !slices.Equal(v.Lost, lost) {
		return fmt.Errorf("lost: the judge lists %v, the twin %v", v.Lost, lost)
	}
	return nil
}

// checkCertificate has a certificate checked by both sides, and tampered with.
func checkCertificate(t *routing.Tables, v *deadlock.Verdict, r *findings) error {
	if !r.proven(t.Fabric, v.Certificate) {
		return errors.New("the twin does not accept the certificate")
	}
	again, err := deadlock.CheckCertificate(context.Background(), t, v.Certificate, nil)
	if err != nil {
		return fmt.Errorf("the certificate is refused: %w", err)
	}
	if err := compare(again, r, len(r.lost)); err != nil { // which lists them all
		return fmt.Errorf("checking the certificate: %w", err)
	}
	for e := range r.edges {
		forged := *v.Certificate
		forged.Rank = slices.Clone(forged.Rank)
		at := func(l lane) *int32 { return &forged.Rank[int(l.trunk)*forged.Lanes+int(l.vl)] }
		*at(e.from), *at(e.to) = *at(e.to), *at(e.from)
		var wrong *deadlock.Violation
		if _, err := deadlock.CheckCertificate(context.Background(), t, &forged, nil); !errors.As(err, &wrong) {
			return fmt.Errorf("a certificate with the ranks of %v exchanged passes: %v", e, err)
		}
		*at(e.from), *at(e.to) = *at(e.to), deadlock.Unused
		if _, err := deadlock.CheckCertificate(context.Background(), t, &forged, nil); !errors.As(err, &wrong) {
			return fmt.Errorf("a certificate without a rank for %v passes: %v", e.to, err)
		}
		break // one will do
	}
	return nil
}

// checkCycle walks the route of every step of a credit loop.
func checkCycle(t *routing.Tables, v *deadlock.Verdict, r *findings) error {
	n := newNetwork(t.Fabric)
	if want := r.shortestCycle(); len(v.Cycle) != want {
		return fmt.Errorf("the cycle has %d steps, a shortest has %d", len(v.Cycle), want)
	}
	seen := map[lane]bool{}
	for i, step := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)]
		hold, want := lane{step.Trunk, int32(step.VL)}, lane{next.Trunk, int32(next.VL)}
		if seen[hold] {
			return fmt.Errorf("step %d: %v is on the cycle twice", i, hold)
		}
		seen[hold] = true
		if t.Fabric.Channels()[step.Trunk].To != t.Fabric.Channels()[next.Trunk].From {
			return fmt.Errorf("step %d: trunks %d and %d do not meet", i, step.Trunk, next.Trunk)
		}
		src := t.Fabric.Endpoints()[step.Src]
		owner := t.Fabric.Owner(step.Dst)
		if !inScope(v.Scope, src) || !inScope(v.Scope, t.Fabric.Endpoints()[owner]) || owner == step.Src {
			return fmt.Errorf("step %d: endpoint %d does not send to LID %d", i, step.Src, step.Dst)
		}
		if !slices.Contains(allowed(t, v.Contract, step.Src, step.Dst), step.SL) {
			return fmt.Errorf("step %d: endpoint %d does not send to LID %d on SL %d", i, step.Src, step.Dst, step.SL)
		}
		if answer := v.Contract == routing.Honored && t.Lanes.SL(step.Src, step.Dst) != step.SL; step.Answer != answer {
			return fmt.Errorf("step %d: an answer: %v, want %v", i, step.Answer, answer)
		}
		way, _ := n.walk(t.Forwarding, entry(t.Fabric, src), step.Dst, func(s fabric.NodeID, in, out uint8) uint8 {
			return t.Lanes.SL2VL.VL(s, in, out, step.SL)
		})
		if !follows(way, hold, want) {
			return fmt.Errorf("step %d: %v does not go from %v to %v", i, step, hold, want)
		}
	}
	return nil
}

// follows reports whether a way goes from one lane straight to another.
func follows(way []lane, hold, want lane) bool {
	for i := 1; i < len(way); i++ {
		if way[i-1] == hold && way[i] == want {
			return true
		}
	}
	return false
}
