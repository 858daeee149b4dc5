package prove

import (
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/result"
)

// multicastSummary is what the judge found of multicast trees; nil: there are none.
func (j *verifyJob) multicastSummary() *result.Multicast {
	return outputs.Multicast(j.verdict.Multicast, j.o.Multicast)
}

// treesComplete reports whether packets of every group come to all of its members, and end.
func (j *verifyJob) treesComplete() bool {
	v := j.verdict.Multicast
	return v == nil || len(v.Circling)+len(v.Split)+len(v.OneSided) == 0
}
