package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/opensm/advice"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// planError says why there is no plan at all from some tables; since is what has moved since they were
// made, and other, which contract may serve; both may be empty.
func planError(a *console.Console, err error, source, since, other string, contract routing.Contract, asJSON bool) error {
	var rejected *change.Rejected
	var byLane *repair.ByLane
	var why, next string
	switch {
	case errors.Is(err, repair.ErrLoop):
		why = fmt.Sprintf("the tables (%s) have a credit loop under contract %s%s: there is nothing safe to keep", source, contract, since)
		next = fmt.Sprintf("weft verify --contract %s shows the loop; weft route makes tables without one.", contract)
		if since != "" {
			next += "\nWhile the links of what has moved are down the tables may be safe: weft degrade takes it out of the fabric."
		}
		next = withOther(next, other)
	case errors.As(err, &byLane):
		why = fmt.Sprintf("no change of the tables (%s) can be planned: %s chooses the lane of a packet by the lane it came in on (.vl2vl), and plans go by service levels", source, byLane.Switch)
		next = "weft verify judges them as they are, weft degrade takes parts away for it, and weft diff judges the way to other tables."
	case errors.As(err, &rejected):
		return exit.Internal("%w", err)
	default:
		return err
	}
	return a.Refuse(asJSON, result.Refusal{Engine: keptName, Refused: why, Fits: []result.FittingEngine{}}, "%s.\n%s", why, next)
}

// withOther is what to do about a refusal, and which contract may serve (input.Given.OtherContract), if any.
func withOther(next, other string) string { return strings.TrimSuffix(next+"\n"+other, "\n") }

// stepsBeside refuses a folder of steps that would replace tables that were read: the way back
// leads to those in force.
func stepsBeside(flag, steps, tables string) error {
	if steps != "" && tables != "" && within(tables, steps) {
		return exit.Usage("%s %s: the tables of %s are there, and the steps would replace them; name another folder", flag, steps, tables)
	}
	return nil
}

// within reports whether a file or folder is another one, or lies in it.
func within(name, dir string) bool {
	var at [2]string
	for i, s := range []string{name, dir} {
		if real, err := filepath.EvalSymlinks(s); err == nil {
			s = real
		}
		abs, err := filepath.Abs(s)
		if err != nil {
			return false
		}
		at[i] = abs
	}
	rel, err := filepath.Rel(at[1], at[0])
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// leftText names destinations that a plan leaves unmended.
func leftText(left []result.LeftOver) string {
	return words.FirstOf(list.Of(left, func(l result.LeftOver) string { return fmt.Sprintf("LID %d (%s)", l.LID, l.Endpoint) }))
}

// cutText says how many pairs a plan leaves cut off, before and after.
func cutText(p *change.Proven) string {
	text := fmt.Sprintf("%s of %s pairs until the first step is written, %s after the last", words.Thousands(p.CutBefore), words.Thousands(p.Pairs), words.Thousands(p.CutAfter))
	if p.Disconnected > 0 {
		text += fmt.Sprintf(" (%s that no cable joins any more)", words.Thousands(p.Disconnected))
	}
	return text
}

// stepsText lists the steps of a plan, with what each changes; none is what to say if there are
// none, least how few entries could do.
func stepsText(p *change.Proven, none string, least result.Least) string {
	if len(p.Steps) == 0 {
		return none
	}
	entries, blocks := p.Entries()
	text := fmt.Sprintf("%s in %s, %s%s; each is free of credit loops in any mixture while it is written, and so are its tables",
		words.Counted(entries, "entry", "entries"), words.Plural(len(p.Steps), "step"), words.Counted(blocks, "block of 64 LIDs", "blocks of 64 LIDs"), outputs.LeastText(least))
	if slices.ContainsFunc(p.Steps, func(s change.Step) bool { return s.Union.SelfCables }) {
		text += "; outside of that: " + strings.Join(p.Steps[0].Union.Outside(), ", ")
	}
	for i, s := range p.Steps {
		text += fmt.Sprintf("\n  %d  %s on %s; %s cut off after it", i+1, stepText(&s), words.Plural(s.Union.Switches, "switch"), words.Counted(s.Union.CutAfter(), "pair", "pairs"))
		switch {
		case s.Balanced:
			text += "; they spread the load, which the steps before left uneven"
		case s.Rebuilt:
			text += "; some belong to destinations that lost nothing and make way for others"
		}
	}
	return text
}

// cutInShort is cutText for an answer.
func cutInShort(p *change.Proven) string {
	text := fmt.Sprintf("%s of %s pairs now, %s after the last step", words.Thousands(p.CutBefore), words.Thousands(p.Pairs), words.Thousands(p.CutAfter))
	if p.Disconnected > 0 {
		text += " (no cable joins them)"
	}
	return text
}

// stepsInShort is stepsText for an answer.
func stepsInShort(p *change.Proven, none string) string {
	if len(p.Steps) == 0 {
		return none
	}
	entries, _ := p.Entries()
	return fmt.Sprintf("%s in %s, proven at every moment", words.Counted(entries, "entry", "entries"), words.Plural(len(p.Steps), "step"))
}

// stepText says what a step changes.
func stepText(s *change.Step) string {
	choices := words.Counted(s.Union.Choices, "entry", "entries")
	switch {
	case s.Union.Choices == 0:
		return mendedText(s)
	case s.Mended+s.Follow+s.Drops == 0:
		return "other ports to choose from by " + choices
	}
	return mendedText(s) + ", other ports to choose from by " + choices
}

func mendedText(s *change.Step) string {
	var what string
	switch {
	case s.Mended+s.Follow == 0:
		return words.Counted(s.Drops, "entry", "entries") + " taken out for a step"
	case s.Mended == 0:
		what = words.Counted(s.Follow, "entry", "entries") + " that no traffic needs"
	case s.Follow == 0:
		what = words.Counted(s.Mended, "entry", "entries") + " for traffic"
	default:
		what = words.Counted(s.Mended, "entry", "entries") + " for traffic and " + words.Thousands(s.Follow) + " that it does not need"
	}
	if s.Drops > 0 {
		what += fmt.Sprintf(", %d taken out for a step", s.Drops)
	}
	return what
}

// planned is a plan from some tables to others. Judged is the tables after its last step, Written
// where they or the steps go. weft repair has one, weft drain two.
type planned struct {
	routed.Judged
	routed.Written
	source  string                 // what the tables are called that the plan begins with
	without *result.GoneParts      // what is taken out of the fabric that is named; nil: nothing
	fit     result.Fit             // of the tables of source to the fabric that they were read for
	moved   []result.MovedEndpoint // since the fabric of these tables
	plan    *change.Proven
	purpose string // the last tables are those …; empty: that serve the fabric as it is now
	pulling string // who is cut off when the drained parts are pulled; may be empty
}

// keptName stands where the name of an engine would, in screens and summaries alike.
const keptName = "kept"

// kept is in place of the engine where tables come from a plan.
func kept(c routing.Contract) engines.Engine {
	return engines.Engine{Name: keptName, Paths: keptName, Lanes: keptName, Contract: c, Safe: true}
}

// step is the tables of a step, as weft route writes them into a folder. Their verdict is of everything
// in them, the hosts included that have to ask for paths anew first; so there is no certificate where
// these would close a loop.
func (j *planned) step(ctx context.Context, s *change.Step) (*routed.Judged, error) {
	t, err := withLanesNeeded(ctx, s.Tables, s.Alone)
	if err != nil {
		return nil, err
	}
	step := j.Judged
	step.Result = &weft.Result{
		Engine: j.Engine, Contract: j.Contract, Scope: j.Scope, Planned: j.Planned, Disconnected: j.Disconnected,
		Tables: t, Verdict: cmp.Or(s.Whole, s.Alone), Loads: congestion.Count(j.Fabric, s.Tables.Forwarding, j.Scope),
	}
	return &step, nil
}

// withLanesNeeded is tables with the number of lanes they need by a verdict, which dumps do not
// contain: one where that is enough, whatever lanes packets are spread over.
func withLanesNeeded(ctx context.Context, t *routing.Tables, v *deadlock.Verdict) (*routing.Tables, error) {
	with, lanes := *t, *t.Lanes
	lanes.Needed = v.VLs
	with.Lanes = &lanes
	if v.VLs > 1 && v.Free() {
		enough, err := advice.OneLane(ctx, t, v.Scope)
		if err != nil {
			return nil, err
		}
		if enough {
			lanes.Needed = 1
		}
	}
	return &with, nil
}

// JSON is the plan for programs, as plan.json.
func (j *planned) JSON() *result.Plan {
	s := outputs.Plan(j.plan, j.Contract, j.Scope)
	s.Fabric, s.Without, s.Tables, s.Fit, s.Moved = j.Name, j.without, j.source, j.fit, j.moved
	return s
}

// textPlan is the plan for people, as plan.txt: what to write, step by step, and when to go on.
func (j *planned) textPlan(s *result.Plan) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if len(s.Steps) == 0 {
		say("Nothing has to change: the tables of %s are as they should be.", s.Tables)
		report.SayAbsent(say, s.AbsentLanes)
		j.sayPulling(say)
		return b.String()
	}
	entries, blocks := j.plan.Entries()
	say("From the tables of %s to those %s: %s, %s in %s.", s.Tables, cmp.Or(j.purpose, "that serve "+s.Fabric), words.Plural(len(s.Steps), "step"),
		words.Counted(entries, "entry", "entries"), words.Counted(blocks, "block of 64 LIDs", "blocks of 64 LIDs"))
	say("Service levels and SL2VL maps stay. Of %s pairs %s are cut off now, %s after the last step.", words.Thousands(s.Pairs), words.Thousands(s.CutNow), words.Thousands(s.CutAfter))
	say("Each step may be written in any order of switches: every mixture of the tables before and")
	say("after it is free of credit loops, and so are the tables after it (contract %s, endpoints %s).", s.Contract, s.Endpoints)
	if text := levelsText(j.plan, j.Contract); text != "" {
		say("%s", text)
	}
	if text := outputs.HeldBackText(s.HeldBack); text != "" {
		say("But %s.", text)
	}
	report.SayAbsent(say, s.AbsentLanes)
	if len(s.Moved) > 0 {
		say("%s.", movedText("", s.Moved))
	}
	if len(s.Anew) > 0 {
		say("%s; with the service levels that they had, packets could close a credit loop.", anewText(j.plan))
	}
	for i, step := range s.Steps {
		say("\nStep %d: write the tables of %s", i+1, step.Folder)
		say("  %s, on %s, %s; %s cut off after it", stepText(&j.plan.Steps[i]), words.Plural(step.Touched, "switch"),
			words.Counted(step.Blocks, "block", "blocks"), words.Counted(step.Cut, "pair", "pairs"))
		for _, at := range step.BySwitch {
			say("    %s %s: %s", at.Switch.GUID, at.Switch.Name, words.Counted(at.Entries, "entry", "entries"))
		}
		next := "any later change"
		if i+1 < len(s.Steps) {
			next = fmt.Sprintf("step %d", i+2)
		}
		say("  Before %s: wait until every switch has confirmed these tables, and from then until the", next)
		say("  packets of the tables before are gone: %d switches times the lifetime of a packet in a", step.WaitHops)
		say("  switch, %.1f s with OpenSM's packet_life_time of 0x12.", step.WaitSeconds)
	}
	j.sayPulling(say)
	return b.String()
}

// levelsText says that a plan counts on the service levels of the tables; empty: there is one, or clients may use any. It is
// not proven for a subnet manager that loads forwarding tables and nothing else, though the tables in force may be.
func levelsText(p *change.Proven, c routing.Contract) string {
	most := 0
	for _, s := range p.Steps {
		most = max(most, s.Alone.SLs)
	}
	if most < 2 || c != routing.Honored && c != routing.Directed {
		return ""
	}
	return fmt.Sprintf("That is so if clients use the %d service levels of paths.psl. An OpenSM that loads forwarding tables\n"+
		"alone (routing_engine file) gives all the same, and for that nothing is proven: --contract any plans for it.", most)
}

// sayPulling ends textPlan with who is cut off by pulling what is drained.
func (j *planned) sayPulling(say func(format string, args ...any)) {
	if j.pulling != "" {
		say("\nWhen it is pulled:\n%s", j.pulling)
	}
}

// summary describes the tables after the last step.
func (j *planned) summary() *result.Route {
	s := j.Judged.Summary()
	j.Add(s, j.Folder())
	return s
}

// fillStep writes the tables of a step, with the proof of every mixture of them and those before.
func (j *planned) fillStep(ctx context.Context, d *output.Folder, s *change.Step) error {
	step, err := j.step(ctx, s)
	if err != nil {
		return err
	}
	folder := step.Folder()
	folder.Underway, folder.Union = true, s.Union.Certificate
	return routed.Fill(ctx, j.Console, d, folder, func() *result.Route {
		s := step.Summary()
		(&routed.Written{Out: d.Final}).Add(s, folder)
		return s
	})
}

// writeSteps writes the steps of plans, each into its folder, if it has one: all of the steps of all plans or nothing, since
// half a plan is worse than none, and so is the way back of another way out.
func writeSteps(ctx context.Context, force bool, plans ...*planned) error {
	var folders []*output.Folder
	defer func() {
		for _, d := range folders { // those that have not got their names
			d.Discard()
		}
	}()
	for _, j := range plans {
		if j.Out == "" {
			continue
		}
		d, err := output.NewFolder(j.Out, force)
		if err != nil {
			return err
		}
		folders = append(folders, d)
		if err := j.fillSteps(ctx, d); err != nil {
			return err
		}
	}
	return output.Commit(folders...)
}

// fillSteps writes all steps into a folder that is not there yet.
func (j *planned) fillSteps(ctx context.Context, d *output.Folder) error {
	s := j.Stage("write", &j.Spent.Write)
	defer s.Done()
	plan := j.JSON()
	for i, step := range plan.Steps {
		folder, err := d.Within(step.Folder)
		if err == nil {
			err = j.fillStep(ctx, folder, &j.plan.Steps[i])
		}
		if err != nil {
			return err
		}
	}
	return d.Write(ctx, output.JSONFile(j.Console, output.Plan, plan), files.File{Name: output.PlanText, Write: func(w io.Writer) error {
		_, err := io.WriteString(w, j.textPlan(plan))
		return err
	}})
}
