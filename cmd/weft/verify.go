package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/lft"
	"github.com/weft-fabric/weft/format/psl"
	"github.com/weft-fabric/weft/format/slvl"
	"github.com/weft-fabric/weft/format/subnetlst"
	"github.com/weft-fabric/weft/routing"
)

// verifyFlags is the command line of weft verify.
type verifyFlags struct {
	lmc                        int
	lfts, sl2vl, psl, lst      string
	contract, endpoints        string
	writeCertificate, readCert string
	json                       bool
}

func verifyCommand(a *app) *cobra.Command {
	var o verifyFlags
	c := &cobra.Command{
		Use:   "verify FABRIC --lfts FILE",
		Short: "Judge tables, ours or anyone's: reachable, free of loops, free of deadlock",
		Long: `Judge finished tables against the fabric they are for. Every route is followed;
the dependencies between lanes are derived from forwarding tables, service
levels and SL2VL maps. The verdict is a proof, which --write-certificate keeps,
or a shortest credit loop with a route that causes each of its steps.

Tables dumped by another OpenSM, or on a simulator, speak of other LIDs; --lst
gives the opensm-subnet.lst of the same run to find the ports. Without --sl2vl,
SL n rides lane n; without --psl, everything has SL 0.`,
		Example: `  weft verify fabric.ibnetdiscover --lfts opensm-lfts.dump --lst opensm-subnet.lst
  weft verify fabric.ibnetdiscover --lfts opensm.fdbs --lst opensm-subnet.lst --endpoints ca
  weft verify fabric.ibnetdiscover --lfts t/lfts.dump --sl2vl t/sl2vl.dump --psl t/paths.psl --certificate t/certificate`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verify(cmd, args[0], &o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.lfts, "lfts", "", "forwarding tables: opensm-lfts.dump, opensm.fdbs, dump_fts or ibroute output")
	f.StringVar(&o.sl2vl, "sl2vl", "", "SL to VL maps: opensm-sl2vl.dump or SLVL lines of ibdmchk")
	f.StringVar(&o.psl, "psl", "", "service levels of paths, as ibdmchk reads them")
	f.StringVar(&o.lst, "lst", "", "opensm-subnet.lst of the OpenSM that wrote the tables")
	f.StringVar(&o.contract, "contract", "honored", "what clients do with service levels: honored, directed, single:N or any")
	f.StringVar(&o.endpoints, "endpoints", "hca", "who sends and receives: hca, ca (aggregation nodes, routers too) or all (port 0 of switches too)")
	f.IntVar(&o.lmc, "lmc", -1, lmcUsage)
	f.StringVar(&o.writeCertificate, "write-certificate", "", "file to write the proof into")
	f.StringVar(&o.readCert, "certificate", "", "re-check this proof instead of searching for loops")
	f.BoolVar(&o.json, "json", false, "print the verdict for programs")
	if err := c.MarkFlagRequired("lfts"); err != nil {
		panic(err)
	}
	c.MarkFlagsMutuallyExclusive("write-certificate", "certificate")
	return c
}

// verifyJob is one run of weft verify.
type verifyJob struct {
	*app
	name    string
	o       *verifyFlags
	options deadlock.Options
	fabric  *fabric.Fabric
	tables  *routing.Tables
	rule    lft.Rule
	verdict *deadlock.Verdict
	checked bool // the proof was given and re-checked
	spent   struct{ read, verify time.Duration }
}

func (a *app) verify(cmd *cobra.Command, name string, o *verifyFlags) error {
	j := &verifyJob{app: a, name: name, o: o}
	var err error
	if j.options.Contract, err = routing.ParseContract(o.contract); err != nil {
		return usage("%w", err)
	}
	if j.options.Scope, err = routing.ParseScope(o.endpoints); err != nil {
		return usage("%w", err)
	}
	if err := checkLMC(o.lmc); err != nil {
		return err
	}
	read := a.stage("reading", &j.spent.read)
	err = j.read()
	read.done()
	if err != nil {
		return err
	}
	judge := j.judge
	if o.readCert != "" {
		judge = func(ctx context.Context) error { return j.recheck(ctx, cmd) }
	}
	s := a.stage("verify", &j.spent.verify)
	j.options.Progress = s.progress()
	err = judge(cmd.Context())
	s.done()
	if err != nil {
		return err
	}
	if err := j.keepCertificate(); err != nil {
		return err
	}
	return j.report()
}

// read reads the fabric and its tables.
func (j *verifyJob) read() error {
	f, err := j.load(j.name)
	if err != nil {
		return err
	}
	if f, err = withLMC(f, j.o.lmc); err != nil {
		return err
	}
	j.fabric = f
	return j.readTables()
}

// readTables reads the tables of the fabric.
func (j *verifyJob) readTables() error {
	f := j.fabric
	var err error
	var join lft.Join
	if j.o.lst != "" {
		if join.List, err = readFile(j.app, j.o.lst, subnetlst.ReadMap); err != nil {
			return err
		}
	}
	dump, err := readFile(j.app, j.o.lfts, func(r io.Reader, name string) (*lft.Dump, error) {
		return lft.Read(r, name, f, join)
	})
	if err != nil {
		return err
	}
	j.rule = dump.Rule
	if err := j.fits(dump); err != nil {
		return err
	}
	m := routing.LanePerSL(routing.MaxDataVLs)
	if j.o.sl2vl != "" {
		if m, err = readFile(j.app, j.o.sl2vl, func(r io.Reader, name string) (*routing.SL2VL, error) {
			return slvl.Read(r, name, f)
		}); err != nil {
			return err
		}
	}
	lanes := routing.OneSL(f, m)
	if j.o.psl != "" {
		if lanes, err = readFile(j.app, j.o.psl, func(r io.Reader, name string) (*routing.Lanes, error) {
			return psl.Read(r, name, f, m, dump.LIDs)
		}); err != nil {
			return err
		}
	}
	j.tables = &routing.Tables{Fabric: f, Forwarding: dump.Forwarding, Lanes: lanes}
	return nil
}

// fits refuses a dump that lacks switches or endpoints of the fabric: it was
// taken of another one.
func (j *verifyJob) fits(d *lft.Dump) error {
	var switches, endpoints []string
	for _, s := range d.NoTable {
		switches = append(switches, j.fabric.Label(s))
	}
	for _, e := range d.Unreached {
		if ep := j.fabric.Endpoint(e); ep.Switch != fabric.None && ep.Class != fabric.SwitchPort {
			endpoints = append(endpoints, endpointName(j.fabric, e))
		}
	}
	switch {
	case len(switches) > 0:
		return fmt.Errorf("%s does not fit %s: it has no table for %s", j.o.lfts, j.name, some(switches, "switch"))
	case len(endpoints) > 0:
		return fmt.Errorf("%s does not fit %s: no switch in it has an entry for %s", j.o.lfts, j.name, some(endpoints, "endpoint"))
	}
	return nil
}

// judge searches for a proof or a credit loop.
func (j *verifyJob) judge(ctx context.Context) (err error) {
	j.verdict, err = deadlock.Verify(ctx, j.tables, j.options)
	return err
}

// recheck checks a proof that is given.
func (j *verifyJob) recheck(ctx context.Context, cmd *cobra.Command) error {
	c, err := readFile(j.app, j.o.readCert, func(r io.Reader, name string) (*deadlock.Certificate, error) {
		return certificate.Read(r, name, j.fabric)
	})
	if err != nil {
		return err
	}
	for _, claim := range []struct{ flag, wanted, given string }{
		{"contract", j.options.Contract.String(), c.Contract.String()},
		{"endpoints", j.options.Scope.String(), c.Scope.String()},
	} {
		if cmd.Flags().Changed(claim.flag) && claim.wanted != claim.given {
			return usage("%s proves --%s %s, not %s", j.o.readCert, claim.flag, claim.given, claim.wanted)
		}
	}
	j.options.Contract, j.options.Scope, j.checked = c.Contract, c.Scope, true
	j.verdict, err = deadlock.CheckCertificate(ctx, j.tables, c, j.options.Progress)
	if err != nil && ctx.Err() == nil {
		if j.o.json {
			if err := j.printJSON(map[string]any{"verdict": "certificate does not hold", "why": err.Error()}); err != nil {
				return err
			}
		}
		return finding("%w\nThe proof is not for these tables (was it made with other --sl2vl or --psl?); without --certificate they are judged afresh.", err)
	}
	return err
}

// keepCertificate writes the proof, if there is one and it is wanted.
func (j *verifyJob) keepCertificate() error {
	if j.o.writeCertificate == "" || !j.verdict.Free() {
		return nil
	}
	return j.writeFile(j.o.writeCertificate, func(w io.Writer) error {
		return certificate.Write(w, j.fabric, j.verdict.Certificate)
	})
}

// verifySummary is the verdict for programs.
type verifySummary struct {
	Verdict      string          `json:"verdict"`
	Contract     string          `json:"contract"`
	Endpoints    string          `json:"endpoints"`
	VLs          int             `json:"vls"`
	SLs          int             `json:"sls"`
	Dependencies int             `json:"dependencies"`
	Pairs        int64           `json:"pairs"`
	Unreachable  int64           `json:"unreachable"`
	Loops        int64           `json:"forwarding_loops"`
	Dropped      int64           `json:"dropped_turns"`
	Stray        int64           `json:"stray"` // (switch without endpoints in scope, LID) without a route
	Lost         []lostSummary   `json:"lost,omitempty"`
	Cycle        []stepSummary   `json:"cycle"`
	JoinedBy     string          `json:"joined_by"`
	Rechecked    bool            `json:"certificate_checked"`
	Seconds      verifyStageTime `json:"seconds"`
}

type verifyStageTime struct {
	Read   float64 `json:"read"`
	Verify float64 `json:"verify"`
}

// lostSummary is a pair without a route.
type lostSummary struct {
	Switch string     `json:"switch"`
	Dst    string     `json:"dst"`
	LID    fabric.LID `json:"lid"`
	Why    string     `json:"why"`
}

func (j *verifyJob) summary() *verifySummary {
	v := j.verdict
	s := &verifySummary{
		Verdict: verdictWord(v), Contract: v.Contract.String(), Endpoints: v.Scope.String(),
		VLs: v.VLs, SLs: v.SLs, Dependencies: v.Dependencies, Pairs: v.Pairs, Unreachable: v.Unreachable,
		Loops: v.Loops, Dropped: v.Dropped, Stray: v.Stray, Cycle: cycleSummary(j.fabric, v.Cycle),
		JoinedBy: j.rule.String(), Rechecked: j.checked,
		Seconds: verifyStageTime{j.spent.read.Seconds(), j.spent.verify.Seconds()},
	}
	for _, l := range v.Lost {
		s.Lost = append(s.Lost, lostSummary{j.fabric.Label(l.Switch), endpointName(j.fabric, j.fabric.Owner(l.LID)), l.LID, l.Why.String()})
	}
	return s
}

// report prints the verdict, and turns findings into the exit code.
func (j *verifyJob) report() error {
	if j.o.json {
		if err := j.printJSON(j.summary()); err != nil {
			return err
		}
	} else if _, err := fmt.Fprint(j.stdout, j.screen()); err != nil {
		return err
	}
	if !j.verdict.Free() || !j.verdict.Complete() {
		return &exitError{code: exitFinding}
	}
	return nil
}

func (j *verifyJob) screen() string {
	p := j.newPage()
	f, v := j.fabric, j.verdict
	n := f.Count()
	p.fact("fabric", "%s: %s, %s", j.name, plural(n.Switches, "switch"), describeEndpoints(f))
	p.fact("tables", "%s, destinations found by %s", j.o.lfts, j.rule)
	switch {
	case !v.Free():
		p.fact("verdict", "%s (contract %s, endpoints %s), a shortest one of %d steps:\n%s", creditLoop, v.Contract, v.Scope, len(v.Cycle), cycleText(f, v.Cycle))
	case j.checked:
		p.fact("verdict", "%s (contract %s, endpoints %s): the ranks of %s rise along all %s dependencies", deadlockFree, v.Contract, v.Scope, j.o.readCert, thousands(int64(v.Dependencies)))
	default:
		p.fact("verdict", "%s (contract %s, endpoints %s): %s dependencies, a rank that rises along each", deadlockFree, v.Contract, v.Scope, thousands(int64(v.Dependencies)))
	}
	p.fact("lanes", "%d in use, %s", v.VLs, plural(v.SLs, "service level"))
	p.fact("routes", "%s", j.routesText())
	p.fact("time", "read %s, verify %s", seconds(j.spent.read), seconds(j.spent.verify))
	if j.o.writeCertificate != "" && v.Free() {
		p.fact("proof", "%s", j.o.writeCertificate)
	}
	return p.String()
}

// routesText says which pairs have a route, and names some that have none.
func (j *verifyJob) routesText() string {
	v := j.verdict
	var b strings.Builder
	fmt.Fprintf(&b, "%s pairs of endpoints, %s without a route", thousands(v.Pairs), thousands(v.Unreachable))
	if v.Loops > 0 {
		fmt.Fprintf(&b, "; packets circle for ever from %s (switch, LID)", thousands(v.Loops))
	}
	if v.Dropped > 0 {
		fmt.Fprintf(&b, "; packets are dropped at %s turns, their SL being mapped to VL 15", thousands(v.Dropped))
	}
	if v.Stray > 0 {
		fmt.Fprintf(&b, "; %s more from switches without endpoints in this scope (harmless)", thousands(v.Stray))
	}
	const most = 5
	for i, l := range v.Lost {
		if i == most {
			b.WriteString("\n  …")
			break
		}
		fmt.Fprintf(&b, "\n  from %s to %s (LID %d): %s", j.fabric.Label(l.Switch), endpointName(j.fabric, j.fabric.Owner(l.LID)), l.LID, l.Why)
	}
	return b.String()
}
