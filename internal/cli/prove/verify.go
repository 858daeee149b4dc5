package prove

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/proof"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

type verifyFlags struct {
	flags.Tables
	lmc                        int
	contract                   *routing.Contract
	scope                      routing.Scope
	choose                     string
	writeCertificate, readCert string
	proofChecker               string
	json                       bool
}

// Verify makes the command weft verify.
func Verify(a *console.Console) *cobra.Command {
	var o verifyFlags
	c := &cobra.Command{
		Use:   "verify FABRIC [--tables FILE]",
		Short: "Judge tables, ours or anyone's: reachable, free of loops, free of deadlock",
		Long: `Judge finished tables against the fabric they are for. Every route is followed;
the dependencies between lanes are derived from forwarding tables, service
levels and SL2VL maps. The verdict is a proof, which --write-certificate keeps,
or a shortest credit loop with a route that causes each of its steps.

Switches forward by LIDs: an entry for a LID counts for the port that has it in
FABRIC, whoever had it when the tables were made. Tables dumped by another OpenSM,
or on a simulator, have other LIDs throughout; then ports are found by their GUIDs,
or by --lst, the opensm-subnet.lst of the same run, the same routes are judged
under the LIDs of FABRIC, and the output says so. Without --sl2vl, SL n rides lane
n; without --psl, everything has SL 0.

An output folder of ibdiagnet2 is a fabric with its tables, for which --tables may be
missing: ibdiagnet2.db_csv, .fdbs, .slvl and .far (docs/ibdiagnet.md).

Under adaptive routing (--groups, or the .far of the folder) every choice of every switch
counts, and packets that stay in order by the static port too. Where these have a credit
loop, it may still be that packets can always escape by other ports of their groups; that
helps only if switches choose again while a packet waits, and --choose again takes that
for granted.

Tables that are older or newer than the fabric are judged as far as they go: give
the fabric as it is now and the tables from before a cable died, and verify says
who is cut off. What the two do not have in common is a finding (exit code 1); it
is an error with --strict, and where they have nothing in common.`,
		Example: `  weft verify fabric.ibnetdiscover --tables opensm-lfts.dump --lst opensm-subnet.lst
  weft verify now.ibnetdiscover --tables opensm-lfts.dump --json
  weft verify fabric.ibnetdiscover --tables opensm.fdbs --lst opensm-subnet.lst --endpoints ca
  weft verify fabric.ibnetdiscover --tables tables --certificate tables/certificate`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("proof-checker") && o.proofChecker == "" {
				return exit.Usage("--proof-checker names no program")
			}
			return runVerify(a, cmd, args[0], &o)
		},
	}
	f := c.Flags()
	o.AddTo(c)
	flags.AddContract(f, &o.contract, "honored")
	flags.AddScope(f, &o.scope)
	o.AddMulticastTo(c)
	flags.AddLMC(f, &o.lmc)
	flags.OneOf(f, &o.choose, "choose", "of adaptive routing: switches choose the port of a packet once, when it comes in, or again while it waits", chooseOnce, chooseAgain)
	f.StringVar(&o.writeCertificate, "write-certificate", "", "file to write the proof into")
	f.StringVar(&o.readCert, "certificate", "", "re-check this proof instead of searching for loops")
	f.StringVar(&o.proofChecker, "proof-checker", "", "program that has to accept the proof as well: weft-proof, which is extracted from a machine-checked theorem (docs/proof.md)")
	flags.AddJSON(f, &o.json)
	c.MarkFlagsMutuallyExclusive("write-certificate", "certificate")
	return c
}

// When switches with adaptive routing choose.
const (
	chooseOnce  = "once"
	chooseAgain = "again"
)

// verifyJob is a call of weft verify: the tables that were read (Given), and what came of judging them.
type verifyJob struct {
	*console.Console
	name    string
	o       *verifyFlags
	options deadlock.Options
	*input.Given
	verdict *deadlock.Verdict
	checked bool          // the proof was given and re-checked
	proof   *result.Proof // what weft-proof says of it; nil: it was not asked
	spent   result.VerifyStageTime
}

// runVerify reads the tables, judges them or re-checks a proof, asks weft-proof if told to, and prints.
func runVerify(a *console.Console, cmd *cobra.Command, name string, o *verifyFlags) error {
	j := &verifyJob{Console: a, name: name, o: o, options: deadlock.Options{Contract: flags.ContractOr(o.contract, routing.Honored), Scope: o.scope, Lost: -1}}
	o.Findings = true
	if o.LFTs == "" && flags.IsIbdiagnet(name) && !flags.HasTables(name) {
		return exit.Usage("%s has no ibdiagnet2.fdbs, and --tables names no other tables; ibdiagnet -r --routing writes it", name)
	}
	err := o.SettleFor(name)
	if err != nil {
		return err
	}
	if o.LFTs == "" {
		return exit.Usage("which tables? --tables names them; only an output folder of ibdiagnet2 or OpenSM with its forwarding tables is FABRIC and tables in one")
	}
	read := a.Stage("reading", &j.spent.Read)
	j.Given, err = input.Read(j.Console, name, o.lmc, &o.Tables)
	read.Done()
	if err != nil {
		return err
	}
	judging := a.Stage("verify", &j.spent.Verify)
	j.options.Progress = judging.Progress()
	if o.readCert == "" {
		j.verdict, err = deadlock.Verify(cmd.Context(), j.Tables, j.options)
	} else {
		err = j.recheck(cmd.Context(), cmd)
	}
	judging.Done()
	if err == nil && o.writeCertificate != "" && j.verdict.Free() {
		err = output.WriteFile(j.Console, o.writeCertificate, func(w io.Writer) error {
			return certificate.Write(w, j.Tables.Fabric, j.verdict.Certificate)
		})
	}
	if err == nil {
		err = j.prove(cmd.Context())
	}
	if err != nil {
		return err
	}
	s := j.summary()
	return j.Answer(o.json, s, func() error { return j.Show(j.screen(s)) }, !j.free() || proof.Refused(j.proof) || !j.verdict.Complete() || j.Mismatches != nil || len(s.Findings) > 0 || !j.treesComplete())
}

// free reports whether the tables are free of deadlock, given when switches choose.
func (j *verifyJob) free() bool {
	return j.verdict.Free() || j.o.choose == chooseAgain && j.verdict.Escape != nil
}

// recheck reads the proof of --certificate and checks it against the tables, in place of judging them:
// it sets the verdict, and contract and scope of the options to those of the proof.
func (j *verifyJob) recheck(ctx context.Context, cmd *cobra.Command) error {
	c, err := console.ReadFile(j.Console, j.o.readCert, func(r io.Reader, name string) (*deadlock.Certificate, error) {
		return certificate.Read(r, name, j.Tables.Fabric)
	})
	if err != nil {
		return err
	}
	for _, claim := range []struct{ flag, wanted, given string }{
		{"contract", j.options.Contract.String(), c.Contract.String()},
		{"endpoints", j.options.Scope.String(), c.Scope.String()},
	} {
		if cmd.Flags().Changed(claim.flag) && claim.wanted != claim.given {
			return exit.Usage("%s proves --%s %s, not %s", j.o.readCert, claim.flag, claim.given, claim.wanted)
		}
	}
	j.options.Contract, j.options.Scope, j.checked = c.Contract, c.Scope, true
	j.verdict, err = deadlock.CheckCertificate(ctx, j.Tables, c, j.options.Progress)
	if err != nil && ctx.Err() == nil {
		return j.Refuse(j.o.json, result.BadCertificate{Verdict: "certificate does not hold", Why: err.Error()}, "%w\nThe proof is not for these tables (was it made with other --sl2vl or --psl?); without --certificate they are judged afresh.", err)
	}
	if err != nil || j.verdict.Unreachable == 0 {
		return err
	}
	all, err := deadlock.Verify(ctx, j.Tables, j.options) // who is cut off
	if err == nil {
		j.verdict.Lost = all.Lost
	}
	return err
}

// summary is the result for programs; screen shows it to people.
func (j *verifyJob) summary() *result.Verify {
	f, v := j.Tables.Fabric, j.verdict
	s := &result.Verify{
		Verdict: outputs.Verdict(f, v), Covers: report.Covers(v), Multicast: j.multicastSummary(),
		VLs: v.VLs, LaneCounts: result.LaneCounts{Used: v.VLs},
		Loops: v.Loops, Dropped: v.Dropped, Stray: v.Stray,
		Assumed: j.o.Tables.Assumed(), Fit: j.Fit(), CutOff: outputs.CutOff(j.Tables, v), JoinedBy: j.Rule.String(), Rechecked: j.checked, Proof: j.proof, Next: j.next(),
		Seconds: j.spent, Groups: j.groupSummary(), Lost: outputs.Lost(f, v.Lost), ByLane: j.ByLane,
	}
	s.Word = outputs.Word(j.free())
	s.Findings = slices.Concat(j.Doubts, report.Absent(s.AbsentLanes))
	return s
}

// doubts reports whether there is a doubt of a kind.
func (j *verifyJob) doubts(kind string) bool {
	return slices.ContainsFunc(j.Doubts, func(d result.Doubt) bool { return d.Kind == kind })
}

func (j *verifyJob) screen(s *result.Verify) *console.Page {
	p := j.NewAnswer()
	f, v := j.Tables.Fabric, j.verdict
	switch {
	case j.checked:
		p.Judged(true, "%s: the ranks of %s rise along all %s dependencies", report.About(v), j.o.readCert, words.Thousands(v.Dependencies))
	case j.free() && !v.Free():
		p.Judged(true, "%s (contract %s, endpoints %s), as long as switches choose again; if they choose once, there is a loop of %d steps:\n%s",
			result.DeadlockFree, v.Contract, v.Scope, len(v.Cycle), report.CycleText(j.Console, f, v.Cycle))
	default:
		p.Judged(v.Free(), "%s", report.VerdictText(j.Console, f, v))
	}
	if j.proof != nil {
		p.Fact("checker", "%s", outputs.ProofText(j.proof))
	}
	if s.Groups != nil && s.Groups.Escape != nil {
		p.Fact("escape", "%s", outputs.EscapeText(s.Groups.Escape, j.o.choose == chooseOnce))
	}
	if j.free() {
		p.Detail("outside", "%s", report.OutsideOf(v))
	}
	p.Fact("routes", "%s", j.routesText())
	if s.CutOff != nil {
		p.Short("cut off", "%s", report.CutOffInShort(s.CutOff))
		p.Detail("cut off", "%s", report.CutOffText(j.Console, s.CutOff))
	}
	p.Fact("lanes", "%s; %s", outputs.LanesText(result.LaneCounts{Used: v.VLs}), words.Plural(v.SLs, "service level"))
	if s.Multicast != nil {
		p.Fact("multicast", "%s", outputs.MulticastText(s.Multicast))
	}
	for i, finding := range s.Findings {
		if i == 0 {
			p.Finding("findings", "%s", finding.What)
		} else {
			p.Detail("", "%s", finding.What)
		}
	}
	p.Spare("fabric", "%s", report.Counts(f))
	p.Detail("fabric", "%s", report.Network(j.name, f))
	p.Detail("tables", "%s, destinations found by %s", j.o.LFTs, j.Rule)
	assumed := j.assumed()
	if j.o.PSL == "" || j.o.SL2VL == "" || len(j.ByLane) > 0 {
		p.Short("assumed", "%s", assumed[0])
	}
	p.Detail("assumed", "%s", strings.Join(assumed, "\n"))
	if s.Groups != nil {
		p.Detail("groups", "%s", outputs.GroupText(s.Groups))
	}
	input.Facts(p, s.Fit)
	p.Detail("time", "read %s, verify %s", words.Seconds(j.spent.Read), words.Seconds(j.spent.Verify))
	if j.o.writeCertificate != "" && v.Free() {
		p.Fact("proof", "%s", j.o.writeCertificate)
	}
	if next := j.next(); next != "" {
		p.Fact("next", "%s", next)
	}
	return p
}

// assumed is the assumptions under which the tables are judged, a line each, and which flags change them.
func (j *verifyJob) assumed() []string {
	lines := []string{"every packet has SL 0 (--psl FILE gives service levels)"}
	if j.o.PSL != "" {
		lines[0] = "service levels are those of " + j.o.PSL
	}
	switch {
	case j.o.SL2VL != "":
		lines = append(lines, "lanes are those of "+j.o.SL2VL)
	case j.o.PSL != "":
		lines = append(lines, "SL n rides VL n (--sl2vl FILE gives the maps of the switches, such as opensm-sl2vl.dump)")
	default:
		lines[0] = "every packet has SL 0 and rides VL 0 (--psl FILE gives service levels, --sl2vl FILE lanes)"
	}
	if n := len(j.ByLane); n > 0 {
		lines = append(lines, fmt.Sprintf("%s the lane of a packet by the lane it came in on, by %s: %s", words.Counted(n, "switch chooses", "switches choose"), j.o.ByLane, words.FirstOf(list.Of(j.ByLane, outputs.ByLaneText))),
			"hosts send SL n on VL n, beginning again at VL 0 where their cables run fewer lanes")
	}
	lines = append(lines, fmt.Sprintf("clients keep contract %s, endpoints are %s (--contract, --endpoints)", j.options.Contract, j.options.Scope))
	if text := routed.WithheldText(j.Tables, j.options.Contract); text != "" {
		lines = append(lines, strings.TrimSpace(text))
	}
	if j.Tables.Groups != nil && j.o.choose == chooseOnce {
		lines = append(lines, "a switch keeps to the port that it chose when a packet came in (--choose again: it chooses again while the packet waits)")
	} else if j.Tables.Groups != nil {
		lines = append(lines, "a switch chooses again as long as a packet waits (--choose again), but where a hash decides")
	}
	if j.Rule == lft.ByLID && (j.Mismatches == nil || len(j.Mismatches.OtherLIDs)+len(j.Mismatches.OtherOwners) == 0) {
		lines = append(lines, "the tables speak of the LIDs of the fabric (--lst FILE gives the opensm-subnet.lst of their OpenSM)")
	}
	return lines
}

// routesText says how many pairs have a route, and what becomes of other packets.
func (j *verifyJob) routesText() string {
	v := j.verdict
	var b strings.Builder
	fmt.Fprintf(&b, "%s pairs of endpoints, %s without a route", words.Thousands(v.Pairs), words.Thousands(v.Unreachable))
	if v.Loops > 0 {
		fmt.Fprintf(&b, "; packets circle for ever from %s (switch, LID)", words.Thousands(v.Loops))
	}
	if v.Dropped > 0 {
		fmt.Fprintf(&b, "; packets are dropped at %s turns, their SL being mapped to VL 15", words.Thousands(v.Dropped))
	}
	if v.Stray > 0 && !j.Brief() {
		fmt.Fprintf(&b, "; %s more from switches without endpoints in this scope (harmless)", words.Thousands(v.Stray))
	}
	return b.String()
}

// next says what to do about findings; empty if there are none.
func (j *verifyJob) next() string {
	var do []string
	if !j.free() {
		switch without := "if these tables come with %s: the loop may not be there"; { // %s: files that were not given
		case j.verdict.Loops > 0: // a loop on any service level
		case j.o.PSL == "" && j.o.SL2VL == "":
			do = append(do, fmt.Sprintf(without, "service levels and SL2VL maps, give both (--psl, --sl2vl)"))
		case j.o.PSL == "":
			do = append(do, fmt.Sprintf(without, "service levels, give them too (--psl)"))
		case j.o.SL2VL == "":
			do = append(do, fmt.Sprintf(without, "SL2VL maps, give them too (--sl2vl)"))
		}
		do = append(do, fmt.Sprintf("weft route %s computes tables that are proven", j.name))
	}
	switch {
	case j.Mismatches != nil:
		do = append(do, "take both dumps again, close together; if they still differ, OpenSM has not routed since: SIGHUP to opensm makes it")
		if j.verdict.Free() && !j.verdict.Complete() {
			do = append(do, "weft repair mends the tables by the fewest entries, in steps that are safe")
		}
	case j.verdict.Loops > 0:
		do = append(do, "the forwarding tables send packets round in circles: route the fabric again, or SIGHUP to opensm makes it route")
	case j.doubts(input.OtherRun):
		do = append(do, "take all files anew, in one run into an empty folder: ibdiagnet -r --routing -o DIR")
	case j.doubts(input.LIDLeftOut):
		do = append(do, "give tables that have the largest LID: OpenSM's own (opensm -D 0x43), or those of ibdiagnet -r")
	case !j.verdict.Complete():
		do = append(do, "the tables leave out what the fabric has: route it again, or SIGHUP to opensm makes it route")
	}
	return strings.Join(do, "\n")
}
