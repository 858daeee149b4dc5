package conformance

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	ethernetjudge "github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
	"github.com/weft-fabric/weft/internal/proofchecker"
	"github.com/weft-fabric/weft/internal/scramble"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/internal/testnet"
)

// writeEthernet writes a network with ranks as weft-proof reads them.
func writeEthernet(t *testing.T, dir string, n *ethernet.Network, c *ethernetjudge.Certificate) {
	t.Helper()
	for _, f := range proofchecker.EthernetFiles(n, c) {
		var b bytes.Buffer
		if err := errors.Join(f.Write(&b), os.WriteFile(filepath.Join(dir, f.Name), b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// lanesOf is how many lanes a certificate of a network has.
func lanesOf(n *ethernet.Network) int {
	lanes := 0
	for _, l := range n.Priorities.Lossless() {
		lanes = l + 1
	}
	return lanes
}

// tunnelsWithin reports whether what a tunnel wraps packets into is a class of tunnels itself.
func tunnelsWithin(n *ethernet.Network) bool {
	return slices.ContainsFunc(n.Classes, func(c ethernet.Class) bool {
		return slices.ContainsFunc(c.Tunnels, func(t ethernet.Tunnel) bool { return len(n.Classes[t.Into].Tunnels) > 0 })
	})
}

// agree asks weft-proof about ranks for a network, in a folder that has them, and the judge likewise.
func agree(t *testing.T, p *prover, dir string, n *ethernet.Network, c *ethernetjudge.Certificate) *proven {
	t.Helper()
	got, err := p.ask(dir)
	if err != nil {
		t.Fatal(err)
	}
	return compareEthernet(t, got, n, c)
}

func compareEthernet(t *testing.T, got *proven, n *ethernet.Network, c *ethernetjudge.Certificate) *proven {
	t.Helper()
	v, err := ethernetjudge.Verify(t.Context(), n, ethernetjudge.Options{Scope: c.Scope})
	if err != nil {
		t.Fatal(err)
	}
	// Ranks about no packet that waits are no proof, as for weft verify.
	holds := len(v.Lanes) > 0 && ethernetjudge.Check(t.Context(), n, c) == nil
	if got.Holds != holds || !tunnelsWithin(n) && *got.Delivers != v.Complete() {
		t.Fatalf("the judge: holds %v, complete %v; weft-proof: %v, %v (%s)", holds, v.Complete(), got.Holds, *got.Delivers, got.Why)
	}
	return got
}

// weft-proof says of random Ethernet networks, and of ranks true, drawn and damaged, what the judge says.
func TestProvenEthernet(t *testing.T) {
	t.Parallel()
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	rounds := testnet.Of(600, 50)
	if thorough {
		rounds = 30_000
	}
	dir := t.TempDir()
	var held, loops, damaged, nobody, lost, wrapped int
	for i := range rounds {
		r := rand.New(rand.NewPCG(23, uint64(i)))
		n := testcables.Network(t, r)
		scope := ethernet.Scope(i % 2)
		v, err := ethernetjudge.Verify(t.Context(), n, ethernetjudge.Options{Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		c := v.Certificate
		if c == nil {
			loops++
			c = &ethernetjudge.Certificate{Scope: scope, Lanes: lanesOf(n), Rank: make([]int32, len(n.Links)*lanesOf(n))}
			for k := range c.Rank {
				c.Rank[k] = r.Int32N(10)
			}
		}
		writeEthernet(t, dir, n, c)
		got := agree(t, p, dir, n, c)
		switch {
		case got.Holds:
			held++
			if len(n.TunnelMaps) > 0 {
				wrapped++
			}
		case strings.HasPrefix(got.Why, "no lossless packet"):
			nobody++
		}
		if !*got.Delivers {
			lost++
		}
		if len(c.Rank) == 0 {
			continue
		}
		c.Rank[r.IntN(len(c.Rank))] = r.Int32N(4) - 1
		writeEthernet(t, dir, n, c)
		if got.Holds && !agree(t, p, dir, n, c).Holds {
			damaged++
		}
	}
	t.Logf("%d networks: %d proven, %d of them with tunnels, %d loops, %d about nobody, %d that do not deliver; %d damaged proofs do not hold", rounds, held, wrapped, loops, nobody, lost, damaged)
	if held < rounds/5 || wrapped < rounds/50 || loops < rounds/20 || nobody < rounds/100 || lost < rounds/10 || damaged < rounds/30 {
		t.Error("the networks test little")
	}
}

// Whether all arrive is about hosts that send to others: those of a single prefix do not to their own, nor those of IPv4 to IPv6.
func TestProvenEthernetAboutOthers(t *testing.T) {
	t.Parallel()
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	plan := testcables.Devices(2)
	plan.Join(0, 1)
	dir := t.TempDir()
	for _, c := range []struct {
		at0, at1 []string // the prefixes there
		complete bool
	}{
		{[]string{"10.0.0.0/24"}, []string{"2001:db8::/64"}, true},
		{[]string{"10.0.0.0/24", "10.0.1.0/24"}, []string{"2001:db8::/64"}, false},
		{[]string{"10.0.0.0/24"}, []string{"10.1.0.0/24"}, false},
		{[]string{"2001:db8:1::/64"}, []string{"2001:db8::/64"}, false},
	} {
		n := &ethernet.Network{Cabling: plan.Cabling(t)}
		n.Priorities = ethernet.Uniform(n.Cabling, []uint8{3})
		for d, prefixes := range [][]string{c.at0, c.at1} {
			class := ethernet.Class{Next: n.NewRow(), At: []ethernet.DeviceID{ethernet.DeviceID(d)}, Hosts: true}
			for _, p := range prefixes {
				class.Prefixes = append(class.Prefixes, netip.MustParsePrefix(p))
			}
			n.Classes = append(n.Classes, class)
		}
		first, _ := n.LinksFrom(0)
		n.Add(n.Classes[0].Next, first) // away from where its hosts are, to where there is no route
		v, err := ethernetjudge.Verify(t.Context(), n, ethernetjudge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		writeEthernet(t, dir, n, v.Certificate)
		if got := agree(t, p, dir, n, v.Certificate); !got.Holds || *got.Delivers != c.complete {
			t.Errorf("%v, %v: %+v", c.at0, c.at1, got)
		}
	}
}

// Names and prefixes that look like something else are read as what they are: a device called end, as the last line of a
// certificate begins, and a prefix of IPv6 that is written with dots.
func TestProvenEthernetOddNames(t *testing.T) {
	t.Parallel()
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	plan := testcables.Devices(2)
	plan.Join(0, 1)
	n := &ethernet.Network{Cabling: plan.Cabling(t)}
	n.Names[0] = "end"
	n.Priorities = ethernet.Uniform(n.Cabling, []uint8{3})
	for d, prefix := range []string{"::ffff:10.0.0.0/104", "2001:db8::/64"} {
		class := ethernet.Class{Prefixes: []netip.Prefix{netip.MustParsePrefix(prefix)}, Next: n.NewRow(), At: []ethernet.DeviceID{ethernet.DeviceID(d)}, Hosts: true}
		first, _ := n.LinksFrom(ethernet.DeviceID(1 - d))
		n.Add(class.Next, first)
		n.Classes = append(n.Classes, class)
	}
	v, err := ethernetjudge.Verify(t.Context(), n, ethernetjudge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeEthernet(t, dir, n, v.Certificate)
	if got := agree(t, p, dir, n, v.Certificate); !got.Holds || !*got.Delivers {
		t.Errorf("%+v", got)
	}
}

// A line that is lost or doubled, or has more than belongs there, and a file that is cut short are refused with their file; and so is
// what belongs to another network.
func TestProvenEthernetRefusesDamage(t *testing.T) {
	t.Parallel()
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	n, c := provenWithAll(t)
	dir := t.TempDir()
	for _, name := range []string{tablefiles.EthernetTablesFile, tablefiles.CertificateFile} {
		writeEthernet(t, dir, n, c)
		mustHoldEthernet(t, p, dir)
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(whole), "\n")
		lines = lines[:len(lines)-1]
		refused := func(what string, lines []string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := p.ask(dir); err == nil || !strings.Contains(err.Error(), path+":") || !strings.Contains(err.Error(), "exit code 3") {
				t.Fatalf("%s: %v", what, err)
			}
		}
		for i, line := range lines {
			refused("without "+line, slices.Concat(lines[:i], lines[i+1:]))
			refused("twice "+line, slices.Concat(lines[:i+1], lines[i:]))
			refused("up to "+line, lines[:i])
			refused("more than "+line, slices.Concat(lines[:i], []string{strings.TrimRight(line, "\n") + "\t9\n"}, lines[i+1:]))
		}
		refused("without its last newline", []string{strings.TrimRight(string(whole), "\n")})
	}
	writeEthernet(t, dir, n, c)
	for _, other := range []struct{ name, old, now, want string }{
		{tablefiles.CertificateFile, "\nd0\t", "\nd9\t", "another network"},
		{tablefiles.CertificateFile, "lanes\t3", "lanes\t2", "another network"},
		{tablefiles.CertificateFile, "endpoints\thosts", "endpoints\thca", "hosts or all"},
		{tablefiles.EthernetTablesFile, "\nnext hops\t", "\nnext hop\t", "next hops"},
		{tablefiles.EthernetTablesFile, "\ndevices\t", "\ndevices\t9999999", "how many lines"},
	} {
		edit(t, filepath.Join(dir, other.name), instead(other.old, other.now))
		if _, err := p.ask(dir); err == nil || !strings.Contains(err.Error(), other.want) || !strings.Contains(err.Error(), "exit code 3") {
			t.Errorf("%s: %v", other.now, err)
		}
		writeEthernet(t, dir, n, c)
	}
	for _, arguments := range [][]string{{"--step", dir, dir}, {"--deadlock", dir}, {"--contract", "any", dir}, {"--fabric", dir, dir}} {
		if _, err := p.ask(arguments...); err == nil || !strings.Contains(err.Error(), arguments[0]+" is for InfiniBand") || !strings.Contains(err.Error(), "exit code 2") {
			t.Errorf("%v: %v", arguments, err)
		}
	}
	if _, err := p.ask("--endpoints", "all", dir); err == nil || !strings.Contains(err.Error(), "endpoints hosts, not all") {
		t.Error(err)
	}
}

func mustHoldEthernet(t *testing.T, p *prover, dir string) {
	t.Helper()
	if got, err := p.ask(dir); err != nil || !got.Holds {
		t.Fatalf("%+v, %v", got, err)
	}
}

// provenWithAll is a network with rules, tunnels and three lanes, and its proof.
func provenWithAll(t *testing.T) (*ethernet.Network, *ethernetjudge.Certificate) {
	t.Helper()
	for i := uint64(0); ; i++ {
		n := testcables.Network(t, rand.New(rand.NewPCG(29, i)))
		if n.Priorities.Rules == nil || len(n.TunnelMaps) == 0 || lanesOf(n) != 3 || len(n.Links) < 8 {
			continue
		}
		v, err := ethernetjudge.Verify(context.Background(), n, ethernetjudge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if v.Free() && len(v.Lanes) > 1 && v.Certificate.Rank[0] != ethernetjudge.Unused {
			return n, v.Certificate
		}
	}
}

// Of tables and certificates that are damaged in any way weft-proof says where, or they are those of some network, and
// what it says of that the judge says too.
func TestProvenEthernetOfDamagedTables(t *testing.T) {
	t.Parallel()
	p := startProver(t)
	if p == nil {
		t.SkipNow()
	}
	dir := t.TempDir()
	networks, times := uint64(testnet.Of(40, 10)), 1
	if thorough {
		times = 10
	}
	refused, judged := 0, 0
	for i := range networks * uint64(times) {
		n := testcables.Network(t, rand.New(rand.NewPCG(31, i)))
		v, err := ethernetjudge.Verify(t.Context(), n, ethernetjudge.Options{Scope: ethernet.Scope(i % 2)})
		if err != nil {
			t.Fatal(err)
		}
		if !v.Free() {
			continue
		}
		writeEthernet(t, dir, n, v.Certificate)
		tables, certificate := filepath.Join(dir, tablefiles.EthernetTablesFile), filepath.Join(dir, tablefiles.CertificateFile)
		whole, err := os.ReadFile(tables)
		if err != nil {
			t.Fatal(err)
		}
		ranks, err := os.ReadFile(certificate)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range scramble.Of(string(whole)) {
			if err := os.WriteFile(tables, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := p.ask(dir)
			if err != nil {
				if !strings.Contains(err.Error(), "exit code 3") || !strings.Contains(err.Error(), dir) {
					t.Fatalf("%v, of\n%s", err, text)
				}
				refused++
				continue
			}
			other, err := readTables(text)
			if err != nil {
				continue // a name that ethernet refuses, and weft-proof only prints
			}
			c, err := ethernetjudge.ReadCertificate(bytes.NewReader(ranks), "certificate", other)
			if err != nil {
				t.Fatalf("%v, of\n%s", err, text)
			}
			compareEthernet(t, got, other, c)
			judged++
		}
		if err := os.WriteFile(tables, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, text := range scramble.Of(string(ranks)) {
			if err := os.WriteFile(certificate, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := p.ask(dir)
			if err != nil {
				if !strings.Contains(err.Error(), "exit code 3") || !strings.Contains(err.Error(), certificate+":") {
					t.Fatalf("%v, of\n%s", err, text)
				}
				refused++
				continue
			}
			c, err := ethernetjudge.ReadCertificate(strings.NewReader(text), "certificate", n)
			if err != nil {
				t.Fatalf("%v, of\n%s", err, text)
			}
			compareEthernet(t, got, n, c)
			judged++
		}
	}
	t.Logf("%d refused, %d judged", refused, judged)
	if refused < testnet.Of(500, 250) || judged < testnet.Of(30, 8) {
		t.Error("the damage tests little")
	}
}

// readTables reads tables that weft-proof has accepted, in a few lines of its own.
func readTables(text string) (*ethernet.Network, error) {
	r := &tableReader{lines: strings.Split(text, "\n")[1:]}
	devices := r.section("devices")
	var cables []ethernet.Cable
	for _, line := range r.section("cables") {
		f := strings.Split(line, "\t")
		cables = append(cables, ethernet.Cable{A: ethernet.End{Device: devices[r.number(f[0])], Interface: f[1]}, B: ethernet.End{Device: devices[r.number(f[2])], Interface: f[3]}})
	}
	cabling, err := ethernet.NewCabling(devices, cables)
	if err != nil {
		return nil, err
	}
	device := func(i int) ethernet.DeviceID { return cabling.Device(devices[i]) }
	link := func(l int) ethernet.LinkID {
		end := cables[l/2].A
		if l%2 == 1 {
			end = cables[l/2].B
		}
		return cabling.LinkAt(cabling.Device(end.Device), end.Interface)
	}
	n := &ethernet.Network{Cabling: cabling, Priorities: &ethernet.Priorities{}}
	for m, line := range r.section("marks") {
		when, name, _ := strings.Cut(line, "\t")
		n.Priorities.Marks = append(n.Priorities.Marks, name)
		if when == "start" {
			n.Priorities.Start |= 1 << m
		}
	}
	n.Priorities.Lane = slices.Repeat([]int8{ethernet.Lossy}, len(n.Priorities.Marks)*len(n.Links))
	for _, line := range r.section("lanes") {
		f := strings.Split(line, "\t")
		for _, l := range r.list(f[2]) {
			n.Priorities.Lane[r.number(f[0])*len(n.Links)+int(link(l))] = int8(r.number(f[1]))
		}
	}
	n.Priorities.Rules = ethernet.NewRules(cabling, len(n.Priorities.Marks))
	for _, line := range r.section("rules") {
		f := strings.Split(line, "\t")
		in := ethernet.LinkID(ethernet.None)
		if f[0] != "-" {
			in = link(r.number(f[0]))
		}
		n.Priorities.Rules.Set(in, link(r.number(f[1])), uint8(r.number(f[2])), uint8(r.number(f[3])))
	}
	for _, line := range r.section("tunnel maps") {
		var set []uint64
		for _, f := range strings.Split(line, "\t") {
			outers := uint64(0)
			for _, m := range r.list(f) {
				outers |= 1 << m
			}
			set = append(set, outers)
		}
		n.TunnelMaps = append(n.TunnelMaps, set)
	}
	for _, kind := range r.section("classes") {
		n.Classes = append(n.Classes, ethernet.Class{Hosts: kind == "hosts", Next: n.NewRow()})
	}
	class := func(f string) *ethernet.Class { return &n.Classes[r.number(f)] }
	for _, line := range r.section("prefixes") {
		f := strings.Split(line, "\t")
		p, err := netip.ParsePrefix(f[1])
		if err != nil {
			return nil, err
		}
		class(f[0]).Prefixes = append(class(f[0]).Prefixes, p)
	}
	for _, line := range r.section("ends") {
		f := strings.Split(line, "\t")
		for _, d := range r.list(f[1]) {
			class(f[0]).At = append(class(f[0]).At, device(d))
		}
	}
	for _, line := range r.section("next hops") {
		f := strings.Split(line, "\t")
		for _, c := range r.list(f[1]) {
			for _, l := range r.list(f[2]) {
				n.Add(n.Classes[c].Next, link(l))
			}
		}
	}
	for _, line := range r.section("tunnels") {
		f := strings.Split(line, "\t")
		class(f[0]).Tunnels = append(class(f[0]).Tunnels, ethernet.Tunnel{Device: device(r.number(f[1])), Into: r.number(f[2]), Map: r.number(f[3])})
	}
	return n, r.err
}

type tableReader struct {
	lines []string
	err   error
}

func (r *tableReader) section(name string) []string {
	count := r.number(strings.TrimPrefix(strings.TrimSuffix(r.lines[0], "\r"), name+"\t"))
	lines := slices.Clone(r.lines[1 : 1+count])
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	r.lines = r.lines[1+count:]
	return lines
}

func (r *tableReader) number(text string) int {
	n, err := strconv.Atoi(text)
	r.err = errors.Join(r.err, err)
	return n
}

func (r *tableReader) list(text string) []int {
	var list []int
	if text == "-" {
		return nil
	}
	for _, part := range strings.Split(text, ",") {
		first, last, some := strings.Cut(part, "-")
		if !some {
			last = first
		}
		for i := r.number(first); i <= r.number(last); i++ {
			list = append(list, i)
		}
	}
	return list
}
