package prove

import "github.com/weft-fabric/weft/result"

func (j *verifyJob) groupSummary() *result.Group {
	s := result.GroupOf(j.Tables)
	if s == nil {
		return nil
	}
	s.File, s.Choose = j.o.Groups, j.o.choose
	if !j.verdict.Free() && !j.checked {
		s.Escape = result.EscapeOf(j.Tables.Fabric, j.verdict.Escape)
	}
	return s
}
