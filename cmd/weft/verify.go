package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/cmd/weft/internal/console"
	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/cmd/weft/internal/flags"
	"github.com/weft-fabric/weft/cmd/weft/internal/input"
	"github.com/weft-fabric/weft/cmd/weft/internal/output"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/routing"
)

type verifyFlags struct {
	flags.Tables
	lmc                        int
	contract                   *routing.Contract
	scope                      routing.Scope
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
SL n rides lane n; without --psl, everything has SL 0.

Tables that are older or newer than the fabric are judged as far as they go: give
the fabric as it is now and the tables from before a cable died, and verify says
who is cut off. What the two do not have in common is a finding (exit code 1); it
is an error with --strict, and where they have nothing in common.`,
		Example: `  weft verify fabric.ibnetdiscover --lfts opensm-lfts.dump --lst opensm-subnet.lst
  weft verify now.ibnetdiscover --lfts opensm-lfts.dump --json
  weft verify fabric.ibnetdiscover --lfts opensm.fdbs --lst opensm-subnet.lst --endpoints ca
  weft verify fabric.ibnetdiscover --lfts t/lfts.dump --sl2vl t/sl2vl.dump --psl t/paths.psl --certificate t/certificate`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verify(cmd, args[0], &o)
		},
	}
	f := c.Flags()
	o.AddTo(c)
	flags.AddContract(f, &o.contract, "honored")
	flags.AddScope(f, &o.scope)
	flags.AddLMC(f, &o.lmc)
	f.StringVar(&o.writeCertificate, "write-certificate", "", "file to write the proof into")
	f.StringVar(&o.readCert, "certificate", "", "re-check this proof instead of searching for loops")
	flags.AddJSON(f, &o.json)
	if err := c.MarkFlagRequired("lfts"); err != nil {
		panic(err)
	}
	c.MarkFlagsMutuallyExclusive("write-certificate", "certificate")
	return c
}

type verifyJob struct {
	*app
	name    string
	o       *verifyFlags
	options deadlock.Options
	*input.Given
	verdict *deadlock.Verdict
	checked bool // the proof was given and re-checked
	spent   verifyStageTime
}

func (a *app) verify(cmd *cobra.Command, name string, o *verifyFlags) error {
	j := &verifyJob{app: a, name: name, o: o, options: deadlock.Options{Scope: o.scope, Lost: -1}}
	if o.contract != nil {
		j.options.Contract = *o.contract
	}
	var err error
	if err := o.Settle(); err != nil {
		return err
	}
	read := a.Stage("reading", &j.spent.Read)
	j.Given, err = input.Read(j.Console, name, o.lmc, &o.Tables)
	read.Done()
	if err != nil {
		return err
	}
	judge := j.judge
	if o.readCert != "" {
		judge = func(ctx context.Context) error { return j.recheck(ctx, cmd) }
	}
	s := a.Stage("verify", &j.spent.Verify)
	j.options.Progress = s.Progress()
	err = judge(cmd.Context())
	s.Done()
	if err != nil {
		return err
	}
	if err := j.keepCertificate(); err != nil {
		return err
	}
	return j.report()
}

func (j *verifyJob) judge(ctx context.Context) (err error) {
	j.verdict, err = deadlock.Verify(ctx, j.Tables, j.options)
	return err
}

// badCertificate is a proof that does not hold, as JSON.
type badCertificate struct {
	Verdict string `json:"verdict"`
	Why     string `json:"why"`
}

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
		return j.refuse(j.o.json, badCertificate{"certificate does not hold", err.Error()}, "%w\nThe proof is not for these tables (was it made with other --sl2vl or --psl?); without --certificate they are judged afresh.", err)
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

func (j *verifyJob) keepCertificate() error {
	if j.o.writeCertificate == "" || !j.verdict.Free() {
		return nil
	}
	return output.WriteFile(j.Console, j.o.writeCertificate, func(w io.Writer) error {
		return certificate.Write(w, j.Tables.Fabric, j.verdict.Certificate)
	})
}
