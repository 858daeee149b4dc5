package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// A defect of weft is an error with where it is, and not the end of the process.
func TestPanicsStayHere(t *testing.T) {
	network := filepath.Join(t.TempDir(), "ring.ibnetdiscover")
	var ring bytes.Buffer
	if err := ibnet.Write(&ring, testnet.Build(t, "ring:n=4")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(network, ring.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	q := &question{network: text{name: network}, lfts: text{name: "../docs/scenarios/files/circle.dump"}}
	if _, err := judged(q); err != nil {
		t.Fatal(err)
	}
	defer func(was func(context.Context, *routing.Tables, deadlock.Options) (*deadlock.Verdict, error)) {
		verify = was
	}(verify)
	verify = func(context.Context, *routing.Tables, deadlock.Options) (*deadlock.Verdict, error) {
		panic("on purpose")
	}
	if a, err := judged(q); a != nil || err == nil || !strings.Contains(err.Error(), "on purpose") || !strings.Contains(err.Error(), "judge.go") {
		t.Errorf("%v, %v", a, err)
	}
}

// library is the built library with programs that use it.
type library struct{ dir, c string }

func build(t *testing.T) *library {
	t.Helper()
	testnet.OnlyWhole(t) // all is compiled anew for a library
	if testing.Short() {
		t.Skip("builds the library")
	}
	for _, tool := range []string{"make", "cc", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (build/scripts/test-deps.sh)", tool)
		}
	}
	l := &library{dir: t.TempDir()}
	l.c = filepath.Join(l.dir, "judge")
	command(t, "make", "-s", "-C", "..", "libweft", "OUT="+l.dir, "VERSION=1.2.3")
	command(t, "cc", "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I.", "-o", l.c, "examples/judge.c", "-L"+l.dir, "-l:libweft-c.so.1", "-Wl,-rpath,"+l.dir)
	return l
}

// command runs a program that must succeed, and returns what it printed.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// says is what a program says of tables, with its exit code.
func (l *library) says(t *testing.T, program []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program[0], append(program[1:], args...)...)
	cmd.Env = append(os.Environ(), "LIBWEFT="+filepath.Join(l.dir, "libweft-c.so.1"))
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s(%d)", out, cmd.ProcessState.ExitCode())
}

// written is tables in files: network, forwarding tables, SL2VL, path service levels.
func written(t *testing.T, tables *routing.Tables) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"net", func(b *bytes.Buffer) error { return ibnet.Write(b, tables.Fabric) }},
		{"lfts", func(b *bytes.Buffer) error { return lft.Write(b, tables.Fabric, tables.Forwarding, lft.PortGUIDs) }},
		{"sl2vl", func(b *bytes.Buffer) error { return slvl.Write(b, tables.Fabric, tables.Lanes.SL2VL, slvl.Dump) }},
		{"psl", func(b *bytes.Buffer) error { return psl.Write(b, tables, psl.Full) }},
	} {
		var b bytes.Buffer
		if err := file.write(&b); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Join(dir, file.name))
		if err := os.WriteFile(names[len(names)-1], b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func routed(t *testing.T, spec, engine string) *routing.Tables {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(t.Context(), testnet.Build(t, spec), engines.Options{}, routing.Budget{VLs: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// C and Python hear of tables what Go does.
func TestCAndPythonHearTheSame(t *testing.T) {
	l := build(t)
	programs := [][]string{{l.c}, {"python3", "examples/judge.py"}}
	for _, c := range []struct{ spec, engine string }{{"torus:4x4,hosts=2", "lash"}, {"torus:5x5", "minhop"}, {"fattree:ports=8", "ftree"}, {"ring:5", "sssp"}} {
		tables := routed(t, c.spec, c.engine)
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		verdict, code := "proven free of deadlock", 0
		if !v.Free() {
			verdict, code = "credit loop", 1
		}
		want := fmt.Sprintf("%s (contract honored, endpoints hca): %d of %d pairs without a route, %d dependencies, %d lanes\n", verdict, v.Unreachable, v.Pairs, v.Dependencies, v.VLs)
		f := tables.Fabric
		for _, s := range v.Cycle {
			ch := f.Channel(s.Trunk)
			want += fmt.Sprintf("  %s port %d to %s port %d, VL %d, by packets from %s to %s\n",
				f.Label(ch.From), ch.FromPort, f.Label(ch.To), ch.ToPort, s.VL, f.EndpointLabel(s.Src), f.EndpointLabel(f.Owner(s.Dst)))
		}
		want += fmt.Sprintf("(%d)", code)
		names := written(t, tables)
		for _, p := range programs {
			if got := l.says(t, p, names...); got != want {
				t.Errorf("%s on %s, %v:\n%s\nwant\n%s", c.engine, c.spec, p, got, want)
			}
		}
	}
	names := written(t, routed(t, "ring:5", "updn"))
	for _, p := range programs {
		for want, args := range map[string][]string{
			"no forwarding table in the whole file; an opensm-lfts.dump, an opensm.fdbs, or what dump_fts or ibroute print has some\n(3)": {names[0], "weft.h"},
			"no such file or directory\n(3)":               {names[0] + "none", names[1]},
			"this is a forwarding table dump; a fabric is": {names[1], names[1]},
			"usage: judge": {names[0]},
		} {
			if got := l.says(t, p, args...); !strings.Contains(got, want) {
				t.Errorf("%v %v: %s, want %q", p, args, got, want)
			}
		}
	}
}

// What is not in judge.py's main: texts instead of files, the proof, threads, versions,
// memory that is given back, questions without sense.
const more = `
import ctypes, os, sys, threading
sys.path.insert(0, "examples")
import judge
net, lfts, sl2vl, psl, proof = sys.argv[1:]
text = lambda name: open(name, "rb").read()
files, texts = judge.Verdict(net, lfts, sl2vl=sl2vl, psl=psl), judge.Verdict(text(net), text(lfts), sl2vl=text(sl2vl), psl=text(psl))
assert vars(files) == vars(texts) and files.free and files.complete and files.loop == [] and files.lanes > 1, vars(texts)
assert len(files.outside) > 1 and all(files.outside), files.outside
open(proof, "wb").write(files.certificate)
under_any = judge.Verdict(net, lfts, sl2vl=sl2vl, psl=psl, contract="any", endpoints="all")
assert under_any.contract == "any" and under_any.endpoints == "all" and not under_any.free and under_any.certificate is None and under_any.loop[0]["vl"] < 8, vars(under_any)

def refused(why, **parts):
    try:
        judge.Verdict(**parts)
    except judge.Error as e:
        assert why in str(e), e
    else:
        raise AssertionError(why)
refused("network:1: this is an empty file", network=b"", lfts=lfts)
refused("lfts:2: ", network=net, lfts=b"Unicast lids [0-1] of switch Lid 1 guid 0x0002c90100000000 ('x'):\nnothing\n")
refused("a contract is honored", network=net, lfts=lfts, contract="nonsense")
refused("there is no network", network=None, lfts=lfts)
refused("no forwarding tables", network=net, lfts=None)
error = ctypes.c_void_p()
assert not judge.weft.weft_judge(None, error) and b"NULL" in ctypes.string_at(error.value)
judge.weft.weft_text_free(error)
assert not judge.weft.weft_judge(judge.Question(size=8), error) and b"size" in ctypes.string_at(error.value)
judge.weft.weft_text_free(error)
assert not judge.weft.weft_judge(None, None)
judge.weft.weft_verdict_free(None)
judge.weft.weft_text_free(None)
assert judge.weft.weft_api() == 1 and judge.weft.weft_version() == b"1.2.3", judge.weft.weft_version()

def many(n):
    for _ in range(n):
        assert vars(judge.Verdict(net, lfts, sl2vl=sl2vl, psl=psl)) == vars(files)
        assert judge.Verdict(net, lfts, sl2vl=sl2vl, psl=psl, contract="any").loop
threads = [threading.Thread(target=many, args=(25,)) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
libc = ctypes.CDLL(None)
if hasattr(libc, "mallinfo2"):
    class Mallinfo(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]
    libc.mallinfo2.restype = Mallinfo
    many(20)
    before = libc.mallinfo2().uordblks
    many(200)
    grown = libc.mallinfo2().uordblks - before
    assert grown < 5000, grown # 24 bytes, the least that malloc gives, 200 times
print("fine")
`

func TestTheWholeInterface(t *testing.T) {
	l := build(t)
	tables := routed(t, "torus:5x5", "lash")
	names := written(t, tables)
	proof := filepath.Join(t.TempDir(), "proof")
	if got := l.says(t, []string{"python3", "-c", more}, append(names, proof)...); got != "fine\n(0)" {
		t.Fatal(got)
	}
	f, err := files.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(proof)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := certificate.Read(r, proof, f)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := deadlock.CheckCertificate(t.Context(), tables, c, nil); err != nil || !v.Free() {
		t.Errorf("the proof does not hold: %v", err)
	}
	if out, err := exec.LookPath("g++"); err == nil { // the header is one of C++ too
		command(t, out, "-x", "c++", "-Wall", "-Werror", "-fsyntax-only", "weft.h")
	}
	shown := command(t, "nm", "-D", "--defined-only", filepath.Join(l.dir, "libweft-c.so.1"))
	for line := range strings.Lines(shown) {
		if name := line[strings.LastIndexByte(strings.TrimSpace(line), ' ')+1:]; !strings.HasPrefix(name, "weft_") && !strings.HasPrefix(name, "WEFT_") {
			t.Errorf("the library shows %s", name)
		}
	}
}
