package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// judged is a fabric and tables for it with their verdict, which weft route, deploy files,
// keep and drain show and write.
type judged struct {
	*console.Console
	name   string // the FABRIC argument
	fabric *fabric.Fabric
	*weft.Result
	vls    int               // lanes that the tables may use
	under  routing.Contract  // what they were planned for; the verdict may be for more
	parts  [][]fabric.NodeID // of the network, if there are pairs in different ones
	fallen bool              // and nobody said that this is known
	spent  result.StageSeconds
}

// countApart looks whether all pairs can be joined. That a network has fallen apart
// is a finding, unless it is known (--within-parts); it is routed within its parts.
func (j *judged) countApart(scope routing.Scope, known bool) {
	if scope.Disconnected(j.fabric) == 0 {
		return
	}
	j.parts = j.fabric.Parts()
	if j.fallen = !known; j.fallen {
		j.Note("%s: the network is in %d parts that no cable joins; each is routed by itself (--within-parts: that is known)", j.name, len(j.parts))
	}
}

func (j *judged) timed(name string) (routing.Progress, func()) {
	spent := &j.spent.Paths
	switch name {
	case "choose":
		name, spent = "choosing", &j.spent.Choose
	case "lanes":
		spent = &j.spent.Lanes
	case "verify":
		spent = &j.spent.Verify
	}
	s := j.Stage(name, spent)
	return s.Progress(), s.Done
}

func (j *judged) serviceLevels() string {
	if j.Contract == routing.Any {
		return "clients may use any service level"
	}
	return words.Plural(j.Verdict.SLs, "service level")
}

// classesText says how senders choose one of several classes of traffic; empty: there is one.
func (j *judged) classesText() string {
	l := j.Tables.Lanes
	switch {
	case l.Classes <= 1:
		return ""
	case l.ClassLevels == 1:
		return fmt.Sprintf("%d, each with a copy of the lanes: service level n is of class n mod %d\nsenders choose, as by NCCL_IB_SL or UCX_IB_SL; service level 0 is what they use without", l.Classes, l.Classes)
	}
	return fmt.Sprintf("%d, each with a copy of the lanes: class k is the service level of the path plus %d k\nsenders choose, as by NCCL_IB_SL or UCX_IB_SL", l.Classes, l.ClassLevels)
}

// lanes counts those of what was routed: with more used than are needed, paths are
// spread over spare ones.
func (j *judged) lanes() result.LaneCounts {
	return result.LaneCounts{Needed: j.Tables.Lanes.Needed, Used: j.Verdict.VLs, Available: j.vls, Limit: result.LimitOf(j.fabric, j.vls), Absent: len(j.Verdict.Absent) > 0}
}

func (j *judged) verdictText() string {
	text := report.VerdictText(j.Console, j.fabric, j.Verdict) + withheldText(j.Tables, j.Verdict.Contract)
	switch {
	case j.Wider == nil:
	case j.Wider.Free():
		text += "\nalso with aggregation nodes and routers as endpoints"
	case j.Verdict.Free():
		text += fmt.Sprintf("\nNOT when aggregation nodes or routers send data too: --endpoints ca shows a loop of %d steps", len(j.Wider.Cycle))
	}
	return text
}

// withheldText says what a verdict takes for granted about addresses that some senders must not
// use; empty: there are none, or they count like all others.
func withheldText(t *routing.Tables, k routing.Contract) string {
	if _, fixed := k.FixedMask(); fixed || !t.HasWithheld() {
		return ""
	}
	return "\ntaking for granted that no packet, answers included, goes to an address that its sender must not use (#none in " + files.PSLFile + "): OpenSM cannot see to that, and gets no such tables"
}

func (j *judged) factResult(p *console.Page, multicast string) {
	p.Fact("verdict", "%s", j.verdictText())
	if j.Verdict.Free() {
		widest := j.Verdict
		if j.Wider != nil && j.Wider.Free() {
			widest = j.Wider // the verdict says that these are covered too
		}
		p.Fact("outside", "%s", report.OutsideOf(widest))
	}
	if multicast != "" {
		p.Fact("multicast", "%s", multicast)
	}
	if g := result.GroupOf(j.Tables); g != nil {
		p.Fact("groups", "%s; OpenSM 3.3.23 installs none, other subnet managers may", g.Text())
	}
	p.Fact("lanes", "%s; %s%s", j.lanes(), j.serviceLevels(), j.lanes().LimitText(j.fabric))
	factAbsent(p, "dropped", result.AbsentLanes(j.fabric, j.Verdict.Absent))
	if text := j.classesText(); text != "" {
		p.Fact("classes", "%s", text)
	}
	p.Fact("hops", "%.2f mean, %d longest, over %s pairs", j.Loads.MeanHops(), j.Loads.MaxHops, words.Thousands(j.Loads.Pairs))
}

func (j *judged) factApart(p *console.Page) {
	if j.Disconnected > 0 {
		p.Fact("apart", "%s pairs are in different parts of the network and have no route:%s", words.Thousands(j.Disconnected), report.Parts(j.fabric, j.parts))
	}
}

// written is a folder of tables: its name, and how OpenSM takes them from there.
type written struct {
	out     string               // empty: they are not written
	install *result.Installation // nil: not at all
}

// add says in a summary what was written.
func (w *written) add(s *result.Route, folder *files.Folder) {
	if w.out == "" {
		return
	}
	for _, f := range folder.Files() {
		if f.Name != files.UnionCertificateFile { // of the plan
			s.Files = append(s.Files, f.Name)
		}
	}
	s.Files, s.Install = append(s.Files, output.Summary), w.install
}

// folder is the tables as files.
func (j *judged) folder() *files.Folder {
	return &files.Folder{Tables: j.Tables, Certificate: j.Verdict.Certificate}
}

// writeFolder writes the output folder, reads the files back, checks them, and only
// then lets the folder appear.
func (j *judged) writeFolder(ctx context.Context, name string, force bool, summary func() *result.Route) error {
	s := j.Stage("write", &j.spent.Write)
	defer s.Done()
	return output.WriteFolder(name, force, func(d *output.Folder) error {
		return fill(ctx, j.Console, d, j.folder(), func() *result.Route { s.Done(); return summary() })
	})
}

// fill writes the files and reads them back; the summary, which says how long that took, comes last.
func fill(ctx context.Context, c *console.Console, d *output.Folder, folder *files.Folder, summary func() *result.Route) error {
	if err := d.Write(ctx, folder.Files()...); err != nil {
		return err
	}
	if err := folder.ReadBack(ctx, func(name string) (io.ReadCloser, error) { return c.Open(d.At(name)) }); err != nil {
		return notAsWritten(err)
	}
	s := summary()
	s.Install = nil // it says where the folder is, which is not to change its files
	return d.Write(ctx, output.JSONFile(c, output.Summary, s))
}

// notAsWritten is the error of files that do not read back as they were meant.
func notAsWritten(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return exit.Internal("the files do not read back as written, nothing was kept: %w", err)
}
