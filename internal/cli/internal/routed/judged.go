package routed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/opensm/advice"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Judged is a fabric and tables for it with their verdict, which weft route, deploy files, repair
// and drain show and write.
type Judged struct {
	*console.Console
	Name   string // the FABRIC argument
	Fabric *fabric.Fabric
	*weft.Result
	VLs   int               // lanes that the tables may use
	under routing.Contract  // the contract that the tables were planned for; the verdict may be for more
	parts [][]fabric.NodeID // of the network, if there are pairs in different ones (CountApart)
	Apart bool              // there are, and nobody said that this is known
	Spent result.StageSeconds
}

// CountApart sets parts and Apart, with a warning. That a network has fallen apart is a finding,
// unless it is known (--within-parts); it is routed within its parts.
func (j *Judged) CountApart(scope routing.Scope, known bool) {
	if scope.Disconnected(j.Fabric) == 0 {
		return
	}
	j.parts = j.Fabric.Parts()
	if j.Apart = !known; j.Apart {
		j.Note("%s: the network is in %d parts that no cable joins; each is routed by itself (--within-parts: that is known)", j.Name, len(j.parts))
	}
}

// Timed begins a stage of a route, by weft's name for it, whose time goes to what has been spent.
func (j *Judged) Timed(name string) (routing.Progress, func()) {
	spent := &j.Spent.Paths
	switch name {
	case "choose":
		name, spent = "choosing", &j.Spent.Choose
	case "lanes":
		spent = &j.Spent.Lanes
	case "verify":
		spent = &j.Spent.Verify
	}
	s := j.Stage(name, spent)
	return s.Progress(), s.Done
}

// serviceLevels says which service levels packets use.
func (j *Judged) serviceLevels() string {
	if j.Contract == routing.Any {
		return "clients may use any service level"
	}
	return words.Plural(j.Verdict.SLs, "service level")
}

// classesText says how senders choose one of several classes of traffic; empty: there is one.
func (j *Judged) classesText() string {
	l := j.Tables.Lanes
	switch {
	case l.Classes <= 1:
		return ""
	case l.ClassLevels == 1:
		return fmt.Sprintf("%d, each with a copy of the lanes: service level n is of class n mod %d\nsenders choose, as by NCCL_IB_SL or UCX_IB_SL; service level 0 is what they use without", l.Classes, l.Classes)
	}
	return fmt.Sprintf("%d, each with a copy of the lanes: class k is the service level of the path plus %d k\nsenders choose, as by NCCL_IB_SL or UCX_IB_SL", l.Classes, l.ClassLevels)
}

// Lanes counts the lanes of the tables: where more are used than needed, paths are spread over spare
// ones.
func (j *Judged) Lanes() result.LaneCounts {
	return result.LaneCounts{Needed: j.Tables.Lanes.Needed, Used: j.Verdict.VLs, Available: j.VLs, Limit: outputs.LaneLimit(j.Fabric, j.VLs), Absent: len(j.Verdict.Absent) > 0}
}

// verdictText is the verdict, and what it says of other senders than hosts.
func (j *Judged) verdictText() string {
	text := report.VerdictText(j.Console, j.Fabric, j.Verdict) + WithheldText(j.Tables, j.Verdict.Contract)
	switch {
	case j.Wider == nil:
	case j.Wider.Free() && !j.Brief():
		text += "\nalso with aggregation nodes and routers as endpoints"
		apart := routing.Adapters.Disconnected(j.Fabric) - j.Disconnected // no cable joins them
		if n := j.Wider.Unreachable - j.Verdict.Unreachable - apart; n > 0 {
			text += ", but " + words.Counted(n, "pair with one of these has", "pairs with one of these have") + " no path"
		}
	case j.Verdict.Free() && !j.Wider.Free():
		text += fmt.Sprintf("\nNOT when aggregation nodes or routers send data too: --endpoints ca shows a loop of %d steps", len(j.Wider.Cycle))
	}
	return text
}

// WithheldText says what a verdict takes for granted about addresses that some senders must not
// use; empty: there are none, or they count like all others.
func WithheldText(t *routing.Tables, k routing.Contract) string {
	if _, fixed := k.FixedMask(); fixed || !t.HasWithheld() {
		return ""
	}
	return "\ntaking for granted that no packet, answers included, goes to an address that its sender must not use (#none in " + tablefiles.PSLFile + "): OpenSM cannot see to that, and gets no such tables"
}

// FactResult is FactVerdict and FactLanes.
func (j *Judged) FactResult(p *console.Page, multicast string) {
	j.FactVerdict(p)
	j.FactLanes(p, multicast)
}

// FactVerdict prints the verdict and what it covers.
func (j *Judged) FactVerdict(p *console.Page) {
	p.Judged(j.Verdict.Free(), "%s", j.verdictText())
	if j.Verdict.Free() {
		widest := j.Verdict
		if j.Wider != nil && j.Wider.Free() {
			widest = j.Wider // the verdict says that these are covered too
		}
		p.Detail("outside", "%s", report.OutsideOf(widest))
	}
}

// FactLanes prints lanes and hops; multicast is what the verdict has to say about that, if anything.
func (j *Judged) FactLanes(p *console.Page, multicast string) {
	if multicast != "" {
		p.Fact("multicast", "%s", multicast)
	}
	if g := outputs.Group(j.Tables); g != nil {
		p.Fact("groups", "%s; OpenSM 3.3.23 installs none, other subnet managers may", outputs.GroupText(g))
	}
	p.Fact("lanes", "%s; %s%s", outputs.LanesText(j.Lanes()), j.serviceLevels(), outputs.LimitText(j.Lanes(), j.Fabric))
	report.FactAbsent(p, "dropped", outputs.AbsentLanes(j.Fabric, j.Verdict.Absent))
	if text := j.classesText(); text != "" {
		p.Fact("classes", "%s", text)
	}
	p.Detail("hops", "%.2f mean, %d longest, over %s pairs", j.Loads.MeanHops(), j.Loads.MaxHops, words.Thousands(j.Loads.Pairs))
}

// FactApart prints how many pairs have no route since no cable joins their parts.
func (j *Judged) FactApart(p *console.Page) {
	if j.Disconnected > 0 {
		p.Fact("apart", "%s pairs are in different parts of the network and have no route:%s", words.Thousands(j.Disconnected), report.Parts(j.Fabric, j.parts))
	}
}

// Written is where tables are written: the folder, and how OpenSM takes them from there.
type Written struct {
	Out     string               // empty: they are not written
	Install *result.Installation // nil: not at all
}

// Add notes in a summary which files of the folder were written, and how OpenSM takes them.
func (w *Written) Add(s *result.Route, folder *files.Folder) {
	if w.Out == "" {
		return
	}
	for _, f := range folder.Files() {
		if f.Name != tablefiles.UnionCertificateFile && f.Name != tablefiles.NetworkFile { // these belong to steps of a plan
			s.Files = append(s.Files, f.Name)
		}
	}
	s.Files, s.Install = append(s.Files, output.Summary), w.Install
}

// Folder is the tables as files.
func (j *Judged) Folder() *files.Folder {
	return &files.Folder{Tables: j.Tables, Certificate: j.Verdict.Certificate}
}

// WriteFolder writes the output folder, reads the files back, checks them, and only
// then lets the folder appear.
func (j *Judged) WriteFolder(ctx context.Context, name string, force bool, summary func() *result.Route) error {
	s := j.Stage("write", &j.Spent.Write)
	defer s.Done()
	return output.WriteFolder(name, force, func(d *output.Folder) error {
		return Fill(ctx, j.Console, d, j.Folder(), func() *result.Route { s.Done(); return summary() })
	})
}

// Fill writes tables into a folder that is not there yet, and reads them back; summary, which says
// how long that took, is asked and written last.
func Fill(ctx context.Context, c *console.Console, d *output.Folder, folder *files.Folder, summary func() *result.Route) error {
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

// apartSummary is the parts of the network after the largest.
func (j *Judged) apartSummary() []result.Part {
	var list []result.Part
	for _, part := range j.parts[min(1, len(j.parts)):] {
		p := result.Part{Switches: report.Labels(j.Fabric, part), Endpoints: []string{}}
		for _, s := range part {
			for _, e := range j.Fabric.Attached(s) {
				if j.Scope.Includes(j.Fabric.Endpoint(e).Class) {
					p.Endpoints = append(p.Endpoints, j.Fabric.EndpointLabel(e))
				}
			}
		}
		list = append(list, p)
	}
	return list
}

// Summary is the result as --json has it.
func (j *Judged) Summary() *result.Route {
	s := &result.Route{
		Fabric: outputs.Fabric(j.Name, j.Fabric),
		Engine: j.Engine.Name, Paths: j.Engine.PathsUnder(j.under), Lanes: j.Engine.Lanes,
		LaneCounts: j.Lanes(), Verdict: outputs.Verdict(j.Fabric, j.Verdict),
		VLs: j.Tables.Lanes.Needed, VLsUsed: j.Verdict.VLs, VLsAvailable: j.VLs, Classes: j.Tables.Lanes.Classes, ClassLevels: j.Tables.Lanes.ClassLevels,
		Hops:    result.Hop{Mean: j.Loads.MeanHops(), Max: j.Loads.MaxHops},
		MaxLoad: j.Loads.Max, Apart: j.apartSummary(),
		Notes: j.Tables.Forwarding.Notes, Warnings: j.Fabric.Warnings(),
		Groups:  outputs.Group(j.Tables),
		Seconds: j.Spent, PeakRSS: console.PeakMemory(),
	}
	if j.Loads.Hottest != fabric.None {
		nodes := outputs.Ends(j.Fabric, j.Loads.Hottest)
		s.MaxLoadOn, s.MaxLoadNodes = j.Fabric.ChannelLabel(j.Loads.Hottest), &nodes
	}
	if j.Choice != nil {
		s.Auto = &result.Auto{Why: j.Choice.Why, Aim: j.Choice.Aim, Tried: trialSummaries(j.Choice.Trials), LimitReached: j.Choice.Stopped > 0}
		s.Seconds.Tried = trialSeconds(j.Choice.Trials)
	}
	if j.Wider != nil {
		s.AllAdapters, s.AllUnreachable = outputs.WordOf(j.Wider), j.Wider.Unreachable
	}
	return s
}

// trialSeconds is by engine what auto spent on it.
func trialSeconds(trials []choose.Trial) map[string]float64 {
	s := make(map[string]float64, len(trials))
	for _, t := range trials {
		if t.Spent > 0 {
			s[t.Engine] = t.Spent.Seconds()
		}
	}
	return s
}

// Next says what to do with tables that are proven, or are not.
func (w *Written) Next(free bool) string {
	switch {
	case !free:
		return "--engine auto takes the best engine that is proven for this network and contract"
	case w.Out == "":
		return "--out DIR writes the tables, and says how OpenSM takes them"
	}
	return InstallText(w.Install)
}

// NextInShort is Next for an answer: how OpenSM takes the tables, without the reasons.
func (w *Written) NextInShort(free bool) string {
	switch {
	case !free:
		return "--engine auto takes the best engine that is proven here"
	case w.Out == "" || w.Install == nil:
		return w.Next(free)
	}
	switch advice.By(w.Install.By) {
	case advice.File:
		return "in opensm.conf: " + strings.Join(w.Install.Lines, "\n")
	case advice.Policy:
		return w.Install.Command + "\nwrites the files that a stock OpenSM takes with QoS"
	case advice.Plugin:
		return w.Install.Command + "\nand the plugin (docs/opensm.md), in opensm.conf: " + strings.Join(w.Install.Lines, "; ")
	}
	return "these tables are for studying: no OpenSM takes them as they are proven"
}

// EngineSource is an engine's name with its paper.
func EngineSource(e *engines.Engine) string {
	if e.Paper == "" {
		return e.Name
	}
	return fmt.Sprintf("%s (%s)", e.Name, e.Paper)
}
