package cli

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
)

// multicastSummary is what was found of the trees of multicast groups.
type multicastSummary struct {
	File     string   `json:"file"`
	Groups   int      `json:"groups"`
	SLs      []int    `json:"sls"`
	Circling []string `json:"circling,omitempty"`  // MLIDs
	Split    []string `json:"split,omitempty"`     // likewise
	OneSided []string `json:"one_sided,omitempty"` // likewise
}

func (j *verifyJob) multicastSummary() *multicastSummary {
	v := j.verdict.Multicast
	if v == nil {
		return nil
	}
	return &multicastSummary{File: j.o.Multicast, Groups: v.Groups, SLs: input.LevelsOf(v.SLs), Circling: list.Of(v.Circling, mlid), Split: list.Of(v.Split, mlid), OneSided: list.Of(v.OneSided, mlid)}
}

func mlid(lid fabric.LID) string { return fmt.Sprintf("%#x", uint16(lid)) }

// treesComplete says whether packets of every group come to all of its members, and end.
func (j *verifyJob) treesComplete() bool {
	v := j.verdict.Multicast
	return v == nil || len(v.Circling)+len(v.Split)+len(v.OneSided) == 0
}

func (s *multicastSummary) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s on SL %s (--multicast-sl)", s.File, words.Counted(s.Groups, "group", "groups"), strings.Trim(strings.Join(strings.Fields(fmt.Sprint(s.SLs)), ", "), "[]"))
	if len(s.Circling) > 0 {
		fmt.Fprintf(&b, "\npackets of %s circle for ever: their trees have a ring: %s", words.Counted(len(s.Circling), "group", "groups"), words.FirstOf(s.Circling))
	}
	if len(s.Split) > 0 {
		fmt.Fprintf(&b, "\nthe trees of %s are in pieces: some members do not reach others: %s", words.Counted(len(s.Split), "group", "groups"), words.FirstOf(s.Split))
	}
	if len(s.OneSided) > 0 {
		fmt.Fprintf(&b, "\nthe trees of %s lead to switches that are not in them: the file is cut short, or of another time: %s", words.Counted(len(s.OneSided), "group", "groups"), words.FirstOf(s.OneSided))
	}
	return b.String()
}
