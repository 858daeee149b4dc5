package ethernet

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/proof"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Verify is weft verify, the command c of InfiniBand, of lossless Ethernet too.
func Verify(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &verifyFlags{}
	if f := c.Flags().Lookup("endpoints"); f != nil {
		f.Value = hostsToo{f.Value}
	}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"json", "endpoints", "write-certificate", "certificate", "proof-checker"},
		flags:   o.addTo,
		long: `Of a lossless Ethernet network FABRIC is a folder with what the devices say:
NAME.route.json and NAME.interface.json of FRR, NAME.lldp.json, SONiC's
NAME.config_db.json. The verdict then is about every choice that ECMP can make under
priority flow control; --endpoints is hosts or all. With --routes, routes are
computed, of a Containerlab file, ns-3's topology.txt or a computed network too.
--failures computes them for every failure and says which open a loop or cut a pair.
--proof-checker has weft-proof judge the network too, and --write-proof keeps the
folder that it reads. See docs/ethernet.md.`,
		run: func(cmd *cobra.Command, name string) error {
			switch checker := cmd.Flags().Lookup("proof-checker"); {
			case checker.Changed && checker.Value.String() == "":
				return exit.Usage("--proof-checker names no program")
			case o.failures != "" && (checker.Changed || o.writeProof != ""):
				return exit.Usage("--proof-checker and --write-proof are about the network as it is, and --failures about others")
			}
			if o.failures != "" {
				return runFailures(a, cmd, name, o)
			}
			if o.converging {
				return exit.Usage("--converging is about the change after a failure: it needs --failures")
			}
			if o.pins != "" {
				return exit.Usage("--pins is for routes that are computed: it needs --failures; routers that have pins say them in their routes")
			}
			return runVerify(a, cmd, name, o)
		},
	})
}

// verifyFlags is the flags of weft verify for lossless Ethernet.
type verifyFlags struct {
	networkFlags
	failures   string
	converging bool
	samples    int
	pins       string
	writeProof string
}

func (o *verifyFlags) addTo(f *pflag.FlagSet) {
	o.networkFlags.addTo(f)
	f.StringVar(&o.failures, "failures", "", "compute routes after every failure of these, and judge them: links, switches or 2-links")
	f.BoolVar(&o.converging, "converging", false, "with --failures: judge every mixture of the routes before and after")
	f.StringVar(&o.pins, "pins", "", "with --failures: pins that the routers have, the pins.csv of weft route --pin")
	f.StringVar(&o.writeProof, "write-proof", "", "folder to write the tables that were judged and their certificate into, for weft-proof (docs/proof.md)")
	f.IntVar(&o.samples, "samples", 10_000, "with --failures 2-links: pairs to try, drawn at random where there are more")
}

// hostsToo is the value of InfiniBand's --endpoints that also takes the word of Ethernet, hosts, for hca.
type hostsToo struct{ pflag.Value }

func (v hostsToo) Set(word string) error {
	if word == ethernet.HostScope.String() {
		word = routing.HCA.String()
	}
	return v.Value.Set(word)
}

// scopeOf is the scope by the word of --endpoints.
func scopeOf(cmd *cobra.Command) (ethernet.Scope, error) {
	f := cmd.Flags().Lookup("endpoints")
	switch word := f.Value.String(); {
	case word == routing.HCA.String():
		return ethernet.HostScope, nil
	case word == ethernet.AllScope.String():
		return ethernet.AllScope, nil
	}
	return 0, exit.Usage("--endpoints of a lossless Ethernet network is hosts (subnets with hosts behind them) or all (every prefix and device)")
}

// verifyJob is one run of weft verify of an Ethernet network.
type verifyJob struct {
	*console.Console
	name    string
	n       *networkInput
	verdict *judge.Verdict
	nothing string        // why there is nothing to judge; empty: there is
	checked string        // the proof that was given, and holds
	written string        // the folder of the proof
	proof   *result.Proof // what weft-proof says of it; nil: it was not asked
	spent   struct{ read, verify float64 }
}

// runVerify reads the network and judges it. Where there is something to judge, certify deals with certificates and prove with
// weft-proof. Findings are: nothing to judge, a credit loop, pairs without a route, and a proof that weft-proof refuses.
func runVerify(a *console.Console, cmd *cobra.Command, name string, o *verifyFlags) error {
	j := &verifyJob{Console: a, name: name}
	scope, err := scopeOf(cmd)
	if err != nil {
		return err
	}
	s := a.Stage("reading", &j.spent.read)
	j.n, err = o.read(j.Console, name)
	s.Done()
	if err != nil {
		return err
	}
	s = a.Stage("verify", &j.spent.verify)
	j.verdict, err = judge.Verify(cmd.Context(), j.n.Network, judge.Options{Scope: scope})
	s.Done()
	if err != nil {
		return err
	}
	asJSON, err := cmd.Flags().GetBool("json")
	if err != nil {
		return err
	}
	v := j.verdict
	if j.nothing = j.n.nothing(scope); j.nothing == "" && v.Free() && len(v.Lanes) == 0 {
		j.nothing = "no lossless packet crosses a cable"
	}
	if j.nothing == "" {
		if err := j.certify(cmd, asJSON); err != nil {
			return err
		}
		if err := j.prove(cmd, o.writeProof); err != nil {
			return err
		}
	}
	return a.Answer(asJSON, j.summary(), func() error { return a.Show(j.screen()) }, j.nothing != "" || !v.Free() || !v.Complete() || proof.Refused(j.proof))
}

// certify checks the certificate that was given, and writes the one that was found, if there is no loop.
func (j *verifyJob) certify(cmd *cobra.Command, asJSON bool) error {
	name, err := cmd.Flags().GetString("certificate")
	if err != nil {
		return err
	}
	if name != "" {
		c, err := console.ReadFile(j.Console, name, func(r io.Reader, name string) (*judge.Certificate, error) {
			return judge.ReadCertificate(r, name, j.n.Network)
		})
		if err != nil {
			return err
		}
		if c.Scope != j.verdict.Scope {
			return exit.Usage("%s proves --endpoints %s, not %s", name, c.Scope, j.verdict.Scope)
		}
		if err := judge.Check(cmd.Context(), j.n.Network, c); err != nil {
			return j.Refuse(asJSON, result.BadCertificate{Verdict: "certificate does not hold", Why: err.Error()}, "%w\nThe proof is not for this network as it is; without --certificate it is judged afresh.", err)
		}
		j.checked = name
	}
	to, err := cmd.Flags().GetString("write-certificate")
	if err != nil || to == "" || !j.verdict.Free() {
		return err
	}
	return output.WriteFile(j.Console, to, func(w io.Writer) error {
		return judge.WriteCertificate(w, j.n.Network, j.verdict.Certificate)
	})
}

// summary is what --json prints.
func (j *verifyJob) summary() *result.VerifyEthernet {
	n, v := j.n, j.verdict
	s := &result.VerifyEthernet{
		Verdict: outputs.WordOf(v), Endpoints: v.Scope.String(), Assumed: append([]string{}, n.Notes...), NotCovered: n.notCovered(),
		Devices: len(n.Names), Cables: n.Cables(), Prefixes: n.Prefixes(), Hosts: n.HostPrefixes(), Classes: len(n.Classes), Routes: n.routes,
		Priorities: v.Lanes, Dependencies: v.Dependencies, Pairs: v.Pairs, Unreachable: v.Unreachable, Circles: v.Circles,
		Cycle: outputs.EthernetSteps(n.Network, v.Cycle), Next: j.next(), Rechecked: j.checked != "", Proof: j.proof, Seconds: result.VerifyStageTime{Read: j.spent.read, Verify: j.spent.verify},
	}
	if j.nothing != "" {
		s.Verdict, s.Nothing = result.NothingToJudge, j.nothing
	}
	for i := range v.Lost {
		s.Lost = append(s.Lost, lostOf(n.Network, &v.Lost[i]))
	}
	for _, c := range v.Circling {
		e := result.EthernetCircle{Prefix: n.Classes[c.Class].Prefix().String()}
		for _, l := range c.Links {
			e.Links = append(e.Links, outputs.EthernetLink(n.Network, l))
		}
		s.Circling = append(s.Circling, e)
	}
	return s
}

// senderName is the prefix that packets come from, or the device, if it sends them itself.
func senderName(n *ethernet.Network, l *judge.Lost) string {
	if l.Sender.Class == ethernet.None {
		return n.Names[l.From]
	}
	return n.Classes[l.Sender.Class].Prefix().String()
}

func (j *verifyJob) screen() *console.Page {
	p := j.NewPage()
	n, v := j.n, j.verdict
	n.factNetwork(p, j.name)
	switch {
	case j.nothing != "":
		p.Judged(false, "%s (endpoints %s): %s", result.NothingToJudge, v.Scope, j.nothing)
	case v.Free():
		p.Judged(true, "%s (endpoints %s)%s: %s dependencies over every choice of ECMP, a rank that rises along each", result.DeadlockFree, v.Scope, n.covered(), words.Thousands(v.Dependencies))
		if j.checked != "" {
			p.Fact("proof", "the ranks of %s rise along all of them too", j.checked)
		}
		if j.written != "" {
			p.Fact("proof", "%s, for weft-proof", j.written)
		}
		if j.proof != nil {
			p.Fact("checker", "%s", outputs.ProofText(j.proof))
		}
		p.Fact("outside", "of any proof: %s", strings.Join(outside, ", "))
	default:
		p.Judged(false, "%s (endpoints %s), a shortest one of %d steps:\n%s", result.CreditLoop, v.Scope, len(v.Cycle), loopText(j.Console, n.Network, v.Cycle))
	}
	if len(v.Lanes) > 0 || j.nothing == "" { // else the verdict says why none is used
		p.Fact("lanes", "%s", losslessText(v.Lanes))
	}
	p.Fact("routes", "%s", j.routesText())
	if len(v.Lost) > 0 {
		p.Finding("cut off", "%s", j.lostText())
	}
	if len(v.Circling) > 0 {
		p.Finding("circling", "%s", j.circleText())
	}
	p.Fact("time", "read %s, verify %s", words.Seconds(j.spent.read), words.Seconds(j.spent.verify))
	if next := j.next(); next != "" {
		p.Fact("next", "%s", next)
	}
	return p
}

// losslessText says which priorities are lossless. They have one digit.
func losslessText(lanes []int) string {
	names := list.Of(lanes, func(l int) string { return string('0' + rune(l)) })
	switch len(lanes) {
	case 0:
		return "no packet is lossless anywhere, so that none waits"
	case 1:
		return "lossless between devices: priority " + names[0]
	}
	return "lossless between devices: priorities " + strings.Join(names, ", ")
}

// loopText is a credit loop for people, a step a line.
func loopText(c *console.Console, n *ethernet.Network, cycle []judge.Step) string {
	return namedLoop(c, outputs.EthernetSteps(n, cycle))
}

// namedLoop is loopText of steps whose devices are named.
func namedLoop(c *console.Console, cycle []result.EthernetStep) string {
	lines := list.Of(cycle, func(s result.EthernetStep) string {
		by := "by " + s.Prefix + ", next hop " + s.Next
		if s.Tunnel != "" {
			by += " through the tunnel to " + s.Tunnel
		}
		return "  " + s.From + ", " + s.FromInterface + " → " + s.To + ", " + s.ToInterface + ", priority " + string('0'+rune(s.Priority)) + "    (" + by + "; path " + strings.Join(s.Path, " ") + ")"
	})
	return c.First(report.MaxSteps, lines, func(n int) string {
		return "  … and " + words.Plural(n, "more step") + " back to the first (--json has all)"
	})
}

func (j *verifyJob) routesText() string {
	v := j.verdict
	text := words.Thousands(v.Pairs) + " pairs of prefixes with hosts, " + words.Thousands(v.Unreachable) + " without a sure route"
	if v.Scope == ethernet.AllScope {
		text = words.Thousands(v.Pairs) + " pairs of a device and a prefix, " + words.Thousands(v.Unreachable) + " without a sure route"
	}
	if v.Circles > 0 {
		text += "; packets to " + words.Counted(v.Circles, "prefix", "prefixes") + " can circle for ever"
	}
	return text
}

func (j *verifyJob) lostText() string {
	var lines []string
	pairs := int64(0)
	for _, l := range j.summary().Lost {
		pairs += l.Pairs
		lines = append(lines, lostLine(&l))
	}
	if more := j.verdict.Unreachable - pairs; more > 0 {
		lines = append(lines, "and "+words.Thousands(more)+" more pairs")
	}
	return strings.Join(lines, "\n")
}

// lostOf is a pair that can be lost, by names.
func lostOf(n *ethernet.Network, l *judge.Lost) result.EthernetLost {
	return result.EthernetLost{From: senderName(n, l), Device: n.Names[l.From], To: n.Classes[l.Class].Prefix().String(), Why: l.Why.String(), Where: n.Names[l.Where], Pairs: l.Pairs}
}

// lostLine is a pair that can be lost, for people.
func lostLine(l *result.EthernetLost) string {
	line := l.From
	if l.Device != l.From {
		line += " (" + l.Device + ")"
	}
	line += " to " + l.To + ": "
	if l.Why == judge.Circles.String() {
		line += "packets can circle, from " + l.Where
	} else {
		line += "no route at " + l.Where
	}
	if l.Pairs > 1 {
		line += ", and " + words.Plural(l.Pairs-1, "more pair") + " like it"
	}
	return line
}

func (j *verifyJob) circleText() string {
	var lines []string
	for _, c := range j.summary().Circling {
		line := c.Prefix + ": " + c.Links[0].From
		for _, l := range c.Links {
			line += " → " + l.To
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// next says what to do about findings; empty if there are none.
func (j *verifyJob) next() string {
	var do []string
	v := j.verdict
	if !v.Free() {
		do = append(do, "weft priorities "+j.n.again+" --lossless "+strconv.Itoa(j.n.twice())+" computes rules for priorities that make it safe")
	}
	if v.Circles > 0 {
		do = append(do, "routes that circle are usually caught in the middle of a change: take the dumps again")
	} else if !v.Complete() {
		do = append(do, "devices without a route drop these packets: look at their BGP sessions, and at AS numbers that refuse a detour")
	}
	return strings.Join(do, "\n")
}
