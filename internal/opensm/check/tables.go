package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/opensm/advice"
	"github.com/weft-fabric/weft/routing"
)

// judgeTables judges the tables in force, under what clients are said to do and under every
// contract that a finding may mention.
func (r *Report) judgeTables(ctx context.Context, in *Input) error {
	if in.Tables == nil {
		return nil
	}
	assumed, how := assumption(in)
	v, err := deadlock.Verify(ctx, in.Tables, deadlock.Options{Contract: assumed, Scope: in.Scope})
	if err != nil {
		return err
	}
	free := map[routing.Contract]bool{assumed: v.Free()}
	contracts := []routing.Contract{routing.Any, routing.Single(0), routing.Honored, routing.Directed}
	for _, c := range append(contracts, pluginContract(in.Conf)) {
		if _, done := free[c]; done {
			continue
		}
		other, err := deadlock.Verify(ctx, in.Tables, deadlock.Options{Contract: c, Scope: in.Scope, NoCycle: true})
		if err != nil {
			return err
		}
		free[c] = other.Free()
	}
	r.free = func(c routing.Contract) bool { return free[c] }
	if !v.Complete() {
		r.add(Finding{Level: Danger, Code: CreditLoop, What: fmt.Sprintf("%d of %d pairs have no route that delivers (weft verify shows where)", v.Unreachable+v.Loops, v.Pairs), Do: "find out which engine made the tables"})
	}
	if v.Free() {
		r.Needed = v.VLs
		if one, err := advice.OneLane(ctx, in.Tables, in.Scope); err != nil {
			return err
		} else if one {
			r.Needed = 1
		}
		return nil
	}
	f := in.Fabric
	var steps []string
	for _, s := range v.Cycle[:min(3, len(v.Cycle))] {
		ch := f.Channel(s.Trunk)
		steps = append(steps, fmt.Sprintf("%s port %d, VL %d", f.Label(ch.From), ch.FromPort, s.VL))
	}
	r.add(Finding{Level: Danger, Code: CreditLoop, What: fmt.Sprintf("the tables have a credit loop of %d links %s: %s, …", len(v.Cycle), how, strings.Join(steps, "; ")),
		Do: "route with an engine that is proven for what clients do (weft route, weft serve)"})
	return nil
}

// assumption is what clients are assumed to do with the tables in force, and the same in words. If it is not
// stated and the service levels of PathRecords are not known, it is SL 0 for
// everything, the default of MPI libraries and NCCL.
func assumption(in *Input) (c routing.Contract, how string) {
	switch {
	case in.Contract != nil && !in.SLs && byRecord(*in.Contract):
		return routing.Single(0), fmt.Sprintf("on SL 0, which stands for the service levels of PathRecords that contract %s is about: they are not known", *in.Contract)
	case in.Contract != nil:
		return *in.Contract, "under contract " + in.Contract.String()
	case in.SLs:
		return routing.Honored, "though clients use the PathRecord's service level, their own or the other side's"
	}
	return routing.Single(0), "for clients that use SL 0, as they do by default"
}

// byRecord reports whether clients of a contract use the service levels of
// PathRecords.
func byRecord(c routing.Contract) bool { return c == routing.Honored || c == routing.Directed }

// Texts about what clients do.
const (
	byDefault          = "UCX, NCCL, libfabric and Open MPI 5 use one that is configured, 0 by default"
	answersOnRequestSL = "a passive side of RDMA-CM answers on the other side's"
	safer              = "take tables that are proven whatever clients do (weft route, weft serve), or see that clients do so"
)

// checkClients reports what clients must do for the tables to be free of deadlock.
func (r *Report) checkClients(in *Input) {
	var sl int
	if in.Contract != nil {
		if n, err := fmt.Sscanf(in.Contract.String(), "single:%d", &sl); n == 1 && err == nil {
			if r.free == nil || r.free(*in.Contract) { // otherwise the credit loop is reported
				r.add(Finding{Level: Advice, Code: Contract, What: fmt.Sprintf("all clients must use SL %d", sl), Do: "set it in the environment of every job",
					Lines: []string{fmt.Sprintf("UCX_IB_SL=%d", sl), fmt.Sprintf("NCCL_IB_SL=%d", sl)}})
			}
			return
		}
	}
	if r.free != nil {
		r.checkClientsOfTables(in)
	} else if e, layers := needsLanes(in.Conf, r.Engines); layers && r.Needed != 1 {
		r.checkClientsOfEngine(in, e)
	}
}

// checkClientsOfTables reports on tables that were judged: only contracts under which they
// are free of deadlock.
func (r *Report) checkClientsOfTables(in *Input) {
	switch {
	case r.free(routing.Any):
	case !in.SLs && r.free(routing.Single(0)):
		r.add(Finding{Level: Warning, Code: Contract, What: "the tables hold where all clients use SL 0, and not where each uses what it likes; whether they hold on the service levels of PathRecords is not known",
			Do: "give those with --psl, or see that clients use SL 0: --contract single:0 says how"})
	case !in.SLs: // the loop was reported already
	case r.free(routing.Honored):
		zero := ", and have a credit loop where all use SL 0"
		if r.free(routing.Single(0)) {
			zero = ", or where all use SL 0"
		}
		r.mustUse(in, routing.Honored, "the tables hold where every client uses the PathRecord's service level"+zero, byDefault)
	case r.free(routing.Directed):
		r.mustUse(in, routing.Directed, "the tables hold where each side of a connection uses the service level of its own PathRecord, and have a credit loop where one uses the other side's",
			answersOnRequestSL+"; "+byDefault)
	}
}

// checkClientsOfEngine reports on tables that are not known, by what the engine promises.
func (r *Report) checkClientsOfEngine(in *Input, engine string) {
	switch engine {
	case "lash": // gives both directions one service level
		r.mustUse(in, routing.Honored, "the tables of lash hold only where every client uses the PathRecord's service level", byDefault)
	case "file":
		r.mustUse(in, routing.Honored, "the tables of file, with a QoS policy, hold at most where every client uses the PathRecord's service level (--fabric, --tables and --psl have them judged)", byDefault)
	default:
		r.mustUse(in, routing.Directed, "the tables of "+engine+" hold at most where each side of a connection uses the service level of its own PathRecord", answersOnRequestSL+"; "+byDefault)
	}
}

// mustUse adds what clients must do, needed, for the tables to hold: as advice if the stated contract suffices for it,
// as a warning otherwise. others is words about programs that do otherwise.
func (r *Report) mustUse(in *Input, needed routing.Contract, what, others string) {
	if in.Contract != nil && byRecord(*in.Contract) && needed.Covers(*in.Contract) {
		r.add(Finding{Level: Advice, Code: Contract, What: what + ", as you say yours do", Do: "keep it so: " + others})
		return
	}
	r.add(Finding{Level: Warning, Code: Contract, What: what + "; " + others, Do: safer})
}
