package prove

import (
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/result"
)

// groupSummary is what switches with adaptive routing choose from, and whether waiting packets can
// escape; nil: there are no groups.
func (j *verifyJob) groupSummary() *result.Group {
	s := outputs.Group(j.Tables)
	if s == nil {
		return nil
	}
	s.File, s.Choose = j.o.Groups, j.o.choose
	if !j.verdict.Free() && !j.checked {
		s.Escape = outputs.Escape(j.Tables.Fabric, j.verdict.Escape)
	}
	return s
}
