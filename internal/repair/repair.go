// Package repair changes tables that are in force as little as possible when the
// network changes, in steps that are safe while they are written.
//
// # The method
//
// While a subnet manager replaces some tables by others, the network may hold any
// mixture of both; what packets can do is the union of the dependencies of both
// (package transition has the theory). So the repair keeps one dependency graph over
// the lanes of trunks, in an incremental topological order, with every dependency of
// any mixture of the tables in force and the next ones, and adds only what closes no
// cycle. Service levels and SL2VL maps stay as they are.
//
// Destinations are mended one after another. An entry is dead if its port has no cable,
// or if there is no entry, unless the path finder left it empty and nobody needs it
// (empty.go). From the dead entries nearest to the destination outwards, a
// switch tries its trunks to switches with working paths: those with the fewest hops
// first, of these the least loaded. A trunk is taken if everything that may arrive at
// the switch, by old entries and new, can go on by it: the lanes are followed
// downstream over old and new entries, dependency by dependency, and all of it is
// undone at the first that would close a cycle. Then the path of the switch works, and
// so do, unchanged, the paths of all that forward to it. If no trunk works, the
// switches that forward to it try instead: on trees, leaves avoid the spine that lost
// its cable. At first no path may become longer than it was or than a shortest one;
// then by one hop, two …
//
// Where the first step leaves destinations, it is tried again with these first (orders.go).
// A switch without a working path keeps its dead entry. When all switches have
// confirmed the new tables, the dependencies of the old ones are gone: the graph is
// derived anew from the new tables alone, and what is left is mended in a further step.
// Destinations that no such step mends need others to make way (ripup.go), or, where
// that does not help either, all tables to be rebuilt (rebuild.go). If that leaves the
// trunks unevenly loaded, more steps spread the pairs again (balance.go). Steps of such a
// plan become one where that is as safe (merge.go). One that would drop packets whose path
// is whole before and after it becomes several (whole.go). Trunks that are to go, but are
// still there, are left in the same way (leave.go). On the way to other tables (migrate.go)
// rows that bar each other's way take others for a time (detour.go).
// The trees for multicast are in the graph from the beginning, and stay (trees.go).
// Entries that no packet in scope uses change in the last steps: otherwise a spine that
// leaves now avoid would send the packets that still arrive by their old entries back
// up. The union of each step with the tables before it is acyclic, and the tables of
// each step are free of deadlock.
//
// It shares no code with the judges and does not call them: whoever uses a plan has it
// judged (package change).
//
// Complexity: O(D·S) for D destination LIDs and S switches to derive the graph of the
// first step, which later ones go on from where rows differ; a dependency that agrees with the order costs nothing, one that does not a
// search of the part of the order between its ends.
//
// Sources: J. Duato, O. Lysne, R. Pang, T. M. Pinkston: A Theory for Deadlock-Free
// Dynamic Network Reconfiguration, IEEE TPDS 16(5), 2005, for unions; F. O.
// Sem-Jacobsen, O. Lysne: Topology Agnostic Dynamic Quick Reconfiguration for
// Large-Scale Interconnection Networks, CCGrid 2012, for repairing near the failure;
// J. Crespo et al.: UPR: Deadlock-Free Dynamic Network Reconfiguration by Exploiting
// Channel Dependency Graph Compatibility, arXiv 2006.02332, for steps. That the old
// entries of one destination at a time are kept, and lanes followed per service level,
// is ours.
package repair

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/routing"
)

// Options states the assumptions of a plan and its limits.
//
// Steps does not bound the whole plan. For Mend it is the steps that mend while others keep their
// rows; making way and rebuilding (8 steps at a time, and 4 that mend what these leave), balancing
// (4) and entries that nothing in scope uses (2) have limits of their own. For Migrate it is the
// steps straight to the target; after these there may be as many behind a detour of up to 3, as
// many again if packets may be dropped, and 4 for entries that nothing in scope uses.
type Options struct {
	Contract   routing.Contract // what clients use; zero: honored
	Scope      routing.Scope    // who sends and receives; zero: host adapters
	Slack      int              // hops by which a path may become longer; zero: 4
	Steps      int              // largest number of steps of each search, see above; zero: 4, for Migrate 16
	AllowDrops bool             // where there is no other way, Migrate and rebuilding may drop the packets of single destinations for a step

	// Of Mend: Scope is wider than Needed, which alone has to be served: the packets of the others shall stay free of
	// deadlock, too. Empty entries that are not for Needed stay so, and what is left over costs little: destinations may
	// make way for it, but not all rows are chosen anew, and no tree for multicast goes.
	Gentle bool
	Needed routing.Scope
}

// Plan is a sequence of tables, each written when all switches have confirmed the
// tables before. It is empty if nothing has to change.
type Plan struct {
	Steps []Step
	Left  []Left // destinations that no step mends
}

// Step is one change of tables in a Plan.
type Step struct {
	Tables   *routing.Tables
	Mended   int  // number of entries changed for packets in scope
	Rebuilt  bool // it moves destinations that lost nothing: to make room for others, as Balanced says, or as a detour
	Balanced bool // it spreads the load again, after steps that moved many
	Drops    int  // number of entries removed for a step, so that the next one is safe: of LIDs that have moved to other switches, and if Options.AllowDrops
	Follow   int  // number of other entries changed: of switches that no packet in scope passes, for LIDs out of scope, dead ones removed
}

// Left is a destination that some switches cannot reach after the last step, although
// cables connect them.
type Left struct {
	LID      fabric.LID
	Switches []fabric.NodeID // with sources in scope
}

// ErrLoop is what Mend returns for tables that have a credit loop on the live cables:
// there is no safe state to begin from.
var ErrLoop = errors.New("the tables in force have a credit loop; a repair would keep it")

// ErrLoopAfter is what change.Return returns for tables to be restored in which what switches choose from
// closes a credit loop: no safe steps end with them.
var ErrLoopAfter = errors.New("the tables to be restored have a credit loop")

// Defaults of Options.
const (
	defaultSlack = 4
	defaultSteps = 4  // of Mend
	migrateSteps = 16 // of Migrate, until it takes detours or drops packets

	towardsSteps = 8 // of Mend, towards other tables at a time
	outsideSteps = 4 // of Migrate, for entries that no packet in scope uses
	otherRoots   = 4 // roots of Up*/Down* that are tried where the first ones do not help

	rebuildRounds = 8          // of losers first
	rebuildWork   = 12_000_000 // entries that rounds read, times service levels, after which losers do not come first
)

// Mend plans the repair of tables in force, as they act on the live cables
// (transition.On). was is the same tables on the fabric that they were made for: it
// says how long paths were. If it is nil, paths may be as long as shortest ones.
//
// The tables of every step have the trees for multicast that the tables in force have, and new
// paths are found beside these, unless destinations are left that way and fewer are without
// trees: then the steps have none. In the same way new entries bring no packets to a lane that
// the cable does not run (fabric.Channel.DataVLs), unless fewer destinations are left with them.
func Mend(ctx context.Context, tables, was *routing.Tables, o Options) (*Plan, error) {
	if err := tables.Check(); err != nil {
		return nil, err
	}
	if err := byLevels(tables); err != nil {
		return nil, err
	}
	lacks := lacking(tables, o)
	plan, err := mendAvoiding(ctx, tables, was, lacks, o)
	if lacks == nil || err != nil || len(plan.Left) == 0 || o.Gentle {
		return plan, err
	}
	if all, e := mendAvoiding(ctx, tables, was, nil, o); e == nil && len(all.Left) < len(plan.Left) || ctx.Err() != nil {
		return all, e
	}
	return plan, nil
}

// mendAvoiding is Mend in which new entries bring packets to none of the lanes in lacks, [trunk] as bits (see
// lacking); nil: to any lane. It calls mendWithTrees, and again without the trees if destinations are left.
func mendAvoiding(ctx context.Context, tables, was *routing.Tables, lacks []uint16, o Options) (*Plan, error) {
	plan, err := mendWithTrees(ctx, tables, was, lacks, o)
	if tables.Multicast == nil || err == nil && (len(plan.Left) == 0 || o.Gentle) || ctx.Err() != nil {
		return plan, err
	}
	treeless := *tables
	treeless.Multicast = nil
	if bare, e := mendWithTrees(ctx, &treeless, was, lacks, o); err != nil || e == nil && len(bare.Left) < len(plan.Left) {
		return bare, e
	}
	return plan, nil
}

// mendWithTrees is mendAvoiding with steps that have the trees for multicast of the tables, whatever that leaves.
func mendWithTrees(ctx context.Context, tables, was *routing.Tables, lacks []uint16, o Options) (*Plan, error) {
	if o.Slack == 0 {
		o.Slack = defaultSlack
	}
	if o.Steps == 0 {
		o.Steps = defaultSteps
	}
	plan, in := &Plan{}, newProblem(tables, was, o)
	in.lacks = lacks
	if err := plan.mend(ctx, in, tables, o.Steps); err != nil {
		return nil, err
	}
	if len(plan.Left) > 0 {
		reach := plan.rebuild
		if o.Gentle {
			reach = plan.makeWay
		}
		if err := reach(ctx, in, tables); err != nil {
			return nil, err
		}
		in.dead.scan(plan.end(tables).Forwarding)
	}
	if len(plan.Left) == 0 {
		if err := plan.balance(ctx, in, tables); err != nil {
			return nil, err
		}
	}
	for _, last := range []bool{false, true} { // entries that no packet in scope uses
		if !in.dead.anyRow(plan.end(tables).Forwarding) {
			break
		}
		a := in.newAttempt(plan.end(tables))
		if err := a.mendUnused(ctx, last); err != nil {
			return nil, err
		}
		if a.step.Follow == 0 {
			break
		}
		plan.Steps = append(plan.Steps, a.step)
	}
	if err := plan.merge(ctx, in, tables); err != nil {
		return nil, err
	}
	return plan, plan.keepWhole(ctx, tables, o.Scope)
}

// end is the tables after the last step, or before, those that the plan begins with, if there is none.
func (p *Plan) end(before *routing.Tables) *routing.Tables {
	if n := len(p.Steps); n > 0 {
		return p.Steps[n-1].Tables
	}
	return before
}

// mend adds at most so many steps to p, each of which mends what it can, until nothing is left or a step
// changes nothing, and sets p.Left. tables is what p begins with. Mend calls it first; later it mends what
// steps towards other tables have left.
func (p *Plan) mend(ctx context.Context, in *problem, tables *routing.Tables, most int) error {
	in.dead.scan(p.end(tables).Forwarding)
	for range most {
		a := in.newAttempt(p.end(tables))
		if err := a.derive(ctx); err != nil {
			return err
		}
		if err := a.mend(ctx, len(p.Steps) == 0); err != nil {
			return err
		}
		p.Left = a.left
		if a.step.Mended == 0 {
			break
		}
		p.Steps = append(p.Steps, a.step)
		if len(a.left) == 0 {
			break
		}
	}
	return nil
}

// rebuild is what Mend does where p.mend leaves destinations: it replaces p by a plan with further steps,
// towards other tables that reach these destinations, and with steps that mend what those leave. First
// come tables for which few others make way (ripUp), as long as each leaves fewer. If none are found, or
// no safe steps lead to them, all rows are chosen anew (rebuild.go) beside Up*/Down* rows around one set of
// roots after another, until nothing is left: each time first beside the Up*/Down* rows of few
// destinations, then beside all Up*/Down* turns. If that leaves fewer, but some, others may make way for
// these, with little work, before the next roots are tried.
// Steps after which as much is left as before are not worth writing.
func (p *Plan) rebuild(ctx context.Context, in *problem, tables *routing.Tables) error {
	if err := p.ripUp(ctx, in, tables, ripUpWork); err != nil || len(p.Left) == 0 {
		return err
	}
	begun := *p
	r := newRebuilder(in, begun.end(tables), begun.Left)
	for _, roots := range rootsFor(in, begun.Left) {
		left := len(p.Left)
		for _, choose := range []func(context.Context, []fabric.NodeID) (bool, error){r.losersFirst, r.upDown} {
			routed, err := choose(ctx, roots)
			if err == nil && routed {
				_, err = p.takeIfBetter(ctx, in, &begun, r.a.step.Tables, tables)
			}
			if err != nil {
				return err
			}
		}
		if len(p.Left) < left {
			if err := p.ripUp(ctx, in, tables, ripUpBetween); err != nil {
				return err
			}
		}
		if len(p.Left) == 0 {
			return nil
		}
	}
	return p.ripUp(ctx, in, tables, ripUpWork)
}

// makeWay is the first part of rebuild, with work by how many destinations are left.
func (p *Plan) makeWay(ctx context.Context, in *problem, tables *routing.Tables) error {
	return p.ripUp(ctx, in, tables, min(ripUpWork, len(p.Left)*ripUpBetween))
}

// ripUp replaces p by a plan with further steps, towards tables in which few destinations made way for those
// that are left (ripup.go), again and again as long as that leaves fewer. Each search takes at most so
// much work.
func (p *Plan) ripUp(ctx context.Context, in *problem, tables *routing.Tables, most int) error {
	work := 0
	for _, deepest := range ripUpDepths {
		if work > ripUpDeeper {
			most = min(most, ripUpDeeper)
		}
		for fewer := true; fewer && len(p.Left) > 0; {
			r, err := newRipUp(ctx, in, p.end(tables), deepest, most)
			if err != nil {
				return err
			}
			if err := r.routeAll(ctx, p.Left); err != nil {
				return err
			}
			if fewer, err = p.takeIfBetter(ctx, in, p, r.base.step.Tables, tables); err != nil {
				return err
			}
			work = r.work
		}
	}
	return nil
}

// takeIfBetter continues the plan begun towards target, and puts the result in place of p if fewer
// destinations are left by it than by p, or none by either and it changes fewer entries. It reports whether
// it did. tables is what both plans begin with; begun may be p.
func (p *Plan) takeIfBetter(ctx context.Context, in *problem, begun *Plan, target, tables *routing.Tables) (bool, error) {
	longer, err := begun.towards(ctx, in, target, tables)
	if err != nil {
		return false, err
	}
	fewer := len(longer.Left) < len(p.Left) || len(longer.Left)+len(p.Left) == 0 && longer.entries() < p.entries()
	if fewer {
		*p = *longer
	}
	return fewer, nil
}

// entries is how many entries all steps change.
func (p *Plan) entries() int {
	n := 0
	for _, s := range p.Steps {
		n += s.Mended + s.Drops + s.Follow
	}
	return n
}

// rootsFor is the sets of Up*/Down* roots for rebuild, in the order in which it tries them: the centres of all
// parts before the failure, since the tables may be made around these, and those of now; the switch of
// the first destination that is left; and some switches spread over the fabric.
func rootsFor(in *problem, left []Left) [][]fabric.NodeID {
	f := in.f
	tries := [][]fabric.NodeID{orient.Centres(f), {f.Endpoint(f.Owner(left[0].LID)).Switch}}
	if was := in.was.tables; was != nil {
		var before []fabric.NodeID
		for _, r := range orient.Centres(was.Fabric) {
			if r := f.NodeByGUID(was.Fabric.Node(r).GUID); r != fabric.None {
				before = append(before, r)
			}
		}
		tries = append([][]fabric.NodeID{before}, tries...)
	}
	for i := range otherRoots {
		tries = append(tries, []fabric.NodeID{fabric.NodeID(i * (f.Switches() - 1) / (otherRoots - 1))})
	}
	var once [][]fabric.NodeID
	for _, roots := range tries {
		if !slices.ContainsFunc(once, func(o []fabric.NodeID) bool { return slices.Equal(o, roots) }) {
			once = append(once, roots)
		}
	}
	return once
}

// towards is a copy of p with further steps: towards target, until the destinations in p.Left have its
// rows, and then those that mend what is left. tables is what p begins with; p stays as it is.
func (p *Plan) towards(ctx context.Context, in *problem, target, tables *routing.Tables) (*Plan, error) {
	longer := &Plan{Steps: slices.Clone(p.Steps)}
	if err := longer.migrate(ctx, in, tables, target, upTo{steps: towardsSteps, need: p.Left, drops: in.o.AllowDrops}); err != nil {
		return nil, err
	}
	longer.migrateOutside(in, tables, target.Forwarding)
	for i := range longer.Steps[len(p.Steps):] {
		longer.Steps[len(p.Steps)+i].Rebuilt = true
	}
	return longer, longer.mend(ctx, in, tables, defaultSteps)
}
