package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/far"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/mcfdbs"
	"github.com/weft-fabric/weft/format/psl"
	"github.com/weft-fabric/weft/format/slvl"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/opensm/deploy"
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

	inForce  []result.InForce     // beside what auto tried
	out      string               // folder that they are written into; empty: none
	install  *result.Installation // how OpenSM takes them from there
	survival []*result.Survival
	compared []*result.Candidate   // for it
	best     string                // the engine that auto chose, if another has fewer exceptions; empty: it is the same
	treeless *weft.NoTree          // why there is no spanning tree for multicast that was asked for; nil: there is one, or nobody asked
	underway bool                  // a step of several: entries may yet lead into a cable that is gone
	union    *deadlock.Certificate // of a step: the proof of every mixture of its tables and those before; nil: it is no step
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
	return "\ntaking for granted that no packet, answers included, goes to an address that its sender must not use (#none in " + output.PSL + "): OpenSM cannot see to that, and gets no such tables"
}

func (j *judged) factResult(p *console.Page) {
	p.Fact("verdict", "%s", j.verdictText())
	if j.Verdict.Free() {
		widest := j.Verdict
		if j.Wider != nil && j.Wider.Free() {
			widest = j.Wider // the verdict says that these are covered too
		}
		p.Fact("outside", "%s", report.OutsideOf(widest))
	}
	if text := j.treeText(); text != "" {
		p.Fact("multicast", "%s", text)
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

// maxFullPSL is how many pairs are written one by one, as ibdmchk wants them;
// larger networks get the compact form.
const maxFullPSL = 4_000_000

// writeFolder writes the output folder, reads the files back, checks them, and only
// then lets the folder appear.
func (j *judged) writeFolder(ctx context.Context, force bool) error {
	s := j.Stage("write", &j.spent.Write)
	defer s.Done()
	return output.WriteFolder(j.out, force, func(d *output.Folder) error { return j.fill(ctx, d, s.Done) })
}

// fill writes the files and reads them back; then tells that only the summary is missing,
// which says how long the others took.
func (j *judged) fill(ctx context.Context, d *output.Folder, then func()) error {
	t := j.Tables
	form := psl.Full
	if nodes := int64(len(t.Fabric.Nodes())); nodes*nodes > maxFullPSL {
		form = psl.Compact
	}
	files := []deploy.File{
		{Name: output.LFTs, Write: func(w io.Writer) error { return lft.Write(w, t.Fabric, t.Forwarding, lft.PortGUIDs) }},
		{Name: output.SL2VL, Write: func(w io.Writer) error { return slvl.Write(w, t.Fabric, t.Lanes.SL2VL, slvl.Dump) }},
		{Name: output.PSL, Write: func(w io.Writer) error { return psl.Write(w, t, form) }},
	}
	if t.Groups != nil {
		files = append(files, deploy.File{Name: output.Groups, Write: func(w io.Writer) error { return far.Write(w, t) }})
	}
	if t.Multicast != nil {
		files = append(files, deploy.File{Name: output.Multicast, Write: func(w io.Writer) error { return mcfdbs.Write(w, t.Fabric, t.Multicast) }})
	}
	if j.Verdict.Free() {
		files = append(files, deploy.File{Name: output.Certificate, Write: func(w io.Writer) error { return certificate.Write(w, t.Fabric, j.Verdict.Certificate) }})
	}
	if j.union != nil {
		files = append(files, deploy.File{Name: output.UnionCertificate, Write: func(w io.Writer) error { return certificate.Write(w, t.Fabric, j.union) }})
	}
	if err := d.Write(ctx, files...); err != nil {
		return err
	}
	if err := j.readBack(ctx, d); err != nil {
		return err
	}
	then()
	s := j.summary()
	s.Install = nil // it says where the folder is, which is not to change its files
	return d.Write(ctx, output.JSONFile(j.Console, output.Summary, s))
}

func (j *judged) readBack(ctx context.Context, d *output.Folder) error {
	f := j.fabric
	dump, err := j.readLFTsBack(d.At(output.LFTs))
	if err != nil {
		return err
	}
	m, err := console.ReadFile(j.Console, d.At(output.SL2VL), func(r io.Reader, name string) (*routing.SL2VL, error) {
		return slvl.Read(r, name, f)
	})
	if err != nil {
		return notAsWritten(err)
	}
	lanes, err := console.ReadFile(j.Console, d.At(output.PSL), func(r io.Reader, name string) (*routing.Lanes, error) {
		return psl.Read(r, name, f, m, nil)
	})
	if err != nil {
		return notAsWritten(err)
	}
	for lid := range f.LIDs() {
		for e := range f.Endpoints() {
			e := fabric.EndpointID(e)
			if ep := f.Endpoint(e); ep.Switch != fabric.None && ep.Class != fabric.SwitchPort && lanes.SL(e, lid) != j.Tables.Lanes.SL(e, lid) {
				return notAsWritten(fmt.Errorf("%s: the service level from %s to LID %d differs", output.PSL, f.Label(ep.Node), lid))
			}
		}
	}
	read := &routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: lanes}
	if j.Tables.Groups != nil {
		if read.Groups, err = console.ReadFile(j.Console, d.At(output.Groups), func(r io.Reader, name string) (*routing.Groups, error) {
			return far.Read(r, name, f, dump.Forwarding)
		}); err != nil {
			return notAsWritten(err)
		}
	}
	if m := j.Tables.Multicast; m != nil {
		if read.Multicast, err = console.ReadFile(j.Console, d.At(output.Multicast), func(r io.Reader, name string) (*routing.Multicast, error) {
			return mcfdbs.Read(r, name, f, m.SLs)
		}); err != nil {
			return notAsWritten(err)
		}
	}
	if !j.Verdict.Free() {
		return nil
	}
	c, err := console.ReadFile(j.Console, d.At(output.Certificate), func(r io.Reader, name string) (*deadlock.Certificate, error) {
		return certificate.Read(r, name, f)
	})
	if err != nil {
		return notAsWritten(err)
	}
	if _, err := deadlock.CheckCertificate(ctx, read, c, nil); err != nil {
		return notAsWritten(err)
	}
	return nil
}

func (j *judged) readLFTsBack(file string) (*lft.Dump, error) {
	dump, err := console.ReadFile(j.Console, file, func(r io.Reader, name string) (*lft.Dump, error) {
		return lft.Read(r, name, j.fabric, lft.Join{Lenient: j.underway})
	})
	if err != nil {
		return nil, notAsWritten(err)
	}
	for lid := range j.fabric.LIDs() {
		if !bytes.Equal(dump.Forwarding.Row(lid), j.Tables.Forwarding.Row(lid)) {
			return nil, notAsWritten(fmt.Errorf("%s: the ports for LID %d differ", filepath.Base(file), lid))
		}
	}
	return dump, nil
}

// notAsWritten is the error of files that do not read back as they were meant.
func notAsWritten(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return exit.Internal("the files do not read back as written, nothing was kept: %w", err)
}
